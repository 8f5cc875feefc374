"""Records the processes that a script starts itself, as `torch.multiprocessing.spawn` does: each leaves a recording.

Note [Processes of a script]
What a process is to record is an attribute of its `Process`, `_after_fork`, which multiprocessing hands over with it,
also where it starts a fresh Python, and calls there when all is set up. The recording ends in a finalizer of
multiprocessing. So no frame of ours is beneath those of the program: its tracebacks are what they would be without us.

A process is never stopped, because others may wait for it: after the passes that were asked for, it goes on unrecorded.
Once all of them have come so far, the script is stopped, and they with it. A script with passes of its own is recorded
by those alone; when it is stopped, its processes are.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from microtape.basics.after_import import AfterImport
from microtape.basics.ranks import with_rank
from microtape.recording.script.request import NOTHING, REPORT, Request
from microtape.recording.script.stopping import stop_main_thread

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from microtape.recording.engines import ProgramRecorder

_HELPERS = ("multiprocessing.", "concurrent.", "torch.utils.data.")  # pools, managers and loaders, which run no passes
_FOLDER = "process"  # in that of the script, with the number of the process behind it: a folder for its report
_LOOK = 0.1  # seconds between two looks at the reports
_SETTLED = 1.0  # seconds after a start, or a report, in which others may follow
_PATIENCE = 10.0  # seconds in which a process that has not ended a pass yet may do so
_ROOT = str(Path(__file__).resolve().parents[3])


class _Recorder(Protocol):
    """The part of a `ScriptRecorder` that is needed here; its class makes another one in each process."""

    request: Request
    process: int
    recorder: ProgramRecorder

    def __init__(self, request: Request, process: int | None = None) -> None: ...

    def recorded(self) -> contextlib.AbstractContextManager[None]: ...

    def write_report(self, ended: str, error: BaseException | None) -> None: ...


class _Process(NamedTuple):
    request: Request
    report: dict[str, Any] | None  # None: it has left none yet, or was killed


def with_processes(
    request: Request, report: dict[str, Any] | None, made_whole: Callable[[Request], str]
) -> tuple[dict[str, Any] | None, list[int]]:
    """The report of a script with what its processes add, and the numbers of those that have written a recording.

    There are none of a script with passes of its own. `made_whole` makes a recording of a journal, if there is one.
    """
    processes = _processes(request)
    if report is not None and report["passes"]:
        for asked, left in processes:
            if left is not None and left["saved"]:
                _remove(asked.out)
        return report, []
    told = [one.report for one in processes if one.report is not None]
    saved = [number for number, (asked, left) in enumerate(processes) if (left or {}).get("saved") or made_whole(asked)]
    if report is None or not told:
        return report, saved
    if saved and report["saved"]:  # that it failed because a process did
        _remove(request.out)
    ran = [one for one in told if one["passes"]]
    report |= {
        "problem": next((one["problem"] for one in told if one["problem"]), report["problem"]),
        "faults": [*report["faults"], *(fault for one in told for fault in one["faults"])],
        "passes": max((one["passes"] for one in ran), default=0),
        "complete": bool(ran) and all(one["complete"] for one in ran),
        "reached": any(one["reached"] for one in ran),
        "failed": next((one["failed"] for one in ran if one["failed"]), None),
        "search": next((one["search"] for one in ran), report["search"]),
        "saved": bool(saved),
    }
    return report, saved


def _remove(path: str) -> None:
    """Remove a recording, unless the user has named something else, such as /dev/null."""
    if os.path.isfile(path):
        with contextlib.suppress(OSError):
            os.unlink(path)


def _processes(request: Request) -> list[_Process]:
    """The processes that the script has started, in that order."""
    found: list[_Process] = []
    while os.path.isdir((asked := _request_of(request, len(found))).folder):
        try:
            report = json.loads(Path(asked.folder, REPORT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            report = None
        found.append(_Process(asked, report))
    return found


def _request_of(request: Request, number: int) -> Request:
    """What a process is to record. For the stepper it does not search: that opens when all processes have a pass."""
    return request._replace(
        out=with_rank(request.out, number),
        folder=os.path.join(request.folder, f"{_FOLDER}{number}"),
        search=request.search if request.hidden_output is None else 0,
        hidden_output=None,
    )


class StartedProcesses:
    """The processes that the script starts."""

    def __init__(self, script: _Recorder) -> None:
        self._script = script
        self._started: list[BaseProcess] = []
        self._last_start = 0.0
        self._is_watched = False
        self._importing = AfterImport("multiprocessing.process", self._enroll_all)

    def enroll(self) -> None:
        """Let each process that the script starts from now on record itself."""
        self._importing.start()

    def _enroll_all(self) -> None:
        base = sys.modules["multiprocessing.process"].BaseProcess
        start, join = base.start, base.join

        @functools.wraps(start)
        def enrolled_start(process: BaseProcess) -> None:
            if os.getpid() != self._script.process or _is_helper(process):
                start(process)
                return
            with self._enrolled(process):
                start(process)
            method = getattr(process, "_start_method", None) or sys.modules["multiprocessing"].get_start_method()
            if method != "fork":  # which would copy a thread of ours
                self._watch()

        @functools.wraps(join)
        def watched_join(process: BaseProcess, timeout: float | None = None) -> None:
            if os.getpid() == self._script.process and process in self._started:
                self._watch()
            join(process, timeout)

        base.start, base.join = enrolled_start, watched_join

    @contextlib.contextmanager
    def _enrolled(self, process: BaseProcess) -> Iterator[None]:
        enrolled = Enrolled(type(self._script), self._script.request, len(self._started))
        process._after_fork = enrolled  # type: ignore[attr-defined]
        self._started.append(process)
        self._last_start = monotonic()
        before = [*sys.path]
        sys.path.append(_ROOT)  # a fresh Python takes it over, and has to find us there
        try:
            yield
        finally:
            sys.path[:] = before

    def _watch(self) -> None:
        """Stop the script once all processes have recorded what was asked for."""
        if not self._is_watched:
            self._is_watched = True
            threading.Thread(target=self._stop_in_time, name="microtape-processes", daemon=True).start()

    def _stop_in_time(self) -> None:
        last, since = 0, monotonic()  # how many had stopped, and when that was seen
        while True:
            ended = [one.report["ended"] if one.report else None for one in _processes(self._script.request)]
            if (stopped := ended.count("stopped")) > last:
                last, since = stopped, monotonic()
            patience = _PATIENCE if None in ended else _SETTLED
            if stopped and not self._script.recorder.count and monotonic() > max(since, self._last_start) + patience:
                break
            sleep(_LOOK)
        self._script.write_report("stopped", None)
        stop_main_thread()
        self.terminate()

    def terminate(self) -> None:
        """End the processes, for which the script would wait at its end."""
        for process in self._started:
            with contextlib.suppress(Exception):  # it has ended, and may be closed
                process.terminate()


class Enrolled:
    """What one process is to record. See Note [Processes of a script]."""

    def __init__(self, recorder: type[_Recorder], request: Request, number: int) -> None:
        self._recorder, self._number = recorder, number
        self._request = _request_of(request, number)
        os.makedirs(self._request.folder)

    def __call__(self) -> None:
        """Do what multiprocessing does here; then record from now on."""
        from multiprocessing import current_process
        from multiprocessing.util import Finalize

        type(current_process())._after_fork()  # type: ignore[attr-defined]
        if sys.path and sys.path[-1] == _ROOT:
            sys.path.pop()
        with self._leaving_faults():
            script = self._recorder(self._request, self._number)
            inside = contextlib.ExitStack()
            inside.enter_context(script.recorded())
            Finalize(None, self._end, (script, inside), exitpriority=-1)

    def _end(self, script: _Recorder, inside: contextlib.ExitStack) -> None:
        """The function of the process has returned, or raised what is being handled now."""
        error = sys.exception()
        if isinstance(error, SystemExit):  # torch prints an error and exits
            error = error.__context__ if error.code else None
        with self._leaving_faults():
            inside.close()
            script.write_report("finished" if error is None else "raised", error)

    @contextlib.contextmanager
    def _leaving_faults(self) -> Iterator[None]:
        """A fault of ours is left in the report, for the process is the program's."""
        try:
            yield
        except Exception as error:
            fault = (
                f"a process of the script was not recorded, by a fault of microtape: {type(error).__name__}: {error}"
            )
            with contextlib.suppress(OSError):
                Path(self._request.folder, REPORT).write_text(json.dumps({**NOTHING, "faults": [fault]}))


def _is_helper(process: BaseProcess) -> bool:
    """Whether the process is one of a library's, rather than of the program."""
    target = getattr(process, "_target", None)
    module = getattr(target if target is not None else type(process), "__module__", None) or ""
    return f"{module}.".startswith(_HELPERS)
