"""The views of `microtape trace` that options ask for: a step, an array, the boxes, the passes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from microtape.recording.model.model import Recording
from tui.shell.exits import CommandError
from tui.shell.opening import choose_passes
from tui.shell.spans import Line, plain
from tui.time.arrays import array_lines
from tui.time.box_picture import box_lines
from tui.time.breakpoints import StopKind
from tui.time.cursor import StepCursor
from tui.time.search import found_nodes
from tui.words import trace_json
from tui.words.courses import course_lines
from tui.words.passes import Counterpart, PassOf, comparison_lines, pass_lines, passes_of
from tui.words.time_marks import Mark, all_marks, mark_lines, stops
from tui.words.trace import trace_folded, trace_forward, trace_moment, trace_rows, trace_why


class TraceView(NamedTuple):
    """A view of a moment: `lines(width, ascii)` as text, `data()` for JSON."""

    lines: Callable[[int, bool], Iterable[str]]
    data: Callable[[], dict[str, Any]]


def views_asked_for(
    recording: Recording, compared: tuple[int, ...], arguments: argparse.Namespace
) -> Iterator[TraceView]:
    """The view that the options ask for, of each pass that they choose.

    Raises:
        LookupError, ExpressionError: an option names nothing in this recording; the message is for the user.
    """
    if compared:
        first, second = (choose_passes(recording, str(number))[0] for number in compared)
        yield comparison_view(PassOf(recording, first), PassOf(recording, second))
    elif arguments.lists:
        yield _list(recording)
    elif arguments.courses:
        yield _courses(recording)
    else:
        for one in choose_passes(recording, arguments.passes, arguments.until) or [0]:
            yield _view(recording, one, arguments)


def _view(recording: Recording, pass_index: int, arguments: argparse.Namespace) -> TraceView:
    """The view of one pass. Raises as `views_asked_for`."""
    at = _moment(recording, pass_index, arguments)
    if arguments.why is not None:
        return TraceView(lambda width, ascii: trace_why(at, arguments.why, width=width, ascii=ascii),
                    lambda: trace_json.answer_as_json(at, arguments.why))  # fmt: skip
    if arguments.array is not None:
        return _arrays(at, recording, pass_index, arguments)
    if arguments.boxes:
        return TraceView(lambda _, ascii: box_lines(at, ascii=ascii), lambda: trace_json.boxes_as_json(at))
    if arguments.marks or arguments.stops or arguments.changes:
        return _marks(at, arguments)
    if arguments.find is not None:
        found = found_nodes(at, arguments.find)
        if not found:
            raise LookupError(f"{arguments.find!r} occurs in no row of this pass")
        return TraceView(lambda width, ascii: trace_rows(at, found, width=width, ascii=ascii),
                    lambda: trace_json.rows_as_json(at, found))  # fmt: skip
    if arguments.fold:
        return TraceView(lambda width, ascii: trace_folded(at, width=width, ascii=ascii),
                    lambda: trace_json.folds_as_json(at))  # fmt: skip
    if arguments.forward and arguments.step is None and arguments.node is None:
        return TraceView(lambda width, ascii: trace_forward(at, width=width, ascii=ascii, into=arguments.into),
                    lambda: trace_json.forward_as_json(at, into=arguments.into))  # fmt: skip
    return TraceView(lambda width, ascii: trace_moment(at, width=width, ascii=ascii, into=arguments.into),
                lambda: trace_json.step_as_json(at, into=arguments.into))  # fmt: skip


def _moment(recording: Recording, pass_index: int, arguments: argparse.Namespace) -> StepCursor:
    """The moment after --step steps (with --forward, operations); else the step of --node; else the end of the pass."""
    end = StepCursor.open(recording, pass_index).end()
    start = 0 if arguments.forward else len(end.timeline.forward)
    if arguments.step is not None:
        count = len(end.timeline.forward if arguments.forward else end.timeline.steps)
        if not 0 <= arguments.step <= count:
            what = "operations before it" if arguments.forward else "steps"
            number = recording.passes[pass_index].index + 1 if recording.passes else 1
            raise CommandError(f"pass {number} has {count} {what}: --step takes 0 (before the first) to {count}")
        end = end.to_moment(start + arguments.step)
    return end if arguments.node is None else end.to_moment(start).goto(arguments.node)


def _arrays(at: StepCursor, recording: Recording, pass_index: int, arguments: argparse.Namespace) -> TraceView:
    """The arrays of a node, by default at its own step, the only moment with the gradients that it sent."""
    there = at.to_moment(len(at.timeline.forward)).goto(arguments.array)
    moment = there if arguments.step is None else at
    node = there.focus
    if node is None:
        raise LookupError(f"{arguments.array!r} is not a node")
    return TraceView(lambda width, ascii: array_lines(moment, node, width=width, ascii=ascii),
                lambda: trace_json.arrays_as_json(moment, node))  # fmt: skip


def _marks(at: StepCursor, arguments: argparse.Namespace) -> TraceView:
    every: list[tuple[str, StopKind]] = [(text, "break") for text in arguments.stops or ()]
    every += [(text, "watch") for text in arguments.changes or ()]
    found: list[Mark] = sorted([*stops(at, every), *(all_marks(at) if arguments.marks else ())])
    return TraceView(lambda _, ascii: _plain(mark_lines(at, found), ascii), lambda: trace_json.marks_as_json(at, found))


def comparison_view(first: PassOf, second: PassOf, counterpart: Counterpart | None = None) -> TraceView:
    """Two passes side by side, perhaps of two recordings."""

    def lines(width: int, ascii: bool) -> Iterator[str]:
        return _plain(comparison_lines(first, second, counterpart, width=width, ascii=ascii), ascii)

    return TraceView(lines, lambda: trace_json.comparison_as_json(first, second))


def _courses(recording: Recording) -> TraceView:
    if not recording.courses:
        raise CommandError("there is no course in this recording: record the program with --every 100")
    return TraceView(
        lambda width, ascii: _plain(course_lines(recording, width=width), ascii),
        lambda: trace_json.courses_as_json(recording),
    )


def _list(recording: Recording) -> TraceView:
    return TraceView(
        lambda _, ascii: _plain(pass_lines(passes_of(recording)), ascii), lambda: trace_json.passes_as_json(recording)
    )


def _plain(lines: Iterable[Line], ascii: bool) -> Iterator[str]:
    return (plain(spans, ascii=ascii).rstrip() for spans in lines)
