"""What leaves the stepper: copies, by OSC 52 and in a file, and files of every kind."""

import json
import re

import numpy as np
import pytest
from textual.widgets import Input

from microtape import load
from tests.support.recordings import handmade
from tests.support.rendering import needs_graphviz
from tests.tui.stepper.test_app import LARGE, SMALL, bar, shown, stepper
from tui.shell.clipboard import MOST
from tui.stepper.export_screen import ExportScreen
from tui.time.cursor import StepCursor
from tui.words.copying import copyables
from tui.words.exporting import KINDS, Export, ExportError


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.setenv("MICROTAPE_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def notices(app):
    return " ".join(notice.message for notice in app._notifications)


async def done(pilot):
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def at(steps, recording=None):
    return StepCursor.after(recording or handmade.diamond(), steps)


# Copying


def test_what_can_be_copied_is_every_value_formula_and_line_with_all_digits():
    found = {piece.what: piece.text for piece in copyables(at(3))}
    assert found["gradient of %2"] == "5.0"
    assert found["value of %2"] == "6.0"
    assert found["the kept x"] == "2.0"
    assert found["the gradient sent to x"] == "15.0"
    assert found["the formula with your names"] == "x · y"
    assert found["the rule for x"] == "g · y = 5 · 3"
    assert found["the expression"] == "x * y"
    assert found["its line of source"] == "z = (x * y) * (x + y)"
    assert found["its place"] == "diamond.py:5"
    assert "x.grad" not in found, "it has none yet"
    assert {piece.what: piece.text for piece in copyables(at(5))}["x.grad"] == "21.0"


def test_an_array_is_copied_as_python_writes_it():
    texts = [
        piece.text for piece in copyables(StepCursor.open(handmade.chain(3)).end()) if piece.what.endswith(".grad")
    ]
    assert texts
    assert all(isinstance(json.loads(text), list) for text in texts)


async def test_y_twice_copies_the_pane_that_has_the_focus(here):
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("right", "y", "y")
        assert pilot.app.clipboard.startswith("%4 z  diamond.py:5  ")
        assert (here / "data" / "copied.txt").read_text() == pilot.app.clipboard
        assert "copied the node pane; also in" in notices(pilot.app)
        assert "copied.txt" in notices(pilot.app)
        await pilot.press("3", "y", "y")
        assert pilot.app.clipboard.splitlines()[0] == "x = 2  .grad  None  0 of 2 terms"


async def test_y_lists_the_pieces_and_enter_copies_one():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("right", "right", "right", "y", "down", "j", "enter")
        assert pilot.app.clipboard == "5.0"
        assert "copied gradient of %2" in notices(pilot.app)
        assert bar(pilot.app) == "step 3 of 5"


async def test_a_single_element_is_copied_from_the_array_viewer():
    async with stepper(handmade.chain(3)).run_test(size=LARGE) as pilot:
        await pilot.press("end", "a", "right", "y")
        element = float(pilot.app.clipboard)
        await pilot.press("Y")
        assert np.ravel(json.loads(pilot.app.clipboard))[1] == element


async def test_the_answer_why_is_copied():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("end", "x", *"x", "enter", "y")
        assert pilot.app.clipboard.splitlines()[0] == "∂z/∂x = 21"
        assert "6  from %3 add" in pilot.app.clipboard


async def test_a_text_too_long_for_the_clipboard_is_only_in_the_file(here, monkeypatch):
    monkeypatch.setattr("tui.stepper.parts.copy_export.copyables", lambda cursor: [])
    monkeypatch.setattr("tui.widgets.panes.NodePane.text", "x" * (MOST + 1))
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("y", "y")
        assert not pilot.app.clipboard
        assert "too long for a terminal's clipboard" in notices(pilot.app)
        assert len((here / "data" / "copied.txt").read_text()) == MOST + 1


async def test_a_file_that_cannot_be_written_is_reported(here):
    (here / "data").write_text("in the way")
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("y", "y")
        assert "cannot be written" in notices(pilot.app)
        assert pilot.app.clipboard


# Files


async def test_o_writes_the_picture_of_this_moment_under_a_good_name(here):
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("right", "right", "o")
        assert "diamond-step2.svg" in shown(pilot.app, "Input")
        await pilot.press(*["backspace"] * 4, *".dot", "enter")
        await done(pilot)
        assert (here / "diamond-step2.dot").read_text().startswith("digraph")
        assert "wrote" in notices(pilot.app)
        assert [path.name for path in here.iterdir()] == ["diamond-step2.dot"], "nothing unfinished is left"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("downs", "name", "begins"),
    [
        pytest.param(1, "diamond.html", "<!doctype html>", marks=needs_graphviz),
        (2, "diamond-trace.txt", "diamond.py: 3 operations"),
        (3, "diamond-step1.txt", "── Pass 1 of 1"),
        (4, "diamond-screen-step1.svg", "<svg"),
    ],
)
async def test_every_kind_has_its_name_and_its_file(here, downs, name, begins):
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("right", "o", *["down"] * downs)
        assert name in shown(pilot.app, "Input")
        await pilot.press("enter")
        await done(pilot)
        text = (here / name).read_text()
        assert text.lower().startswith(begins.lower())
        assert not re.search(r"url\([^#)]|src=.http|@import", text), "it loads nothing"


