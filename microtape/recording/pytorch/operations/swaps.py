"""Swaps of the contents of two tensors, which torch refuses if there is a weak reference to one of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch.utils

from microtape.basics.replaced import ReplacedFunction
from microtape.recording.pytorch.operations.operations import Operations
from microtape.recording.pytorch.updates import Updates

_utils: Any = torch.utils


class Swaps:
    """A context in which `torch.utils.swap_tensors` finds no reference of ours.

    What is known of the two tensors is forgotten: the swap gives each the elements, the history and the gradient of the
    other. They are noted anew when they are used again.

    The function gets another code, since the program may have imported it by name before.
    """

    def __init__(self, operations: Operations, updates: Callable[[], Updates]) -> None:
        self._operations, self._updates = operations, updates
        self._replaced = ReplacedFunction(_utils.swap_tensors)

    def __enter__(self) -> None:
        replaced = self._replaced
        operations, updates, thread = self._operations, self._updates, threading.get_ident()

        def swap_tensors(*args: Any, **kwargs: Any) -> Any:
            for one in (*args, *kwargs.values()):
                operations.tensors.let_go(one)
            updates().let_go()
            if threading.get_ident() != thread:
                return replaced.before(*args, **kwargs)
            operations.quiet += 1  # the questions that torch asks about them are no operations
            try:
                return replaced.before(*args, **kwargs)
            finally:
                operations.quiet -= 1

        replaced.put(swap_tensors)

    def __exit__(self, *error: object) -> None:
        self._replaced.restore()
