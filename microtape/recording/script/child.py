"""The process in which a script is recorded; `run.py` starts it, and reads the report that it leaves.

To the script it must look like plain Python. So it imports nothing above the engine and the recorder, and every name,
path and exit status is what `python script.py` would give.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import gc
import importlib
import importlib.machinery
import json
import os
import signal
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from microtape.basics.call_site import LIBRARY_FILES
from microtape.basics.fresh_stack import stack_ident
from microtape.errors import RecordingError
from microtape.recording.file.tape_file import save
from microtape.recording.script.until import Until
from microtape.recording.writing.recorder import Recorder
from microtape.tape.watch import Watcher, watch

_LEFT_OUT = "the program was stopped after the passes that were asked for; --pass all runs it to its end"
_FOUND = "the program was stopped at pass {number}, where {until} came true; earlier passes are not kept"
_MOST_KEPT = 16  # passes of one graph, while looking for the pass that `until` describes
_MOST_SWALLOWED = 3  # how often a script may swallow the exception that stops it


class Request(NamedTuple):
    """What `run.py` asks the child to record."""

    script: str
    out: str
    report: str
    passes: str | None
    first: int
    last: int | None  # 0: up to the first backward(); None: all
    element_budget: int
    total_budget: int
    until: str | None
    within: str | None
    check: bool


class StopScript(SystemExit):
    """Ends a script whose passes are recorded; `except Exception`, event loops and threads let it through."""


class ScriptRecorder:
    """Records one script from start to end, and reports how it ended."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.recorder = Recorder(
            os.path.basename(request.script),
            root=os.path.dirname(os.path.abspath(request.script)),
            wants=self.wants,
            after_pass=self.after_pass,
            check=request.check,
        )
        self.until = Until.read(request.until) if request.until is not None else None
        self.within = _context_manager(request.within)
        self.process = os.getpid()
        self.complete = False  # whether every pass that was asked for is recorded
        self.stops = 0
        self.report: dict[str, Any] = {"saved": False, "problem": None, "faults": []}

    def wants(self, index: int) -> bool:
        """Whether the pass with this index (from 0) was asked for."""
        return index + 1 >= self.request.first and (not self.request.last or index < self.request.last)

    def after_pass(self, index: int) -> None:
        """Save and stop if this was the last pass asked for. A failed pass ends the script by its own exception."""
        if self.until is not None:
            self.look(self.until)
            return
        ended = next((one for one in self.recorder.passes if one.index == index), None)
        if self.request.last == 0:
            self.complete = ended is not None and ended.kind == "backward"
        elif self.request.last is not None:
            self.complete = self.recorder.count >= self.request.last
        if not self.complete:
            return
        self.end(_LEFT_OUT, failed=ended is not None and ended.has_failed)

    def look(self, until: Until) -> None:
        """End the recording if `until` came true in a pass; else forget passes whose graph no later pass can share."""
        if not self.recorder.passes:
            return  # it could not be recorded
        recording, last = self.recorder.recording, self.recorder.passes[-1]
        if any(until.happens_in(recording, i) for i in range(len(recording.passes))):
            self.complete = True
            self.end(_FOUND.format(number=last.index + 1, until=until.text), failed=last.has_failed)
        elif not (last.retain_graph or last.create_graph) or len(recording.passes) >= _MOST_KEPT:
            self.recorder.forget()

    def end(self, note: str, *, failed: bool) -> None:
        """Save the recording, and stop the script unless a failed pass is about to end it."""
        self.save(() if failed else (note,))
        self.write_report("stopped", None)  # now, because a `finally` block of the script may end the process
        watch.set((_AfterTheEnd(self),))
        if not failed:
            self.stop()

    def stop(self) -> NoReturn:
        """End the script by an exception, so that its `finally` blocks run; if it swallows several, end the process."""
        self.stops += 1
        if self.stops > _MOST_SWALLOWED:
            _exit_at_once()
        raise StopScript

    def run(self) -> None:
        """Run the script as `__main__`."""
        script = os.path.abspath(self.request.script)
        main = types.ModuleType("__main__")
        main.__file__, main.__builtins__ = script, __builtins__  # type: ignore[attr-defined]
        main.__loader__ = importlib.machinery.SourceFileLoader("__main__", script)
        sys.modules["__main__"] = main
        with open(script, "rb") as file:
            code = compile(file.read(), script, "exec", dont_inherit=True)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_stop_watching)
        with self.within, self.recorder:
            exec(code, main.__dict__)

    def save(self, notes: tuple[str, ...] = ()) -> None:
        """Write the recording if it has anything to show: a pass, or an error or a fault after some operations."""
        recording = self.recorder.recording
        self.report["faults"] = list(self.recorder.faults.lines)
        if not recording.passes and not ((recording.error or self.report["faults"]) and recording.nodes):
            return
        recording = dataclasses.replace(
            recording,
            notes=(*recording.notes, *notes),
            options={"args": sys.argv[1:], "passes": self.request.passes, "until": self.request.until},
        )
        try:
            with _uninterrupted():
                save(
                    recording,
                    self.request.out,
                    element_budget=self.request.element_budget,
                    total_budget=self.request.total_budget,
                )
            self.report["saved"] = True
        except Exception as error:
            self.report["problem"] = _problem(error, self.request.out)

    def write_report(self, ended: str, error: BaseException | None) -> None:
        """Tell the parent process how the script ended. A fork of the script writes no report: it is not recorded."""
        if os.getpid() != self.process:
            return
        if not self.complete:
            if error is not None and not any(one.has_failed for one in self.recorder.passes):
                self.recorder.error = self.recorder.error_record(error)
            if self.until is None or error is not None:
                self.save()
            self.complete = self.until is not None and self.until.text == "error" and error is not None
        kind = type(error).__name__ if error is not None else None
        self.report |= {"ended": ended, "error": kind, "passes": self.recorder.count, "complete": self.complete}
        self.report["torch"] = "torch" in sys.modules and not self.recorder.recording.nodes
        with open(self.request.report, "w", encoding="utf-8") as file:
            json.dump(self.report, file)


