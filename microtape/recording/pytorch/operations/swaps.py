"""Swaps of the contents of two tensors, which torch refuses if there is a weak reference to one of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch.utils

from microtape.recording.pytorch.operations.operations import Operations
from microtape.recording.pytorch.updates import Updates

_utils: Any = torch.utils


class Swaps:
    """A context in which `torch.utils.swap_tensors` finds no reference of ours.

    What is known of the two tensors is forgotten: the swap gives each the elements, the history and the gradient of the
    other. They are noted anew when they are used again.
    """

    def __init__(self, operations: Operations, updates: Callable[[], Updates]) -> None:
        self._operations, self._updates = operations, updates
        self._before: Callable[..., Any] | None = None

    def __enter__(self) -> None:
        self._before = original = _utils.swap_tensors
        operations, updates = self._operations, self._updates

        @functools.wraps(original)
        def swap_tensors(*args: Any, **kwargs: Any) -> Any:
            for one in (*args, *kwargs.values()):
                operations.tensors.let_go(one)
            updates().let_go()
            operations.quiet += 1  # the questions that torch asks about them are no operations
            try:
                return original(*args, **kwargs)
            finally:
                operations.quiet -= 1

        _utils.swap_tensors = swap_tensors

    def __exit__(self, *error: object) -> None:
        _utils.swap_tensors = self._before
