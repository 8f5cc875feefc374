"""The array viewer: every number, any rank, what is not finite, and what was not kept."""

import math

import numpy as np
import pytest
from rich.color import ColorType
from textual.app import App

import microtape as mt
from microtape.recording.model.summary import summarize
from tests.support.recordings import handmade
from tests.tui.stepper.test_app import LARGE, SMALL, shown, stepper
from tests.tui.stepper.test_copy_export import notices
from tui.time.arrays import arrays_of
from tui.time.cursor import StepCursor
from tui.widgets.array_view import NOT_FINITE, ArrayScreen, as_matrix, heat, short

GROUND = (20, 20, 20)


class Viewer(App):
    def __init__(self, *arrays, **options):
        super().__init__()
        self.view = ArrayScreen(arrays, **options)

    def on_mount(self):
        self.push_screen(self.view)


def grid(app):
    return shown(app, "Grid").splitlines()


def here(app):
    return app.screen.query_one("#here").render().plain


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_numbers_stand_in_rows_and_the_chosen_one_is_given_in_full(size):
    value = np.arange(12, dtype=np.float64).reshape(3, 4) / 7
    async with Viewer(("gradient", value)).run_test(size=size) as pilot:
        assert grid(pilot.app)[2].split() == ["1", "0.5714", "0.7143", "0.8571", "1"]
        await pilot.press("down", "right", "right")
        assert here(pilot.app) == f"gradient[1, 2] = {value[1, 2].item()!r}"
        await pilot.press("up", "up", "left")
        assert here(pilot.app) == f"gradient[0, 1] = {value[0, 1].item()!r}"


async def test_slices_of_any_rank_are_turned_with_the_page_keys():
    value = np.arange(48).reshape(2, 3, 2, 4)
    async with Viewer(("value", value)).run_test(size=LARGE) as pilot:
        for _ in range(4):
            await pilot.press("pagedown")
        assert here(pilot.app) == "value[1, 1, 0, 0] = 32"
        for _ in range(9):
            await pilot.press("pagedown")
        assert here(pilot.app) == "value[1, 2, 0, 0] = 40"


@pytest.mark.parametrize("value", [np.array(3.5), np.array([1.0, 2.0]), np.zeros((0, 3)), np.array([True, False])])
async def test_odd_shapes_are_shown_too(value):
    async with Viewer(("value", value)).run_test(size=SMALL) as pilot:
        await pilot.press("right", "down", "pagedown", "m")
        assert here(pilot.app)


@pytest.mark.slow
async def test_a_large_array_is_scrolled_to_the_chosen_element():
    value = np.arange(400 * 300).reshape(400, 300)
    async with Viewer(("value", value)).run_test(size=SMALL) as pilot:
        await pilot.press(*["right"] * 30, *["down"] * 60)
        assert here(pilot.app) == "value[60, 30] = 18030"
        assert any("18030" in line for line in grid(pilot.app))


async def test_a_summary_says_so_and_names_the_option_that_keeps_more():
    about = summarize(np.linspace(-1, 1, 9000).reshape(90, 100))
    async with Viewer(("value", about)).run_test(size=LARGE) as pilot:
        text = pilot.app.screen.query_one("#about").render().plain
        assert "--keep 9000" in text
        assert "mean of a block" in here(pilot.app)
        await pilot.press("right", "enter")


async def test_nan_and_inf_are_words_and_counted():
    value = np.array([[1.0, math.nan], [-math.inf, 2.0]])
    async with Viewer(("value", value)).run_test(size=LARGE) as pilot:
        assert "nan" in grid(pilot.app)[1]
        assert "-inf" in grid(pilot.app)[2]
        assert "1 NaN   1 Inf" in pilot.app.screen.query_one("#about").render().plain


def test_colours_say_sign_and_size():
    below, above = (heat(x, 10.0, GROUND).bgcolor.triplet for x in (-10.0, 10.0))
    assert below.blue > below.red
    assert above.red > above.blue
    assert heat(0.0, 10.0, GROUND).bgcolor.triplet == GROUND
    assert heat(math.nan, 10.0, GROUND).bgcolor.triplet == NOT_FINITE


def test_a_vector_is_a_matrix_of_one_row():
    assert as_matrix(np.array(1.0), []).shape == (1, 1)
    assert as_matrix(np.ones(3), [0]).shape == (1, 3)
    assert as_matrix(np.ones((2, 3, 4)), [1, 0, 0]).shape == (3, 4)


def test_what_there_is_to_look_at():
    names = [name for name, _ in arrays_of(StepCursor.after(handmade.diamond(), 3), 2)]
    assert names == ["gradient", "value", "kept x", "kept y", "to x", "to y"]


