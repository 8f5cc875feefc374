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

from microtape.basics.replaced import Replaced

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
        self._watched: Callable[[Any], Any] | None = None
        self._replaced: list[Replaced] = []

    def __enter__(self) -> None:
        places = _places(_dynamo.eval_frame.set_eval_frame)
        self._replaced = replaced = [Replaced(owner, name) for owner, name in places]
        original, thread = replaced[0], threading.get_ident()
        is_told = False

        def set_eval_frame(callback: Any) -> Any:
            nonlocal is_told
            if self._is_over or threading.get_ident() != thread:
                return original.before(callback)
            if not callable(callback):
                before = original.before(callback)
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
            return original.before(callback)

        self._watched = set_eval_frame
        for one in replaced:
            one.put(set_eval_frame)

    def __exit__(self, *error: object) -> None:
        self._is_over, self._hidden = True, ()  # torch may hold it still
        for one in self._replaced:
            one.restore()
        for owner, name in _places(self._watched):  # in a module that was imported while we watched
            setattr(owner, name, self._replaced[0].before)
        self._replaced, self._watched = [], None


def _places(function: Any) -> list[tuple[Any, str]]:
    """Where a function stands that Dynamo calls by these names."""
    modules = (_dynamo.eval_frame, sys.modules.get(_IMPORTED))
    return [(module, name) for module in modules for name in _NAMES if getattr(module, name, None) is function]
