"""`microtape step`: open the stepper; without a terminal, print the trace."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from microtape.basics.ranks import rank_of_process
from microtape.recording.model.model import Recording
from tui.shell.check_summary import check_summary
from tui.shell.exits import SIGNALLED, CommandError, Exit, is_ascii, say
from tui.shell.opening import Origin, choose_passes, open_origin, open_program, recording_line, report_end, tell_lesson
from tui.shell.program_run import ProgramRun, Watched, say_printed
from tui.shell.progress import status_line
from tui.shell.several import RankFiles, open_ranks, ranks_of_run, several_files
from tui.shell.terminal import default_theme, has_terminal

if TYPE_CHECKING:
    from tui.beside.opened import OpenedBeside

SEARCH = 10.0  # seconds that a script goes on after its first pass


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    terminal = has_terminal()
    if terminal and rank_of_process() is not None:
        raise CommandError("several processes cannot share a terminal: use `microtape record`, then open its files")
    files = several_files(arguments)
    if files:
        return _ranks(open_ranks(arguments, files), arguments)
    origin = Origin.asked_for(arguments, search=SEARCH if terminal and arguments.beside is None else 0)
    if arguments.beside is None and (arguments.rtol, arguments.atol) != (None, None):
        raise CommandError("--rtol and --atol are for two recordings: add --beside OTHER")
    if arguments.watch and origin.is_recording:
        raise CommandError(f"--watch takes a script: {arguments.file} is a recording, which does not change")
    if terminal and origin.search and not origin.is_recording:
        return _while_it_runs(origin, arguments)
    recordings, ended = open_program(origin, quiet=not terminal)
    code = ended.exit_code if ended is not None else Exit.OK
    if len(recordings) > 1:
        return _ranks(ranks_of_run(origin, recordings), arguments) or code
    (recording,) = recordings
    passes = choose_passes(recording, arguments.passes, arguments.until)
    if arguments.beside is not None:
        return _beside(recording, passes, origin, arguments)
    if not terminal:
        from tui.commands.trace import print_trace

        print_trace(recording, passes, arguments)
        return code
    return _open_stepper(recording, passes, origin, arguments) or code


def _beside(recording: Recording, passes: list[int], origin: Origin, arguments: argparse.Namespace) -> int:
    """Open another recording beside this one, where both part; without a terminal, print what `diff` prints."""
    from microtape.recording.comparing import compare
    from tui.beside.two_recordings import TwoRecordings
    from tui.commands.diff import finish
    from tui.words.comparison import names_of

    its_origin = replace(origin, file=arguments.beside, script_args=())
    other, _ = open_origin(its_origin, quiet=not has_terminal())
    its_passes = choose_passes(other, arguments.passes, arguments.until)
    with status_line("comparing ...   Ctrl-C stops"):
        found = compare(recording, other, arguments.rtol, arguments.atol, (passes, its_passes))
    names = names_of(origin.file, its_origin.file)
    if not has_terminal():
        return finish(found, names, is_ascii(arguments))
    both = TwoRecordings(found, names, (origin, its_origin))
    return _open_stepper(recording, passes, origin, arguments, beside=both)


def _ranks(opened: RankFiles, arguments: argparse.Namespace) -> int:
    """Open the recordings of several ranks, where they part first; without a terminal, print the trace of each."""
    if arguments.beside is not None or arguments.watch:
        option = "--watch" if arguments.watch else "--beside"
        raise CommandError(f"{option} is for one recording: here are {len(opened.ranks)}")
    from tui.beside.rank_recordings import RankRecordings
    from tui.commands.trace import print_trace, put_heading

    if not has_terminal():
        for place, recording in enumerate(opened.ranks.recordings):
            put_heading(opened, place)
            print_trace(recording, choose_passes(recording, arguments.passes, arguments.until), arguments)
        return Exit.OK
    is_free = arguments.passes is None and arguments.until is None
    with status_line("comparing the ranks ...   Ctrl-C stops"):
        ranks = RankRecordings(opened, opens_there=is_free)
        first = ranks.start
    recording = opened.ranks.recordings[first]
    passes = choose_passes(recording, arguments.passes, arguments.until)
    return _open_stepper(recording, passes, opened.origins[first], arguments, beside=ranks)


def _while_it_runs(origin: Origin, arguments: argparse.Namespace) -> int:
    """Open the stepper at the end of the first pass, while the script goes on."""
    run = ProgramRun(origin)
    with Watched(run):
        with recording_line(origin):
            run.wait_for_first()
        ended = run.ended  # unless the script goes on
        if run.first is None and ended is None:
            raise CommandError(run.problem)
        if ended is not None:
            report_end(ended)
        recordings = [run.first] if run.first is not None else run.of_processes
        if ended is not None:
            tell_lesson(recordings, ended)
        if origin.check == "all":
            for one in recordings:
                say(check_summary(one))
        if len(recordings) > 1:
            return _ranks(ranks_of_run(origin, recordings), arguments)
        (recording,) = recordings
        code = _open_stepper(recording, choose_passes(recording, None), origin, arguments, run)
    if code > SIGNALLED:
        return code  # the terminal may be gone
    say_printed(run)
    if run.problem:
        raise CommandError(run.problem)
    if run.ended is None or code:
        return code
    if run.ended is not ended and run.ended.message and not (run.ended.search and run.ended.search.why == "killed"):
        say(run.ended.message)
    return run.ended.exit_code


def _open_stepper(
    recording: Recording,
    passes: list[int],
    origin: Origin,
    arguments: argparse.Namespace,
    run: ProgramRun | None = None,
    beside: OpenedBeside | None = None,
) -> int:
    """Open the stepper at the pass that failed, else at the first. Returns the stepper's exit code."""
    from tui.commands.keys import keymap_of
    from tui.shell.remembered import Remembered, is_wanted
    from tui.stepper.app import StepperApp

    failed = next((index for index in passes if recording.passes[index].error is not None), None)
    start = failed if failed is not None else passes[0] if passes else 0
    problem, keymap = keymap_of(recording)
    remembers = is_wanted() and not arguments.fresh
    app = StepperApp(
        recording,
        theme=arguments.theme or ("" if remembers and Remembered.load().theme else default_theme()),
        remembers=remembers,
        keymap=keymap,
        notice="\n".join([problem] * bool(problem) + [*recording.faults[:1]]),
        pass_index=start,
        ascii=is_ascii(arguments),
        origin=origin,
        watches=arguments.watch,
        until=arguments.until,
        run=run,
        beside=beside,
    )
    app.run()
    if app.ended_by is not None:
        if run is not None:
            run.kill()  # nobody would see it go on
        return SIGNALLED + app.ended_by
    if problem:
        say(problem)
    return app.return_code or 0
