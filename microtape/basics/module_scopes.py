"""Calls of modules as scopes: what runs inside of `encoder.layers.3` is recorded under this name."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from typing import Any, TypeAlias

from microtape.basics.scope import Scope, open_scopes

_Paths: TypeAlias = "weakref.WeakKeyDictionary[Any, str]"


class ModuleScopes(threading.local):
    """The modules whose calls are running on this thread, one within the other; each call is a scope.

    The scope's name is the module's path within the module that the program called, without the path of the enclosing
    scope: `layers.3` inside of the encoder. A module that is called from outside of all modules has its class's name.
    """

    def __init__(self) -> None:
        self._open: list[Any] = []
        self._paths: weakref.WeakKeyDictionary[Any, _Paths] = weakref.WeakKeyDictionary()

    @contextlib.contextmanager
    def of(self, module: Any) -> Iterator[None]:
        """A context for the call of a module, of PyTorch or ours: it has a method `named_modules`."""
        outer = open_scopes.innermost
        open_scopes.innermost = Scope(self._name(module), outer)
        self._open.append(module)
        try:
            yield
        finally:
            self._open.pop()
            open_scopes.innermost = outer

    def _name(self, module: Any) -> str:
        if not self._open:
            return type(module).__name__
        paths = self._paths.get(self._open[0])
        if paths is None or module not in paths:
            paths = self._paths[self._open[0]] = _paths_within(self._open[0])
        path, outer = paths.get(module, ""), paths.get(self._open[-1], "")
        relative = path.removeprefix(f"{outer}.") if outer else path
        return relative or type(module).__name__


def _paths_within(outermost: Any) -> _Paths:
    """The paths of all modules within the one that the program called."""
    return weakref.WeakKeyDictionary({module: path for path, module in outermost.named_modules()})
