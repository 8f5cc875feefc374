"""Running through time: breakpoints, watches, conditions, playing, and the line of time."""

import numpy as np
import pytest

from microtape.recording.choosing.condition import Condition, ExpressionError, Facts
from microtape.recording.model.summary import summarize
from tests.support.recordings import handmade
from tests.support.waiting import until
from tests.tui.stepper.test_app import LARGE, SMALL, bar, row, shown, stepper
from tui.shell.spans import plain
from tui.time.breakpoints import Breakpoint, Breakpoints
from tui.time.cursor import StepCursor
from tui.widgets.bars import TimeBar
from tui.widgets.watch_pane import watched


def facts(grad=None, value=None, **more):
    return Facts(**{"grad": grad, "value": value, "op": "mul", "name": "z", "node": 4, "line": 5, "step": 1} | more)


def holds(text, **known):
    return Condition.read(text).holds(facts(**known))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("grad.max() > 10", True),
        ("grad.max() > 20", False),
        ("abs(grad).min() < 1", False),
        ("shape == (3,)", True),
        ("grad.shape == (2,) or op == 'mul'", True),
        ("isnan(grad)", False),
        ("not isnan(grad) and 2 < node <= 4", True),
        ("grad.norm() * 2 > 30", True),
        ("grad < 0", True),
        ("name == 'z'", True),
        ("line > 5", False),
    ],
)
def test_conditions(text, expected):
    assert holds(text, grad=np.array([-3.0, 4.0, 19.0]), value=np.zeros(3)) is expected


def test_nan_and_inf():
    assert holds("isnan(grad)", grad=np.array([1.0, np.nan]))
    assert holds("isinf(value)", value=np.array([1.0, np.inf]))


def test_an_unknown_value_makes_a_condition_false():
    for text in ("grad > 0", "grad.max() < 1", "shape == (3,)", "line == 5 and grad == 0"):
        assert not holds(text)
    assert not holds("name > 3")
    assert not holds("1 / 0 > 1")


def test_of_a_summary_only_what_it_has():
    about = summarize(np.linspace(-1, 1, 100))
    assert holds("grad.max() == 1", grad=about)
    assert holds("grad.shape == (100,)", grad=about)
    assert not holds("grad.norm() > 0", grad=about)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "grad.__class__",
        "grad.tofile('x')",
        "(lambda: 1)()",
        "[x for x in (1,)]",
        "grad[0]",
        "open('x')",
        "10 ** 10 ** 10",
        "f'{grad}'",
        "loss > 1",
        "grad >",
        "(" * 400,
        "1" * 501,
    ],
)
def test_expressions_outside_the_language_are_refused(text):
    with pytest.raises(ExpressionError):
        Condition.read(text)


@pytest.mark.parametrize("text", [":99", "other.py:5", "line 99", "q"])
def test_a_breakpoint_says_that_there_is_no_such_place(text):
    cursor = StepCursor.open(handmade.diamond())
    with pytest.raises(LookupError, match=f"there is no '{text}' here"):
        Breakpoints(cursor.timeline).toggle(cursor, text)


def test_breakpoints_are_toggled_and_know_where_they_stop():
    cursor = StepCursor.open(handmade.diamond())
    stops = Breakpoints(cursor.timeline).toggle(cursor, "mul").toggle(cursor, "grad == 21")
    assert stops.moments == (1, 3, 4, 6, 8), "both products forward and backward, and where x gets 21"
    assert stops.nodes == {2, 4}
    assert (stops.after(4), stops.before(4), stops.after(8)) == (6, 3, None)
    assert stops.why(8) == "grad == 21"
    assert stops.toggle(cursor, "mul").moments == (8,)


def test_a_watch_stops_whenever_something_arrives():
    cursor = StepCursor.open(handmade.diamond())
    assert Breakpoints(cursor.timeline).toggle(cursor, "x", "watch").moments == (5, 6, 8)
    with pytest.raises(LookupError, match="'nope'"):
        Breakpoints(cursor.timeline).toggle(cursor, "nope", "watch")


async def test_b_sets_c_runs_and_capital_c_runs_back():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("b", "a", "d", "d", "enter", "c")
        assert bar(pilot.app) == "step 2 of 5"
        assert row(pilot.app, 3).startswith("▶◆")
        assert "◆" in shown(pilot.app, "TimeBar")
        await pilot.press("c")
        assert bar(pilot.app) == "step 2 of 5", "there is no other"
        await pilot.press("C")
        assert bar(pilot.app) == "operation 2 of 3"
        await pilot.press("b", "a", "d", "d", "enter")
        assert "◆" not in shown(pilot.app, "#tape") + shown(pilot.app, "TimeBar")


async def test_b_enter_is_the_current_node():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("right", "right", "b", "enter", "home", "c")
        assert bar(pilot.app) == "step 2 of 5"


async def test_a_condition_is_typed_and_a_bad_one_explained():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("b", *"grad", "space", "greater_than_sign", "space", *"loss", "enter")
        assert "there is no 'loss' in conditions" in shown(pilot.app, "#problem")
        await pilot.press(*["backspace"] * 4, *"20", "enter", "c")
        assert bar(pilot.app) == "step 5 of 5"
        assert row(pilot.app, 0).startswith("▶")


async def test_breakpoints_go_along_to_another_pass():
    async with stepper(handmade.twice()).run_test(size=LARGE) as pilot:
        await pilot.press("b", *"add", "enter", "right_square_bracket", "c")
        assert bar(pilot.app) == "step 2 of 5"
        assert "pass 2 of 2" in shown(pilot.app, "Heading")


