"""The calls of the program's functions that are running, the innermost last."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from microtape.basics.fresh_stack import stack_ident
from microtape.recording.model.calls import CallStepKind
from microtape.recording.pytorch.calls.arguments import constants_of, tensors_in
from microtape.recording.pytorch.calls.call_sites import is_library, user_frame
from microtape.recording.pytorch.calls.function_kinds import TAKES, WRITES, word_of
from microtape.recording.pytorch.checks.undisturbed import is_running_again
from microtape.recording.pytorch.inside.calls import TorchCall, attributes_of
from microtape.recording.pytorch.inside.functions import FunctionCall
from microtape.recording.pytorch.inside.mode import InsideMode
from microtape.recording.pytorch.inside.notebook import Notebook, version_in
from microtape.recording.pytorch.inside.traces import Trace
from microtape.recording.pytorch.notes import GraphNode
from microtape.recording.pytorch.operations.mode_stack import push, remove
from microtape.recording.pytorch.reading.traced import is_traced
from microtape.recording.pytorch.tensors import grad_fn_of
from microtape.recording.writing.calls.call import is_users
from microtape.recording.writing.faults import was_raised_by_a_signal

if TYPE_CHECKING:
    from microtape.recording.pytorch.recorder import TorchRecorder

_MISSING = "what happens in a function that backward or apply calls"
_ENDS_EARLY = "_StopRecomputationError"


class Running(NamedTuple):
    """A call that has not ended."""

    call: TorchCall
    trace: Trace | None
    has_mode: bool  # whether the mode is to be taken off the stack when it ends


class CallStack:
    """The running calls of one recorder. No fault of ours leaves its methods."""

    def __init__(self, recorder: TorchRecorder) -> None:
        self.recorder, self.faults = recorder, recorder.faults
        self.notebook = Notebook(recorder.tensors, recorder.sources, recorder.faults)
        self.codes: dict[CodeType, str] = {}  # of functions that torch calls unseen -> the kinds of their calls
        self.unmaterialized: weakref.WeakSet[Any] = weakref.WeakSet()  # each ctx that gets None for undefined gradients
        self.applying: list[FunctionCall] = []
        self._running: list[Running] = []
        self.mode = InsideMode(weakref.proxy(self))
        self._raised: BaseException | None = None  # what ended the last call

    @property
    def is_off(self) -> bool:
        """Whether nothing is to be noted."""
        recorder = self.recorder
        return recorder.asleep or is_running_again() or stack_ident() != recorder.threads.first or is_traced()

    @property
    def innermost(self) -> TorchCall | None:
        """The call whose function is computing; None if torch or the recorder is."""
        if not self._running or is_running_again():
            return None
        call = self._running[-1].call
        return call if call.depth == len(self.recorder.open) else None

    # Calls

    def call(self, kind: str, key: GraphNode | None, function: Any, args: Sequence[Any], run: Callable[[], Any]) -> Any:
        """Run a function of the program's as a call, by `run`."""
        running = self.begin(kind, key, function, args)
        if running is None:
            return self._run_unseen(kind, key, function, run)
        try:
            returned = run()
        except BaseException as error:
            self.end(running, None, error)
            raise
        self.end(running, returned, None)
        return returned

    def _run_unseen(self, kind: str, key: GraphNode | None, function: Any, run: Callable[[], Any]) -> Any:
        """Run a function for whose call there is no room; only where it raises is kept."""
        try:
            return run()
        except BaseException as error:
            with self.faults.noting(_MISSING):
                if not self.is_off and is_users(function, is_library):
                    call = self._made(kind, key, function)
                    call.raised(self.recorder.error_record(error), _last_frame(error))
                    self._keep(call)
            raise

    def begin(
        self, kind: str, key: GraphNode | None, function: Any, args: Sequence[Any], *,
        frame: FrameType | None = None, traced: bool = True,
    ) -> Running | None:  # fmt: skip
        """A function of the program's is about to be called; with a frame, it has just been.

        Without `traced`, the caller follows its frame. Returns None if it is not to be noted.
        """
        running = len(self._running)
        try:
            if self.is_off or not is_users(function, is_library) or not self.recorder.calls.budget.has_room():
                return None
            return self._begin(kind, key, function, args, frame, traced)
        except Exception as error:
            self._unwind(running)
            self._fault(error)
            return None

    def _begin(
        self, kind: str, key: GraphNode | None, function: Any, args: Sequence[Any], frame: FrameType | None,
        traced: bool,
    ) -> Running:  # fmt: skip
        caller = self.innermost
        call = self._made(kind, key, function)
        self._keep(call)
        if caller is not None:
            self.note("call", call.name, [one for one in args if attributes_of(one) is None], inner=call)
        trace = Trace.put_on(Trace(self, call)) if frame is None and traced else None
        running = Running(call, trace, push(self.mode))
        self._running.append(running)
        if frame is not None:
            call.entered(frame)
        elif trace is None and traced:
            call.add("enter", call.name, None, args)
        return running

    def _made(self, kind: str, key: GraphNode | None, function: Any) -> TorchCall:
        recorder = self.recorder
        current = recorder.open[-1] if recorder.open else None
        return TorchCall(
            kind, function, self.notebook, len(recorder.open), node=key,
            pass_=current.index if current is not None else None,
            step=len(current.steps) if current is not None else None,
            outer=self._running[-1].call if self._running else None,
        )  # fmt: skip

    def _keep(self, call: TorchCall) -> None:
        """Keep a call of a pass; one outside of passes lies with the node of the Function that is called."""
        self.recorder.calls.count(call)
        if call.pass_ is None and self.applying:
            self.applying[0].calls.append(call)
        else:
            self.recorder.calls.keep(call)

    def end(self, running: Running, returned: Any, error: BaseException | None) -> None:
        """A call has returned, or raised."""
        try:
            if running not in self._running:
                return
            self._unwind(self._running.index(running))
            self._end(running.call, returned, None if type(error).__name__ == _ENDS_EARLY else error)
            self._raised = error if self._running else None
        except Exception as fault:
            self._fault(fault)

    def _end(self, call: TorchCall, returned: Any, error: BaseException | None) -> None:
        if error is None:
            call.returned(returned)
        else:
            frame = _last_frame(error) if error is not self._raised or call.left_at is None else None
            call.raised(self.recorder.error_record(error), frame)
            self.recorder.calls.keep(call)  # also without room, or without a node
        call.forget()

    def abandon(self) -> None:
        """Follow the running calls no longer: the recorder does not watch any more."""
        self._unwind(0)
        remove(self.mode)
        self.applying.clear()

    def _unwind(self, count: int) -> None:
        """Forget all running calls but the outermost, as many as `count`."""
        while len(self._running) > count:
            ended = self._running.pop()
            if ended.trace is not None:
                ended.trace.remove()
            if ended.has_mode:
                remove(self.mode)

    def _fault(self, error: Exception) -> None:
        if was_raised_by_a_signal(error):
            raise error
        self.faults.add(_MISSING, error)

    # Functions

    def function(self, cls: Any, args: Sequence[Any]) -> FunctionCall | None:
        """A Function is about to be called. Returns None if nobody needs to know what happens in it."""
        running, applying = len(self._running), len(self.applying)
        try:
            if self.is_off or not is_users(cls.forward, is_library):
                return None
            if self.innermost is None and not (
                torch.is_grad_enabled() and any(isinstance(one, torch.Tensor) and one.requires_grad for one in args)
            ):
                return None
            return FunctionCall(self, cls, args)
        except Exception as error:
            self._unwind(running)
            del self.applying[applying:]
            self._fault(error)
            return None

    # Passes

    def pass_began(self) -> Trace | None:
        """A pass is about to run. Returns the trace of what torch calls unseen, to be removed after it."""
        with self.faults.noting(_MISSING):
            return Trace.put_on(Trace(self, None)) if self.codes else None
        return None

    # Steps

    def note(
        self, kind: CallStepKind, op: str, operands: Sequence[Any], outputs: Sequence[Any] = (), **more: Any
    ) -> None:
        """Add a step to the innermost call, if there is one."""
        call = self.innermost
        if call is not None:
            with self.faults.noting(_MISSING):
                call.add(kind, op, user_frame(sys._getframe(1)), operands, outputs, **more)

    def before_operation(self, kind: int, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The tensors among the arguments, their versions, and what will be overwritten; None if that fails."""
        with self.faults.noting(_MISSING):
            tensors = list(tensors_in(args, kwargs))
            is_write = kind == WRITES or kwargs.get("inplace") or kwargs.get("out") is not None
            old = self.notebook.operand_inside(tensors[0]) if is_write and tensors else None
            return tensors, list(map(version_in, tensors)), old
        return None

    def note_operation(
        self, function: Any, kind: int, args: Sequence[Any], kwargs: dict[str, Any], before: Any, result: Any,
        frame: FrameType,
    ) -> None:  # fmt: skip
        """Add a call of torch to the innermost call."""
        call = self.innermost
        if call is None:
            return
        with self.faults.noting(_MISSING):
            tensors, versions, old = before
            if kind == TAKES:
                results: list[Any] = [result]
            else:
                results = list(tensors_in((result,), {}))
                wrote = [one for one, known in zip(tensors, versions, strict=True) if version_in(one) != known]
                results += [one for one in wrote if not any(one is other for other in results)]
            if not results:
                return
            in_place = kind != TAKES and old is not None and bool(tensors) and results[0] is tensors[0]
            call.add(
                "operation",
                word_of(function),
                user_frame(frame),
                [old, *tensors[1:]] if in_place else tensors,
                results,
                in_place=in_place,
                constants=constants_of(function, args, kwargs),
                node=self._node_of(results[0]),
            )

    def _node_of(self, result: Any) -> Any:
        """What stands for the node of a result, in the place of its number."""
        if type(result) is torch.Tensor and result.requires_grad and (grad_fn := grad_fn_of(result)) is not None:
            return self.recorder.tensors.node(grad_fn)
        return None


def _last_frame(error: BaseException) -> FrameType | None:
    """The innermost frame of the program's in the traceback of an exception."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if not is_library(trace.tb_frame.f_code.co_filename):
            found = trace.tb_frame
        trace = trace.tb_next
    return found
