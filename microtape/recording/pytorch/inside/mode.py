"""A mode that is on torch's stack while a function of the program's runs, and notes the calls of torch in there."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from microtape.recording.pytorch.calls.function_kinds import ATTRIBUTE, READS_NODE, kind_of
from microtape.recording.pytorch.operations.mode_stack import RecorderMode, push, remove
from microtape.recording.pytorch.reading.modes import WithoutFunctionModes
from microtape.recording.pytorch.reading.traced import is_traced

if TYPE_CHECKING:
    from microtape.recording.pytorch.inside.call_stack import CallStack


class InsideMode(RecorderMode):
    """The mode."""

    def __init__(self, calls: CallStack) -> None:
        super().__init__()
        self._calls = calls
        self._is_hidden = False

    def hide(self) -> None:
        """Take it off the stack until `show`, if it is there."""
        self._is_hidden = remove(self) or self._is_hidden

    def show(self) -> None:
        """Put it back."""
        if self._is_hidden:
            self._is_hidden = False
            push(self)

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run the call, and note it."""
        kwargs = kwargs or {}
        kind = kind_of(function) if not is_traced() else ATTRIBUTE
        if kind <= READS_NODE or function is torch.autograd.grad or (call := self._calls.innermost) is None:
            return function(*args, **kwargs)
        if call.is_long:
            call.leave_out()
            return function(*args, **kwargs)
        with WithoutFunctionModes():  # the program's would see what is read here
            before = self._calls.before_operation(kind, args, kwargs)
        result = function(*args, **kwargs)
        if before is not None:
            with WithoutFunctionModes():
                self._calls.note_operation(function, kind, args, kwargs, before, result, sys._getframe(1))
        return result
