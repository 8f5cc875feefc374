"""The call of a custom Function: its forward and setup_context as calls, and its contract."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.function import BackwardCFunction

from microtape.recording.model.calls import Variable
from microtape.recording.pytorch.calls.call_sites import is_library
from microtape.recording.pytorch.inside.calls import TorchCall, attributes_of
from microtape.recording.pytorch.inside.contracts import FunctionNote, argument_records, is_once, output_records
from microtape.recording.pytorch.inside.traces import Trace, returns
from microtape.recording.pytorch.notes import GraphNode
from microtape.recording.pytorch.tensors import grad_fn_of, tells_history
from microtape.recording.writing.calls.call import code_of
from microtape.recording.writing.calls.function_records import Names, name_of

if TYPE_CHECKING:
    from microtape.recording.pytorch.inside.call_stack import CallStack

_Function: Any = torch.autograd.Function


class FunctionCall:
    """A call of `apply`, from its start to its end."""

    def __init__(self, stack: CallStack, cls: Any, args: Sequence[Any]) -> None:
        self.stack, self.cls, self.args = stack, cls, args
        self.calls: list[TorchCall] = []  # those outside of passes that it has led to
        self._arguments = argument_records(cls, args, [stack.notebook.operand_inside(one) for one in args])
        self._own: list[TorchCall] = []
        self._names: Names = []
        self._raw: Any = None
        self._has_returned = False  # whether `_raw` is known
        self._ctx: Any = None
        self._dirty: Sequence[Any] = ()
        self._marked: Sequence[Any] = ()
        self._saved: Sequence[Any] = ()
        self._caller = stack.innermost
        stack.applying.append(self)
        self._running = stack.begin("forward", None, cls.forward, args, traced=False)
        self._trace: Trace | None = None
        if self._running is not None:
            self._own.append(self._running.call)
            self._trace = Trace.put_on(_FunctionTrace(stack, self._running.call, self))
            if self._trace is None:
                self._running.call.add("enter", self._running.call.name, None, args)

    # While it runs

    def forward_returned(self, call: TorchCall, frame: FrameType, raw: Any) -> None:
        """Its forward has returned."""
        self._raw, self._has_returned = raw, True
        self._left(call, frame)
        if self._running is not None:
            self.stack.end(self._running, raw, None)
            self._running = None

    def setup_began(self, frame: FrameType) -> TorchCall | None:
        """Its setup_context has begun."""
        self._running = self.stack.begin("setup_context", None, frame.f_code, (), frame=frame)
        if self._running is None:
            return None
        self._own.append(self._running.call)
        return self._running.call

    def setup_returned(self, call: TorchCall, frame: FrameType) -> None:
        """Its setup_context has returned."""
        self._left(call, frame)
        if self._running is not None:
            self.stack.end(self._running, None, None)
            self._running = None

    def _left(self, call: TorchCall, frame: FrameType) -> None:
        self._names[:0] = call.objects
        first = frame.f_code.co_varnames[:1]
        ctx = frame.f_locals.get(first[0]) if first else None
        if isinstance(ctx, tuple):
            ctx = ctx[0] if ctx else None
        if isinstance(ctx, BackwardCFunction):
            self._ctx = ctx
            self._dirty, self._marked, self._saved = (
                several if isinstance(several := getattr(ctx, name), tuple) else ()
                for name in ("dirty_tensors", "non_differentiable", "to_save")
            )

    # The end

    def stop(self) -> None:
        """Follow no more frames."""
        if self._trace is not None:
            self._trace.remove()

    def finish(self, result: Any, error: BaseException | None) -> None:
        """`apply` has returned, or raised."""
        stack = self.stack
        with stack.faults.noting(f"what happened in {self.cls.__name__}"):
            if self._running is not None:
                stack.end(self._running, result, error)
            if error is None:
                key = self._note(result)
                if self._caller is not None and self._own:
                    _complete(self._caller, self._own[0], result, key)
        if self in stack.applying:
            stack.applying.remove(self)
        self.args = self._saved = self._dirty = self._marked = ()  # frames that are traced may live on
        self._raw = self._ctx = self._trace = self._caller = None
        self._names, self._own = [], []

    def _note(self, result: Any) -> GraphNode | None:
        """Leave a note with the node.

        The note refers to calls, which do not refer to the node: nothing of them waits for the garbage collector.
        """
        outputs = result if isinstance(result, tuple) else (result,)
        computed = [one for one in outputs if _is_computed(one)]
        if not computed:
            return None
        stack, node = self.stack, computed[0].grad_fn
        ctx = self._ctx if self._ctx is not None else node if isinstance(node, BackwardCFunction) else None
        tensors = stack.recorder.tensors
        key = tensors.node(ctx if ctx is not None else node)
        raw = self._raw if self._has_returned else result
        several = raw if isinstance(raw, tuple) else (raw,)
        operand = stack.notebook.operand_inside
        note = FunctionNote(
            self.calls,
            self._arguments,
            output_records(self.args, several, self._names, self._dirty, self._marked),
            [Variable(name, operand(value)) for name, value in attributes_of(ctx) or ()],
            {
                i: name for i, one in enumerate(self._saved)
                if one is not None and (name := name_of(one, self._names))
            },
            materializes=ctx not in stack.unmaterialized,
            once_differentiable=is_once(self.cls),
        )  # fmt: skip
        written = computed[0]._base if self._dirty else None
        if written is not None and (grad_fn := grad_fn_of(written)) is not None:
            key = tensors.node(grad_fn)  # the node that has replaced it in the graph
        key.inside = note
        return key


class _FunctionTrace(Trace):
    """Tells the call of a Function of the frames of its forward and its setup_context."""

    def __init__(self, stack: CallStack, call: TorchCall, function: FunctionCall) -> None:
        super().__init__(stack, call)
        self._function = function
        cls = function.cls
        separate = cls.setup_context is not _Function.setup_context
        self._setup = code_of(cls.setup_context, is_library) if separate else None
        self._has_returned = False
        self._setting_up: TorchCall | None = None

    def follow(self, frame: FrameType, event: str, argument: Any) -> Any:
        """See Trace."""
        if self._has_returned and frame.f_code is self._setup:
            self._setup = None
            frame.f_trace_lines = False
            with self.faults.noting(f"the start of {self._function.cls.__name__}.setup_context"):
                self._setting_up = self._function.setup_began(frame)
            return self._in_setup
        return super().follow(frame, event, argument)

    def _in_function(self, frame: FrameType, event: str, argument: Any) -> Any:
        super()._in_function(frame, event, argument)
        if event == "return" and returns(frame):
            self._has_returned = True
            call: Any = self.call
            with self.faults.noting(f"the end of {self.call.name}"):
                self._function.forward_returned(call, frame, argument)
        return self._in_function

    def _in_setup(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "return" and self._setting_up is not None:
            with self.faults.noting(f"the end of {self._setting_up.name}"):
                self._setting_up.leaving(frame)
                if returns(frame):
                    self._function.setup_returned(self._setting_up, frame)
        return self._in_setup


def _complete(caller: TorchCall, call: TorchCall, result: Any, key: GraphNode | None) -> None:
    """Add to the caller's step what the Function has returned."""
    outputs = result if isinstance(result, tuple) else (result,)
    inner: Any = caller.inner
    inner[call] = call
    caller.complete(call, outputs, key)  # type: ignore[arg-type]


def _is_computed(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad and tells_history(value) and not value.is_leaf
