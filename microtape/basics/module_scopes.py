"""Calls of modules as scopes: what runs inside of `encoder.layers.3` is recorded under this name."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from types import FrameType
from typing import Any, TypeAlias

from microtape.basics.scope import Scope, open_scopes

_WRAPPERS = ("_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module")
"""What torch puts into the paths of modules that it wraps: `torch.compile`, FSDP and activation checkpointing."""
_LIBRARIES = ("torch.", "microtape.")
_Paths: TypeAlias = "weakref.WeakKeyDictionary[Any, str]"


def program_module(module: Any) -> Any:
    """The module that the program has written: of the one that `torch.compile` returns, the one within."""
    return module._orig_mod if type(module).__name__ == "OptimizedModule" else module


def program_path(path: str) -> str:
    """A path among modules, such as that of a parameter, without what torch has put into it by wrapping modules."""
    return ".".join([part for part in path.split(".") if part not in _WRAPPERS])


class ModuleScopes(threading.local):
    """The modules whose calls are running on this thread, one within the other; each call is a scope.

    The scope's name is the module's path within the module that the program called, without the path of the enclosing
    scope: `layers.3` inside of the encoder; where that is a number only, as in a Sequential, the class follows:
    `2 ReLU`. A module that is called from outside of all modules has the name of its class or, if that is a library's,
    of the program's variable. A compiled module is the one that was compiled.
    """

    def __init__(self) -> None:
        self._open: list[Any] = []
        self._paths: weakref.WeakKeyDictionary[Any, _Paths] = weakref.WeakKeyDictionary()
        # the variables of outermost modules
        self._names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()

    def of(self, module: Any, caller: FrameType) -> ModuleCall:
        """A context for the call of a module, of PyTorch or ours: it has a method `named_modules`."""
        named = program_module(module)
        return ModuleCall(self._open, named, self._name(named, module, caller))

    @property
    def innermost(self) -> Any:
        """The module whose call is running; None if there is none."""
        return self._open[-1] if self._open else None

    def _name(self, module: Any, called: Any, caller: FrameType) -> str:
        kind = type(module)
        if not self._open:
            if not kind.__module__.startswith(_LIBRARIES):
                return kind.__name__
            modules, variables = (module, called), _Variables(caller)
            known = self._names.get(module)
            if known is None or (known and variables.hold_another(known, modules)):
                known = self._names[module] = variables.name_of(modules)
            return known or kind.__name__
        paths = self._paths.get(self._open[0])
        path = paths.get(module) if paths is not None else None
        if paths is None or path is None:
            paths = self._paths[self._open[0]] = _paths_within(self._open[0])
            path = paths.get(module, "")
        outer = paths.get(self._open[-1], "")
        relative = "" if path == outer else path.removeprefix(f"{outer}.") if outer else path
        return f"{relative} {kind.__name__}" if relative.isdigit() else relative or kind.__name__


class ModuleCall:
    """A context that is a scope; a generator as a context would take three times as long.

    Args:
        running: the modules that are called, to which the module is added inside.
    """

    def __init__(self, running: list[Any], module: Any, name: str) -> None:
        self._running, self._module, self._name = running, module, name

    def __enter__(self) -> None:
        self._outer = open_scopes.innermost
        open_scopes.innermost = Scope(self._name, self._outer)
        self._running.append(self._module)

    def __exit__(self, *error: object) -> None:
        self._running.pop()
        open_scopes.innermost = self._outer


class _Variables:
    """The program's variables where it has called a module."""

    def __init__(self, caller: FrameType | None) -> None:
        while caller is not None and str(caller.f_globals.get("__name__")).startswith(_LIBRARIES):
            caller = caller.f_back
        self._frame = caller

    def hold_another(self, name: str, modules: Sequence[Any]) -> bool:
        """Whether the variable of this name holds something else, as an argument `net` does in each call."""
        if self._frame is None:
            return False
        held = self._frame.f_globals.get(name)
        if all([held is not one for one in modules]):
            held = self._frame.f_locals.get(name, held)
        return held is not None and all([held is not one for one in modules])

    def name_of(self, modules: Sequence[Any]) -> str:
        """The variable that holds the first of the modules that has one; empty if there is none."""
        variables = {**self._frame.f_globals, **self._frame.f_locals} if self._frame is not None else {}
        names = {id(value): name for name, value in reversed(variables.items()) if name.isidentifier()}
        return next((names[id(one)] for one in modules if id(one) in names), "")


def _paths_within(outermost: Any) -> _Paths:
    """The paths of all modules within the one that the program called."""
    return weakref.WeakKeyDictionary({module: program_path(path) for path, module in outermost.named_modules()})
