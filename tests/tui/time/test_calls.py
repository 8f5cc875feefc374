"""The cursor inside of functions."""

from dataclasses import replace

import pytest

from tests.tui.inside import PROGRAMS, recorded
from tui.time.breakpoints import Breakpoints
from tui.time.calls import CallCursor, caller_of, everywhere
from tui.time.cursor import StepCursor
from tui.time.node_names import line_named


def at_step(name, steps, pass_index=0):
    return StepCursor.after(recorded(name), steps, pass_index)


def kinds(cursor):
    return [cursor.recording.calls[one].kind for one in cursor.calls]


def test_a_moment_has_its_calls_in_order_of_time():
    assert kinds(CallCursor.open(at_step("nested", 2))) == [
        "tensor hook", "node pre-hook", "backward", "node post-hook",
    ]  # fmt: skip
    assert CallCursor.open(at_step("nested", 1)) is None
    forward = CallCursor.open(at_step("nested", 0).goto("%3"))
    assert kinds(forward) == ["tensor hook", "node pre-hook", "backward", "node post-hook"]
    recording_it = at_step("nested", 0).to_moment(at_step("nested", 0).timeline.forward_at[3])
    assert kinds(CallCursor.open(recording_it)) == ["forward", "setup_context"]


@pytest.mark.parametrize("program", sorted(one.stem for one in PROGRAMS.glob("*.py")))
def test_every_call_is_reached_and_every_step_leads_back(program):
    recording = recorded(program)
    reached = set()
    for index in range(len(recording.passes)):
        timeline = StepCursor.open(recording, index).timeline
        for moment in timeline.calls:
            first = CallCursor.open(StepCursor(timeline, moment))
            every = [one for one in everywhere(CallCursor(recording, first.calls)) if one.outer is None]
            walk = [every[0]]
            while (there := walk[-1].move(1)) != walk[-1]:
                walk.append(there)
            assert walk == every
            assert [one.move(-1) for one in walk[1:]] == walk[:-1]
            reached |= {one.call.id for one in everywhere(CallCursor(recording, first.calls))}
    assert reached == {one.id for one in recording.calls}


def test_home_and_end_first_stay_in_the_call():
    cursor = CallCursor.open(at_step("nested", 2)).move(8)
    assert cursor.call.kind == "backward"
    assert cursor.home().position == 0
    assert cursor.home().call is cursor.call
    assert cursor.home().home().at == 0
    assert cursor.end().step.kind == "return"
    assert cursor.end().end().call.kind == "node post-hook"


def test_a_call_that_raised_opens_at_the_step_that_did():
    opened = CallCursor.open(StepCursor.open(recorded("raises")))
    assert opened.step.kind == "raise"
    assert opened.step.place.line == 15


def test_a_finding_opens_at_its_step():
    moment = at_step("clip", 3)
    assert CallCursor.open(moment).call.kind == "tensor hook"
    assert CallCursor.open(moment, "wrong derivative").call.kind == "backward"
    assert CallCursor.open(moment, "missing gradient").step.kind == "return"


def test_the_numbers_of_steps_count_those_that_were_left_out():
    cursor = CallCursor.open(at_step("long", 2))
    assert cursor.count == 402
    assert cursor.end().number == 402
    assert cursor.to(199).number == 200
    assert cursor.to(200).number > 201


def test_a_pass_leads_back_to_the_function_that_called_it():
    recording = recorded("nested")
    moment, inside = caller_of(recording, 1)
    assert moment.timeline.pass_index == 0
    assert moment.steps_done == 2
    assert (inside.call.name, inside.step.kind) == ("Outer.backward", "pass")
    assert caller_of(recording, 0) is None


def test_a_breakpoint_at_a_line_of_a_function_stops_at_the_steps_that_run_it():
    cursor = at_step("clip", 0)
    stops = Breakpoints(cursor.timeline).toggle(cursor, "clip.py:16")
    assert stops.moments == (len(cursor.timeline.forward) + 3,)
    inside = CallCursor.open(cursor.to_moment(stops.moments[0]))
    there = inside.run(stops.at_line, 1)
    assert there.step.place.line == 16
    assert there.run(stops.at_line, 1) is None
    assert there.end().run(stops.at_line, -1) == there


def test_a_run_goes_into_inner_calls_and_out_of_them():
    inside = CallCursor.open(at_step("nested", 2))
    line = line_named(":8")
    there = inside.run(line, 1)
    assert there.call.name == "Square.forward"
    assert there.outer.call.name == "Outer.backward"
    assert there.run(line_named(":35"), 1).call.name == "Outer.backward"


def test_a_line_that_never_ran_is_refused():
    cursor = at_step("clip", 0)
    with pytest.raises(LookupError, match=r"there is no ':1' here"):
        Breakpoints(cursor.timeline).toggle(cursor, ":1")


def test_a_call_that_has_not_begun_is_no_place_to_go_to():
    recording = recorded("clip")
    calls = tuple(one._replace(steps=()) for one in recording.calls)
    assert StepCursor.after(replace(recording, calls=calls), 3).timeline.calls == {}
