"""The calls of the user's functions that are running, the innermost last; see Note [What happens in a call]."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import proxy

from microtape.basics.call_site import LIBRARY_FILES, user_frame
from microtape.functions.function_node import Context, FunctionNode
from microtape.recording.model.calls import CallStepKind
from microtape.recording.model.model import HookCall, Operand, Value
from microtape.recording.writing.calls.call import Call, Calls, FrameTrace, is_users
from microtape.recording.writing.calls.function_records import Names, function_record, name_of
from microtape.recording.writing.copies import copied
from microtape.recording.writing.names.node_text import about, inner, op_of
from microtape.recording.writing.open_pass import OpenPass
from microtape.tape.grad_mode import mode
from microtape.tape.node import Node
from microtape.tape.tensor_state import TensorState, requires_grad

if TYPE_CHECKING:
    from microtape.recording.writing.recorder import Recorder


_FORWARD = ("forward", "setup_context", "jvp")  # of a Function that is not recorded, nobody could find them


class _Running(NamedTuple):
    """A call that has not ended."""

    call: Call
    calls: Calls  # of the segment in which it began
    trace: FrameTrace | None
    node: Node | None
    leaf: Any  # for a post-accumulate hook: the leaf, and its .grad before
    before: Value | None


class CallStack:
    """The running calls of one recorder, and what it will need to describe the Functions among them."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder: Recorder = proxy(recorder)  # weak, as in PassesOfThreads
        self._running: list[_Running | None] = []  # None: a function of the library's own
        self._arguments: dict[Node, list[Operand]] = {}  # of Functions whose forward runs, as they were before
        self._names: dict[Node, Names] = {}
        self._raised: BaseException | None = None  # what ended the last call
        self._met: dict[int, TensorState] | None = None  # with a history, in the forward of a Function without a node

    @property
    def innermost(self) -> Call | None:
        """The call whose function is computing; None if the engine or the library's own code is."""
        top = self._running[-1] if self._running else None
        if top is None or mode.internal or top.call.depth != len(self.recorder.open):
            return None
        return top.call

    def note(
        self, kind: CallStepKind, op: str, operands: Sequence[Any], outputs: Sequence[Any] = (), **more: Any
    ) -> None:
        """Add a step to the innermost call, if there is one."""
        if (call := self.innermost) is not None:
            call.add(kind, op, user_frame(sys._getframe(1)), operands, outputs, **more)

    def note_operation(
        self, node: Node, operands: Sequence[Any], outputs: Sequence[Any], in_place: bool, number: int | None
    ) -> None:
        """Add an operation to the innermost call. A Function is a call of its own."""
        if node.kind != "function" and (call := self.innermost) is not None:
            made = number if call.tape is self.recorder.tape else None
            constants = about(node).constants
            self.note("operation", op_of(node), operands, outputs, in_place=in_place, constants=constants, node=made)

    def begin(self, kind: str, node: Node | None, function: Callable[..., Any], args: Sequence[Any]) -> None:
        """A function of the user's, or of the library's own, is about to be called."""
        recorder, top, caller = self.recorder, self._running[-1] if self._running else None, self.innermost
        if kind == "forward" and not self._running and node is not None and not node.next_nodes:
            self._met = {}
        self._running.append(None)
        if isinstance(node, FunctionNode) and kind == "forward" and node not in self._arguments:
            self._arguments[node] = self._as_they_are(node, args)
        if mode.internal or not is_users(function):
            return
        current = recorder.open[-1] if recorder.open else None
        if node is None and isinstance(current, OpenPass) and current.node is not None:
            node = current.current
        call = Call(
            kind,
            function,
            recorder.tape,
            len(recorder.open),
            node=node,
            pass_=current.index if current is not None else None,
            step=len(current.steps) if isinstance(current, OpenPass) else None,
            outer=top.call if top is not None and top.call.tape is recorder.tape else None,
        )
        if call.outer is not None or kind not in _FORWARD or (node is not None and self._arguments.get(node)):
            recorder.calls.begin(call)
        if caller is not None and caller is call.outer:
            given = args[1:] if args and isinstance(args[0], Context) else args
            caller.add("call", call.name, user_frame(sys._getframe(1)), given, inner=call.number)
            if node is not None:
                caller.inner[node] = call.number
        leaf = args[0] if kind == "post-accumulate hook" else None
        trace = FrameTrace.install(call, recorder.faults)
        self._running[-1] = _Running(call, recorder.calls, trace, node, leaf, _grad_of(leaf))
        if trace is None:
            call.add("enter", call.name, None, args)

    def end(self, returned: Any, error: BaseException | None) -> None:
        """The innermost call has returned, or raised."""
        if not self._running:
            return  # it began before the recorder watched
        ended = self._running.pop()
        if ended is not None:
            if ended.trace is not None:
                ended.trace.remove()
            self._end(ended, returned, None if getattr(error, "ends_early", False) else error)
        if not self._running:
            self._raised = None
            self._met = self._met if error is None else None
        else:
            self._raised = error

    def abandon(self) -> None:
        """Follow the running calls no longer: the recorder does not watch any more."""
        while self._running:
            ended = self._running.pop()
            if ended is not None and ended.trace is not None:
                ended.trace.remove()

    def _end(self, ended: _Running, returned: Any, error: BaseException | None) -> None:
        call = ended.call
        if error is None:
            call.returned(returned)
            if ended.node in self._arguments:  # its forward or setup_context: `function_called` will ask for the names
                self._names.setdefault(ended.node, [])[:0] = call.objects
        else:
            frame = last_frame(error) if error is not self._raised or call.left_at is None else None
            call.raised(self.recorder.error_record(error), frame.tb_frame if frame is not None else None)
            if ended.node is not None and call.kind in _FORWARD:
                self._arguments.pop(ended.node, None)
                self._names.pop(ended.node, None)
        call.forget()
        ended.calls.end(call)
        current = self.recorder.open[-1] if self.recorder.open else None
        if ended.leaf is not None and error is None and isinstance(current, OpenPass):
            current.hooks.append(HookCall("post accumulate", call.name, ended.before, _grad_of(ended.leaf)))

    # Functions

    def meet(self, operands: Sequence[Any]) -> None:
        """An operation that is not recorded has used these. Those with a history are noted for `met_besides`."""
        if self._met is not None:
            tensors = [one for one in operands if isinstance(one, TensorState) and requires_grad(one)]
            self._met.update((id(one), one) for one in tensors)

    def met_besides(self, args: Sequence[Any]) -> list[TensorState]:
        """The tensors with a history that the forward of a Function has used and that are none of its arguments.

        None of a Function with a node: its backward may care for them, as that of a reentrant checkpoint does.
        """
        if self._running:  # called inside of another forward
            return []
        met, self._met = self._met or {}, None
        return [one for one in met.values() if not any(one is other for other in args)]

    def arguments_of(self, node: Node) -> Sequence[Operand]:
        """The arguments of a Function, as they were before its forward; empty for any other node."""
        return self._arguments.get(inner(node), ())

    def _as_they_are(self, node: FunctionNode, args: Sequence[Any]) -> list[Operand]:
        """The arguments of a Function that is recorded, before its forward may write to them."""
        if not any(one is not None for one in node.next_nodes):
            return []
        tape = self.recorder.tape
        tape.adopt([one for one in node.next_nodes if one is not None])
        given = args[1:] if args and isinstance(args[0], Context) else args
        return list(map(tape.operand, given))

    def function_called(
        self, node: FunctionNode, args: Sequence[Any], raw: Sequence[Any], outputs: Sequence[Any]
    ) -> None:
        """A Function was called: describe it if it was recorded, and complete the step of the call inside of which."""
        tape, calls = self.recorder.tape, self.recorder.calls
        before, names = self._arguments.pop(node, []), self._names.pop(node, [])
        number = tape.ids.get(node)
        if number is None and before and node.dirty:  # it wrote into a view, which has got a new history since
            number = next((tape.ids[one.node] for one in reversed(tape.nodes) if inner(one.node) is node), None)
        if number is not None and len(before) == len(args):
            calls.functions.append(function_record(number, node, args, before, raw, names, tape.operand_inside))
            for position, tensor in enumerate(node.to_save):
                if tensor is not None and (name := name_of(tensor, names)):
                    tape.name_saved(number, name, position)
        if (call := self.innermost) is not None:
            call.complete(node, outputs, number)
        if number is not None and node not in tape.ids:
            calls.numbers[node] = number


def _grad_of(leaf: Any) -> Value | None:
    return copied(leaf.meta.grad) if leaf is not None and leaf.meta is not None else None


def last_frame(error: BaseException) -> TracebackType | None:
    """The innermost frame of the user's program in the traceback of an exception."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename not in LIBRARY_FILES:
            found = trace
        trace = trace.tb_next
    return found
