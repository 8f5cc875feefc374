"""The same moment in another recording of the same computation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from microtape.recording.comparing.matching import Matching
from tui.time.cursor import StepCursor


class Crossing(NamedTuple):
    """The way from one of two matched recordings to the other."""

    matching: Matching
    passes: Mapping[int, int]  # position in `Recording.passes` here -> position there
    from_b: bool = False  # the way from b to a of the matching

    def node(self, node: int) -> int | None:
        """The node there that matches a node here."""
        return self.matching.of_b(node) if self.from_b else self.matching.of_a(node)

    def has_counterpart(self, cursor: StepCursor) -> bool:
        """Whether the other recording has the pass and the node of this moment."""
        there = self._pass_there(cursor)
        return there is not None and (cursor.node is None or self.node(cursor.node) is not None)

    def counterpart(self, cursor: StepCursor, other: StepCursor) -> tuple[StepCursor, bool]:
        """The same moment on the timelines of `other`, or the nearest one before; and whether it is the same."""
        index = self._pass_there(cursor)
        if index is None:
            return other, False
        there = other.to_pass(index)
        if cursor.node is None:
            return there.to_moment(0 if cursor.is_forward else len(there.timeline.forward)), True
        for position in range(cursor.position, -1, -1):
            moment = self._moment_there(cursor.to_moment(position), there)
            if moment is not None:
                return there.to_moment(moment), position == cursor.position
        return there.to_moment(0), False

    def _pass_there(self, cursor: StepCursor) -> int | None:
        if not self.matching.a.recording.passes and not self.matching.b.recording.passes:
            return 0
        return self.passes.get(cursor.timeline.pass_index)

    def _moment_there(self, here: StepCursor, there: StepCursor) -> int | None:
        """The moment of the other timeline that records or evaluates the counterpart of the node."""
        node = self.node(here.node) if here.node is not None else None
        if node is None:
            return None
        if here.is_forward:
            return there.timeline.forward_at.get(node)
        own = (self.matching.a if self.from_b else self.matching.b).own
        same = [node] if node in there.timeline.step_of else [one for one in there.timeline.step_of if own[one] == node]
        return next(iter(there.timeline.moments_of(same)[1]), None)
