"""The array viewer: every number, any rank, what is not finite, and what was not kept."""

import math
from itertools import pairwise

import numpy as np
import pytest
from rich.color import ColorType
from textual.app import App

import microtape as mt
from microtape.recording.findings import Finding
from microtape.recording.model.summary import summarize
from tests.support.recordings import handmade
from tests.tui.stepper.test_app import LARGE, SMALL, shown, stepper
from tui.time.arrays import arrays_of, where_it_begins
from tui.time.cursor import StepCursor
from tui.widgets.array_view import ArrayScreen, as_matrix
from tui.widgets.number_grid import NOT_FINITE, heat, short

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


def footer(app):
    return str(app.screen.query_one("Vertical").border_subtitle)


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
        assert "1 NaN   1 -Inf" in pilot.app.screen.query_one("#about").render().plain


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


async def test_only_whole_numbers_are_drawn_however_wide_the_page_is():
    value = np.random.default_rng(0).normal(size=(3, 40)) * 10.0 ** np.arange(-20, 20)
    value[1, ::7] = math.nan
    async with Viewer(("gradient", value)).run_test(size=SMALL) as pilot:
        for width in range(30, 131, 7):
            await pilot.resize_terminal(width, 24)
            for key in ("right", "right", "right", "left"):
                await pilot.press(key)
            chosen = here(pilot.app)
            columns, *rows = [line.split() for line in grid(pilot.app)[:4]]
            assert set(columns) <= set(map(str, range(40)))
            assert chosen.split("]")[0].split()[-1] in columns
            for number, (label, *texts) in enumerate(rows):
                assert label == str(number)
                assert texts == [short(value[number, int(column)], 9) for column in columns]


async def test_the_last_column_comes_into_view_by_scrolling():
    async with Viewer(("gradient", np.ones((2, 40)))).run_test(size=SMALL) as pilot:
        for width in range(70, 81):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()  # until it knows how far it can scroll
            numbers = pilot.app.screen.query_one("Grid")
            numbers.scroll_to(x=numbers.max_scroll_x, animate=False)
            await pilot.pause()
            assert grid(pilot.app)[0].split()[-1] == "39"


async def test_the_map_labels_every_fifth_column_in_full():
    async with Viewer(("gradient", np.ones((2, 128)))).run_test(size=SMALL) as pilot:
        await pilot.press("m", *["right"] * 60)
        labels = grid(pilot.app)[0].split()
        assert labels == [str(number) for number in range(int(labels[0]), int(labels[0]) + 5 * len(labels), 5)]
        assert int(labels[-1]) > 9


@pytest.mark.parametrize(
    ("coloured", "told"),
    [(True, "blue negative, red positive, strongest at 3   !! NaN or Inf"), (False, "tenths of 3")],
)
async def test_the_map_has_a_legend(coloured, told):
    async with Viewer(("gradient", np.array([1.0, -3.0, math.nan]))).run_test(size=SMALL) as pilot:
        pilot.app.no_color = not coloured
        assert told not in here(pilot.app)
        await pilot.press("m")
        assert told in here(pilot.app)


async def test_n_goes_to_the_next_number_that_is_not_finite_and_round():
    value = np.zeros((4, 3, 50, 60))
    places = [(1, 2, 49, 3), (3, 0, 0, 59), (3, 2, 7, 0)]
    for place, bad in zip(places, (math.nan, math.inf, -math.inf), strict=True):
        value[place] = bad
    async with Viewer(("value", value)).run_test(size=SMALL) as pilot:
        for number, place in enumerate([*places, places[0]]):
            await pilot.press("n")
            assert here(pilot.app).startswith(f"value[{', '.join(map(str, place))}] = {value[place].item()}")
            assert f"{number % 3 + 1} of 3 that are not finite" in here(pilot.app)
            assert any(str(value[place].item()) in line for line in grid(pilot.app))
        await pilot.press("N")
        assert here(pilot.app).startswith("value[3, 2, 7, 0] = -inf")


@pytest.mark.parametrize(
    ("bad", "told"),
    [([math.nan], "n next NaN"), ([-math.inf], "n next Inf"), ([math.nan, math.inf], "n NaN/Inf"), ([], None)],
)
async def test_the_border_tells_of_n_where_there_is_something_to_go_to(bad, told):
    async with Viewer(("value", np.array([0.0, *bad]))).run_test(size=SMALL) as pilot:
        assert told in footer(pilot.app) if told else "')]n " not in footer(pilot.app)
        await pilot.press("n")
        assert here(pilot.app).startswith(f"value[{1 if bad else 0}]")


async def test_n_says_why_there_is_nowhere_to_go():
    about = summarize(np.full((90, 100), math.nan))
    async with Viewer(("value", about), ("kept x", np.array(1))).run_test(size=SMALL) as pilot:
        await pilot.press("n", "tab", "N")
        await pilot.pause()
        told = [one.message for one in pilot.app._notifications]
        assert told == ["value was not kept whole.", "kept x has no NaN and no Inf."]


@pytest.mark.parametrize("shape", [(90, 100), (3, 30, 100), (9000,), (5, 9000)])
async def test_blocks_of_a_summary_are_labelled_by_their_first_row_and_column(shape):
    value = np.arange(math.prod(shape), dtype=float).reshape(shape)
    async with Viewer(("value", summarize(value))).run_test(size=(200, 40)) as pilot:
        columns, *rows = [line.split() for line in grid(pilot.app)]
        columns, matrix = [*map(int, columns), shape[-1]], value.reshape(-1, shape[-1])
        starts = [*(int(row[0]) for row in rows if row), len(matrix)]
        for row, first, end in zip(rows, starts, starts[1:], strict=False):
            means = [matrix[first:end, a:b].mean() for a, b in pairwise(columns)]
            assert [float(text) for text in row[1:]] == pytest.approx(means, rel=1e-3)


def test_a_finding_of_nan_is_about_an_element():
    fine, bad, mask = np.ones(2), np.array([[1.0, 2.0], [3.0, math.nan]]), np.array([0.0, -math.inf])
    forward = Finding("nan", "error", "", (), "", None)
    backward = forward._replace(step=3)
    assert where_it_begins([("gradient", bad), ("kept x", bad), ("value", bad)], forward) == (2, (1, 1))
    assert where_it_begins([("gradient", fine), ("value", bad), ("to %1", bad)], backward) == (2, (1, 1))
    assert where_it_begins([("value", mask)], forward) == (0, ())
    assert where_it_begins([("value", mask)], forward._replace(kind="infinity")) == (0, (1,))
    assert where_it_begins([("value", summarize(bad))], forward) == (0, ())
    assert where_it_begins([("value", bad)], forward._replace(kind="no gradient")) == (0, ())


async def test_the_numbers_of_a_finding_open_where_it_begins():
    x = np.ones((3, 40, 30))
    x[2, 31, 17] = -1.0
    a = mt.tensor(x, requires_grad=True)
    async with stepper(mt.record(a.sqrt().sum().backward)).run_test(size=SMALL) as pilot:
        await pilot.press("exclamation_mark", "a")
        assert here(pilot.app).startswith("value[2, 31, 17] = nan")
        assert any("nan" in line for line in grid(pilot.app))
        await pilot.press("escape", "end", "a")
        assert here(pilot.app).startswith("gradient[0, 0, 0] =")
