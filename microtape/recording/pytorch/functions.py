"""Calls of custom Functions, which a mode does not see: `Function.apply` is replaced while a recorder watches."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch._C._autograd import _get_sequence_nr as next_sequence_nr

from microtape.recording.pytorch.operations import Operations

_Function: Any = torch.autograd.Function


class FunctionCalls:
    """A context in which each call of a Function is noted as one operation; what runs inside is not."""

    def __init__(
        self,
        operations: Operations,
        quiet: Callable[[], contextlib.AbstractContextManager[Any]],
        is_quiet: Callable[[], bool],
    ) -> None:
        self._operations, self._quiet, self._is_quiet = operations, quiet, is_quiet
        self._before: Any = None

    def __enter__(self) -> None:
        self._before = _Function.__dict__["apply"]
        original = self._before.__func__
        operations, quiet, is_quiet = self._operations, self._quiet, self._is_quiet

        @classmethod  # type: ignore[misc]
        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling() or is_quiet():
                return original(cls, *args, **kwargs)
            start = next_sequence_nr()
            before = operations.versions(args, kwargs)
            with quiet():
                result = original(cls, *args, **kwargs)
            operations.note_function(cls, args, kwargs, before, start, result, sys._getframe(1))
            return result

        _Function.apply = apply

    def __exit__(self, *error: object) -> None:
        _Function.apply = self._before
