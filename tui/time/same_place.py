"""The same place in another recording of the same program, which may have been changed in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from microtape.recording.model.model import NodeRecord, Recording
from tui.time.cursor import StepCursor
from tui.time.source import expression
from tui.time.source import lines as source_lines

GONE = "what you stood at is no longer there: this is the nearest"


def same_place(old: StepCursor, recording: Recording) -> tuple[StepCursor, str]:
    """A cursor on the new recording where the old one stood, and what there is to say: nothing if it is the same place.

    A node is the same if two of three are as they were: its operation, its name, its line. Of several such, as in a
    loop, the one that comes as late as the old one did. A pass that fails, where the old one did not, is shown where
    it fails.
    """
    number = old.timeline.pass_.index if old.timeline.pass_ is not None else 0
    same = [i for i, one in enumerate(recording.passes) if one.index == number]
    index = same[0] if same else max(min(old.timeline.pass_index, len(recording.passes) - 1), 0)
    new = replace(StepCursor.open(recording, index), hides_next=old.hides_next)
    said = "" if same or not recording.passes else f"pass {number + 1} is no longer there"
    old_failed, new_failed = (one.timeline.pass_ is not None and one.timeline.pass_.error is not None
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
    """Looks for the node of one cursor on the timeline of another."""

    def __init__(self, old: StepCursor, new: StepCursor) -> None:
        self.old, self.new = old, new
        assert old.node is not None
        self.wanted = old.timeline.node(old.node)
        self.was_at = self._line(self.wanted)

    def moment(self) -> tuple[int, bool] | None:
        """The moment of the best node, and whether it is the same; None where there is no node at all."""
        old, new = self.old.timeline, self.new.timeline
        before = old.forward if self.old.is_forward else [step.node for step in old.steps]
        after = new.forward if self.old.is_forward else [step.node for step in new.steps]
        first = 1 if self.old.is_forward else len(new.forward) + 1
        if not after:
            return None
        marks = [self._likeness(new.node(node)) for node in after]
        best = max(marks)
        if best[0]:
            which = self._earlier([old.node(node) for node in before])
            every = [i for i, mark in enumerate(marks) if mark == best]
            return first + every[min(which, len(every) - 1)], True
        at = self.old.position - (0 if self.old.is_forward else len(old.forward))
        return first + min(
            range(len(after)), key=lambda i: (self._distance(new.node(after[i])), abs(i + 1 - at))
        ), False

    def _likeness(self, node: NodeRecord) -> tuple[bool, int]:
        """Whether it is the node that we look for, and how much else of it is as it was."""
        named = bool(set(self._names(self.old, self.wanted)) & set(self._names(self.new, node)))
        there = self.was_at is not None and node.place is not None and (node.place.file, node.place.line) == self.was_at
        does = node.op == self.wanted.op and (node.variable is None) == (self.wanted.variable is None)
        is_same = (does and named) or (there and (named or does))
        text = expression(self.new.recording, node.place) == expression(self.old.recording, self.wanted.place)
        return is_same, 2 * named + 2 * there + text

    def _earlier(self, before: Sequence[NodeRecord]) -> int:
        """How many like it the old cursor had passed: the same operation at the same place, with the same names."""

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
        """The file and line where the new program has what stood on the node's line in the old one."""
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
    """Which line became which, counted from 1. A line that was changed became the one that stands in its place."""
    found: dict[int, int] = {}
    for _, i, end, j, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for k in range(i, end):
            found[k + 1] = min(j + k - i, max(new_end - 1, j)) + 1
    return found
