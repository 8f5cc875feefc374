"""While code that Dynamo compiles runs, our modes are off torch's stack, and torch has its own `Function.apply`.

With any function mode on the stack, such code may lose operations behind a graph break: torch 2.13 returned
`y.square()` where the program asked for `y.square().mean()`. An `apply` of ours is an internal error of most versions.
Our `Module.__call__` is left out of what is compiled, as torch's own is.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, Protocol

import torch

_dynamo: Any = torch._C._dynamo
_IMPORTED = "torch._dynamo.eval_frame"  # by the first `torch.compile` or step of an optimiser: it takes seconds
_NAMES = ("set_eval_frame", "_maybe_set_eval_frame")  # what it calls before compiled code runs, and after it


class Hideable(Protocol):
    """What compiled code must not see."""

    def hide(self) -> None:
        """Put it away."""

    def show(self) -> None:
        """Put it back."""


class CompiledCode:
    """A context in which things are hidden from compiled code; what Dynamo leaves out of that sees them again.

    Dynamo does not compile the code objects in `left_out`.
    """

    def __init__(self, hidden: Sequence[Hideable], left_out: Sequence[CodeType]) -> None:
        self._hidden, self._left_out = hidden, left_out
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
                    for one in self._hidden:
                        one.show()
                return before
            for one in self._hidden:
                one.hide()
            if not is_told and (leave_out := getattr(sys.modules.get(_IMPORTED), "skip_code", None)) is not None:
                is_told = True
                for code in (sys._getframe().f_code, *self._left_out):
                    leave_out(code)
            return original(callback)

        self._original, self._watched = original, set_eval_frame
        self._replace(original, set_eval_frame)

    def __exit__(self, *error: object) -> None:
        self._is_over, self._hidden = True, ()  # torch may hold it still
        self._replace(self._watched, self._original)
        self._watched = None

    def _replace(self, old: Any, new: Any) -> None:
        for module in (_dynamo.eval_frame, sys.modules.get(_IMPORTED)):
            for name in _NAMES:
                if getattr(module, name, None) is old:
                    setattr(module, name, new)
