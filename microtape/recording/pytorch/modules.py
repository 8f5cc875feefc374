"""Calls of modules as scopes: what runs inside of `encoder.layers.3` is recorded under this name."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeAlias

import torch

from microtape.recording.writing.scope import Scope, open_scopes

_Paths: TypeAlias = weakref.WeakKeyDictionary[torch.nn.Module, str]

_Module: Any = torch.nn.Module


class ModuleScopes:
    """A context in which the call of a module opens a scope with its name.

    The name is the module's path within the module that the program called, without the path of the enclosing scope;
    where that is a number only, as in a Sequential, the class follows: `2 ReLU`. A module that is called from outside
    of all modules has the name of its class or, if that is one of torch's, of the caller's variable.
    """

    def __init__(self, is_asleep: Callable[[], bool]) -> None:
        self._is_asleep = is_asleep
        self._watching = [is_asleep]  # of all recorders, one around the other, that share these scopes
        self._shared: ModuleScopes | None = None  # those of a recorder around this one
        self._paths: weakref.WeakKeyDictionary[torch.nn.Module, _Paths] = weakref.WeakKeyDictionary()
        self._names: weakref.WeakKeyDictionary[torch.nn.Module, str] = weakref.WeakKeyDictionary()  # of outermost ones
        self._thread = threading.get_ident()
        self._open: list[torch.nn.Module] = []
        self._before: Any = None

    def __enter__(self) -> None:
        self._before = call = _Module.__call__
        known = getattr(call, "scopes", None)
        if known is not None and known._thread == self._thread:
            self._shared = known
            known._watching.append(self._is_asleep)
            return
        scopes = self

        def called(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling() or threading.get_ident() != scopes._thread or scopes._all_asleep():
                return call(module, *args, **kwargs)
            outer = open_scopes.innermost
            open_scopes.innermost = Scope(scopes._name(module, sys._getframe(1)), outer)
            scopes._open.append(module)
            try:
                return call(module, *args, **kwargs)
            finally:
                scopes._open.pop()
                open_scopes.innermost = outer

        called.scopes = scopes  # type: ignore[attr-defined]
        _Module.__call__ = called

    def __exit__(self, *error: object) -> None:
        if self._shared is not None:
            self._shared._watching.remove(self._is_asleep)
        else:
            _Module.__call__ = self._before

    def _all_asleep(self) -> bool:
        return all([is_asleep() for is_asleep in self._watching])

    def _name(self, module: torch.nn.Module, caller: FrameType) -> str:
        """`layers.3` inside of the encoder; see the class."""
        kind = type(module)
        if not self._open:
            known = self._names.get(module)
            if known is None:
                known = _variable(module, caller) if kind.__module__.startswith("torch.") else ""
                known = self._names[module] = known or kind.__name__
            return known
        paths = self._paths.get(self._open[0])
        if paths is None or module not in paths:
            paths = self._paths[self._open[0]] = _paths_within(self._open[0])
        path, outer = paths.get(module, ""), paths.get(self._open[-1], "")
        relative = path.removeprefix(f"{outer}.") if outer else path
        return f"{relative} {kind.__name__}" if relative.isdigit() else relative or kind.__name__


def _variable(module: torch.nn.Module, caller: FrameType) -> str:
    """The variable that holds a module where it is called; empty if there is none."""
    variables = {**caller.f_globals, **caller.f_locals}
    return next((name for name, value in variables.items() if value is module and name.isidentifier()), "")


def _paths_within(outermost: torch.nn.Module) -> _Paths:
    """The paths of all modules within the one that the program called."""
    return weakref.WeakKeyDictionary({module: path for path, module in outermost.named_modules()})
