"""Swaps of the contents of two tensors, which torch refuses if there is a weak reference to one of them."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import torch.utils

from microtape.recording.pytorch.operations.operations import Operations
from microtape.recording.pytorch.updates import Updates

_utils: Any = torch.utils


def _watched(*args: Any, watched: Callable[..., Any], **kwargs: Any) -> Any:
    """What `swap_tensors` runs while we watch."""
    return watched(*args, **kwargs)


class Swaps:
    """A context in which `torch.utils.swap_tensors` finds no reference of ours.

    What is known of the two tensors is forgotten: the swap gives each the elements, the history and the gradient of the
    other. They are noted anew when they are used again.

    The function gets another code, since the program may have imported it by name before.
    """

    def __init__(self, operations: Operations, updates: Callable[[], Updates]) -> None:
        self._operations, self._updates = operations, updates
        self._before: tuple[CodeType, Any] | None = None

    def __enter__(self) -> None:
        function = _utils.swap_tensors
        self._before = code, defaults = function.__code__, function.__kwdefaults__
        original = FunctionType(code, function.__globals__, function.__name__, function.__defaults__)
        original.__kwdefaults__ = defaults
        operations, updates = self._operations, self._updates

        def swap_tensors(*args: Any, **kwargs: Any) -> Any:
            for one in (*args, *kwargs.values()):
                operations.tensors.let_go(one)
            updates().let_go()
            operations.quiet += 1  # the questions that torch asks about them are no operations
            try:
                return original(*args, **kwargs)
            finally:
                operations.quiet -= 1

        function.__code__, function.__kwdefaults__ = _watched.__code__, {"watched": swap_tensors}

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            _utils.swap_tensors.__code__, _utils.swap_tensors.__kwdefaults__ = self._before
