"""How a script ended: its exit code, and one line about what went wrong.

Note [Exit codes]
    0    recorded
    1    the script raised an exception (its traceback was printed); what had been recorded is kept
    2    nothing was run, or nothing could be written: a `RecordingError` says why
    3    the script ended without the pass that was asked for, for instance without ever calling backward()
    7    recorded, but a part is missing because microtape itself failed; the message says which
    n    the script called `sys.exit(n)`
    124  ended after the seconds of `timeout`; the passes that had ended are kept
    130  interrupted with Ctrl-C; what had been recorded is kept
    128+n  killed by signal n; the passes that had ended are kept
"""

from __future__ import annotations

import ast
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from microtape.basics.signals import signal_name
from microtape.errors import RecordingError
from microtape.recording.choosing.until import Until
from microtape.recording.model.options import NAMES
from microtape.recording.model.source import tree_of
from microtape.recording.script.request import Request

if TYPE_CHECKING:
    from microtape.recording.script.search import SearchEnd

_NOTHING_RECORDED = 3
_INCOMPLETE = 7
TIMED_OUT = 124  # as of the command `timeout`


class SearchResult(NamedTuple):
    """Why a search ended, and after how many passes."""

    why: SearchEnd
    passes: int
    kept_later: bool = False  # whether the recording holds a later pass than the first


class ScriptRun(NamedTuple):
    """How a script ended, and the recording that it left."""

    recording: str | None  # the file that was written
    exit_code: int  # see Note [Exit codes]
    message: str | None  # one line about what went wrong; None if nothing did
    search: SearchResult | None = None  # if there was a search
    processes: tuple[str, ...] = ()  # instead of `recording`: the files of the processes in which its passes ran

    @property
    def files(self) -> tuple[str, ...]:
        """The files that were written."""
        return self.processes if self.recording is None else (self.recording,)


def result_of(
    request: Request,
    script: str,
    out: str,
    status: int,
    report: dict[str, Any] | None,
    until: Until | None,
    journaled: str,
) -> ScriptRun:
    """How a script ended that was not ended by us.

    `journaled` is what was kept of its journal. Raises RecordingError if the report names a problem.
    """
    if report is not None and report["problem"] is not None:
        raise RecordingError(report["problem"])
    passes = request.passes
    recording = out if journaled or (report is not None and report["saved"]) else None
    kept = f"{journaled or 'what was recorded until then is'} kept" if recording else "nothing was recorded"
    if status < 0:
        return ScriptRun(recording, 128 - status, f"{script} was killed by {signal_name(-status)}: {kept}")
    if report is None:
        code = status or (0 if recording else _NOTHING_RECORDED)
        return ScriptRun(recording, code, f"{script} ended its process with status {status}: {kept}")
    count, ended = report["passes"], report["ended"]
    if ended == "interrupted":
        return ScriptRun(recording, 130, f"{script} was interrupted: {kept}")
    if ended == "raised":
        failed = f"{script} raised {report['error']}"
        if count and not report["reached"]:
            where = f"in pass {report['failed']}" if report["failed"] else f"after pass {count}"
            return ScriptRun(recording, 1, f"{failed} {where}: there is no pass {passes}")
        return ScriptRun(recording, 1, None if report["complete"] else f"{failed}: {kept}")
    if ended == "exited" and status and not report["complete"]:
        return ScriptRun(recording, status, f"{script} exited with status {status}: {kept}")
    if recording is None:
        why = until.never(count) if until is not None and count else _why_nothing(count, request)
        return ScriptRun(None, _NOTHING_RECORDED, f"{script} {why}")
    if not report["complete"] and passes not in (None, "all"):
        return ScriptRun(recording, status, f"{script} ended after {count_of_passes(count)} of the {passes} asked for")
    return ScriptRun(recording, status, None)


def ended_in_search(script: str, out: str, status: int, search: SearchResult) -> ScriptRun:
    """The process ended without a report, after its first pass was written."""
    kept = "its first pass is kept"
    if search.why == "killed":
        message = f"{script} did not come to the end of another pass in time, and was killed: {kept}"
        return ScriptRun(out, 0, message, search)
    if status < 0:
        return ScriptRun(out, 128 - status, f"{script} was killed by {signal_name(-status)}: {kept}", search)
    return ScriptRun(
        out, status, f"{script} ended its process with status {status}: {kept}" if status else None, search
    )


def asked_for_input(script: str, recording: str | None, passes: int) -> ScriptRun:
    """The script failed because it goes on without input: that is not its fault."""
    message = f"{script} asked for input, of which there is none in the background: give it with --search 0"
    return ScriptRun(recording, 0, message, SearchResult("finished", passes))


def with_faults(ended: ScriptRun, faults: list[str]) -> ScriptRun:
    """The same with what could not be recorded. The program's own exit code, if it has one, stays."""
    if not faults:
        return ended
    more = f" (and {len(faults) - 1} more: see the recording's notes)" if len(faults) > 1 else ""
    line = faults[0] + more
    message = f"{ended.message}; {line}" if ended.message else line
    return ended._replace(exit_code=ended.exit_code or _INCOMPLETE, message=message)


def _why_nothing(count: int, request: Request) -> str:
    if count and request.every is not None:
        return f"ended after {count_of_passes(count)}: --every {request.every} asks for more"
    if count:
        return f"ended after {count_of_passes(count)}: there was no pass {request.passes} to record"
    engine = f" of {NAMES[request.engine]}, the engine that --engine names" if request.engine is not None else ""
    thread = f" in the thread {request.thread}" if request.thread is not None else ""
    return f"never called backward(){engine}{thread}: there is nothing to record{_named_only(request.program.file)}"


def _named_only(script: str) -> str:
    """What to add for a script with a statement `loss.backward`, which calls nothing."""
    with contextlib.suppress(OSError, ValueError):
        tree = tree_of(Path(script).read_text(encoding="utf-8"))
        for one in ast.walk(tree) if tree is not None else ():
            match one:
                case ast.Expr(value=ast.Attribute(value=ast.Name(id=name), attr="backward"), lineno=line):
                    return f"; line {line} names {name}.backward without calling it"
    return ""


def count_of_passes(count: int) -> str:
    """`1 pass`, `3 passes`."""
    return f"{count} pass" if count == 1 else f"{count} passes"
