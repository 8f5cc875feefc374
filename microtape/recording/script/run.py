"""Records a script: it runs unchanged as `__main__` in a child process, which writes the recording.

The script has a process of its own, because a learner's `viz.py` must not collide with ours, and because an endless
loop, a crash or a `sys.exit` in the script must not take the stepper down. `child.py` is what runs there.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

from microtape.basics.ranks import with_rank
from microtape.errors import RecordingError
from microtape.recording.choosing.condition import ExpressionError
from microtape.recording.choosing.passes import parse_passes
from microtape.recording.choosing.until import Until
from microtape.recording.file.destination import check_writable
from microtape.recording.file.journal import journal_of
from microtape.recording.file.tape_file import ELEMENT_BUDGET, TOTAL_BUDGET, load, save
from microtape.recording.model.options import Check, Engine
from microtape.recording.script.ending import (
    TIMED_OUT,
    ScriptRun,
    SearchResult,
    asked_for_input,
    count_of_passes,
    ended_in_search,
    result_of,
    with_faults,
)
from microtape.recording.script.notebook import is_notebook
from microtape.recording.script.processes import with_processes
from microtape.recording.script.program import find_program
from microtape.recording.script.request import ROOM, RUNNING, Request
from microtape.recording.script.running import RunningScript

_ROOM = 8_192  # bytes: a report has fewer
_ENDED_EARLY = "the program was ended before its end: only the passes that had ended are recorded"

# The script's folder is put on sys.path by child.py, when our own imports are done; -P keeps the current one off it.
_START = "import sys; sys.path.insert(0, sys.argv[1]); from microtape.recording.script.child import main; main()"


def record_script(
    path: str | os.PathLike[str],
    args: Sequence[str] = (),
    *,
    is_module: bool = False,
    out: str | os.PathLike[str],
    passes: str | None = None,
    element_budget: int = ELEMENT_BUDGET,
    total_budget: int = TOTAL_BUDGET,
    until: str | None = None,
    every: int | None = None,
    check: Check | None = None,
    output: IO[bytes] | None = None,
    started: Callable[[RunningScript], None] = lambda script: None,
    within: str | None = None,
    engine: Engine | None = None,
    thread: str | None = None,
    search: float = 0,
    hidden_output: str | os.PathLike[str] | None = None,
    quiet: bool = False,
    waiting: tuple[subprocess.Popen[bytes], IO[str]] | None = None,
    arrived: Callable[[], None] = lambda: None,
    progress: Callable[[int, float], None] = lambda passes, seconds: None,
    timeout: float | None = None,
) -> ScriptRun:
    """Run a Python script in a child process, record its backward passes, and stop it once they are recorded.

    The script sees what it would see under `python path args...`: its arguments, its folder on `sys.path`, the current
    folder, the terminal.

    If its passes run in processes that it starts by multiprocessing, each of them writes a recording of its own, with
    its rank in the name of the file; see Note [Processes of a script]. Then the result names those.

    Args:
        path: the script; or a folder with a `__main__.py`; or a notebook, whose code cells are run in their order.
        args: its command-line arguments.
        is_module: `path` is the name of a module, such as `package.module`, which is run as under `python -m`.
        out: the file to write the recording to.
        passes: which calls of `backward()` and `grad()`, counted together from 1 in the order they begin: `"2"`,
            `"3-5"`, or `"all"`, for which the script runs to its end. None: all up to the end of the first
            `backward()`, including the `grad()` calls before it.
        element_budget: see `save`.
        total_budget: see `save`.
        until: instead of `passes`, the first pass where something happens: `"nan"` (a NaN was computed), `"error"`, or
            a condition such as `"grad.max() > 10"` (see `condition`). Earlier passes are kept only if they share its
            graph.
        every: of each pass whose number this divides, a CourseRecord: the sizes of every parameter, its gradient and
            its update. The script runs to its end, or to the pass that `until` looks for; the last of these passes is
            kept whole. Not with `passes`.
        check: which gradients to check by finite differences, for which forwards run again: `"all"`, or `"functions"`
            for those of the user's Functions; see `finite_differences`.
        output: receives everything that the script prints; the script then has no standard input. None: it keeps the
            terminal.
        started: called with the running script, which may be stopped or killed.
        within: a context manager of microtape's in which the script runs, as `module:function:argument`; the lessons
            run scripts on a faulty engine this way.
        engine: the engine to record, where a script uses both: `"microtape"` or `"torch"`. None: the one whose
            backward runs first. With `"microtape"`, a script that imports torch alone runs on microtape's engine.
        thread: record only the threads of this name; `main` is the first one. None: all that the script starts.
        search: after the first `backward()`, let the script go on for so many seconds, up to the end of the first pass
            with an error or a warning (see `findings`) that the first pass did not have. Then the recording holds the
            first pass, the pass with the finding, and before it the last one from each line that calls backward (of up
            to four lines); else only the first. A failed pass, or an exception between two passes, is found in any
            case. An error in the first pass ends the search at once. A script that does not come to the end of a pass
            in time is killed. Not with `passes` or `until`.
        hidden_output: a file into which the script prints during the search, in which its standard input is at its end.
        quiet: what the script writes to standard output goes to standard error.
        waiting: a process that runs `child.wait`, with the pipe that it reads from: the script runs there. Not with
            `output`.
        arrived: called when the search begins: the first pass is in `out`.
        timeout: end the script after so many seconds; the passes that had ended by then are kept.
        progress: called several times a second during the search, with the number of passes and the seconds so far.

    Raises:
        RecordingError: nothing was run (no such script, `out` cannot be written, `passes` or `until` is invalid), or
            the recording could not be written.
    """
    out = os.fspath(out)
    if every is not None and passes is not None:
        raise RecordingError("every chooses passes by itself: choose no others")
    first, last = parse_passes("all" if until is not None or every is not None else passes)
    looked_for = _parse_until(until, passes)
    if search and not (passes is None and until is None and every is None):
        raise RecordingError("a search begins after the first pass: choose no other passes")
    program = find_program(path, is_module=is_module)
    check_writable(out)
    # What is killed may write into the folder until it is gone.
    with tempfile.TemporaryDirectory(prefix="microtape-", ignore_cleanup_errors=True) as folder:
        Path(folder, ROOM).write_bytes(bytes(_ROOM))
        request = Request(
            program=program,
            out=os.path.abspath(out),
            folder=folder,
            passes=passes,
            first=first,
            last=last,
            element_budget=element_budget,
            total_budget=total_budget,
            until=until,
            every=every,
            within=within,
            engine=engine,
            thread=thread,
            check=check,
            search=search,
            hidden_output=os.path.abspath(hidden_output) if hidden_output is not None else None,
            quiet=quiet,
        )
        command = [program.argv0, *args]
        _flush()
        running = _hand_over(waiting, command, request) if waiting is not None else None
        running = running or _start(command, request, output)
        if timeout is not None:
            running.end_after(timeout)
        with running.process, _passing_on_signals(running.process):
            started(running)
            status = running.wait(arrived, progress)
        report, processes = with_processes(request, running.report(), _made_whole)
        passes_run = running.passes()
    name = program.title
    is_saved = report is not None and report["saved"]
    journaled = "what its processes recorded is" if processes else ""
    if report is None and not processes:
        journaled = _made_whole(request)
    if running.timed_out:
        kept = f"{journaled or 'its first pass is'} kept" if journaled or is_saved else "nothing was recorded"
        message = f"{name} was ended after {timeout:g} seconds: {kept}"
        goes_on = report is not None and report["ended"] == RUNNING
        looked = SearchResult("killed", passes_run) if goes_on else None
        ended = ScriptRun(out if journaled or is_saved else None, TIMED_OUT, message, looked)
    elif report is not None and report["ended"] == RUNNING:
        ended = ended_in_search(
            name, out, status, SearchResult("killed" if running.was_killed else "finished", passes_run)
        )
    else:
        ended = result_of(request, name, out, status, report, looked_for, journaled)
        if report is not None and report["search"] is not None:
            ended = ended._replace(search=SearchResult(report["search"], report["passes"], report["kept_later"]))
            if hidden_output is not None and report["search"] == "failed" and report["error"] == "EOFError":
                ended = asked_for_input(name, ended.recording, report["passes"])
    if processes:
        ended = ended._replace(recording=None, processes=tuple([with_rank(out, number) for number in processes]))
    return with_faults(ended, report["faults"] if report is not None else [])


def run_plainly(path: str | os.PathLike[str], args: Sequence[str] = (), *, is_module: bool = False) -> int:
    """Run a program as Python itself does, unrecorded. Returns its exit code; see Note [Exit codes]."""
    program = find_program(path, is_module=is_module)
    if is_notebook(program.file):
        raise RecordingError(f"{program.title}: Python itself runs no notebook")
    process = subprocess.Popen([*_python(), *(["-m"] if is_module else []), os.fspath(path), *args])
    with process, _passing_on_signals(process):
        while True:
            try:
                status = process.wait()
            except KeyboardInterrupt:  # the terminal sent it to the script as well, which handles it
                continue
            return status if status >= 0 else 128 - status


def _parse_until(until: str | None, passes: str | None) -> Until | None:
    if until is None:
        return None
    if passes is not None:
        raise RecordingError("choose a pass by its number or by what happens in it, not both")
    try:
        return Until.read(until)
    except ExpressionError as error:
        raise RecordingError(f"until {until!r}: say nan, error or a condition: {error}") from None


def _flush() -> None:
    """Write what this process has printed, before the script prints."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or replaced by something without flush
            stream.flush()


