"""`microtape trace`: print the passes, or any view of the stepper, as text or as JSON."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from microtape.recording.choosing.condition import ExpressionError
from microtape.recording.model.model import Recording
from tui.shell.exits import CommandError, Exit, is_ascii
from tui.shell.opening import Origin, choose_passes, open_origin
from tui.shell.printing import put, put_json
from tui.shell.progress import counted_lines, status_line
from tui.shell.several import RankFiles, open_ranks, several_files
from tui.shell.spans import Line, plain
from tui.time.arrays import array_lines
from tui.time.box_picture import box_lines
from tui.time.breakpoints import StopKind
from tui.time.cursor import StepCursor
from tui.time.search import found_nodes
from tui.words import trace_json
from tui.words.courses import course_lines
from tui.words.passes import comparison_lines, pass_lines
from tui.words.time_marks import Mark, all_marks, mark_lines, stops
from tui.words.trace import trace as all_lines
from tui.words.trace import trace_folded, trace_forward, trace_moment, trace_rows, trace_why


class TraceView(NamedTuple):
    """A view of a moment: `lines(width, ascii)` as text, `data()` for JSON."""

    lines: Callable[[int, bool], Iterable[str]]
    data: Callable[[], dict[str, Any]]


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    compared = _two_passes(arguments)
    if (compared or arguments.lists) and arguments.passes is None and arguments.until is None:
        arguments.passes = f"{min(compared)}-{max(compared)}" if compared else "all"
    files = several_files(arguments)
    if files:
        return _ranks(files, compared, arguments)
    recording, code = open_origin(Origin.asked_for(arguments), quiet=True)
    _print_recording(recording, compared, arguments)
    return code


def _ranks(files: list[str], compared: tuple[int, ...], arguments: argparse.Namespace) -> int:
    """Print the same of every rank, one after the other."""
    if arguments.json:
        raise CommandError(f"--json is for one recording: give one of {', '.join(files)}")
    opened = open_ranks(arguments, files)
    for place, recording in enumerate(opened.ranks.recordings):
        put(rank_heading(opened, place))
        _print_recording(recording, compared, arguments)
    return Exit.OK


def rank_heading(opened: RankFiles, place: int) -> str:
    """`== rank 0: train.rank0.tape ==`, with an empty line before it unless it is the first."""
    return f"{chr(10) * bool(place)}== rank {opened.ranks.numbers[place]}: {opened.files[place]} =="


def _print_recording(recording: Recording, compared: tuple[int, ...], arguments: argparse.Namespace) -> None:
    """Print what the options ask for."""
    if compared:
        first, second = (choose_passes(recording, str(number))[0] for number in compared)
        _show(_comparison(recording, first, second), arguments)
        return
    if arguments.lists:
        _show(_list(recording), arguments)
        return
    if arguments.courses:
        _show(_courses(recording), arguments)
        return
    passes = choose_passes(recording, arguments.passes, arguments.until)
    if _view_is_asked_for(arguments):
        for one in passes or [0]:
            try:
                _show(_view(recording, one, arguments), arguments)
            except (LookupError, ExpressionError) as problem:
                raise CommandError(str(problem.args[0])) from None
    elif arguments.json:
        _print_json(lambda progress: trace_json.as_json(recording, passes, progress, into=arguments.into))
    else:
        print_trace(recording, passes, arguments)


def print_trace(recording: Recording, passes: list[int], arguments: argparse.Namespace) -> None:
    """Print all steps of these passes."""
    into = getattr(arguments, "into", False)
    _print(all_lines(recording, passes, width=_width(), ascii=is_ascii(arguments), into=into))


def _view_is_asked_for(arguments: argparse.Namespace) -> bool:
    asked = (arguments.step, arguments.why, arguments.node, arguments.array, arguments.find)
    rest = (arguments.boxes, arguments.forward, arguments.fold, arguments.marks, arguments.stops, arguments.changes)
    return any(one is not None for one in asked) or any(rest)


def _view(recording: Recording, pass_index: int, arguments: argparse.Namespace) -> TraceView:
    """The view that the options ask for.

    Raises:
        LookupError, ExpressionError: an option names nothing in this pass; the message is for the user.
    """
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


def _two_passes(arguments: argparse.Namespace) -> tuple[int, ...]:
    """The numbers of the two passes in --compare; empty without it."""
    if arguments.compare is None:
        return ()
    numbers = arguments.compare.split(",")
    if len(numbers) != 2 or not all(one.strip().isdecimal() and int(one) for one in numbers):
        raise CommandError(f"--compare {arguments.compare}: give the numbers of two passes, such as 1,3")
    return tuple(int(one) for one in numbers)


def _comparison(recording: Recording, first: int, second: int) -> TraceView:
    def lines(width: int, ascii: bool) -> Iterator[str]:
        return _plain(comparison_lines(recording, first, second, width=width, ascii=ascii), ascii)

    return TraceView(lines, lambda: trace_json.comparison_as_json(recording, first, second))


def _courses(recording: Recording) -> TraceView:
    if not recording.courses:
        raise CommandError("there is no course in this recording: record the program with --every 100")
    return TraceView(
        lambda width, ascii: _plain(course_lines(recording, width=width), ascii),
        lambda: trace_json.courses_as_json(recording),
    )


def _list(recording: Recording) -> TraceView:
    return TraceView(
        lambda _, ascii: _plain(pass_lines(recording), ascii), lambda: trace_json.passes_as_json(recording)
    )


def _plain(lines: Iterable[Line], ascii: bool) -> Iterator[str]:
    return (plain(spans, ascii=ascii).rstrip() for spans in lines)


def _show(view: TraceView, arguments: argparse.Namespace) -> None:
    if arguments.json:
        _print_json(lambda progress: view.data())
    else:
        _print(view.lines(_width(), is_ascii(arguments)))


def _print(lines: Iterable[str]) -> None:
    for line in counted_lines(lines):
        put(line)


def _print_json(data: Callable[[Callable[[str], None]], object]) -> None:
    """Print JSON on one line."""
    with status_line("computing ...   Ctrl-C stops") as update:
        found = data(lambda text: update(f"{text} ...   Ctrl-C stops"))
        put_json(found)


def _width() -> int:
    return min(max(shutil.get_terminal_size((100, 24)).columns, 60), 160)
