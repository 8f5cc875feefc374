"""The recorder of PyTorch programs: makes the recordings that the recorder of microtape's own engine makes."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, cast

import torch

from microtape.basics.collector import paused, seldom
from microtape.basics.followed_threads import Threads
from microtape.basics.fresh_stack import stack_ident
from microtape.recording.model.model import CUT_SHORT, ErrorRecord, Recording
from microtape.recording.model.options import Check
from microtape.recording.pytorch.calls.call_sites import asking_frame, site_of
from microtape.recording.pytorch.checks.checker import RememberingMode, TorchChecker
from microtape.recording.pytorch.checks.undisturbed import check_pass, is_running_again
from microtape.recording.pytorch.errors import error_record, raising_frames, with_places
from microtape.recording.pytorch.functions import FunctionCalls
from microtape.recording.pytorch.inside.call_stack import CallStack
from microtape.recording.pytorch.inside.calls import TorchCalls
from microtape.recording.pytorch.inside.patches import Patches
from microtape.recording.pytorch.inside.users_warnings import UsersWarnings
from microtape.recording.pytorch.modules import WatchedModules
from microtape.recording.pytorch.notes import GraphNode
from microtape.recording.pytorch.operations.compiled import CompiledCode, Hideable
from microtape.recording.pytorch.operations.mode_stack import FastPaths, StackedMode
from microtape.recording.pytorch.operations.operations import Operations
from microtape.recording.pytorch.operations.optimizer_steps import OptimizerSteps
from microtape.recording.pytorch.operations.swaps import Swaps
from microtape.recording.pytorch.passes.engine import Listening, WatchedEngine, uncompiled
from microtape.recording.pytorch.passes.open_pass import OpenPass
from microtape.recording.pytorch.passes.own_hooks import OwnHooks
from microtape.recording.pytorch.passes.request import has_graph, is_transformed, request_of
from microtape.recording.pytorch.ranges import Ranges
from microtape.recording.pytorch.reached import Reached
from microtape.recording.pytorch.reading.settling import with_values
from microtape.recording.pytorch.reading.values import Budget, Values
from microtape.recording.pytorch.remarks import remarks
from microtape.recording.pytorch.saved import PackedRanges
from microtape.recording.pytorch.segment import Segment, WhoFreed
from microtape.recording.pytorch.tape import Tape
from microtape.recording.pytorch.tensors import Tensors, work_together
from microtape.recording.pytorch.updates import Updates
from microtape.recording.writing.calls.call import CallBudget, notes_of
from microtape.recording.writing.faults import AFTER_A_PASS, Faults, was_raised_by_a_signal
from microtape.recording.writing.joining import Additions, joined
from microtape.recording.writing.names.sources import Sources
from microtape.recording.writing.passes_of_threads import PassesOfThreads


class TorchRecorder:
    """Records the passes of the thread that makes it, and of those that this one starts; used like `Recorder`.

    NB: operations are noted in the first thread only: each thread has its own stack of modes and sequence numbers.
    """

    def __init__(
        self,
        title: str = "record()",
        *,
        root: str | None = None,
        after_pass: Callable[[int], None] = lambda index: None,
        check: Check | None = None,
        thread: str | None = None,
        on_device: Callable[[Any], bool] | None = None,
    ) -> None:
        self.title = title
        self.check = check
        self.after_pass = after_pass
        self.before_pass: Callable[[], bool] = lambda: True  # False: this pass is not recorded
        self.sources = Sources(root)
        self.faults = Faults()
        self.count = 0
        self._open: list[OpenPass] = []
        self.error: ErrorRecord | None = None
        self.threads = Threads(thread)
        self.passes_of_threads = PassesOfThreads(self._progress)
        self.values = Values(Budget(), on_device)
        self.tensors = Tensors(self.values)
        self.asleep = False
        self._passed: dict[int, list[int]] = {}  # by thread: the passes that are running and only counted
        self.operations = Operations(self.tensors, self.faults)
        this = cast(TorchRecorder, weakref.proxy(self))  # what it holds must not keep it alive
        self.tensors.before_rewritten = lambda: this.seal_passes()
        self.call_stack = CallStack(this)
        self._modes = [StackedMode(self.operations)]
        if check not in (None, "functions"):
            self._modes.insert(0, StackedMode(RememberingMode(lambda: this.checker, self.operations)))
        self.optimizer_steps = OptimizerSteps(
            self.operations, self._modes, self.threads, self.sources.is_installed, lambda: this.updates,
            lambda: len(this._open), self.faults,
        )  # fmt: skip
        self._swaps = Swaps(self.operations, lambda: this.updates)
        self._additions: Additions[Segment] = Additions(WhoFreed())  # type: ignore[arg-type]
        self._taken: set[GraphNode] = set()  # whose calls belong to a segment that was added
        self.packed = PackedRanges()
        self._makers = Ranges[GraphNode]()
        self.segments: list[Segment] = []
        self.begin_segment()
        self._inside: contextlib.ExitStack | None = None

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """Do not note the operations inside."""
        self.operations.quiet += 1
        try:
            yield
        finally:
            self.operations.quiet -= 1

    def seal(self) -> None:
        """End the segment, which stays: the copies of the next one count against the same budget."""
        self._begin_segment(self.calls.budget, renews=False)

    def seal_passes(self) -> None:
        """End the segment, unless a pass is running: its passes must not get the new value of a leaf's old version."""
        if not self._open:
            self.seal()

    def begin_segment(self) -> None:
        """Record what follows in a new segment; the others are kept until they are removed from `segments`."""
        self._begin_segment(CallBudget(), renews=True)

    def _begin_segment(self, budget: CallBudget, *, renews: bool) -> None:
        updates = (
            self.segments[-1].updates.next_segment(self.count)
            if self.segments
            else Updates(self.operations.writes.last, self.values)
        )
        values = self.tensors.begin_segment(renews=renews)
        if self.segments:
            self.segments[-1].reached.values = values
        reached = Reached(self.tensors, self.operations, self.packed, self.faults, self._makers)
        tape = Tape(reached, self.sources, self.faults, self.tensors)
        known = self.segments[-1].checker if self.segments else None
        checker = None
        if self.check is not None:
            checker = TorchChecker(self.check, known, self.sources.is_installed, self.tensors, self.faults)
        uses = self.operations.aliases.begin_segment()
        self.segments.append(Segment(reached, tape, [], checker, updates, uses, TorchCalls(budget)))
        segment = self.segments[-1]
        self.reached, self.tape, self.passes = segment.reached, segment.tape, segment.passes
        self.checker, self.updates, self.calls = segment.checker, segment.updates, segment.calls

    def __enter__(self) -> TorchRecorder:
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.threads)
            stack.enter_context(UsersWarnings())
            stack.enter_context(OwnHooks())
            stack.enter_context(Listening(self.run_pass))
            modules = WatchedModules(self._is_asleep)
            stack.enter_context(modules)
            held = weakref.ref(modules)
            self.tensors.running_module = lambda: one.running if (one := held()) is not None else None
            stack.enter_context(self.packed)
            functions = FunctionCalls(self.operations, self.call_stack, lambda: self.checker)
            stack.enter_context(functions)
            stack.enter_context(Patches(self.call_stack))
            stack.callback(self.call_stack.abandon)
            stack.enter_context(self._swaps)
            stack.enter_context(self.optimizer_steps)
            stack.enter_context(FastPaths())
            for mode in self._modes:
                stack.enter_context(mode)
            hidden: list[Hideable] = [*self._modes, modules, functions, self.call_stack.mode]
            stack.enter_context(CompiledCode(hidden, [WatchedEngine.run_backward.__code__, modules.code]))
            self._inside = stack.pop_all()
        if self.asleep:
            self.operations.quiet += 1
            self._take_modes_off()
        else:
            seldom.begin()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._inside is not None:
            self._inside.close()
            self._inside = None
            if not self.asleep:
                seldom.end()

    def sleep(self) -> None:
        """Only count the passes from now on."""
        if not self.asleep:
            self.optimizer_steps.settle()
            self.asleep = True
            self.operations.quiet += 1
            self._take_modes_off()
            seldom.end()

    def _take_modes_off(self) -> None:
        for mode in self._modes:
            mode.take_off()

    def _is_asleep(self) -> bool:
        """Asked at each call of a module, while torch does not hold our mode."""
        self.optimizer_steps.settle()
        if self.asleep:
            for mode in self._modes:
                mode.settle()
        return self.asleep

    def wake(self) -> None:
        """Record again, in a new segment."""
        if self.asleep:
            self.asleep = False
            self.updates.pass_began((), self.count)  # how far the leaves have moved meanwhile is nobody's update
            self.operations.writes.last.clear()
            self.operations.quiet -= 1
            for mode in self._modes:
                mode.put_on()
            seldom.begin()
        self.begin_segment()

    def stop(self) -> None:
        """Record nothing any more, and count nothing."""
        self.before_pass = lambda: False
        self.sleep()

    # A pass

    def run_pass(self, run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a pass of torch's engine, and record it. Whatever happens here, the program gets torch's result."""
        if is_running_again():
            check_pass(bool(kwargs.get("accumulate_grad")))
            return run(*args, **kwargs)
        if stack_ident() not in self.threads or not self.before_pass():
            return run(*args, **kwargs)
        self.optimizer_steps.settle()
        if self.asleep:
            return self._let_pass(run, args, kwargs)
        if not self._is_recorded(run):
            try:
                return run(*args, **kwargs)
            finally:
                self.passes_of_threads.ends(run)
        opened = None
        try:
            with self.passes_of_threads.lock:  # so that it has the number that it was given
                opened = self._begin(args, kwargs, sys._getframe(1))
        finally:
            if opened is None:
                self._free()
        if opened is None:
            return run(*args, **kwargs)
        if self._open:
            self._open[-1].is_outer = True
        self.call_stack.note("pass", "backward" if opened.request.accumulate else "grad", (), inner=opened.index)
        self._open.append(opened)
        trace = self.call_stack.pass_began()
        self._hush(1)
        result, error = None, None
        try:
            with uncompiled():
                result = run(*args, **kwargs)
        except BaseException as raised:
            error = raised
            raise
        finally:
            if trace is not None:
                trace.remove()
            self._end(opened, result, error)
        return result

    def _is_recorded(self, task: object) -> bool:
        """Whether a pass that begins now is recorded; if not, it is counted. See Note [Passes of threads]."""
        with self.passes_of_threads.lock:
            is_recorded = self.passes_of_threads.begins(task, self.count)
            self.count += not is_recorded
        return is_recorded

    def _free(self) -> None:
        """Let other threads record their passes, if no pass is running."""
        if not self._open:
            with self.passes_of_threads.lock:
                self.passes_of_threads.free()

    def _progress(self) -> tuple[int, int]:
        """How far the recorded pass has come."""
        return (self._open[-1].index, len(self._open[-1].steps)) if self._open else (-1, 0)

    def _hush(self, change: int) -> None:
        """During a pass, no operation of its thread is noted; those of other threads never are."""
        if stack_ident() == self.threads.first:
            self.operations.quiet += change

    @property
    def open(self) -> Sequence[OpenPass]:
        """The passes that are running in this thread; the innermost last."""
        return self._open if self.passes_of_threads.is_recorded_here() else ()

    def _let_pass(self, run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a pass that is only counted."""
        running = self._passed.setdefault(stack_ident(), [])
        running.append(self.count)
        self.count += 1
        try:
            return run(*args, **kwargs)
        finally:
            index = running.pop()
            if not running:
                with self.passes_of_threads.lock, self.faults.noting(AFTER_A_PASS):
                    self.after_pass(index)

    def _begin(self, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> OpenPass | None:
        try:
            request = request_of(args, kwargs, self.operations.nodes_were_read)
            asked = [one for one in request.inputs if not is_transformed(one)]
            if not all(map(has_graph, (*request.outputs, *asked))):
                return None  # torch refuses
            with paused(), torch._C.DisableTorchFunctionSubclass():
                asking = asking_frame(frame, "backward", self.sources.is_installed)
                site = site_of(asking)
                place = self.sources.place(site) if site is not None else None
                index = self.count
                self.count += 1
                if not self._open and work_together():
                    self.tensors.find_received()
                opened = OpenPass(
                    self.reached, self.tape, request, index, place, self.tensors, self._faulted, self.checker,
                    self.call_stack, len(self._open), asking,
                )  # fmt: skip
                self.tensors.phase += 1
                if not self._open:
                    self.updates.pass_began(self.reached.leaves, index)
                    self.operations.writes.last.clear()
                    self.reached.find_names(asking, self.tape.is_numbered)
                    self.values.clear()
                return opened
        except Exception as error:
            if was_raised_by_a_signal(error):
                raise
            self.faults.add(f"pass {self.count}", error)
            return None

    def _end(self, opened: OpenPass, result: Any, error: BaseException | None) -> None:
        record = None
        try:
            if error is not None:
                record = self.error_record(error)
                failed = opened.failed_node(record.message)
                record = with_places(record, opened.notes.place, failed, self.sources)
                opened.fail(failed, record)
            opened.capture(result)
            if error is None:
                opened.read_grads_again()
        except Exception as fault:
            self._faulted(fault)
        opened.stop_listening()
        self._hush(-1)
        self._open.remove(opened)
        self.tensors.phase += 1
        if self._open:
            self._open[-1].is_outer = False
        changed: Callable[[], Sequence[torch.Tensor]] = tuple
        with self.faults.noting(f"pass {opened.index + 1}"):
            if not self._open:
                if opened.has_hooks:
                    changed = self.updates.look_again()
                self.values.fetch()
                self.operations.writes.forget_those_without_node()
                self.operations.taken.pass_ended()
            self.passes.append(opened.finish(record))
            if not opened.request.keep_graph:
                freed_by = opened.index, opened.notes.place
                for step in opened.steps:
                    if not step.is_failed:
                        step.key.freed_by = freed_by
        if not self._open:
            try:
                with self.faults.noting(AFTER_A_PASS):
                    self.after_pass(opened.index)
                    for leaf in changed():  # by a hook that writes to `w.data`, as LOMO does
                        self.tensors.rewritten(leaf)
            finally:
                self._free()
            seldom.pass_ended()

    def _faulted(self, error: Exception) -> None:
        """A fault of ours inside of a pass: its recording ends with the last whole step."""
        current = self._open[-1] if self._open else None
        where = f"pass {current.index + 1} from step {len(current.steps) + 1} on" if current is not None else "a step"
        line = self.faults.add(where, error)
        if current is not None and current.cut is None:
            current.cut = ErrorRecord(CUT_SHORT, line, (), "")

    # What was recorded

    @property
    def recording(self) -> Recording:
        """The recording so far."""
        with paused(), self.quiet(), torch._C.DisableTorchFunctionSubclass():
            taken: set[GraphNode] = set()
            segments = [one.recorded(taken) for one in self.segments]
            unfinished = [one.notes.record_so_far(self.tape) for one in self._open]
            self.values.fetch()
            found = joined(segments, unfinished, WhoFreed(), self.sources, self.count)  # type: ignore[arg-type]
            notes = (*self._notes(), *notes_of(one.calls.budget for one in self.segments))
            settled = self._settled(found)
            return dataclasses.replace(settled, sources=self.sources.texts(), error=self.error, notes=notes)

    def additions(self) -> Iterator[Recording]:
        """What the sealed segments add to the recording, except those that were asked for before."""
        with paused(), self.quiet(), torch._C.DisableTorchFunctionSubclass():
            for segment in self._additions.new(self.segments[:-1]):
                recorded = segment.recorded(self._taken)
                self.values.fetch()
                added = self._settled(self._additions.of(recorded, self.sources, self.count))
                yield dataclasses.replace(added, notes=(*self._notes(), *self.calls.budget.note))

    def _settled(self, found: Recording) -> Recording:
        """A recording with its title, and with the values that were still pending."""
        found = dataclasses.replace(found, title=self.title)
        return with_values(found) if self.values.has_pending else found

    def _notes(self) -> Iterator[str]:
        yield from self.faults.lines
        yield from self.passes_of_threads.notes()
        yield from remarks(self.values, self.operations)

    def error_record(self, error: BaseException) -> ErrorRecord:
        """An exception as data, with only the user's frames."""
        with self.quiet():
            for frame in raising_frames(error, self.sources):
                self.reached.find_names(frame, self.tape.is_numbered)
        return error_record(error, self.sources)
