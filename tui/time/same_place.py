"""Finds the same place in a new recording of a program, which may have changed in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from microtape.recording.model.model import NodeRecord, Recording
from microtape.recording.model.source import expression, source_lines
from tui.time.cursor import StepCursor

GONE = "the previous place no longer exists; this is the nearest"


def same_place(old: StepCursor, recording: Recording) -> tuple[StepCursor, str]:
    """A cursor on the new recording at the old cursor's place, and a remark, which is empty if the place is the same.

    A node counts as the same if at least two of its operation, name and line are unchanged. If several nodes do, as in
    a loop, the node with the same index among them is chosen. If the new pass fails and the old one did not, the cursor
    is at the failure.
    """
    number = old.timeline.pass_.index if old.timeline.pass_ is not None else 0
    same = [i for i, one in enumerate(recording.passes) if one.index == number]
    index = same[0] if same else max(min(old.timeline.pass_index, len(recording.passes) - 1), 0)
    new = replace(StepCursor.open(recording, index), hides_next=old.hides_next)
    said = "" if same or not recording.passes else f"pass {number + 1} no longer exists"
    old_failed, new_failed = (one.timeline.pass_ is not None and one.timeline.pass_.has_failed
                              for one in (old, new))  # fmt: skip
    if new_failed and not old_failed:
        return new, said
    if old.node is None:
        return (new.home().home() if old.is_forward else new.home() if new.steps_done else new), said
    found = _Search(old, new).moment()
    if found is None:
        return new, GONE
    moment, is_same = found
    return new.to_moment(moment), said if is_same else GONE


class _Search:
    """Searches one cursor's timeline for the node of another."""

    def __init__(self, old: StepCursor, new: StepCursor) -> None:
        self.old, self.new = old, new
        assert old.node is not None
        self.wanted = old.timeline.node(old.node)
        self.was_at = self._line(self.wanted)

    def moment(self) -> tuple[int, bool] | None:
        """The moment of the most similar node, and whether it counts as the same; None if there is no node."""
        old, new = self.old.timeline, self.new.timeline
        before = old.forward if self.old.is_forward else [step.node for step in old.steps]
        after = new.forward if self.old.is_forward else [step.node for step in new.steps]
        first = 1 if self.old.is_forward else len(new.forward) + 1
        if not after:
            return None
        scores = [self._likeness(new.node(node)) for node in after]
        best = max(scores)
        if best[0]:
            rank = self._rank([old.node(node) for node in before])
            every = [i for i, score in enumerate(scores) if score == best]
            return first + every[min(rank, len(every) - 1)], True
        at = self.old.position - (0 if self.old.is_forward else len(old.forward))
        return first + min(
            range(len(after)), key=lambda i: (self._distance(new.node(after[i])), abs(i + 1 - at))
        ), False

    def _likeness(self, node: NodeRecord) -> tuple[bool, int]:
        """Whether a node counts as the wanted node, and a score of its unchanged properties."""
        named = bool(set(self._names(self.old, self.wanted)) & set(self._names(self.new, node)))
        there = self.was_at is not None and node.place is not None and (node.place.file, node.place.line) == self.was_at
        does = node.op == self.wanted.op and (node.variable is None) == (self.wanted.variable is None)
        is_same = (does and named) or (there and (named or does))
        text = expression(self.new.recording, node.place) == expression(self.old.recording, self.wanted.place)
        return is_same, 2 * named + 2 * there + text

    def _rank(self, before: Sequence[NodeRecord]) -> int:
        """The index of the wanted node among those with its operation, place and names in the old timeline."""

        def key(node: NodeRecord) -> object:
            return node.op, node.place, self._names(self.old, node)

        passed: Counter[object] = Counter()
        for node in before:
            if node.id == self.wanted.id:
                return passed[key(node)]
            passed[key(node)] += 1
        return 0

    def _distance(self, node: NodeRecord) -> float:
        if self.was_at is None or node.place is None or node.place.file != self.was_at[0]:
            return float("inf")
        return abs(node.place.line - self.was_at[1])

    def _line(self, node: NodeRecord) -> tuple[str, int] | None:
        """The file, and the line in the new program that corresponds to the node's line in the old one."""
        if node.place is None:
            return None
        file = node.place.file
        return file, _moved(source_lines(self.old.recording, file), source_lines(self.new.recording, file)).get(
            node.place.line, node.place.line
        )

    @staticmethod
    def _names(cursor: StepCursor, node: NodeRecord) -> tuple[str, ...]:
        return cursor.names(node.id)


def _moved(old: Sequence[str], new: Sequence[str]) -> Mapping[int, int]:
    """Old line number -> new line number, from 1. A changed line corresponds to the line in its place."""
    found: dict[int, int] = {}
    for _, i, end, j, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for k in range(i, end):
            found[k + 1] = min(j + k - i, max(new_end - 1, j)) + 1
    return found
