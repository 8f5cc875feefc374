"""Everything by the mouse alone: rows, panes, tabs, breakpoints, the footer, lists, and the way out of every page."""

from pathlib import Path

import pytest

import tui
from microtape import load
from tests.support.recordings import handmade
from tests.support.waiting import until
from tests.tui.stepper.test_app import LARGE, SMALL, bar, row, shown, stepper
from tui.stepper.stepper import StepperScreen
from tui.widgets.array_view import ArrayScreen
from tui.widgets.palette import Palette


def place(pilot, text):
    """Where a text stands on the screen."""
    for y, strip in enumerate(pilot.app.screen._compositor.render_strips()):
        if text in strip.text:
            return strip.text.index(text), y
    raise AssertionError(f"{text!r} is not on the screen")


async def click(pilot, text):
    await pilot.click(offset=place(pilot, text))
    await pilot.pause()


def is_stepper(pilot):
    return isinstance(pilot.app.screen, StepperScreen)


async def test_on_a_small_terminal_the_tabs_turn_the_panes():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        for name in ("leaves", "engine", "source", "watch", "node"):
            await click(pilot, f" {name} ")
            await until(pilot, lambda name=name: pilot.app.screen.panes.chosen == name)
            assert pilot.app.screen.query_one(f"#{name}").region.height > 0


async def test_a_click_into_a_pane_gives_it_the_focus():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        for name in ("node", "source", "leaves", "engine", "tape"):
            await pilot.click(f"#{name}", offset=(30, 2))
            await until(pilot, lambda name=name: pilot.app.focused.id == name)


async def test_a_click_beside_a_row_sets_a_breakpoint_and_takes_it_away():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        tape = pilot.app.screen.query_one("#tape")
        at = 3 + tape.gutter.top
        await pilot.click(tape, offset=(tape.gutter.left + 1, at))
        await until(pilot, lambda: "◆" in row(pilot.app, 2)[:2])
        assert bar(pilot.app) == "step 0 of 5", "it goes nowhere"
        await pilot.click(tape, offset=(tape.gutter.left, at))
        await until(pilot, lambda: "◆" not in row(pilot.app, 2)[:2])


@pytest.mark.sampled(5)
@pytest.mark.parametrize("keys", [("right", "enter"), ("right", "a"), ("y",), ("o",), ("s",), ("b", "enter", "B"),
                                  ("f1",), ("question_mark",), ("P", "right")])  # fmt: skip
async def test_a_page_is_left_by_a_click_on_esc_or_beside_it(keys):
    async with stepper(handmade.twice()).run_test(size=LARGE) as pilot:
        await pilot.press(*keys)
        await until(pilot, lambda: not is_stepper(pilot))
        await click(pilot, "Esc")
        await until(pilot, lambda: is_stepper(pilot))
        await pilot.press(*(("right",) if keys[0] == "P" else keys[-1:]))
        await until(pilot, lambda: not is_stepper(pilot))
        await pilot.click(offset=(0, 0))
        await until(pilot, lambda: is_stepper(pilot))


async def test_the_keys_below_a_page_can_be_clicked():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("end", "enter")
        crumbs = shown(pilot.app, "#crumbs")
        await click(pilot, "Enter follows")
        await until(pilot, lambda: shown(pilot.app, "#crumbs") != crumbs)
        await click(pilot, "Backspace returns")
        await until(pilot, lambda: shown(pilot.app, "#crumbs") == crumbs)
        await click(pilot, "g goes there")
        await until(pilot, lambda: is_stepper(pilot))


async def test_two_passes_are_compared_by_clicks():
    async with stepper(handmade.twice()).run_test(size=LARGE) as pilot:
        await pilot.press("s", "down")
        await click(pilot, "c compares it")
        await until(pilot, lambda: "difference" in shown(pilot.app, "#columns"))


