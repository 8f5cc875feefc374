"""The process in which a script is recorded; `run.py` starts it, and reads the report that it leaves.

To the script it must look like plain Python. So it imports nothing above the engine and the recorder, and every name,
path and exit status is what `python script.py` would give.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from microtape.basics.fresh_stack import stack_ident
from microtape.basics.ranks import rank_of_process, rank_options
from microtape.basics.signals import uninterrupted
from microtape.errors import RecordingError
from microtape.recording.choosing.journal import Journal
from microtape.recording.choosing.keeper import Keeper
from microtape.recording.choosing.until import Until
from microtape.recording.engines import ProgramRecorder
from microtape.recording.file.tape_file import save
from microtape.recording.script.background import into_background
from microtape.recording.script.main_program import MainProgram
from microtape.recording.script.processes import StartedProcesses
from microtape.recording.script.program import Program, hint_for
from microtape.recording.script.request import NOTHING, REPORT, ROOM, RUNNING, Request
from microtape.recording.script.stopping import (
    StopScript,
    exit_at_once,
    stop_main_thread,
    wait_for_threads,
    was_stopped,
)
from microtape.recording.script.torch_names import says_torch_alone, torch_names
from microtape.recording.script.tracebacks import without_our_frames
from microtape.tape.watch import Watcher, watch

if TYPE_CHECKING:
    from microtape.recording.model.model import Recording
    from microtape.recording.script.search import Search

_LEFT_OUT = "the program was stopped after the passes that were asked for; --pass all runs it to its end"
_FOUND = "the program was stopped at pass {number}, where {until} came true; earlier passes are not kept"
_FOUND_ON = "pass {number} is kept, where {until} came true; the program went on unrecorded"
_GOES_ON = "the program went on after the passes that are kept; --pass all records it to its end"
_NOTICED = "the program went on after pass {number}"
_ABANDONED = "the program was stopped because microtape was killed"
_SEARCHED = "the program was stopped at pass {number}"
_WHY = {"finished": "finished", "exited": "finished", "raised": "failed", "interrupted": "failed"}
_NO_TORCH = "microtape: PyTorch is not installed; --engine microtape runs the program on microtape's own engine"
_MOST_SWALLOWED = 3  # how often a script may swallow the exception that stops it


class ScriptRecorder:
    """Records one script from start to end, and reports how it ended.

    Args:
        request: what to record.
        process: the number of the process, if the script has started it; see Note [Processes of a script].
    """

    def __init__(self, request: Request, process: int | None = None) -> None:
        self.request = request
        self.recorder = ProgramRecorder(
            request.program.title,
            root=request.program.root,
            after_pass=self.after_pass,
            check=request.check,
            engine=request.engine,
            thread=request.thread,
        )
        until = Until.read(request.until) if request.until is not None else None
        self.keeper = Keeper(
            self.recorder,
            first=request.first,
            last=request.last,
            until=until,
            every=request.every,
            sleeps=request.every is not None,  # else an earlier pass may explain what is wrong in a later one
            seals=True,
        )
        self.asked_by = os.getppid()
        self.search: Search | None = None  # once the first pass is recorded
        self.first_segments = 1  # up to the end of the first backward()
        self.within = _context_manager(request.within)
        self.process = os.getpid()
        self.rank = rank_of_process() if process is None else process
        self.is_started_by_script = process is not None
        self.processes = StartedProcesses(self)
        self.options: dict[str, object] = {
            "args": sys.argv[1:],
            "passes": request.passes,
            "until": request.until,
            "every": request.every,
            **rank_options(process),
        }
        self.journal = Journal(request.out, self.options, request.element_budget, request.total_budget)
        self.complete = False  # whether every pass that was asked for is recorded
        self.stops = 0
        self.report: dict[str, Any] = dict(NOTHING)

    @property
    def failed(self) -> int | None:
        """The number of the last kept pass that has failed."""
        kept = [one.index + 1 for segment in self.recorder.segments for one in segment.passes if one.has_failed]
        return max(kept, default=None)

    def after_pass(self, index: int) -> None:
        """Save and stop if this was the last pass asked for. A failed pass ends the script by its own exception."""
        if self.is_started_by_script and "ranks" not in self.options:
            self.options |= rank_options(self.rank)  # by now torch may know it
        if self.search is not None:
            self.search_on(self.search)
        else:
            self.choose(index)

    def choose(self, index: int) -> None:
        """Keep what was asked for, and end the recording once all of it is there."""
        self.complete = self.keeper.ended(index)
        if not self.complete:
            self.journal.note(self.keeper, self.recorder)
            if os.getppid() != self.asked_by:
                self.save((_ABANDONED,))
                self.complete = True
                self.end(failed=False)
            return
        last = self.keeper.last_pass
        failed = last is not None and last.index == index and last.has_failed
        if self.request.search and not failed:
            self.go_on(self.request.search)
            return
        until = self.keeper.until
        alone = self.rank is None
        if until is None:
            left_out = _LEFT_OUT if alone else _GOES_ON
        else:
            left_out = (_FOUND if alone else _FOUND_ON).format(number=index + 1, until=until.text)
        self.save(() if failed else (left_out,))
        self.end(failed=failed)

    def go_on(self, seconds: float) -> None:
        """Save the first pass, and let the script go on, unless an error was found already."""
        from microtape.recording.script.search import Search  # most programs are recorded without a search

        recording = self.recorder.recording
        search = Search(recording, seconds, self.request.folder)
        self.first_segments = len(self.recorder.segments)
        if search.found_an_error:
            self.report["search"] = "found"
            self.save((_LEFT_OUT,))
            self.end(failed=False)
            return
        self.save((_GOES_ON,))
        if self.request.hidden_output is not None:
            into_background(self.request.hidden_output)
        self.write_report(RUNNING, None)
        self.search, self.complete = search, False
        self.recorder.begin_segment()

    def search_on(self, search: Search) -> None:
        """End the recording if something was found in this pass; else forget the pass before it."""
        if not self.recorder.passes:
            return  # it could not be recorded
        last = self.recorder.passes[-1]
        recording = self.recorder.recording
        if last.has_failed or search.finds(recording):
            self.report["search"] = "found"
            self.save(() if last.has_failed else (search.told(_SEARCHED, last.index + 1),))
        elif search.finds_a_notice(recording):
            self.save((search.told(_NOTICED, last.index + 1),))  # kept unless something worse is found
            self.forget_earlier(search)
            return
        elif (over := search.over(self.recorder.count)) is not None:
            self.report["search"] = over
            self.settle(search, recording)
        else:
            self.forget_earlier(search)
            return
        self.complete = True
        self.end(failed=last.has_failed)

    def settle(self, search: Search, recording: Recording) -> None:
        """At the end: save the last pass if something is wrong after it, or if it refutes what was noticed before."""
        if search.finds(recording) or search.is_refuted_by(recording):
            self.save((search.told(_NOTICED, self.recorder.count),))

    def forget_earlier(self, search: Search) -> None:
        """Forget the passes that the search needs no more, unless a later one may share the graph of the last."""
        if self.keeper.shares_no_graph():
            self.recorder.begin_segment()
            ended = slice(self.first_segments, -1)
            self.recorder.segments[ended] = search.needed(self.recorder.segments[ended])

    def end(self, *, failed: bool) -> None:
        """Stop the script, after its recording was saved, unless a failed pass is about to end it.

        One of several processes is never stopped, because the others would wait for it: it goes on unrecorded.
        """
        if failed and self.request.search:
            self.report["search"] = "failed"
        self.write_report("stopped", None)  # now, because a `finally` block of the script may end the process
        if self.rank is not None:
            self.recorder.stop()
            if self.report["saved"] and not failed and not self.is_started_by_script:
                written = os.path.basename(self.request.out)
                print(
                    f"microtape: {written} is written; rank {self.rank} goes on unrecorded", file=sys.stderr, flush=True
                )
            return
        watch.set((_AfterTheEnd(self),))
        self.recorder.refuse(self.stop)
        if not failed:
            self.stop()

    def stop(self) -> NoReturn:
        """End the script by an exception, so that its `finally` blocks run; if it swallows several, end the process."""
        self.stops += 1
        if self.stops > _MOST_SWALLOWED:
            exit_at_once()
        if threading.current_thread() is not threading.main_thread():
            stop_main_thread()
            raise SystemExit  # which `threading` does not report
        raise StopScript

    def run(self) -> None:
        """Run the script as `__main__`."""
        program = MainProgram(self.request.program)
        if self.request.engine == "microtape" and says_torch_alone(program.imports()):
            torch_names().start()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.stop_watching)
        if self.rank is None:
            self.processes.enroll()
        with self.recorded():
            program.run()
            wait_for_threads()

    @contextlib.contextmanager
    def recorded(self) -> Iterator[None]:
        """Record what runs inside."""
        with self.within, self.recorder:
            self.keeper.begin()
            yield

    def stop_watching(self) -> None:
        """Watch nothing any more: this process is a fork of the script."""
        self.recorder.stop()
        watch.set(tuple(watcher for watcher in watch.watchers if not isinstance(watcher, _AfterTheEnd)))

    def save(self, notes: tuple[str, ...] = ()) -> None:
        """Write the recording if it shows anything: a pass, a finding, an error or a fault after some operations."""
        self.keeper.make_course()
        recording = self.recorder.recording
        self.report["faults"] = list(self.recorder.fault_lines)
        if not recording.passes and not self._shows_anything(recording):
            return
        recording = dataclasses.replace(
            recording,
            notes=(*recording.notes, *notes),
            courses=tuple(self.keeper.courses),
            options=self.options,
        )
        try:
            with uninterrupted():
                save(
                    recording,
                    self.request.out,
                    element_budget=self.request.element_budget,
                    total_budget=self.request.total_budget,
                )
            self.report["saved"] = True
            self.journal.remove()
            self.report["kept_later"] = self.search is not None
        except Exception as error:
            self.report["problem"] = _problem(error, self.request.out)

    def _shows_anything(self, recording: Recording) -> bool:
        """Whether a program without a pass left an error, a fault or a finding."""
        if recording.error is None and not self.report["faults"]:
            return False
        from microtape.recording.findings import findings

        return bool(recording.nodes) or bool(findings(recording))

    def write_report(self, ended: str, error: BaseException | None) -> None:
        """Tell the parent process how the script ended. A fork of the script writes no report: it is not recorded."""
        if os.getpid() != self.process:
            return
        if not self.complete:
            if error is not None and self.failed is None:
                self.recorder.error = self.recorder.error_record(error)
            until = self.keeper.until
            if (until is None and self.search is None) or error is not None or self.keeper.courses:
                self.save()
            elif self.search is not None:
                self.settle(self.search, self.recorder.recording)
            self.complete = until is not None and until.text == "error" and error is not None
        kind = type(error).__name__ if error is not None else None
        self.report |= {"ended": ended, "error": kind, "passes": self.recorder.count, "complete": self.complete}
        kept = [one.index for segment in self.recorder.segments for one in segment.passes]
        self.report |= {"failed": self.failed, "reached": any(map(self.keeper.wants, kept))}
        if self.request.search and self.report["search"] is None:
            self.report["search"] = _WHY.get(ended)
        if self.report["problem"] is None:
            self.journal.remove()
        path = os.path.join(self.request.folder, REPORT)
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(self.request.folder, ROOM))
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            json.dump(self.report, file)
        os.replace(f"{path}.new", path)


class _AfterTheEnd(Watcher):
    """Stops a script again that has swallowed StopScript and calls backward once more."""

    def __init__(self, script: ScriptRecorder) -> None:
        self.script = script
        self.threads = script.recorder.threads

    def task_started(self, task: Any) -> None:
        if stack_ident() in self.threads:
            self.script.stop()


def wait() -> None:
    """Wait for the arguments of `main`, which come through a pipe, and go on there; end if none come."""
    with open(int(sys.argv[2]), encoding="utf-8") as pipe:
        text = pipe.read()
    if text:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv[1:] = json.loads(text)
        main()


def main() -> None:
    """Run the script that the command line names, as `python script.py` would, and leave a recording and a report."""
    _, root, request, *sys.argv = sys.argv
    asked = json.loads(request)
    script = ScriptRecorder(Request(**asked | {"program": Program(*asked["program"])}))
    if script.request.quiet:
        os.dup2(2, 1)
    sys.path.remove(root)
    if not os.environ.get("PYTHONSAFEPATH"):
        sys.path.insert(0, script.request.program.imports_from)
    try:
        script.run()
        script.write_report("finished", None)
    except StopScript as stop:
        _end_stopped(script, stop)
    except SystemExit:
        script.write_report("exited", None)
        raise
    except BaseException as error:
        if was_stopped(error):  # a `finally` block failed because it ran early: not the user's error
            _end_stopped(script, error)
            return
        without_our_frames(error)
        script.write_report("interrupted" if isinstance(error, KeyboardInterrupt) else "raised", error)
        sys.excepthook(type(error), error, error.__traceback__)
        if isinstance(error, ModuleNotFoundError) and error.name == "torch":
            print(_NO_TORCH, file=sys.stderr, flush=True)
        elif hint := hint_for(script.request.program, error):
            print(hint, file=sys.stderr, flush=True)
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


def _end_stopped(script: ScriptRecorder, stop: BaseException) -> None:
    script.write_report("stopped", None)
    script.processes.terminate()
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        exit_at_once()  # those threads would never end by themselves
