"""A cursor in a recording: where it can go, and what was true there."""

import numpy as np
import pytest

from microtape.recording.file.tape_file import load
from tests.support.recordings import handmade
from tui.shell.demos import names, recording_of
from tui.time.cursor import StepCursor


@pytest.fixture
def start():
    return StepCursor.open(handmade.diamond())


def walk(cursor):
    yield cursor
    while cursor != cursor.forward():
        cursor = cursor.forward()
        yield cursor


def labels(cursor, nodes):
    return [cursor.recording.label(node) for node in nodes]


def test_it_opens_where_backward_was_called(start):
    assert (start.steps_done, start.is_forward, start.node, start.next_node) == (0, False, None, 4)


def test_it_opens_a_failed_pass_where_it_failed():
    cursor = StepCursor.open(handmade.failing())
    assert cursor.step.error is not None
    assert cursor.recording.label(cursor.node) == "e"


def test_steps_come_in_the_engines_order(start):
    assert labels(start, [cursor.node for cursor in walk(start)][1:]) == ["z", "%3", "%2", "y", "x"]


def test_the_forward_part_comes_first(start):
    beginning = start.home()
    assert beginning.position == 0
    assert [cursor.node for cursor in walk(beginning)][:4] == [None, 2, 3, None]


def test_back_undoes_forward_everywhere(start):
    for cursor in list(walk(start.home()))[:-1]:
        assert cursor.forward().back() == cursor


def test_it_stops_at_both_ends(start):
    assert start.home().back() == start.home()
    assert start.end().forward() == start.end()
    assert start.move(10_000) == start.end()


def test_home_is_the_call_of_backward_and_then_the_beginning(start):
    assert start.end().home() == start
    assert start.home().position == 0


@pytest.mark.parametrize(
    ("target", "node"),
    [
        ("2", 2),
        ("%2", 2),
        (":5", 4),
        ("diamond.py:5", 4),
        ("line 5", 4),
        ("x", 0),
        ("z", 4),
        ("add", 3),
        ("MulBackward0", 4),
        (" y ", 1),
    ],
)
def test_goto_finds_a_node_by_number_line_name_and_operation(start, target, node):
    assert start.goto(target).node == node


def test_goto_again_finds_the_next_one_and_goes_round(start):
    first = start.goto("mul")
    second = first.goto("mul")
    assert [first.node, second.node, second.goto("mul").node] == [4, 2, 4]


def test_goto_in_the_forward_part_finds_the_operation(start):
    assert start.home().forward().goto("add").is_forward
    assert start.home().goto("x").step is not None, "a leaf has no operation, so its step is found"


@pytest.mark.parametrize("target", ["nothing", "999", ":99", "other.py:5", "", "%"])
def test_goto_says_that_there_is_no_such_thing(start, target):
    with pytest.raises(LookupError, match="there is no"):
        start.goto(target)


def test_states_go_from_future_over_current_to_done(start):
    assert [cursor.state(2) for cursor in walk(start)] == ["future", "future", "future", "current", "done", "done"]


def test_a_node_that_backward_does_not_reach_is_outside():
    tape = handmade.Tape("x.py", "")
    x = tape.tensor("x", 1)
    used = tape.op("exp", "", [x], 2, [lambda g: g])
    tape.op("log", "", [x], 3, [lambda g: g])
    tape.backward(used)
    assert StepCursor.open(tape.recording()).state(2) == "outside"


def test_a_buffer_fills_term_by_term(start):
    at = list(walk(start))
    assert [cursor.buffer(0) for cursor in at[:4]] == [{}, {}, {0: 6}, {0: 21}]
    assert [cursor.dependencies_left(0) for cursor in at[:4]] == [2, 2, 1, 0]


def test_the_seed_is_the_first_gradient(start):
    assert start.gradient(4) == 1
    assert start.gradient(2) is None


def test_the_ready_queue_is_what_the_engine_said(start):
    assert [labels(start, cursor.ready) for cursor in walk(start)] == [
        ["z"],
        ["%3", "%2"],
        ["%2"],
        ["y", "x"],
        ["x"],
        [],
    ]


def test_a_leaf_collects_its_terms_before_its_grad(start):
    statuses = [cursor.leaf(0) for cursor in walk(start)]
    assert [status.state for status in statuses] == [
        "none yet",
        "none yet",
        "partial",
        "waiting",
        "waiting",
        "complete",
    ]
    assert [status.grad for status in statuses] == [None, None, None, None, None, 21]
    assert [status.total for status in statuses] == [None, None, 6, 21, 21, 21]
    assert {status.expected for status in statuses} == {2}


def test_a_second_pass_begins_with_the_grad_of_the_first():
    cursor = StepCursor.open(handmade.twice(), 1)
    assert cursor.leaf(0).grad == 21
    assert cursor.end().leaf(0).grad == 42


def test_a_second_pass_shows_its_own_operations_and_the_leaves_it_shares():
    recording = handmade.twice()
    assert [StepCursor.open(recording, i).timeline.rows for i in range(2)] == [(0, 1, 2, 3, 4), (0, 1, 5, 6, 7)]


def test_passes_can_be_turned_and_stop_at_the_ends():
    first = StepCursor.open(handmade.twice())
    second = first.to_pass(1)
    assert second.timeline.pass_index == 1
    assert second.to_pass(2) == second
    assert second.to_pass(-1).timeline.pass_index == 0


def test_values_appear_when_they_are_computed(start):
    beginning = start.home()
    assert beginning.value(2) is None
    assert beginning.forward().value(2) == 6
    assert beginning.value(0) == 2, "a leaf is there from the start"


def test_the_waiting_nodes_are_those_with_some_of_their_terms():
    recording = handmade.chain(400)
    start = StepCursor.open(recording)
    for cursor in walk(start):
        timeline = cursor.timeline
        naive = {n for n in timeline.rows if cursor.arrived(n) and cursor.dependencies_left(n)}
        assert set(timeline.waiting(cursor.steps_done)) == naive


def test_a_recording_without_a_pass_can_be_walked_forwards():
    tape = handmade.Tape("x.py", "")
    tape.op("exp", "", [tape.tensor("x", 1)], np.e, [lambda g: g], name="y")
    cursor = StepCursor.open(tape.recording())
    assert (cursor.step, cursor.next_node, cursor.ready) == (None, None, ())
    assert cursor.home().forward() == cursor
    assert cursor.leaf(0).state == "no part"


def test_an_empty_recording_has_one_moment():
    cursor = StepCursor.open(handmade.Tape("x.py", "").recording())
    assert cursor.forward() == cursor == cursor.back() == cursor.home() == cursor.end()
    assert cursor.focus is None


@pytest.mark.parametrize("name", names())
def test_the_count_of_done_nodes_matches_their_states(name):
    recording = load(recording_of(name))
    for index in range(len(recording.passes)):
        opened = StepCursor.open(recording, index)
        rows = opened.timeline.rows
        for position in range(0, opened.timeline.last + 1, 5):
            for cursor in (opened.to_moment(position), opened.to_moment(position).move_inside(1)):
                done = sum(cursor.state(node) in ("done", "current") for node in rows)
                assert cursor.count_done(np.arange(len(rows))) == done


def test_what_was_worked_out_of_a_pass_is_kept_while_it_was_seen_lately(monkeypatch):
    first = StepCursor.open(handmade.twice())
    second = first.to_pass(1)
    assert second.to_pass(0).timeline is first.timeline
    monkeypatch.setattr("tui.time.timeline.KEPT", 0)
    assert second.to_pass(0).to_pass(1).timeline is not second.timeline
