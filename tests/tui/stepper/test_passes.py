"""Several passes: the list of them, and two side by side; in the stepper and as text."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

import microtape as mt
import tui
from microtape import load, save
from microtape.recording.model.summary import summarize
from tests.support.recordings import handmade
from tests.support.waiting import until
from tests.tui.stepper.test_app import LARGE, SMALL, bar, shown, stepper
from tui.commands.cli import main
from tui.shell.exits import Exit
from tui.shell.spans import Span, plain
from tui.words.passes import Pair, PassOf, compare, headings, list_passes, passes_of, row

TRAINING = """\
import microtape as mt
w = mt.tensor([1.0, 2.0], requires_grad=True)
for step in range(4):
    loss = (w * w).sum()
    loss.backward()
    with mt.no_grad():
        w -= 0.25 * w.grad
    w.grad = None
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(TRAINING)
    return "train.py"


def pairs(recording, first, second):
    return {plain(one.name): one for one in compare(PassOf(recording, first), PassOf(recording, second))}


def training():
    w = mt.tensor([1.0, 2.0], requires_grad=True)

    def run():
        for _ in range(3):
            loss = (w * w).sum()
            loss.backward()
            with mt.no_grad():
                w.sub_(0.25 * w.grad)
            w.grad = None

    return mt.record(run)


def test_the_list_says_call_root_steps_and_failure():
    first, second = list_passes(handmade.twice())
    assert (first.number, first.steps, first.ended) == (1, 5, "")
    assert second.number == 2
    x = mt.tensor(2.0, requires_grad=True)

    def twice():
        y = x * x
        y.backward()
        y.backward()

    assert [one.ended != "" for one in list_passes(mt.record(twice))] == [False, True]


def test_two_steps_of_training_are_compared_operation_by_operation():
    found = pairs(training(), 0, 2)
    leaf = found["w"]
    assert np.array_equal(leaf.first, [2.0, 4.0])
    assert np.array_equal(leaf.second, [0.5, 1.0])
    assert np.array_equal(leaf.difference, [-1.5, -3.0])
    assert leaf.verdict() == "[-1.5, -3]"
    assert [one.verdict() for name, one in found.items() if "loss" in name] == ["same"]
    assert all(one.first is not None and one.second is not None for one in found.values()), "each has its fellow"


def test_a_pass_over_the_same_graph_is_compared_node_by_node():
    x = mt.tensor(2.0, requires_grad=True)

    def run():
        (slope,) = mt.autograd.grad(x**3, x, create_graph=True)
        slope.backward()

    recording = mt.record(run)
    found = pairs(recording, 0, 1)
    assert (found["x"].first.item(), found["x"].second.item()) == (12.0, 12.0)
    assert "only in the second" in [one.verdict() for one in found.values()]


def test_a_changed_shape_is_reported():
    w = mt.tensor([1.0, 2.0], requires_grad=True)
    v = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)

    def run():
        for x in (w, v):
            (x * 2).sum().backward()

    assert "shape 2 became 3" in [one.verdict() for one in compare(*passes_of(mt.record(run)))]


async def test_s_lists_the_passes_and_enter_goes_to_one():
    async with stepper(training()).run_test(size=SMALL) as pilot:
        await pilot.press("s")
        assert shown(pilot.app, "#columns").split()[:2] == ["pass", "call"]
        await pilot.press("down", "down", "enter")
        assert "pass 3 of 3" in shown(pilot.app, "Heading")


@pytest.mark.parametrize(
    ("width", "where"), [(120, "site-packages/zoo/fit.py:7"), (79, "site-packages/zoo/fit.py:7"), (75, "fit.py:7")]
)
async def test_the_heading_has_the_folder_of_a_file_where_there_is_room(width, where):
    recording = handmade.diamond()
    (only,) = recording.passes
    place = only.place._replace(file="site-packages/zoo/fit.py", line=7, end_line=7)
    recording = replace(recording, passes=(only._replace(place=place),))
    async with stepper(recording).run_test(size=(width, 24)) as pilot:
        assert f"  {where}  " in shown(pilot.app, "Heading")


async def test_on_a_small_terminal_each_pass_has_one_line_and_no_word_is_cut():
    recording = load(Path(tui.__file__).parent / "recordings" / "gradient_penalty.tape")
    async with stepper(recording).run_test(size=SMALL) as pilot:
        await pilot.press("s")
        assert shown(pilot.app, "#columns").split() == ["pass", "call", "from", "line", "steps"]
        assert [line.split()[0] for line in shown(pilot.app, "OptionList").splitlines() if line.strip()] == ["1", "2"]
        await pilot.press("down", "c")
        assert "second only" in shown(pilot.app, "OptionList")
        assert not re.search(r"only in the (?!(first|second)\b)", shown(pilot.app, "OptionList"))


