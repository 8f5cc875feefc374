"""Two recordings side by side: the same moment in the other one, and what differs there."""

from __future__ import annotations

import pytest

import microtape as mt
from microtape.recording import snapshot
from microtape.recording.comparing import compare
from microtape.recording.model.model import Recording
from tests.support.recordings import handmade
from tests.support.recordings.renumbered import renumbered
from tui.beside.side_by_side import SideBySide
from tui.time.cursor import StepCursor


def training(rate: float = 0.1, extra: bool = False) -> Recording:
    def run() -> None:
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(2):
            h = w * w
            if extra:
                h = h * 1.0
            h.exp().sum().backward()
            with mt.no_grad():
                w -= rate * w.grad
            w.grad = None

    return mt.record(run)


def moments(recording: Recording) -> list[StepCursor]:
    found = []
    for index in range(len(recording.passes)):
        cursor = StepCursor.open(recording, index)
        found += [cursor.to_moment(moment) for moment in range(cursor.timeline.last + 1)]
    return found


@pytest.mark.parametrize("seed", range(5))
def test_there_and_back_is_the_same_moment(seed: int) -> None:
    a = training()
    b = renumbered(a, seed)
    both = SideBySide(compare(a, b))
    for here in moments(a):
        there, same = both.crossing(0).counterpart(here, StepCursor.open(b))
        assert same
        assert there.is_forward == here.is_forward
        assert there.node == (None if here.node is None else both.comparison.matching.of_a(here.node))
        back, same = both.crossing(1).counterpart(there, StepCursor.open(a))
        assert same
        assert (back.timeline.pass_index, back.position) == (here.timeline.pass_index, here.position)


def test_without_a_counterpart_it_is_the_nearest_moment_before() -> None:
    a, b = training(), training(extra=True)
    both = SideBySide(compare(a, b))
    for here in moments(b):
        there, same = both.crossing(1).counterpart(here, StepCursor.open(a))
        is_extra = here.node is not None and both.comparison.matching.of_b(here.node) is None
        assert same != is_extra
        assert both.crossing(1).has_counterpart(here) != is_extra
        if is_extra:
            before, _ = both.crossing(1).counterpart(here.back(), StepCursor.open(a))
            assert (there.timeline.pass_index, there.position) == (before.timeline.pass_index, before.position)


def test_a_pass_without_a_counterpart() -> None:
    a, b = training(), handmade.diamond()
    both = SideBySide(compare(a, b))
    here, other = StepCursor.open(a, 1), StepCursor.open(b)
    assert both.crossing(0).counterpart(here, other) == (other, False)
    assert not both.crossing(0).has_counterpart(here)


def test_every_difference_is_at_its_moment_on_both_sides() -> None:
    a, b = training(0.1), training(0.2)
    both = SideBySide(compare(a, b))
    for side, recording in enumerate((a, b)):
        found = [one for here in moments(recording) for one in both.differences(here, side)]
        assert sorted(map(id, found)) == sorted(map(id, both.comparison.differences))
        for one in both.comparison.differences:
            at = both.to(one, StepCursor.open(recording), side)
            assert one in both.differences(at, side)
            if one.kind == "input":
                assert one.nodes is not None
                assert at.node == one.nodes[side]
                assert at.is_forward or at.position == len(at.timeline.forward)


def test_it_knows_its_recordings_with_checks_that_were_made_later() -> None:
    a, b = training(), training()
    both = SideBySide(compare(a, b))
    assert [both.side_of(one) for one in (a, b, training())] == [0, 1, None]


def test_programs_that_never_called_backward() -> None:
    a, b = snapshot((mt.tensor([1.0], requires_grad=True) * 2).exp()), Recording("", (), (), (), {})
    both = SideBySide(compare(a, a))
    for moment in range(StepCursor.open(a).timeline.last + 1):
        here = StepCursor.open(a).to_moment(moment)
        assert both.crossing(0).counterpart(here, StepCursor.open(a))[1]
    assert SideBySide(compare(b, b)).differences(StepCursor.open(b), 0) == ()
