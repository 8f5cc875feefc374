"""`microtape trace`: print the passes, or any view of the stepper, as text or as JSON."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from microtape.recording.choosing.condition import ExpressionError
from microtape.recording.model.model import Recording
from tui.shell.exits import CommandError, Exit, is_ascii
from tui.shell.opening import Origin, choose_passes, open_program
from tui.shell.printing import put, put_json
from tui.shell.progress import counted_lines, status_line
from tui.shell.several import RankFiles, open_ranks, ranks_of_run, several_files
from tui.words.passes import PassOf
from tui.words.trace import trace as all_lines

if TYPE_CHECKING:
    from tui.commands.trace_views import TraceView


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    compared = _compared_passes(arguments)
    if (compared or arguments.lists) and arguments.passes is None and arguments.until is None:
        arguments.passes = f"{min(compared)}-{max(compared)}" if compared else "all"
    files = several_files(arguments)
    if files:
        _ranks(open_ranks(arguments, files), compared, arguments)
        return Exit.OK
    if len(compared) == 1:
        raise CommandError(f"--compare {compared[0]}: give the numbers of two passes, such as 1,3")
    origin = Origin.asked_for(arguments)
    recordings, ended = open_program(origin, quiet=True)
    if len(recordings) > 1:
        _ranks(ranks_of_run(origin, recordings), compared, arguments)
    else:
        _print_recording(recordings[0], compared, arguments)
    return ended.exit_code if ended is not None else Exit.OK


def _ranks(opened: RankFiles, compared: tuple[int, ...], arguments: argparse.Namespace) -> None:
    """Print the same of every rank, one after the other."""
    if arguments.json:
        those = ", ".join(opened.files) or f"those that `microtape record {opened.script}` writes"
        raise CommandError(f"--json is for one recording: give one of {those}")
    if len(compared) == 1:
        _compare_ranks(opened, compared[0], arguments)
        return
    for place, recording in enumerate(opened.ranks.recordings):
        put_heading(opened, place)
        _print_recording(recording, compared, arguments)


def _compare_ranks(opened: RankFiles, number: int, arguments: argparse.Namespace) -> None:
    """Print a pass of each rank beside the same pass of the lowest rank that has it."""
    from tui.commands.trace_views import comparison_view

    ranks = opened.ranks
    having = ranks.having(number - 1)
    if len(having) < 2:
        raise CommandError(f"--compare {number}: pass {number} is not in the recordings of two ranks")
    lowest, *others = [
        PassOf(ranks.recordings[at], ranks.passes[at][number - 1], f"rank {ranks.numbers[at]}", at) for at in having
    ]
    for i, one in enumerate(others):
        if i:
            put("")
        _show(comparison_view(lowest, one, ranks.matching(lowest.side, one.side).of_b), arguments)


def put_heading(opened: RankFiles, place: int) -> None:
    """Print the heading of a rank, with an empty line before it unless it is the first."""
    if place:
        put()
    put(opened.heading(place))


def _print_recording(recording: Recording, compared: tuple[int, ...], arguments: argparse.Namespace) -> None:
    """Print what the options ask for."""
    if compared or _view_is_asked_for(arguments):
        from tui.commands.trace_views import views_asked_for  # a trace of all steps starts sooner without them

        try:
            for view in views_asked_for(recording, compared, arguments):
                _show(view, arguments)
        except (LookupError, ExpressionError) as problem:
            raise CommandError(str(problem.args[0])) from None
        return
    passes = choose_passes(recording, arguments.passes, arguments.until)
    if arguments.json:
        from tui.words import trace_json

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
    lists = (arguments.lists, arguments.courses)
    return any(one is not None for one in asked) or any(rest) or any(lists)


def _compared_passes(arguments: argparse.Namespace) -> tuple[int, ...]:
    """The numbers of the two passes in --compare, or that of one to be compared between ranks; empty without it."""
    if arguments.compare is None:
        return ()
    numbers = arguments.compare.split(",")
    if len(numbers) > 2 or not all(one.strip().isdecimal() and int(one) for one in numbers):
        raise CommandError(f"--compare {arguments.compare}: give the numbers of two passes, such as 1,3")
    return tuple(int(one) for one in numbers)


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
