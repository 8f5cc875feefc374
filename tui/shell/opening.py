"""From a FILE of the command line to a recording: a `.tape` is loaded, a script is recorded first."""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from microtape.basics.collector import permanent
from microtape.errors import RecordingError
from microtape.recording.choosing.condition import ExpressionError
from microtape.recording.choosing.passes import parse_passes
from microtape.recording.choosing.until import Until
from microtape.recording.file.journal import journal_of
from microtape.recording.file.tape_file import ELEMENT_BUDGET, load
from microtape.recording.model.model import Recording
from microtape.recording.model.options import Check, Engine
from microtape.recording.script.ending import ScriptRun
from microtape.recording.script.run import record_script
from microtape.recording.script.running import RunningScript
from tui.shell.check_summary import check_summary
from tui.shell.early_start import take_started
from tui.shell.exits import CommandError, Exit, say
from tui.shell.progress import ProgressBar, status_line


@dataclass(frozen=True, slots=True)
class Origin:
    """The source of a recording: a file and the options for recording it."""

    file: str  # a program (see `find_program`), or a `.tape` file
    script_args: tuple[str, ...] = ()
    passes: str | None = None
    keep: int | None = None  # the largest number of elements of an array that is kept whole
    check: Check | None = None  # which gradients to check by finite differences
    until: str | None = None  # instead of `passes`: record up to the first pass where this condition holds
    search: float = 0  # seconds to go on after the first pass; see `record_script`
    engine: Engine | None = None  # the engine to record, where a script uses both
    timeout: float | None = None  # end the script after so many seconds
    every: int | None = None  # instead of `passes`: the course of each pass whose number this divides
    is_module: bool = False  # `file` is the name of a module, for which `python` needs -m
    thread: str | None = None  # record only the threads of this name

    @classmethod
    def asked_for(cls, arguments: argparse.Namespace, search: float = 0) -> Origin:
        """The origin that the command line asks for; `search` applies where it says nothing.

        Raises:
            CommandError: the options contradict each other.
        """
        if arguments.until is not None and arguments.passes is not None:
            raise CommandError("--pass and --until both choose a pass: give only one of them")
        every = getattr(arguments, "every", None)
        if every is not None and arguments.passes is not None:
            raise CommandError("--pass and --every both choose passes: give only one of them")
        chooses = not (arguments.until is None and arguments.passes is None and every is None)
        asked = getattr(arguments, "search", None)
        if asked and chooses:
            raise CommandError("--search looks beyond the first pass: give it without options that choose passes")
        return cls(
            arguments.file,
            tuple(arguments.script_args),
            arguments.passes,
            getattr(arguments, "keep", None),
            _check_asked_for(arguments),
            arguments.until,
            0 if chooses else search if asked is None else asked,
            arguments.engine,
            getattr(arguments, "timeout", None),
            every,
            getattr(arguments, "is_module", False),
            getattr(arguments, "thread", None),
        )

    @property
    def is_recording(self) -> bool:
        """Whether the file is a recording, so that there is no script to run again."""
        if self.is_module:
            return False
        is_named_so = self.file.endswith((".tape", ".tape.journal"))
        return is_named_so or (os.path.isfile(self.file) and zipfile.is_zipfile(self.file))

    def source(self, recorded: str) -> Path:
        """The path of a file named in `Recording.sources`: relative to the script, its folder, or a module's root.

        A recording from elsewhere may name any file: the path is always inside of that folder.
        """
        named = Path.cwd() if self.is_module else Path(self.file).resolve()
        folder = named if named.is_dir() else named.parent
        path = Path(os.path.normpath(folder / recorded))
        return path if path.is_relative_to(folder) else folder / path.name

    def record(
        self,
        out: str,
        output: IO[bytes] | None = None,
        started: Callable[[RunningScript], None] = lambda script: None,
        hidden_output: str | None = None,
        *,
        quiet: bool = False,
        arrived: Callable[[], None] = lambda: None,
        progress: Callable[[int, float], None] = lambda passes, seconds: None,
    ) -> ScriptRun:
        """Run the script and write its recording; see `record_script`."""
        return record_script(
            self.file,
            self.script_args,
            is_module=self.is_module,
            out=out,
            passes=self.passes,
            until=self.until,
            every=self.every,
            check=self.check,
            element_budget=self.keep or ELEMENT_BUDGET,
            output=output,
            started=started,
            search=self.search,
            engine=self.engine,
            thread=self.thread,
            timeout=self.timeout,
            hidden_output=hidden_output,
            quiet=quiet,
            waiting=take_started() if output is None else None,
            arrived=arrived,
            progress=progress,
        )


def _check_asked_for(arguments: argparse.Namespace) -> Check | None:
    """All gradients only if the user says so: that calls every operation again. Functions unless the user says no."""
    if getattr(arguments, "check", False):
        return "all"
    return None if getattr(arguments, "no_check", True) else "functions"


def open_origin(origin: Origin, *, quiet: bool = False) -> tuple[Recording, int]:
    """The recording, and the exit code that the command returns if it succeeds; see `open_program`.

    Where its passes ran in several processes, the recording is that of the first; a line says so.
    """
    (recording, *others), ended = open_program(origin, quiet=quiet)
    if others:
        many = f"{origin.file} ran in {len(others) + 1} processes"
        say(f"{many}, of which this is the first; `microtape record` keeps all")
    return recording, ended.exit_code if ended is not None else Exit.OK


