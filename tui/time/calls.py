"""A position inside the user's functions that ran in one step: forward, backward, hooks, recomputations.

A `CallCursor` is to the steps of such functions what a `StepCursor` is to the steps of a pass.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace

from microtape.recording.findings.finding import FindingKind, RankKind
from microtape.recording.model.calls import CallRecord, CallStep
from microtape.recording.model.model import BackwardStep, Operand, Recording
from microtape.recording.model.summary import is_finite
from tui.time.cursor import StepCursor
from tui.time.node_names import AtLine
from tui.time.timeline import Timeline

RETURNED: tuple[FindingKind, ...] = ("wrong return", "missing gradient", "unneeded gradient", "fitted gradient")


@dataclass(frozen=True)
class CallCursor:
    """A step of one of the calls that are walked one after the other.

    Moving never fails; the cursor stops at the first and the last step of all calls.
    """

    recording: Recording
    calls: tuple[int, ...]
    at: int = 0  # which of the calls
    position: int = 0  # which of its steps
    outer: CallCursor | None = None  # the step that called these, if the user came from there

    @classmethod
    def open(cls, moment: StepCursor, kind: FindingKind | RankKind | None = None) -> CallCursor | None:
        """The first step of the calls of a moment; None without calls.

        Where one of them raised, the step that did; where a finding of this kind is about the moment, its step.
        """
        calls = moment.timeline.calls.get(moment.position)
        return cls(moment.recording, calls)._opened(kind) if calls else None

    def _opened(self, kind: FindingKind | RankKind | None = None) -> CallCursor:
        every = list(everywhere(self))
        raised = (one for one in every if one.step.kind == "raise")
        return next(raised, None) or next((one for one in every if kind is not None and one._is_about(kind)), self)

    def _is_about(self, kind: FindingKind | RankKind) -> bool:
        """Whether this is the step that a finding of that kind is about."""
        if kind in ("nan", "infinity"):
            return not all(map(self._is_finite, self.step.outputs)) and all(map(self._is_finite, self.step.operands))
        of_backward = self.call.kind == "backward" and self.outer is None
        return of_backward and (kind == "wrong derivative" or (kind in RETURNED and self.step.kind == "return"))

    def _is_finite(self, one: Operand) -> bool:
        return is_finite(self.recording.value(one.ref))

    # Where it is

    @property
    def call(self) -> CallRecord:
        """The call."""
        return self.recording.calls[self.calls[self.at]]

    @property
    def step(self) -> CallStep:
        """The step that has just run."""
        return self.call.steps[self.position]

    @property
    def before(self) -> CallStep | None:
        """The step before it in the same call."""
        return self.call.steps[self.position - 1] if self.position else None

    @property
    def number(self) -> int:
        """The number of the step in its call, from 1. Steps that were left out are counted."""
        return self.position + 1 + (self.call.left_out if self.position >= self.call.left_out_at else 0)

    @property
    def count(self) -> int:
        """How many steps the call had."""
        return len(self.call.steps) + self.call.left_out

    @property
    def trail(self) -> tuple[CallCursor, ...]:
        """The steps through which the user came, the outermost first, and this one."""
        return (*(self.outer.trail if self.outer is not None else ()), self)

    @property
    def backward_step(self) -> BackwardStep | None:
        """The step of a pass during which the call ran."""
        call = self.call
        passes = (one for one in self.recording.passes if one.index == call.pass_)
        steps = next((one.steps for one in passes), ())
        return steps[call.step] if call.step is not None and call.step < len(steps) else None

    # Moving

    def move(self, by: int) -> CallCursor:
        """That many steps forward, or back if negative; from the end of a call to the next call."""
        starts = self._starts
        there = min(max(starts[self.at] + self.position + by, 0), starts[-1] - 1)
        at = bisect_right(starts, there) - 1
        return replace(self, at=at, position=there - starts[at])

    @property
    def _starts(self) -> list[int]:
        """How many steps there are before each call, and in all."""
        starts = [0]
        for one in self.calls:
            starts.append(starts[-1] + len(self.recording.calls[one].steps))
        return starts

    def home(self) -> CallCursor:
        """The beginning of this call; from there, that of the first one."""
        return replace(self, position=0) if self.position else replace(self, at=0)

    def end(self) -> CallCursor:
        """The end of this call; from there, that of the last one."""
        last = len(self.call.steps) - 1
        if self.position < last:
            return replace(self, position=last)
        return self.move(self._starts[-1])

    def to(self, position: int) -> CallCursor:
        """Another step of the same call."""
        return replace(self, position=min(max(position, 0), len(self.call.steps) - 1))

    def into(self) -> CallCursor | None:
        """Like `inner`, but where that call raised, the step that did."""
        inner = self.inner()
        return inner._opened() if inner is not None else None

    def inner(self) -> CallCursor | None:
        """The first step of the call that this step made; None if it made none, or if that was not kept."""
        step = self.step
        if step.kind != "call" or step.inner is None or not 0 <= step.inner < len(self.recording.calls):
            return None
        found = CallCursor(self.recording, (step.inner,), outer=self)
        return found if found.call.steps else None

    def run(self, stops: AtLine, by: int) -> CallCursor | None:
        """The next place where a run stops, or the previous one; also in a call of these, and further out."""
        every = list(everywhere(self.trail[0]))
        here = every.index(self)
        found = [i for i, one in enumerate(every) if one.begins_line(stops)]
        at = bisect_right(found, here) if by > 0 else bisect_left(found, here) - 1
        return every[found[at]] if 0 <= at < len(found) else None

    def begins_line(self, stops: AtLine) -> bool:
        """Whether the step is the first of its line, and the line has a breakpoint."""
        before = self.before
        return stops(self.step.place) and not (before is not None and stops(before.place))


def everywhere(cursor: CallCursor) -> Iterator[CallCursor]:
    """All steps of the cursor's calls in order of time; a call that a step made comes before that step."""
    for at, number in enumerate(cursor.calls):
        for position in range(len(cursor.recording.calls[number].steps)):
            here = replace(cursor, at=at, position=position)
            inner = here.inner()
            if inner is not None:
                yield from everywhere(inner)
            yield here


def caller_of(recording: Recording, pass_index: int) -> tuple[StepCursor, CallCursor] | None:
    """The moment of another pass and the step inside of it that called this pass; None for a pass of the program's."""
    for call in recording.calls:
        if any(one.kind == "pass" and one.inner == pass_index for one in call.steps):
            while call.outer is not None and recording.calls[call.outer].pass_ == call.pass_:
                call = recording.calls[call.outer]
            for position, one in enumerate(recording.passes):
                if one.index != pass_index and call.pass_ in (None, one.index):
                    timeline = Timeline(recording, position)
                    found = _caller_in(timeline, pass_index)
                    if found is not None:
                        return found
    return None


def _caller_in(timeline: Timeline, pass_index: int) -> tuple[StepCursor, CallCursor] | None:
    for moment, calls in timeline.calls.items():
        for one in everywhere(CallCursor(timeline.recording, calls)):
            if one.step.kind == "pass" and one.step.inner == pass_index:
                return StepCursor(timeline, moment), one
    return None
