"""Breakpoints: a run stops at a node, operation, line or name, when a condition holds, or when a watch changes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from microtape.recording.choosing.condition import Condition, ExpressionError, Facts
from microtape.recording.model.model import BackwardStep, NodeRecord, Place
from microtape.recording.model.summary import has_nan
from tui.time.calls import CallCursor, everywhere
from tui.time.cursor import StepCursor
from tui.time.node_names import LINE, AtLine, line_named, not_here
from tui.time.timeline import Timeline

StopKind: TypeAlias = Literal["break", "watch"]
Matcher: TypeAlias = Callable[[NodeRecord, BackwardStep | None], bool]


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A breakpoint or watch as the user wrote it, with its moments and nodes on a timeline."""

    text: str
    kind: StopKind
    moments: tuple[int, ...]
    nodes: frozenset[int]  # empty for a condition, which may hold anywhere
    line: AtLine | None = field(default=None, compare=False)  # if it is one of a line, which may be in a function
    condition: Condition | None = None
    is_known: bool = True  # False: the condition has not been evaluated at every moment yet


@dataclass(frozen=True)
class Breakpoints:
    """All breakpoints on one timeline. Immutable: setting a breakpoint returns a new collection."""

    timeline: Timeline
    every: tuple[Breakpoint, ...] = ()

    def toggle(self, cursor: StepCursor, text: str, kind: StopKind = "break", *, evaluate: bool = True) -> Breakpoints:
        """Set or remove a breakpoint. Without `evaluate`, a condition gets its moments later, by `known`.

        Raises:
            LookupError: the text names nothing in this pass; the message is for the user.
            ExpressionError: the text is neither a place nor a condition.
        """
        text = text.strip()
        left = tuple(one for one in self.every if (one.text, one.kind) != (text, kind))
        if len(left) < len(self.every):
            return Breakpoints(self.timeline, left)
        return Breakpoints(self.timeline, (*left, _make(cursor, text, kind, evaluate)))

    def without(self, one: Breakpoint) -> Breakpoints:
        """All breakpoints but this one."""
        return Breakpoints(self.timeline, tuple(each for each in self.every if each is not one))

    def known(self, text: str, moments: tuple[int, ...]) -> Breakpoints:
        """The same breakpoints with the moments of a condition filled in, if it is still set."""
        return Breakpoints(self.timeline, tuple(
            replace(one, moments=moments, is_known=True) if not one.is_known and one.text == text else one
            for one in self.every
        ))  # fmt: skip

    @property
    def unknown(self) -> tuple[Condition, ...]:
        """The conditions that have not been evaluated yet."""
        return tuple(one.condition for one in self.every if one.condition is not None and not one.is_known)

    def on(self, cursor: StepCursor, *, evaluate: bool = True) -> Breakpoints:
        """The same breakpoints on the cursor's timeline. One that names nothing there stays, for other passes."""
        made = []
        for one in self.every:
            try:
                made.append(_make(cursor, one.text, one.kind, evaluate))
            except (LookupError, ExpressionError):  # `%4`, where the pass has no such node
                made.append(Breakpoint(one.text, one.kind, (), frozenset()))
        return Breakpoints(cursor.timeline, tuple(made))

    @property
    def moments(self) -> tuple[int, ...]:
        """The moments at which a run stops, ascending."""
        return tuple(sorted({moment for one in self.every for moment in one.moments}))

    @property
    def nodes(self) -> frozenset[int]:
        """The nodes with a breakpoint or watch."""
        return frozenset(node for one in self.every for node in one.nodes)

    @property
    def watched(self) -> tuple[int, ...]:
        """The nodes with a watch."""
        return tuple(dict.fromkeys(node for one in self.every if one.kind == "watch" for node in sorted(one.nodes)))

    def after(self, position: int) -> int | None:
        """The first moment after `position` to stop at, or None."""
        moments = self.moments
        at = bisect_right(moments, position)
        return moments[at] if at < len(moments) else None

    def before(self, position: int) -> int | None:
        """The last moment before `position` to stop at, or None."""
        moments = self.moments
        at = bisect_left(moments, position)
        return moments[at - 1] if at else None

    def at_line(self, place: Place | None) -> bool:
        """Whether a breakpoint is on the line of a place, such as that of a step inside of a function."""
        return any(one.line is not None and one.line(place) for one in self.every)

    def why(self, position: int) -> str:
        """The breakpoints that stop at `position`, as the user wrote them."""
        return ", ".join(one.text for one in self.every if position in one.moments)


def _make(cursor: StepCursor, text: str, kind: StopKind, evaluate: bool) -> Breakpoint:
    timeline = cursor.timeline
    start = len(timeline.forward)
    line = line_named(text) if kind == "break" else None
    inside = _inside(timeline, line) if line is not None else set()
    if (nodes := cursor.find(text)) or inside or kind == "watch":
        if not nodes and not inside:
            raise LookupError(not_here(timeline, text))
        forward, backward = timeline.moments_of(nodes)
        came = (start + step + 1 for node in nodes for step, _ in timeline.received(node))
        moments = {*forward, *backward, *inside, *(came if kind == "watch" else ())}
        return Breakpoint(text, kind, tuple(sorted(moments)), nodes, line)
    if text.isidentifier() or LINE.fullmatch(text.strip()):
        raise LookupError(not_here(timeline, text))
    condition = Condition.read(text)
    there = held(timeline, condition) if evaluate else ()
    return Breakpoint(text, kind, there, frozenset(), None, condition, evaluate)


def _inside(timeline: Timeline, line: AtLine) -> set[int]:
    """The moments during which the line ran, in a function of the user's."""
    return {
        moment for moment, calls in timeline.calls.items()
        if any(line(one.step.place) for one in everywhere(CallCursor(timeline.recording, calls)))
    }  # fmt: skip


def held(timeline: Timeline, condition: Condition) -> tuple[int, ...]:
    """The moments at which a condition holds. It is evaluated at every moment, which takes about 10 µs each."""
    return tuple(moment for moment, node, step in _moments(timeline) if condition.holds(_facts(timeline, node, step)))


def _moments(timeline: Timeline) -> Iterator[tuple[int, int, BackwardStep | None]]:
    yield from ((i + 1, node, None) for i, node in enumerate(timeline.forward))
    start = len(timeline.forward)
    yield from ((start + i + 1, step.node, step) for i, step in enumerate(timeline.steps))


def _facts(timeline: Timeline, node: int, step: BackwardStep | None) -> Facts:
    record, recording = timeline.node(node), timeline.recording
    ref = timeline.leaf_ref.get(record.variable) if record.variable is not None else next(iter(record.outputs), None)
    return Facts.of(recording, node, step, ref)


def first_nan(timeline: Timeline) -> int | None:
    """The first moment at which a NaN was computed."""
    for moment, node, step in _moments(timeline):
        if step is None:
            values = [timeline.recording.value(ref) for ref in timeline.node(node).outputs]
        else:
            values = [one.term for one in step.deliveries]
        if any(map(has_nan, values)):
            return moment
    return None
