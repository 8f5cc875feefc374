"""Calls of custom Functions, which a mode does not see: `Function.apply` is replaced while a recorder watches."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import torch
from torch._C._autograd import _get_sequence_nr as next_sequence_nr

from microtape.recording.pytorch.checks.checker import TorchChecker
from microtape.recording.pytorch.operations import Operations

_Function: Any = torch.autograd.Function


class FunctionCalls:
    """A context in which each call of a Function is noted as one operation; what runs inside is not."""

    def __init__(self, operations: Operations, checker: Callable[[], TorchChecker | None]) -> None:
        self._operations, self._checker = operations, checker
        self._before: Any = None

    def __enter__(self) -> None:
        self._before = _Function.__dict__["apply"]
        original = self._before.__func__
        operations, thread = self._operations, threading.get_ident()

        @classmethod  # type: ignore[misc]
        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling() or operations.quiet or threading.get_ident() != thread:
                return original(cls, *args, **kwargs)
            start = next_sequence_nr()
            before = operations.versions(args, kwargs)
            checker = self._checker()
            copies = checker.calling(cls, args, kwargs) if checker is not None else None
            operations.quiet += 1
            try:
                result = original(cls, *args, **kwargs)
            finally:
                operations.quiet -= 1
            operations.note_function(cls, args, kwargs, before, start, result, sys._getframe(1))
            if copies is not None and checker is not None:
                checker.called(cls, args, copies, result)
            return result

        _Function.apply = apply

    def __exit__(self, *error: object) -> None:
        _Function.apply = self._before