def _python() -> list[str]:
    """Python with the options that it was started with here, such as -W error, as multiprocessing has it."""
    return [sys.executable, *subprocess._args_from_interpreter_flags()]  # type: ignore[attr-defined]


def _start(command: Sequence[str], request: Request, output: IO[bytes] | None) -> RunningScript:
    start = [*_python(), "-P", "-c", _START, *_arguments(command, request)]
    try:
        process = subprocess.Popen(
            start, stdin=None if output is None else subprocess.DEVNULL, stdout=output, stderr=output
        )
    except (OSError, ValueError) as error:
        raise RecordingError(f"Python could not be started: {error}") from None
    return RunningScript(process, request)


def _hand_over(
    waiting: tuple[subprocess.Popen[bytes], IO[str]], command: Sequence[str], request: Request
) -> RunningScript | None:
    """Give the request to a process that waits for one; None if it has ended."""
    process, pipe = waiting
    try:
        with pipe:
            json.dump(_arguments(command, request), pipe)
    except OSError:
        process.kill()
        process.wait()
        return None
    return RunningScript(process, request)


def _arguments(command: Sequence[str], request: Request) -> list[str]:
    """What `child.main` finds in `sys.argv`."""
    return [str(Path(__file__).resolve().parents[3]), json.dumps(request._asdict()), *command]