async def test_a_click_on_a_leaf_goes_to_its_step():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("4", "3")
        await click(pilot, "y = 3")
        await until(pilot, lambda: bar(pilot.app) == "step 4 of 5")
        assert row(pilot.app, 1).startswith("▶")


async def test_a_click_on_a_line_of_the_source_goes_to_its_next_step():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        before = bar(pilot.app)
        await click(pilot, "import microtape")
        assert bar(pilot.app) == before, "nothing was recorded there"
        await click(pilot, "z = (x * y) * (x + y)")
        for step in (1, 2, 3, 1):
            await until(pilot, lambda step=step: bar(pilot.app) == f"step {step} of 5")
            await click(pilot, "z = (x * y) * (x + y)")


async def test_a_click_on_a_lines_number_sets_a_breakpoint_and_takes_it_away():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        x, y = place(pilot, "z = (x * y) * (x + y)")
        assert pilot.app.screen.query_one("#source").region.contains(x - 3, y)
        await pilot.click(offset=(x - 2, y))
        await until(pilot, lambda: "◆z = (x * y)" in shown(pilot.app, "#source"))
        assert pilot.app.screen.stops.breakpoints.every[0].text == ":5"
        await pilot.press("c")
        assert bar(pilot.app) == "step 1 of 5"
        x, y = place(pilot, "z = (x * y) * (x + y)")  # the pane of breakpoints has come, and takes some room
        await pilot.click(offset=(x - 2, y))
        await until(pilot, lambda: "◆" not in shown(pilot.app, "#source"))


@pytest.mark.slow
async def test_setting_a_breakpoint_on_a_far_line_leaves_the_place_that_was_scrolled_to():
    recording = load(Path(tui.__file__).parent / "recordings" / "mlp.tape")
    async with stepper(recording).run_test(size=SMALL) as pilot:
        await pilot.press("2", *["pageup"] * 9)
        source = pilot.app.screen.query_one("#source")
        while "hidden = (points" not in shown(pilot.app, "#source"):
            await pilot.press("down")
        scrolled = source.scroll_offset
        _, y = place(pilot, "hidden = (points")
        await pilot.click(offset=(source.content_region.x + 1, y))
        await until(pilot, lambda: "◆" in shown(pilot.app, "#source"))
        assert source.scroll_offset == scrolled


async def test_a_click_on_a_name_in_a_text_goes_to_its_node():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("right")
        x, y = place(pilot, "→ %2 mul")
        await pilot.click(offset=(x + 3, y))
        await until(pilot, lambda: bar(pilot.app) == "step 3 of 5")
        x, y = place(pilot, "→ x")
        await pilot.click(offset=(x + 2, y))
        await until(pilot, lambda: bar(pilot.app) == "step 5 of 5")


async def test_a_click_on_the_step_of_a_breakpoint_goes_there():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("b", "x", "enter")
        await until(pilot, lambda: "stop at" in shown(pilot.app, "#watch"))
        await click(pilot, "step 5")
        await until(pilot, lambda: bar(pilot.app) == "step 5 of 5")


async def test_all_commands_are_behind_a_word_below():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await click(pilot, "menu")
        await until(pilot, lambda: isinstance(pilot.app.screen, Palette))


async def test_in_an_array_a_click_chooses_the_cell_and_the_array():
    async with stepper(handmade.chain(2, 5)).run_test(size=LARGE) as pilot:
        await pilot.press("end", "a")
        await until(pilot, lambda: isinstance(pilot.app.screen, ArrayScreen))
        grid = pilot.app.screen.query_one("Grid")
        await pilot.click(grid, offset=(grid.gutter_width + 2 * grid.cell_width + 2, 1))
        await until(pilot, lambda: shown(pilot.app, "#here").startswith("gradient[2] ="))
        await pilot.click("#which", offset=(shown(pilot.app, "#which").index("value"), 0))
        await until(pilot, lambda: shown(pilot.app, "#here").startswith("value[0] ="))
