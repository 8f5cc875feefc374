"""Sees frames of the program's functions begin and end, by a trace function; see Note [What happens in a call]."""

from __future__ import annotations

import opcode
import sys
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from microtape.recording.pytorch.inside.calls import TorchCall
from microtape.recording.writing.calls.call import FrameTrace

if TYPE_CHECKING:
    from microtape.recording.pytorch.inside.call_stack import CallStack, Running

_RETURNS = {opcode.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST") if name in opcode.opmap}


class Trace(FrameTrace):
    """Tells a call of the start and the end of its function, and follows unpack hooks and recomputations."""

    def __init__(self, calls: CallStack, call: TorchCall | None) -> None:
        super().__init__(call, calls.faults)  # type: ignore[arg-type]  # without a call it has begun
        self.began = call is None
        self.calls = calls
        self._other: Trace | None = None  # the last one of a recorder around this one, or inside of it

    @staticmethod
    def put_on(trace: Trace) -> Trace | None:
        """Trace what follows, unless somebody else does."""
        before: Any = sys.gettrace()
        if not (before is None or isinstance(before, FrameTrace)):
            return None
        trace.before = before
        if isinstance(before, Trace):
            trace._other = before if before.calls is not trace.calls else before._other
        sys.settrace(trace)
        return trace

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        """A new frame begins."""
        ours = self.follow(frame, event, argument)
        theirs = self._other.follow(frame, event, argument) if self._other is not None else None
        if ours is None or theirs is None:
            return ours if theirs is None else theirs

        def both(frame: FrameType, event: str, argument: Any) -> Any:
            theirs(frame, event, argument)
            ours(frame, event, argument)
            return both

        return both

    def follow(self, frame: FrameType, event: str, argument: Any) -> Any:
        """The trace function for a new frame; None if it is none of ours."""
        kind = self.calls.codes.get(frame.f_code)
        if kind is not None and self.calls.recorder.open and (self.began or frame.f_code is not self.call.code):
            return _Followed(self.calls, kind, frame).seen
        return super().__call__(frame, event, argument)


class _Followed:
    """A frame that is a call."""

    def __init__(self, calls: CallStack, kind: str, frame: FrameType) -> None:
        self._calls = calls
        self._error: BaseException | None = None
        frame.f_trace_lines = False
        self._running: Running | None = calls.begin(kind, None, frame.f_code, (), frame=frame)

    def seen(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "exception":
            self._error = argument[1]
        elif event == "return" and self._running is not None:
            error = None if returns(frame) else self._error
            with self._calls.faults.noting(f"the end of {self._running.call.name}"):
                self._running.call.leaving(frame)
            self._calls.end(self._running, argument, error)
        return self.seen


def returns(frame: FrameType) -> bool:
    """Whether a frame that ends returns, rather than being left by an exception."""
    code: CodeType = frame.f_code
    return code.co_code[frame.f_lasti] in _RETURNS
