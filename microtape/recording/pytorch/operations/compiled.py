"""While code that Dynamo compiles runs, our modes are off torch's stack.

With any function mode on the stack, such code may lose operations behind a graph break: torch 2.13 returned
`y.square()` where the program asked for `y.square().mean()`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

import torch

from microtape.recording.pytorch.operations.mode_stack import StackedMode

_dynamo: Any = torch._C._dynamo
_IMPORTED = "torch._dynamo.eval_frame"  # by the first `torch.compile` or step of an optimiser: it takes seconds
_NAMES = ("set_eval_frame", "_maybe_set_eval_frame")  # what it calls before compiled code runs, and after it


class CompiledCode:
    """A context in which these modes are put away for compiled code; what Dynamo leaves out of it sees them again.

    Dynamo does not compile the code objects in `left_out`.
    """

    def __init__(self, modes: Sequence[StackedMode], left_out: Sequence[CodeType]) -> None:
        self._modes, self._left_out = modes, left_out
        self._is_over = False
        self._original: Callable[[Any], Any] | None = None
        self._watched: Callable[[Any], Any] | None = None

    def __enter__(self) -> None:
        original, thread = _dynamo.eval_frame.set_eval_frame, threading.get_ident()
        is_told = False

        def set_eval_frame(callback: Any) -> Any:
            nonlocal is_told
            if self._is_over or threading.get_ident() != thread:
                return original(callback)
            if not callable(callback):
                before = original(callback)
                if callable(before):  # else Dynamo is compiling, or nothing is compiled
                    for mode in self._modes:
                        mode.show()
                return before
            for mode in self._modes:
                mode.hide()
            if not is_told and (leave_out := getattr(sys.modules.get(_IMPORTED), "skip_code", None)) is not None:
                is_told = True
                for code in (set_eval_frame.__code__, *self._left_out):
                    leave_out(code)
            return original(callback)

        self._original, self._watched = original, set_eval_frame
        self._replace(original, set_eval_frame)

    def __exit__(self, *error: object) -> None:
        self._is_over = True  # torch may hold it still
        self._replace(self._watched, self._original)

    def _replace(self, old: Any, new: Any) -> None:
        for module in (_dynamo.eval_frame, sys.modules.get(_IMPORTED)):
            for name in _NAMES:
                if getattr(module, name, None) is old:
                    setattr(module, name, new)
