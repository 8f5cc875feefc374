"""Calls of custom Functions, which a mode does not see: `Function.apply` is replaced while a recorder watches.

Up to torch 2.13, its code is, so that an `apply` is seen that the program has taken from its Function before.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeAlias

import torch
from torch._C._autograd import _get_sequence_nr as next_sequence_nr

from microtape.basics.replaced import Replaced, ReplacedFunction
from microtape.recording.pytorch.calls.custom_operators import own_arguments
from microtape.recording.pytorch.checks.checker import TorchChecker
from microtape.recording.pytorch.inside.call_stack import CallStack
from microtape.recording.pytorch.operations.operations import Operations
from microtape.recording.pytorch.reading.modes import WithoutFunctionModes
from microtape.recording.pytorch.reading.traced import is_compiling

_Function: Any = torch.autograd.Function
_APPLY = getattr(vars(_Function)["apply"], "__func__", None)
_Noting: TypeAlias = tuple[Operations, CallStack, Callable[[], TorchChecker | None]]


class FunctionCalls:
    """A context in which each call of a Function is noted as one operation, and what runs inside as a call."""

    def __init__(self, operations: Operations, calls: CallStack, checker: Callable[[], TorchChecker | None]) -> None:
        self._noting: _Noting | None = (operations, calls, checker)
        self._replaced = ReplacedFunction(_APPLY) if isinstance(_APPLY, FunctionType) else _ReplacedMethod()

    def __enter__(self) -> None:
        thread, replaced = threading.get_ident(), self._replaced

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            noting = self._noting
            if is_compiling() or noting is None or threading.get_ident() != thread:
                return replaced.before(cls, *args, **kwargs)
            operations, calls, checker_of = noting
            is_quiet = operations.is_quiet
            if is_quiet and calls.innermost is None:
                return replaced.before(cls, *args, **kwargs)
            start = next_sequence_nr()
            with WithoutFunctionModes():  # the program's would see what is read here
                own = own_arguments(args)
                before = operations.before_function(own, kwargs) if not is_quiet else None
                checker = checker_of() if not is_quiet else None
                copies = checker.calling(cls, args, kwargs) if checker is not None else None
                inside = calls.function(cls, own)
            operations.quiet += 1
            try:
                result = replaced.before(cls, *args, **kwargs)
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

        replaced.put(apply)

    def __exit__(self, *error: object) -> None:
        self._noting = None  # the program may hold the `apply` of a Function
        self._replaced.restore()

    def hide(self) -> None:
        """Put torch's own `apply` back, until `show`."""
        self._replaced.hide()

    def show(self) -> None:
        """Replace `apply` again."""
        self._replaced.show()


class _ReplacedMethod:
    """`Function.apply` where it is a method of C, whose code cannot be replaced: from torch 2.14 on."""

    def __init__(self) -> None:
        self._replaced = Replaced(_Function, "apply")
        self._is_away = False  # whether torch's own is in its place

    def before(self, cls: Any, *args: Any, **kwargs: Any) -> Any:
        """Call what is replaced."""
        return self._replaced.before.__get__(None, cls)(*args, **kwargs)

    def put(self, new: Callable[..., Any]) -> None:
        """Replace it."""

        @classmethod  # type: ignore[misc]
        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            if self._is_away:  # the program holds this one: by its name, Dynamo knows torch's own
                return cls.apply(*args, **kwargs)
            return new(cls, *args, **kwargs)

        self._replaced.put(apply)

    def hide(self) -> None:
        """Give it back until `show`."""
        self._replaced.hide()
        self._is_away = True

    def show(self) -> None:
        """Replace it again."""
        self._replaced.show()
        self._is_away = False

    def restore(self) -> None:
        """Give it back."""
        self._is_away = self._replaced.restore()