async def test_a_recording_that_was_written_opens(here):
    async with stepper(handmade.twice()).run_test(size=SMALL) as pilot:
        await pilot.press("o", "up", "enter")
        await done(pilot)
    assert len(load("twice.tape").passes) == 2


async def test_nothing_is_overwritten_without_asking(here):
    (here / "diamond-step0.svg").write_text("mine")
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("o", "enter")
        assert "exists already. Press Enter again to overwrite it" in " ".join(shown(pilot.app, "#said").split())
        assert (here / "diamond-step0.svg").read_text() == "mine"
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, ExportScreen)
        assert (here / "diamond-step0.svg").read_text() == "mine"
        await pilot.press("o", "down", "down", "down", "down", "up", "up", "up", "up")
        await pilot.press(*["backspace"] * 4, *".dot", "enter")
        await done(pilot)
        assert (here / "diamond-step0.dot").exists()


async def test_enter_again_overwrites(here):
    (here / "diamond-step0.txt").write_text("mine")
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("o", "down", "down", "down", "enter", "enter")
        await done(pilot)
        assert (here / "diamond-step0.txt").read_text() != "mine"


@pytest.mark.slow
async def test_one_line_says_why_it_cannot(here):
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("o", *["backspace"] * 30, *"no/graph.svg", "enter")
        await done(pilot)
        assert "there is no folder" in shown(pilot.app, "#said")
        await pilot.press(*["backspace"] * 30, *"graph.bmp", "enter")
        await done(pilot)
        assert "a picture is written as .svg, .png, .pdf, .dot or .txt" in " ".join(shown(pilot.app, "#said").split())
        assert list(here.iterdir()) == []


@pytest.mark.parametrize(("kind", "name"), [(2, "trace.txt"), (2, "trace.json"), (0, "graph.dot"), (5, "run.tape")])
def test_stopping_leaves_nothing_behind(here, kind, name):
    def stop(text):
        raise InterruptedError(0, "stopped")

    with pytest.raises(ExportError, match="stopped"):
        Export(at(2), "<svg/>").write(KINDS[kind], here / name, stop)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "~nobody-has-this-name", "9" * 300, "/"])
async def test_a_name_that_no_file_can_have_is_refused(here, name):
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("o")
        await pilot.pause()
        pilot.app.screen.query_one(Input).value = name
        await pilot.press("enter", "down", "up")
        await pilot.pause()
        assert isinstance(pilot.app.screen, ExportScreen)
        await pilot.press("escape")
    assert not list(here.iterdir())


async def test_of_very_many_leaves_the_list_says_how_many_it_leaves_out(monkeypatch):
    monkeypatch.setattr("tui.stepper.parts.copy_export.MOST_LEAVES", 1)
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("y")
        assert "1 more leaves: go to a leaf (g) to copy it" in shown(pilot.app, ".rest")
