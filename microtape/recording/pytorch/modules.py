"""Calls of modules as scopes: what runs inside of `encoder.layers.3` is recorded under this name."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from microtape.recording.writing.scope import Scope, open_scopes

_Paths: TypeAlias = weakref.WeakKeyDictionary[torch.nn.Module, str]

_Module: Any = torch.nn.Module


class ModuleScopes:
    """A context in which the call of a module opens a scope with its name.

    The name is the module's path within the module that the program called, without the path of the enclosing scope.
    """

    def __init__(self, is_asleep: Callable[[], bool]) -> None:
        self._is_asleep = is_asleep
        self._paths: weakref.WeakKeyDictionary[torch.nn.Module, _Paths] = weakref.WeakKeyDictionary()
        self._thread = threading.get_ident()
        self._open: list[torch.nn.Module] = []
        self._before: Any = None

    def __enter__(self) -> None:
        self._before = torch.nn.Module.__call__
        call, scopes = self._before, self

        def called(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling() or scopes._is_asleep() or threading.get_ident() != scopes._thread:
                return call(module, *args, **kwargs)
            outer = open_scopes.innermost
            open_scopes.innermost = Scope(scopes._name(module), outer)
            scopes._open.append(module)
            try:
                return call(module, *args, **kwargs)
            finally:
                scopes._open.pop()
                open_scopes.innermost = outer

        _Module.__call__ = called

    def __exit__(self, *error: object) -> None:
        _Module.__call__ = self._before

    def _name(self, module: torch.nn.Module) -> str:
        """`layers.3` inside of the encoder; the class of a module that is called from outside of all modules."""
        if not self._open:
            return type(module).__name__
        paths = self._paths.get(self._open[0])
        if paths is None or module not in paths:
            paths = self._paths[self._open[0]] = _paths_within(self._open[0])
        path, outer = paths.get(module, ""), paths.get(self._open[-1], "")
        relative = path.removeprefix(f"{outer}.") if outer else path
        return relative or type(module).__name__


def _paths_within(outermost: torch.nn.Module) -> _Paths:
    """The paths of all modules within the one that the program called."""
    return weakref.WeakKeyDictionary({module: path for path, module in outermost.named_modules()})
