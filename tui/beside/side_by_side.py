"""Two recordings side by side: what differs at a moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from microtape.recording.comparing.differences import Comparison, Difference
from microtape.recording.model.model import Recording
from tui.beside.crossing import Crossing
from tui.time.cursor import StepCursor
from tui.time.timeline import Timeline

FORWARD = ("input", "value")  # kinds of differences that are of an operation, unless it ran during backward
AT_THE_END = ("captured", "error", "not evaluated")


class SideBySide:
    """A comparison as the stepper asks for it. Side 0 is recording a, side 1 is b."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.recordings = comparison.a, comparison.b
        self._known: dict[tuple[int, int], Mapping[int, list[Difference]]] = {}

    def crossing(self, side: int) -> Crossing:
        """The way from this side to the other."""
        passes = {pair[side]: pair[1 - side] for pair in self.comparison.passes}
        return Crossing(self.comparison.matching, passes, from_b=bool(side))

    def side_of(self, recording: Recording) -> int | None:
        """Which of the recordings this is, perhaps with checks that were made later; None if it is neither."""
        return next((i for i, one in enumerate(self.recordings) if one.nodes is recording.nodes), None)

    def differences(self, cursor: StepCursor, side: int) -> Sequence[Difference]:
        """What differs at this moment, in order of time."""
        return self._by_moment(cursor.timeline, side).get(cursor.position, ())

    def to(self, one: Difference, cursor: StepCursor, side: int) -> StepCursor:
        """The moment of a difference."""
        there = cursor.to_pass(self._pass_of(one, side))
        return there.to_moment(_moment(one, there.timeline, side))

    def _by_moment(self, timeline: Timeline, side: int) -> Mapping[int, list[Difference]]:
        """The differences in a pass by their moment."""
        key = side, timeline.pass_index
        if key not in self._known:
            found: dict[int, list[Difference]] = {}
            for one in self.comparison.differences:
                if self._pass_of(one, side) == timeline.pass_index:
                    found.setdefault(_moment(one, timeline, side), []).append(one)
            self._known[key] = found
        return self._known[key]

    def _pass_of(self, one: Difference, side: int) -> int:
        return one.passes[side] if one.passes is not None else max(len(self.recordings[side].passes) - 1, 0)


def _moment(one: Difference, timeline: Timeline, side: int) -> int:
    """The moment of a difference on the timeline of its pass."""
    start = len(timeline.forward)
    step = one.steps[side] if one.steps is not None else None
    if step is not None:
        return start + step + 1
    if one.kind in AT_THE_END:
        return timeline.last
    if one.kind in FORWARD and one.nodes is not None:
        return timeline.forward_at.get(one.nodes[side], start)
    return start