def open_program(
    origin: Origin, *, quiet: bool = False, tell_failure: bool = True
) -> tuple[Sequence[Recording], ScriptRun | None]:
    """The recording, or those of the processes in which a script ran its passes; and how the script ended.

    With `quiet`, the script's output goes to standard error, because standard output is for our data. Without
    `tell_failure`, the message that the script failed is left out, because the caller tells it.

    Raises:
        CommandError: there is no recording to show; the message says why.
    """
    try:
        if origin.is_recording:
            if origin.script_args:
                args = " ".join(origin.script_args)
                several = all(Origin(one).is_recording for one in origin.script_args)
                hint = "; several recordings are for step, trace and diagnose" if several else ""
                raise CommandError(f"{origin.file} is a recording, so it takes no arguments (given: {args}){hint}")
            with status_line(f"loading {origin.file} ...   Ctrl-C stops"):
                return [load_all(origin.file)], None
        with tempfile.TemporaryDirectory(prefix="microtape-") as folder:
            out = os.path.join(folder, "run.tape")
            with recording_line(origin), search_bar(origin) as progress:
                ended = origin.record(out, quiet=quiet, progress=progress)
            if tell_failure or not ended.files or ended.exit_code != Exit.SCRIPT_FAILED:
                report_end(ended)
            with status_line("loading the recording ...   Ctrl-C stops"):
                recordings = [load_all(file) for file in ended.files]
            if tell_failure:
                tell_lesson(recordings, ended)
            if origin.check == "all":
                for recording in recordings:
                    say(check_summary(recording))
            return recordings, ended
    except RecordingError as error:
        raise CommandError(str(error)) from None


def recording_line(origin: Origin) -> contextlib.AbstractContextManager[object]:
    """A line that says that a script is being recorded."""
    return status_line(f"recording {origin.file} ...   Ctrl-C stops it and keeps what was recorded", stays=True)


@contextlib.contextmanager
def search_bar(origin: Origin) -> Iterator[Callable[[int, float], None]]:
    """A progress bar for the search after the first pass."""
    with ProgressBar() as bar:
        yield lambda passes, seconds: bar.show(seconds / origin.search, f"searching, pass {passes:,}")


def load_all(path: str) -> Recording:
    """Load a whole recording, which is never garbage-collected. A line names a newer journal of the same name."""
    journal = journal_of(path)
    with contextlib.suppress(OSError):
        if os.path.getmtime(journal) > os.path.getmtime(path):
            say(f"{journal} is newer: it has the passes of a run that has not ended, or was killed")
    with permanent():
        return load(path)


def report_end(ended: ScriptRun) -> None:
    """Print the message about the end of the script, if there is one.

    Raises:
        CommandError: the script left no recording.
    """
    if not ended.files:
        raise CommandError(ended.message or "nothing was recorded", ended.exit_code or Exit.NOTHING_RECORDED)
    if ended.message:
        say(ended.message)


def tell_lesson(recordings: Sequence[Recording], ended: ScriptRun) -> None:
    """Below the traceback of a script that failed, name the lesson that explains the error."""
    if ended.exit_code == Exit.SCRIPT_FAILED:
        from tui.shell.lesson_names import lesson_of_error  # slow, and seldom needed

        if lesson := next(filter(None, map(lesson_of_error, recordings)), None):
            say(lesson)


def choose_passes(recording: Recording, passes: str | None, until: str | None = None) -> list[int]:
    """The indices into `recording.passes` of the requested passes; all of them for None.

    `until` requests the first pass where a condition holds.

    Raises:
        CommandError: the recording has no such pass.
    """
    if until is not None and recording.passes:
        try:
            looked_for = Until.read(until)
        except ExpressionError as error:
            raise CommandError(f"--until takes nan, error or a condition: {error}") from None
        with status_line(f"looking for {until} ...   Ctrl-C stops"):
            found = next((i for i in range(len(recording.passes)) if looked_for.happens_in(recording, i)), None)
        if found is None:
            never = f"{recording.title} {looked_for.never(recording.passes[-1].index + 1)}"
            if recording.error is None and recording.passes[-1].error is None:
                raise CommandError(never, Exit.NOTHING_RECORDED)
            say(f"{never}, but failed; showing its last pass")
        return [found if found is not None else len(recording.passes) - 1]
    if passes is None:
        return list(range(len(recording.passes)))
    try:
        first, last = parse_passes(passes)
    except RecordingError as error:
        raise CommandError(str(error)) from None
    numbers = [pass_.index + 1 for pass_ in recording.passes]
    chosen = [i for i, number in enumerate(numbers) if first <= number <= (last or number)]
    if not chosen and recording.options.get("passes") == passes and _failed(recording):
        return list(range(len(recording.passes)))[-1:]  # why there is no such pass
    if not chosen:
        there = ", ".join(map(str, numbers)) if len(numbers) < 20 else f"{numbers[0]} to {numbers[-1]}"
        raise CommandError(f"no pass {passes} in this recording (it has: {there or 'none'})")
    return chosen


def _failed(recording: Recording) -> bool:
    return recording.error is not None or any(one.has_failed for one in recording.passes)
