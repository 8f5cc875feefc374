"""Breakpoints and watches as a part of the stepper: set, found again in another pass, run to."""

import pytest

from microtape.recording.choosing.condition import ExpressionError
from tests.support.recordings import handmade
from tests.tui.stepper.parts.fakes import FakeBackground, FakeStepper
from tui.stepper.parts import stops as stops_module
from tui.stepper.parts.stops import Stops
from tui.stepper.stops_screen import StopsScreen


def made(recording=None):
    stepper = FakeStepper(recording or handmade.diamond())
    return stepper, stepper.add(Stops(stepper, FakeBackground()))


def test_a_breakpoint_is_set_shown_and_removed():
    stepper, stops = made()
    before = stepper.changes
    stops.break_at("add")
    assert (stops.moments, stops.nodes) == ((2, 5), {3})
    assert stepper.changes == before + 1
    assert stepper.notices == ["breakpoint at add: stops 2 times; <run(1)> runs forward, <run(-1)> back"]
    stops.break_at("add")
    assert (stops.moments, stops.nodes) == ((), frozenset())
    assert stepper.notices[-1] == "removed the breakpoint at add"


def test_an_empty_text_means_the_current_node():
    stepper, stops = made()
    stepper.cursor = stepper.cursor.move(2)
    stops.watch("")
    assert [one.text for one in stops.breakpoints.every] == ["%3"]
    stops = made(handmade.Tape("empty.py", "").recording())[1]
    with pytest.raises(LookupError, match="no current node"):
        stops.watch(" ")


@pytest.mark.parametrize(("text", "error"), [("q", LookupError), ("grad > loss", ExpressionError)])
def test_a_text_that_is_neither_place_nor_condition_is_refused(text, error):
    stops = made()[1]
    with pytest.raises(error):
        stops.break_at(text)
    assert stops.breakpoints.every == ()


def test_in_a_long_recording_a_condition_is_evaluated_in_the_background(monkeypatch):
    monkeypatch.setattr(stops_module, "SHORT", 0)
    stepper, stops = made()
    stops.break_at("grad == 21")
    assert stops.moments == (8,)
    assert [one.split(" ...")[0] for one in stepper.notices] == [
        "evaluating grad == 21 at every step",
        "breakpoint at grad == 21: stops once; <run(1)> runs forward, <run(-1)> back",
    ]


def test_another_pass_has_the_same_breakpoints_at_its_own_moments():
    stepper, stops = made(handmade.twice())
    stops.break_at("add")
    stepper.cursor = stepper.cursor.to_pass(1)
    assert stops.breakpoints.timeline is stepper.cursor.timeline
    stops.run(1)
    assert stepper.cursor.position in stops.moments


def test_running_goes_to_the_next_stop_and_back():
    stepper, stops = made()
    stops.run(1)
    assert stepper.notices[-1].startswith("No breakpoint is set: <ask('break at')> sets one")
    stops.break_at("add")
    stops.run(1)
    assert stepper.cursor.position == 5
    stops.run(1)
    assert stepper.notices[-1] == "No breakpoint after this moment."
    stops.run(-1)
    assert stepper.cursor.position == 2
    stops.run(-1)
    assert stepper.notices[-1] == "No breakpoint before this moment."


def test_the_list_goes_to_a_stop_and_keeps_the_remaining_ones():
    stepper, stops = made()
    stops.stops()
    assert stepper.notices[-1].startswith("No breakpoint or watch is set: <ask('break at')> sets a breakpoint")
    stops.break_at("add")
    stops.watch("y")
    stops.stops()
    assert isinstance(stepper.page, StopsScreen)
    first, second = stops.breakpoints.every
    stepper.close_page((stops.breakpoints.without(second), first))
    assert stops.breakpoints.every == (first,)
    assert stepper.cursor.position == 5


@pytest.mark.parametrize(("what", "position"), [("error", 8), ("grad == 21", 8), ("nan", 3)])
def test_it_runs_until_something_happens(what, position):
    stepper, stops = made()
    stops.run_until(what)
    assert stepper.cursor.position == position, "3 is where it began: there is no NaN"