async def test_c_compares_with_the_current_pass_and_enter_goes_to_the_node():
    async with stepper(training()).run_test(size=LARGE) as pilot:
        await pilot.press("s", "c")
        assert "two passes" not in (pilot.app.screen.query("Vertical").first().border_title or "")
        await pilot.press("down", "c")
        text = shown(pilot.app, "OptionList")
        assert text.splitlines()[0].split() == ["w", "[2,", "4]", "[1,", "2]", "[-1,", "-2]"]
        assert "5 became 1.25: -3.75" in shown(pilot.app, "Static")
        await pilot.press("enter")
        assert "pass 2 of 3" in shown(pilot.app, "Heading")
        assert bar(pilot.app) == "step 3 of 3"


def test_on_the_command_line(script, capfd):
    assert main(["trace", script, "--passes"]) == Exit.OK
    out = capfd.readouterr().out
    assert len(out.splitlines()) == 5
    assert "loss = 5" in out
    assert main(["trace", script, "--compare", "1,3"]) == Exit.OK
    out = capfd.readouterr().out
    assert "5 became 0.3125: -4.688" in out
    assert "w" in [line.split()[0] for line in out.splitlines() if line.strip()]
    assert main(["trace", script, "--compare", "3,1", "--json"]) == Exit.OK
    data = json.loads(capfd.readouterr().out)
    assert data["passes"] == [2, 0]
    assert data["pairs"][0]["difference"]["data"] == [1.5, 3.0]


def test_mistakes_are_one_line(script, capfd):
    assert main(["trace", script, "--compare", "1"]) == Exit.BAD_INPUT
    assert capfd.readouterr().err == "microtape: --compare 1: give the numbers of two passes, such as 1,3\n"
    save(training(), "run.tape")
    assert main(["trace", "run.tape", "--compare", "1,9"]) == Exit.BAD_INPUT
    assert capfd.readouterr().err == "microtape: no pass 9 in this recording (it has: 1, 2, 3)\n"


async def test_a_long_list_ends_where_its_page_ends():
    x = mt.tensor(2.0, requires_grad=True)

    def run():
        for _ in range(40):
            (x * x).backward()

    async with stepper(mt.record(run)).run_test(size=SMALL) as pilot:
        await pilot.press("s", "end")
        rows = pilot.app.screen.query_one("OptionList")
        await until(pilot, lambda: rows.scroll_y == rows.max_scroll_y > 0)
        assert rows.region.bottom <= rows.parent.content_region.bottom


async def test_of_two_passes_the_earlier_one_stands_first():
    async with stepper(training()).run_test(size=LARGE) as pilot:
        await pilot.press("right_square_bracket", "right_square_bracket")
        assert "pass 3 of 3" in shown(pilot.app, "Heading")
        await pilot.press("s", "home", "c")
        assert "5 became 0.3125: -4.688" in shown(pilot.app, "Static")
        assert shown(pilot.app, "#columns").split() == ["pass", "1", "pass", "3", "difference"]


def test_a_difference_that_is_nan_is_not_told():
    def run():
        w = mt.tensor(1.0, requires_grad=True)
        (w * 2).backward()
        (w * np.nan).backward()

    passes = passes_of(mt.record(run))
    assert plain(list(headings(*passes))[-1]) == "2 became nan"
    assert plain(list(headings(*reversed(passes)))[-1]) == "nan and 2"


@pytest.mark.parametrize("ascii", [False, True])
@pytest.mark.parametrize("rest", range(12, 40))
def test_a_row_of_the_comparison_ends_where_its_columns_end(rest, ascii):
    kept = summarize(np.ones(900))
    wide = np.ones((2, 3, 4, 5, 6, 7))
    name = (Span("layers.0.attn.q_proj.weight", "leaf"),)
    for first, second in ((kept, kept), (wide, wide[None]), (None, wide), (wide, None), (None, None)):
        text = plain(row(Pair(0, True, name, first, second), 24, 12, rest, ascii=ascii))
        assert cell_len(text) <= 24 + 2 * 12 + 6 + rest
        assert "q_proj" in text
        assert "...." not in text
