"""PyTorch's modules: their calls are scopes, named by `ModuleScopes` in `microtape/basics/module_scopes.py`."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import CodeType
from typing import Any

import torch

from microtape.basics.module_scopes import ModuleScopes
from microtape.basics.replaced import Replaced
from microtape.recording.pytorch.reading.traced import is_compiling

_Module: Any = torch.nn.Module
_KNOWN = "unpatched_nn_module_call"  # with which Dynamo compares a module's `__call__`


class WatchedModules:
    """A context in which the call of a module opens a scope with its name."""

    def __init__(self, is_asleep: Callable[[], bool]) -> None:
        self._is_asleep = is_asleep
        self._watching = [is_asleep]  # of all recorders on this thread, which share these scopes
        self._shared: WatchedModules | None = None  # those of a recorder around this one
        self._scopes = ModuleScopes()
        self._thread = threading.get_ident()
        self._replaced = Replaced(_Module, "__call__")
        self._called: Any = None
        self._is_hidden = False

    def __enter__(self) -> None:
        known = getattr(_Module.__call__, "watched", None)
        if known is not None and known._thread == self._thread:
            self._shared = known
            known._watching += self._watching
            return
        watched, replaced = self, self._replaced

        def called(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            # torch's profiler takes the module out of the variable `self`, and crashes where there is none.
            if is_compiling() or threading.get_ident() != watched._thread or watched._is_off:
                return replaced.before(self, *args, **kwargs)
            with watched._scopes.of(self, sys._getframe(1)):
                return replaced.before(self, *args, **kwargs)

        called.watched = watched  # type: ignore[attr-defined]
        self._called = called
        replaced.put(called)

    def __exit__(self, *error: object) -> None:
        shared = self._shared or self
        shared._watching.remove(self._is_asleep)  # the program may hold the `__call__` of a module
        del self._is_asleep  # and others these scopes: nobody shall hold the recorder
        if not shared._watching:
            shared._end()

    def _end(self) -> None:
        """The last recorder that shares these scopes has left."""
        self._replaced.restore()
        compiler: Any = sys.modules.get("torch._dynamo.utils")
        if getattr(compiler, _KNOWN, None) is self._called:  # it was imported while we watched
            setattr(compiler, _KNOWN, self._replaced.before)
        self._called = None

    @property
    def code(self) -> CodeType:
        """What runs in place of torch's `__call__`."""
        called = (self._shared or self)._called
        return called.__code__  # type: ignore[no-any-return]

    @property
    def running(self) -> torch.nn.Module | None:
        """The innermost module that is being called on this thread."""
        found: torch.nn.Module | None = (self._shared or self)._scopes.innermost
        return found

    def hide(self) -> None:
        """Open no scopes until `show`. To put torch's own `__call__` back would take 0.1 ms, twice."""
        (self._shared or self)._is_hidden = True

    def show(self) -> None:
        """Open scopes again."""
        (self._shared or self)._is_hidden = False

    @property
    def _is_off(self) -> bool:
        return self._is_hidden or all([is_asleep() for is_asleep in self._watching])