@contextlib.contextmanager
def _passing_on_signals(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Pass SIGTERM and SIGHUP on to the script, which would otherwise outlive us unseen."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = {name: signal.signal(name, lambda number, frame: process.send_signal(number)) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def _made_whole(request: Request) -> str:
    """Make the recording of the journal, if the script has left one. Returns what is kept, as a subject; "" if nothing.

    Raises RecordingError if it cannot be written; then the journal stays.
    """
    journal = journal_of(request.out)
    if not os.path.exists(journal):
        return ""
    try:
        recording = load(journal)
    except RecordingError:  # not even its first part is whole
        recording = None
    if recording is not None:
        recording = dataclasses.replace(recording, notes=(*recording.notes, _ENDED_EARLY))
        budgets = {"element_budget": request.element_budget, "total_budget": request.total_budget}
        try:
            save(recording, request.out, **budgets)
        except RecordingError as error:
            raise RecordingError(f"{error}; {journal} has the passes that had ended") from None
    with contextlib.suppress(OSError):
        os.unlink(journal)
    if recording is None or not (recording.passes or recording.courses):
        return ""
    if not recording.passes:
        return f"the course of {count_of_passes(len(recording.courses))} is"
    count = len(recording.passes)
    return "the pass that had ended is" if count == 1 else f"the {count:,} passes that had ended are"
