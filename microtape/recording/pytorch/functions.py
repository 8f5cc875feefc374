"""Calls of custom Functions, which a mode does not see: `Function.apply` is replaced while a recorder watches."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch._C._autograd import _get_sequence_nr as next_sequence_nr

from microtape.recording.pytorch.calls.custom_operators import own_arguments
from microtape.recording.pytorch.checks.checker import TorchChecker
from microtape.recording.pytorch.inside.call_stack import CallStack
from microtape.recording.pytorch.operations.operations import Operations
from microtape.recording.pytorch.reading.modes import WithoutFunctionModes
from microtape.recording.pytorch.reading.traced import is_compiling

_Function: Any = torch.autograd.Function
_Noting: TypeAlias = tuple[Operations, CallStack, Callable[[], TorchChecker | None]]


class FunctionCalls:
    """A context in which each call of a Function is noted as one operation, and what runs inside as a call."""

    def __init__(self, operations: Operations, calls: CallStack, checker: Callable[[], TorchChecker | None]) -> None:
        self._noting: _Noting | None = (operations, calls, checker)
        self._before: Any = None
        self._apply: Any = None
        self._is_away = False  # whether torch's own `apply` is in its place

    def __enter__(self) -> None:
        self._before = _Function.__dict__["apply"]
        original_of = self._before.__get__  # a classmethod of Python, from torch 2.14 on one of C
        thread = threading.get_ident()

        @classmethod  # type: ignore[misc]
        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            if self._is_away:  # the program holds this one: by its name, Dynamo knows torch's own
                return cls.apply(*args, **kwargs)
            noting = self._noting
            if is_compiling() or noting is None or threading.get_ident() != thread:
                return original_of(None, cls)(*args, **kwargs)
            operations, calls, checker_of = noting
            is_quiet = operations.is_quiet
            if is_quiet and calls.innermost is None:
                return original_of(None, cls)(*args, **kwargs)
            start = next_sequence_nr()
            with WithoutFunctionModes():  # the program's would see what is read here
                own = own_arguments(args)
                before = operations.before_function(own, kwargs) if not is_quiet else None
                checker = checker_of() if not is_quiet else None
                copies = checker.calling(cls, args, kwargs) if checker is not None else None
                inside = calls.function(cls, own)
            operations.quiet += 1
            try:
                result = original_of(None, cls)(*args, **kwargs)
            except BaseException as error:
                if not is_quiet:
                    operations.forget_function()
                if inside is not None:
                    inside.stop()
                    with WithoutFunctionModes():
                        inside.finish(None, error)
                raise
            finally:
                operations.quiet -= 1
                if inside is not None:
                    inside.stop()
            with WithoutFunctionModes():
                if not is_quiet:
                    operations.note_function(cls, own, kwargs, before, start, result, sys._getframe(1))
                if inside is not None:
                    inside.finish(result, None)
                if copies is not None and checker is not None:
                    checker.called(cls, args, copies, result)
            return result

        _Function.apply = self._apply = apply

    def __exit__(self, *error: object) -> None:
        _Function.apply = self._before
        self._noting, self._apply, self._is_away = None, None, True  # the program may hold the `apply` of a Function

    def hide(self) -> None:
        """Put torch's own `apply` back, until `show`."""
        _Function.apply, self._is_away = self._before, True

    def show(self) -> None:
        """Replace `apply` again."""
        _Function.apply, self._is_away = self._apply, False