class _AfterTheEnd(Watcher):
    """Stops a script again that has swallowed StopScript and calls backward once more."""

    def __init__(self, script: ScriptRecorder) -> None:
        self.script = script
        self.thread = stack_ident()

    def task_started(self, task: Any) -> None:
        if stack_ident() == self.thread:
            self.script.stop()


def main() -> None:
    """Run the script that the command line names, as `python script.py` would, and leave a recording and a report."""
    _, root, request, *sys.argv = sys.argv
    script = ScriptRecorder(Request(**json.loads(request)))
    sys.path.remove(root)
    gc.set_threshold(50_000, 20, 50)  # a recording is many small objects without cycles: this saves a third of the time
    if not os.environ.get("PYTHONSAFEPATH"):
        sys.path.insert(0, os.path.dirname(os.path.realpath(script.request.script)))
    try:
        script.run()
        script.write_report("finished", None)
    except StopScript as stop:
        _end_stopped(script, stop)
    except SystemExit:
        script.write_report("exited", None)
        raise
    except BaseException as error:
        if _was_stopped(error):  # a `finally` block failed because it ran early: not the user's error
            _end_stopped(script, error)
            return
        _without_our_frames(error)
        script.write_report("interrupted" if isinstance(error, KeyboardInterrupt) else "raised", error)
        sys.excepthook(type(error), error, error.__traceback__)
        raise SystemExit(1) from None


def _problem(error: Exception, out: str) -> str:
    """Why the recording was not written."""
    if isinstance(error, RecordingError):
        return str(error)
    return f"{os.path.basename(out)}: cannot be written, by a fault of microtape: {type(error).__name__}: {error}"


def _context_manager(name: str | None) -> contextlib.AbstractContextManager[None]:
    """The context manager that `module:function:argument` names."""
    if name is None:
        return contextlib.nullcontext()
    module, function, argument = name.split(":")
    made: contextlib.AbstractContextManager[None] = getattr(importlib.import_module(module), function)(argument)
    return made


def _stop_watching() -> None:
    watch.set(tuple(watcher for watcher in watch.watchers if not isinstance(watcher, Recorder | _AfterTheEnd)))


def _end_stopped(script: ScriptRecorder, stop: BaseException) -> None:
    script.write_report("stopped", None)
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        _exit_at_once()  # those threads would never end by themselves


def _exit_at_once() -> NoReturn:
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(0)


def _was_stopped(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, StopScript):
        error = error.__context__
    return error is not None


def _without_our_frames(error: BaseException) -> None:
    """Remove our frames from the tracebacks of an exception and its causes, so that users see only their own code."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _users_part(one.__traceback__)
        waiting += [one.__cause__, one.__context__, *(one.exceptions if isinstance(one, BaseExceptionGroup) else ())]


def _users_part(trace: types.TracebackType | None) -> types.TracebackType | None:
    entries = []
    while trace is not None:
        if trace.tb_frame.f_code.co_filename not in LIBRARY_FILES:
            entries.append(trace)
        trace = trace.tb_next
    kept: types.TracebackType | None = None
    for entry in reversed(entries):
        kept = types.TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C while the recording is being written."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