@pytest.mark.slow
async def test_space_plays_to_the_end_and_a_step_stops_it():
    async with stepper(handmade.chain(60)).run_test(size=LARGE) as pilot:
        await pilot.press(*["plus"] * 4, "space")
        assert "playing, 32 per second" in shown(pilot.app, "Heading")
        await until(pilot, lambda: "playing" not in shown(pilot.app, "Heading"))
        cursor = pilot.app.screen.cursor
        assert cursor.position == cursor.timeline.last
        await pilot.press("home", *["minus"] * 6, "space")
        assert "playing, 0.5 per second" in shown(pilot.app, "Heading")
        await pilot.press("right")
        assert "playing" not in shown(pilot.app, "Heading")
        at = pilot.app.screen.cursor.position
        await pilot.press("left")
        assert pilot.app.screen.cursor.position == at - 1


async def test_playing_stops_at_a_breakpoint():
    async with stepper(handmade.chain(60)).run_test(size=LARGE) as pilot:
        await pilot.press("g", *"20", "enter")
        stop = pilot.app.screen.cursor.position
        await pilot.press("b", "enter", "home", *["plus"] * 4, "space")
        await until(pilot, lambda: "playing" not in shown(pilot.app, "Heading"))
        assert pilot.app.screen.cursor.position == stop


async def test_a_click_on_the_line_of_time_goes_there():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        width = pilot.app.screen.query_one(TimeBar).size.width
        await pilot.click(TimeBar, offset=(width - 3, 0))
        assert bar(pilot.app) == "step 5 of 5"
        await pilot.click(TimeBar, offset=(9, 0))
        assert bar(pilot.app) == "operation 0 of 3"


# What is watched


async def test_w_opens_a_pane_with_the_value_the_gradient_and_when_it_changes():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        assert not pilot.app.screen.query_one("#watch").display
        await pilot.press("w", "x", "enter", "c")
        watch = shown(pilot.app, "#watch")
        assert "x  value 2" in watch
        assert "gradient 6  1 of 2 terms" in watch
        assert ".grad    None" in watch
        assert "changes  steps 2 (now), 3, 5" in watch
        await pilot.press("c")
        assert "gradient 21" in shown(pilot.app, "#watch")
        await pilot.press("w", "x", "enter")
        assert not pilot.app.screen.query_one("#watch").display


async def test_on_a_small_terminal_the_watch_is_the_fifth_pane():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("5")
        assert "w watches a tensor or a leaf, b sets a breakpoint." in shown(pilot.app, "#watch")
        await pilot.press("w", "y", "enter", "5")
        assert "y  value 3" in shown(pilot.app, "#watch")


async def test_the_empty_watch_pane_names_the_users_keys():
    keymap = {"ask('watch')": ("f7",), "ask('break at')": ()}
    async with stepper(handmade.diamond(), keymap=keymap).run_test(size=SMALL) as pilot:
        await pilot.press("5")
        assert "F7 watches a tensor or a leaf, ^p sets a breakpoint." in shown(pilot.app, "#watch")


@pytest.mark.parametrize(
    ("moment", "listed"),
    [
        (0, "operations 1, 2, 3, 4, 5, …   24 in all"),
        (11, "…, operations 8, 9, 10, 11 (now), 12, 13, 14, 15, step 1, …   24 in all"),
        (17, "…, operations 14, 15, steps 1, 2 (now), 3, 4, 5, 6, 7, …   24 in all"),
        (24, "…, steps 6, 7, 8, 9 (now)   24 in all"),
    ],
)
def test_a_watch_lists_the_moments_around_the_current_one(moment, listed):
    cursor = StepCursor.open(handmade.chain(12)).to_moment(moment)
    every = Breakpoint("all", "break", tuple(range(1, 25)), frozenset())
    (found,) = (plain(one) for one in watched(cursor, (every,), 100))
    assert found == f"stop at  all  {listed}"


async def test_capital_b_lists_breakpoints_goes_to_one_and_removes_one():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("b", *"mul", "enter", "w", "y", "enter", "B", "down", "enter")
        assert bar(pilot.app).startswith("step")
        await pilot.press("B", "d")
        await pilot.press("escape")
        assert [one.text for one in pilot.app.screen.stops.breakpoints.every] == ["y"]
        await pilot.press("B", "d")
        assert pilot.app.screen.stops.breakpoints.every == ()


async def test_in_a_long_recording_a_condition_is_evaluated_beside(monkeypatch):
    monkeypatch.setattr("tui.stepper.parts.stops.SHORT", 0)
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("b", *"grad", "space", "greater_than_sign", "space", *"20", "enter")
        await until(pilot, lambda: not pilot.app.screen.stops.breakpoints.unknown)
        await pilot.press("c")
        assert bar(pilot.app) == "step 5 of 5"


PLACES = [("3", "node"), ("mul", "op"), (":5", "line"), ("x", "leaf"), ("grad == 21", "condition")]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("text", "kind"), PLACES)
async def test_every_kind_of_breakpoint_stops_shows_on_the_timeline_and_goes(text, kind):
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        pilot.app.screen.stops.toggle(text, "break")
        await pilot.pause()
        assert "◆" in shown(pilot.app, "TimeBar"), kind
        await pilot.press("c")
        assert pilot.app.screen.cursor.position in pilot.app.screen.stops.moments
        pilot.app.screen.stops.toggle(text, "break")
        await pilot.pause()
        assert "◆" not in shown(pilot.app, "TimeBar")
