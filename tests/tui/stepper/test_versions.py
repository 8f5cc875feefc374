"""Writes in place on the screen, by keystrokes: their rows on the tape, and the page of versions."""

import pytest

from tests.support.recordings import handmade, in_place
from tests.tui.stepper.test_app import SMALL, bar, row, shown, stepper
from tui.stepper.versions_screen import VersionsScreen
from tui.widgets.tape import TapeView


def tape(app):
    return shown(app, "#tape").splitlines()


def below(app, node):
    """The row below that of a node."""
    lines = tape(app)
    return " ".join(lines[lines.index(row(app, node)) + 1].split())


def page(app):
    """The page of versions: its title and its lines."""
    box = app.screen.query_one("Vertical")
    return [box.border_title, *(line.strip() for line in shown(app, "OptionList").splitlines())]


def below_the_page(app):
    """The keys in its lower border."""
    return app.screen.query_one("Vertical").border_subtitle


async def test_the_row_below_a_write_says_who_will_miss_the_old_value():
    recording = in_place.missed()
    async with stepper(recording).run_test(size=SMALL) as pilot:
        sin, add = (next(one for one in recording.nodes if one.op == op) for op in ("sin", "add"))
        told = below(pilot.app, add.id)
        assert "[2, 4] → [3, 5]" in row(pilot.app, add.id)
        assert told.endswith(f"version 0 → 1, saved by sin (line {sin.place.line}), which will miss it")
        assert pilot.app.screen.query_one(TapeView).row_count == len(recording.nodes) + 1


async def test_the_new_value_appears_when_the_write_has_run():
    recording = in_place.through_a_view()
    async with stepper(recording).run_test(size=(110, 30)) as pilot:
        first = next(one for one in recording.nodes if one.op == "mul into view")
        assert "[1, 2, 3] → [1, 4, 6]" in f"{row(pilot.app, first.id)} {below(pilot.app, first.id)}"
        await pilot.press(*["left"] * 9)
        assert bar(pilot.app).startswith("operation 0 of")
        assert below(pilot.app, first.id).endswith("version 0 → 1, saved by nobody")
        assert "4, 6" not in "\n".join(tape(pilot.app))
        await pilot.press("right", "right", "right")
        assert "[1, 2, 3] → [1, 4, 6]" in f"{row(pilot.app, first.id)} {below(pilot.app, first.id)}"


async def test_a_click_on_such_a_row_does_nothing():
    async with stepper(in_place.missed()).run_test(size=SMALL) as pilot:
        before = bar(pilot.app)
        at = next(i for i, line in enumerate(tape(pilot.app)) if "version 0" in line)
        await pilot.click(TapeView, offset=(20, at))
        assert bar(pilot.app) == before


async def test_v_shows_the_versions_of_the_tensor_that_was_written_to_and_enter_goes_to_the_write():
    recording = in_place.missed()
    mul, sin, add = (next(one for one in recording.nodes if one.op == op) for op in ("mul", "sin", "add"))
    async with stepper(recording).run_test(size=SMALL) as pilot:
        assert row(pilot.app, sin.id)[:2].strip()  # backward failed there
        await pilot.press("V")
        assert isinstance(pilot.app.screen, VersionsScreen)
        assert page(pilot.app) == [
            "versions of x",
            f"v0   mul (line {mul.place.line})  [2, 4]",
            f"saved by sin (line {sin.place.line}), will miss it; read by sin (line {sin.place.line})",
            f"v1   add_ (line {add.place.line})  [3, 5]",
            f"saved by nobody; read by add (line {add.place.line + 2})",
        ]
        await pilot.press("right")
        assert page(pilot.app)[0] == "versions of y"
        await pilot.press("left")
        assert "Enter goes to its maker" in below_the_page(pilot.app)
        await pilot.press("enter")
        assert not isinstance(pilot.app.screen, VersionsScreen)
        assert row(pilot.app, add.id).startswith(("▶", "▷"))


async def test_the_page_of_a_leaf_names_the_update_and_enter_there_says_that_no_operation_made_it():
    recording = in_place.update()
    async with stepper(recording, pass_index=1).run_test(size=SMALL) as pilot:
        await pilot.press("end", "V")
        told = page(pilot.app)
        assert told[0] == "versions of w"
        assert next(line for line in told if "no_grad" in line).startswith("v1   sub_ (line ")
        assert "w shares its memory with bare" in shown(pilot.app, "VersionsScreen Static")
        assert "Enter" not in below_the_page(pilot.app)
        await pilot.press("k", "j", "enter")
        assert isinstance(pilot.app.screen, VersionsScreen)
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, VersionsScreen)


@pytest.mark.parametrize("size", [SMALL, (100, 30), (160, 50)])
async def test_every_line_of_the_page_is_whole(size):
    async with stepper(in_place.through_a_view()).run_test(size=size) as pilot:
        await pilot.press("V")
        for name, versions in (("x", 3), ("%8", 1)):  # the operand of the sum, which was written to, and its result
            told = page(pilot.app)
            assert told[0] == f"versions of {name}"
            assert [one[:2] for one in told if one.startswith("v")][1:] == [f"v{i}" for i in range(versions)]
            assert not any(line.endswith("…") for line in told)
            await pilot.press("right")
        await pilot.resize_terminal(size[0] - 2, size[1])
        await pilot.pause()
        assert page(pilot.app)[0] == "versions of x"


async def test_a_path_ends_on_the_tape_with_its_reason():
    async with stepper(in_place.dirty()).run_test(size=(160, 40)) as pilot:
        lines = tape(pilot.app)
        assert any("× inside  [False" in line and "no gradient: marked by" in line for line in lines)
        assert any("× best = argmax(z)  2  no gradient: an argmax has no derivative" in line for line in lines)


async def test_in_ascii_too():
    async with stepper(in_place.dirty(), ascii=True).run_test(size=(120, 40)) as pilot:
        lines = tape(pilot.app)
        assert any("version 0 -> 2, " in line for line in lines)
        assert any("x best = argmax(z)" in line for line in lines)
        assert "\n".join(lines).isascii()


async def test_before_the_first_operation_v_has_a_tensor_to_show():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("V")
        assert isinstance(pilot.app.screen, VersionsScreen)
        assert page(pilot.app)[0] == "versions of z"
