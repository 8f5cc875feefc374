"""The process in which a script is recorded; `run.py` starts it, and reads the report that it leaves.

It must look to the script like plain Python. So it imports the engine and nothing above it, and every name, path and
exit status is what `python script.py` would have given.
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
from microtape.errors import RecordingError
from microtape.recording.file.tape_file import save
from microtape.recording.script.until import Until
from microtape.recording.writing.recorder import Recorder
from microtape.tape.watch import Watcher, watch

LEFT_OUT = "the program was stopped after the passes that were asked for; --pass all runs it to its end"
FOUND = "the program was stopped at pass {number}, where {until} came true; what went before is not kept"
MOST_KEPT = 16  # passes of one graph, while looking for one
PATIENCE = 3  # how often a script may swallow the exception that stops it


class Order(NamedTuple):
    """What `run.py` asks for."""

    script: str
    out: str
    report: str
    passes: str | None
    first: int
    last: int | None  # 0: up to the first backward(), None: all
    element_budget: int
    total_budget: int
    until: str | None
    within: str | None
    check: bool


class StopScript(SystemExit):
    """What was asked for is recorded. `except Exception` lets a SystemExit pass; event loops and threads respect it."""


class Session:
    """One script from start to end, and what there is to say about it."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.recorder = Recorder(
            os.path.basename(order.script),
            root=os.path.dirname(os.path.abspath(order.script)),
            wants=self.wants,
            after_pass=self.after_pass,
            check=order.check,
        )
        self.until = Until.read(order.until) if order.until is not None else None
        self.within = _context_manager(order.within)
        self.process = os.getpid()
        self.complete = False  # every pass that was asked for is recorded
        self.stops = 0
        self.report: dict[str, Any] = {"saved": False, "problem": None}

    def wants(self, index: int) -> bool:
        """Whether the pass with this index (from 0) was asked for."""
        return index + 1 >= self.order.first and (not self.order.last or index < self.order.last)

    def after_pass(self, index: int) -> None:
        """Save and stop, if this was the last pass asked for. A failed one is left to end the script itself."""
        if self.until is not None:
            self.look(self.until)
            return
        passes = self.recorder.passes
        ended = passes[-1] if self.wants(index) else None
        if self.order.last == 0:
            self.complete = ended is not None and ended.kind == "backward"
        elif self.order.last is not None:
            self.complete = self.recorder.count >= self.order.last
        if not self.complete:
            return
        self.end(LEFT_OUT, failed=ended is not None and ended.error is not None)

    def look(self, until: Until) -> None:
        """End it if what is looked for has happened; else forget what nobody will come back to."""
        recording, last = self.recorder.recording, self.recorder.passes[-1]
        if any(until.happens_in(recording, i) for i in range(len(recording.passes))):
            self.complete = True
            self.end(FOUND.format(number=last.index + 1, until=until.text), failed=last.error is not None)
        elif not (last.retain_graph or last.create_graph) or len(recording.passes) >= MOST_KEPT:
            self.recorder.forget()

    def end(self, note: str, *, failed: bool) -> None:
        """Save what was asked for, and stop the script unless it is about to end by itself."""
        self.save(() if failed else (note,))
        self.write_report("stopped", None)  # already now, since the script may end its process in a `finally` block
        watch.set((_AfterTheEnd(self),))
        if not failed:
            self.stop()

    def stop(self) -> NoReturn:
        """End the script by an exception, so that its `finally` blocks run; if it swallows several, without asking."""
        self.stops += 1
        if self.stops > PATIENCE:
            _exit_at_once()
        raise StopScript

    def run(self) -> None:
        """Run the script as `__main__`."""
        script = os.path.abspath(self.order.script)
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
        """Write what has been recorded, if there is anything to see in it."""
        recording = self.recorder.recording
        if not recording.passes and not (recording.error and recording.nodes):
            return
        recording = dataclasses.replace(
            recording,
            notes=(*recording.notes, *notes),
            options={"args": sys.argv[1:], "passes": self.order.passes, "until": self.order.until},
        )
        try:
            with _uninterrupted():
                save(
                    recording,
                    self.order.out,
                    element_budget=self.order.element_budget,
                    total_budget=self.order.total_budget,
                )
            self.report["saved"] = True
        except RecordingError as error:
            self.report["problem"] = str(error)

    def write_report(self, ended: str, error: BaseException | None) -> None:
        """Tell the process that started us how it went. A fork of the script has nothing to say: it is not recorded."""
        if os.getpid() != self.process:
            return
        if not self.complete:
            if error is not None and not any(one.error is not None for one in self.recorder.passes):
                self.recorder.error = self.recorder.error_record(error)
            if self.until is None or error is not None:
                self.save()
            self.complete = self.until is not None and self.until.text == "error" and error is not None
        kind = type(error).__name__ if error is not None else None
        self.report |= {"ended": ended, "error": kind, "passes": self.recorder.count, "complete": self.complete}
        self.report["torch"] = "torch" in sys.modules and not self.recorder.recording.nodes
        with open(self.order.report, "w", encoding="utf-8") as file:
            json.dump(self.report, file)


class _AfterTheEnd(Watcher):
    """Watches a script that goes on after the end of its recording, having swallowed what was to stop it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.thread = threading.get_ident()

    def task_started(self, task: Any) -> None:
        if threading.get_ident() == self.thread:
            self.session.stop()


def main() -> None:
    """Run the script that the command line names, as `python script.py` would, and leave a recording and a report."""
    _, root, order, *sys.argv = sys.argv
    session = Session(Order(**json.loads(order)))
    sys.path.remove(root)
    gc.set_threshold(50_000, 20, 50)  # a recording is many small objects and no cycles: a third of the time less
    if not os.environ.get("PYTHONSAFEPATH"):
        sys.path.insert(0, os.path.dirname(os.path.realpath(session.order.script)))
    try:
        session.run()
        session.write_report("finished", None)
    except StopScript as stop:
        _end_stopped(session, stop)
    except SystemExit:
        session.write_report("exited", None)
        raise
    except BaseException as error:
        if _was_stopped(error):  # a `finally` block stumbled over being run early: nobody's fault
            _end_stopped(session, error)
            return
        without_our_frames(error)
        session.write_report("interrupted" if isinstance(error, KeyboardInterrupt) else "raised", error)
        sys.excepthook(type(error), error, error.__traceback__)
        raise SystemExit(1) from None


def _context_manager(name: str | None) -> contextlib.AbstractContextManager[None]:
    """The context manager that `module:function:argument` names."""
    if name is None:
        return contextlib.nullcontext()
    module, function, argument = name.split(":")
    made: contextlib.AbstractContextManager[None] = getattr(importlib.import_module(module), function)(argument)
    return made


def _stop_watching() -> None:
    watch.set(tuple(watcher for watcher in watch.watchers if not isinstance(watcher, Recorder | _AfterTheEnd)))


def _end_stopped(session: Session, stop: BaseException) -> None:
    session.write_report("stopped", None)
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        _exit_at_once()  # nobody is left to tell those threads to end


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


def without_our_frames(error: BaseException) -> None:
    """Take our frames out of an exception's traceback, and out of those of its causes: the user sees their own code."""
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
    """A second Ctrl-C, pressed while the first one's recording is being written, waits."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
