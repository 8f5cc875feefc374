"""Two recordings side by side: the same moment in the other one, and what differs at a moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from microtape.recording.comparing.differences import Comparison, Difference
from microtape.recording.model.model import Recording
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

    def has_counterpart(self, cursor: StepCursor, side: int) -> bool:
        """Whether the other recording has the pass and the node of this moment."""
        there = self._pass_there(cursor.timeline.pass_index, side)
        return there is not None and (cursor.node is None or self._node_there(cursor.node, side) is not None)

    def counterpart(self, cursor: StepCursor, side: int, other: StepCursor) -> tuple[StepCursor, bool]:
        """The same moment on the timelines of the other side, or the nearest one before; and whether it is the same."""
        index = self._pass_there(cursor.timeline.pass_index, side)
        if index is None:
            return other, False
        there = other.to_pass(index)
        if cursor.node is None:
            return there.to_moment(0 if cursor.is_forward else len(there.timeline.forward)), True
        for position in range(cursor.position, -1, -1):
            moment = self._moment_there(cursor.to_moment(position), side, there)
            if moment is not None:
                return there.to_moment(moment), position == cursor.position
        return there.to_moment(0), False

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

    def _pass_there(self, index: int, side: int) -> int | None:
        """The pass of the other recording that was compared with this one."""
        if not any(one.passes for one in self.recordings):
            return 0
        return next((pair[1 - side] for pair in self.comparison.passes if pair[side] == index), None)

    def _node_there(self, node: int, side: int) -> int | None:
        matching = self.comparison.matching
        return matching.of_b(node) if side else matching.of_a(node)

    def _moment_there(self, here: StepCursor, side: int, there: StepCursor) -> int | None:
        """The moment of the other timeline that records or evaluates the counterpart of the node."""
        node = self._node_there(here.node, side) if here.node is not None else None
        if node is None:
            return None
        if here.is_forward:
            return there.timeline.forward_at.get(node)
        matching = self.comparison.matching
        own = (matching.a if side else matching.b).own
        same = [node] if node in there.timeline.step_of else [one for one in there.timeline.step_of if own[one] == node]
        return next(iter(there.timeline.moments_of(same)[1]), None)


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