async def test_a_opens_it_tab_turns_and_enter_asks_why_of_the_element():
    a = mt.tensor([1.0, 5.0, -2.0], requires_grad=True)
    async with stepper(mt.record((a * a).sum().backward)).run_test(size=LARGE) as pilot:
        await pilot.press("end", "a", "right", "right")
        assert here(pilot.app) == "gradient[2] = -4.0"
        await pilot.press("tab")
        assert here(pilot.app) == "value[0] = 1.0"
        await pilot.press("shift+tab", "right", "right", "enter")
        assert "a[2] = -4" in pilot.app.screen.query_one("#heading").render().plain


@pytest.mark.parametrize("x", [-0.00071194, 1.2345e-10, -1.2345e-300, 123456789.0, math.nan, 10**30, 1 + 2j])
def test_a_number_is_never_cut(x):
    text = short(x, 9)
    assert text == "…" or complex(text) == pytest.approx(x, rel=0.5, nan_ok=True)


async def test_the_map_marks_numbers_that_are_not_finite():
    async with Viewer(("gradient", np.array([[0.0, np.nan], [np.inf, 1.0]]))).run_test(size=SMALL) as pilot:
        await pilot.press("m")
        assert [line.split()[1:] for line in grid(pilot.app)[1:3]] == [["!!"], ["!!"]]


async def test_without_colours_the_map_says_sign_and_size():
    async with Viewer(("gradient", np.array([1.0, -2.0, 0.0]))).run_test(size=SMALL) as pilot:
        pilot.app.no_color = True
        await pilot.press("m")
        assert grid(pilot.app)[1].split(maxsplit=1)[1] == "+5-9 ."


@pytest.mark.parametrize("theme", ["ansi", "ansi-light"])
async def test_a_terminal_of_sixteen_colours_is_asked_for_no_others(theme):
    value = np.array([[0.1, -1.0], [math.nan, 2.0]])
    recording = handmade.Tape("some.py", "")
    recording.backward(recording.op("exp", "", [recording.tensor("x", value)], value, [lambda g: g], name="y"),
                       seed=value)  # fmt: skip
    async with stepper(recording.recording(), theme=theme).run_test(size=LARGE) as pilot:
        await pilot.press("right", "a")
        drawn = [segment for y in range(1, 3) for segment in pilot.app.screen.query_one("Grid").render_line(y)]
        colours = [colour for segment in drawn for colour in (segment.style.color, segment.style.bgcolor) if colour]
        assert {"red", "blue", "magenta"} <= {colour.name.removeprefix("bright_") for colour in colours}
        assert all(colour.type in (ColorType.STANDARD, ColorType.DEFAULT) for colour in colours)


async def test_a_small_array_leaves_the_stepper_in_sight():
    async with stepper(handmade.chain(2, 5)).run_test(size=SMALL) as pilot:
        await pilot.press("end", "a")
        assert pilot.app.screen.query_one("Grid").region.height == 3
        assert pilot.app.screen.query("Vertical").first().region.height < 12


async def test_a_slice_of_more_axes_says_which():
    async with Viewer(("gradient", np.arange(12.0).reshape(3, 2, 2))).run_test(size=SMALL) as pilot:
        assert "slice [0, :, :], 1 of 3" in shown(pilot.app, "#which")
        await pilot.press("pagedown", "pagedown")
        assert "slice [2, :, :], 3 of 3" in shown(pilot.app, "#which")


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_enter_is_offered_only_for_a_gradient_and_leaves_the_page_of_another_array_open(size):
    async with stepper(handmade.chain(2, 5)).run_test(size=size) as pilot:
        await pilot.press("end", "a")
        page = pilot.app.screen
        names = [name for name, _ in page._arrays]
        assert names[0] == "gradient"
        for name in [*names[1:], names[0]]:
            await pilot.press("tab")
            assert ("Enter why" in str(page.query_one("Vertical").border_subtitle)) == (name == "gradient")
            await pilot.press("enter")
            said = f"Only a gradient that was kept whole is explained, not {name}."
            assert (said in notices(pilot.app)) == (pilot.app.screen is page) == (name != "gradient")


async def test_where_nobody_explains_enter_is_not_offered():
    async with Viewer(("gradient", np.arange(3.0))).run_test(size=LARGE) as pilot:
        await pilot.press("enter")
        assert pilot.app.screen is pilot.app.view
        assert "Enter" not in str(pilot.app.view.query_one("Vertical").border_subtitle)
