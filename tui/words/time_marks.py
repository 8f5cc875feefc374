"""The marks of the time bar as text: accumulations, origins of NaN, wrong gradients, failure, the stops of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from microtape.recording.findings import Finding, findings
from tui.shell.spans import Line, Span, line, plain
from tui.time.breakpoints import Breakpoints, StopKind
from tui.time.cursor import StepCursor
from tui.time.finding_moments import position_of
from tui.words.differences import wrong_gradients
from tui.words.titles import title

BEGINS = {"nan": "NaN", "infinity": "infinity"}
MOMENT_WIDTH, NODE_WIDTH = 16, 28  # of the columns


class Mark(NamedTuple):
    """A mark at a moment."""

    moment: int
    node: int
    what: str  # such as `accumulates`, `NaN begins`, `failed`; `stops` and `changes` at the stops of a run
    about: str  # the numbers, the error's message, or the text of the breakpoint or watch


def all_marks(cursor: StepCursor) -> list[Mark]:
    """The marks of accumulations, of each origin of NaN and infinity, of gradients found wrong, and of failure."""
    timeline = cursor.timeline
    start = len(timeline.forward)
    found = [Mark(start + i + 1, step.node, "accumulates", "") for i, step in enumerate(timeline.steps)
             if timeline.node(step.node).variable is not None]  # fmt: skip
    found += [Mark(position_of(timeline, one), one.node, f"{BEGINS[one.kind]} begins", _spread(one))
              for one in findings(cursor.recording)
              if one.kind in BEGINS and one.node is not None and one.pass_ == timeline.pass_index]  # fmt: skip
    found += [Mark(start + i + 1, step.node, "finite differences differ", plain(wrong).partition(": ")[2])
              for i, step in enumerate(timeline.steps) for wrong in wrong_gradients(cursor, step)]  # fmt: skip
    error = timeline.pass_.error if timeline.pass_ is not None else None
    if timeline.pass_ is not None and error is not None and timeline.steps:
        what = "failed" if timeline.pass_.has_failed else "cut short"
        found.append(Mark(timeline.last, timeline.steps[-1].node, what, f"{error.type}: {error.message}"))
    return found


def stops(cursor: StepCursor, every: Iterable[tuple[str, StopKind]]) -> list[Mark]:
    """The moments where a run stops at breakpoints, as set by `b`, and at watches.

    Raises:
        LookupError, ExpressionError: a text names nothing; the message is for the user.
    """
    known = Breakpoints(cursor.timeline)
    for text, kind in every:
        known = known.toggle(cursor, text, kind)
    return [Mark(moment, _node_at(cursor, moment), "changes" if one.kind == "watch" else "stops", one.text)
            for one in known.every for moment in one.moments]  # fmt: skip


def mark_lines(cursor: StepCursor, marks: Iterable[Mark]) -> Iterator[Line]:
    """One line per mark, in order of time."""
    found = sorted(marks)
    for one in found:
        name = title(cursor, one.node)
        room = " " * max(NODE_WIDTH - sum(len(span.text) for span in name), 2)
        about = Span(f": {one.about}") if one.about else ""
        yield line(
            Span(moment_name(cursor, one.moment).ljust(MOMENT_WIDTH), "label"),
            *name,
            room,
            Span(one.what, "strong"),
            about,
        )
    if not found:
        yield line(Span("nothing in this pass", "dim"))


def moment_name(cursor: StepCursor, moment: int) -> str:
    """`operation 3` or `step 5`."""
    start = len(cursor.timeline.forward)
    return f"step {moment - start}" if moment > start else f"operation {moment}"


def _spread(finding: Finding) -> str:
    count = len(finding.spread)
    return f"{count:,} {'node is' if count == 1 else 'nodes are'} not finite because of it"


def _node_at(cursor: StepCursor, moment: int) -> int:
    timeline, start = cursor.timeline, len(cursor.timeline.forward)
    return timeline.steps[moment - start - 1].node if moment > start else timeline.forward[moment - 1]
