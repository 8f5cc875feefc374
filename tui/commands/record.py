"""`microtape record`: run a script and write its recording to a file."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from microtape.basics.ranks import rank_of_process, with_rank
from microtape.errors import RecordingError
from microtape.recording.model.model import Recording
from microtape.recording.script.run import run_plainly
from tui.shell.check_summary import check_summary
from tui.shell.exits import CommandError, say
from tui.shell.opening import Origin, load_all, report_end, search_bar, tell_lesson


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    rank = rank_of_process()
    if arguments.rank is not None and rank is None:
        raise CommandError("--rank chooses among several processes, which torchrun starts: here is only one")
    name = arguments.file if arguments.is_module else Path(os.path.abspath(arguments.file)).stem
    out = with_rank(arguments.out or f"{name}.tape", rank)
    try:
        if arguments.rank is not None and rank not in arguments.rank:
            return run_plainly(arguments.file, arguments.script_args, is_module=arguments.is_module)
        origin = Origin.asked_for(arguments)
        with search_bar(origin) as progress:
            ended = origin.record(out, progress=progress)
        report_end(ended)
        recordings = [load_all(file) for file in ended.files]
        tell_lesson(recordings, ended)
    except RecordingError as error:
        raise CommandError(str(error)) from None
    for file, recording in zip(ended.files, recordings, strict=True):
        if arguments.check:
            say(check_summary(recording))
        say(_written(file, recording))
    return ended.exit_code


def _written(file: str, recording: Recording) -> str:
    """`train.tape: 1 pass, 13 steps, 5 kB`"""
    count = len(recording.passes)
    steps = sum(len(pass_.steps) for pass_ in recording.passes)
    return (
        f"{file}: {count} {'pass' if count == 1 else 'passes'}, {steps:,} steps, {os.path.getsize(file) / 1000:,.0f} kB"
    )
