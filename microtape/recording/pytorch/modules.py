"""PyTorch's modules: their calls are scopes, named by `ModuleScopes` in `microtape/basics/module_scopes.py`."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import torch

from microtape.basics.module_scopes import ModuleScopes
from microtape.recording.pytorch.reading.traced import is_compiling

_Module: Any = torch.nn.Module


class WatchedModules:
    """A context in which the call of a module opens a scope with its name."""

    def __init__(self, is_asleep: Callable[[], bool]) -> None:
        self._is_asleep = is_asleep
        self._watching = [is_asleep]  # of all recorders, one around the other, that share these scopes
        self._shared: WatchedModules | None = None  # those of a recorder around this one
        self._scopes = ModuleScopes()
        self._thread = threading.get_ident()
        self._before: Any = None

    def __enter__(self) -> None:
        self._before = call = _Module.__call__
        known = getattr(call, "watched", None)
        if known is not None and known._thread == self._thread:
            self._shared = known
            known._watching.append(self._is_asleep)
            return
        watched = self

        def called(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            if is_compiling() or threading.get_ident() != watched._thread or watched._all_asleep():
                return call(module, *args, **kwargs)
            with watched._scopes.of(module, sys._getframe(1)):
                return call(module, *args, **kwargs)

        called.watched = watched  # type: ignore[attr-defined]
        _Module.__call__ = called

    def __exit__(self, *error: object) -> None:
        if self._shared is not None:
            self._shared._watching.remove(self._is_asleep)
        else:
            _Module.__call__ = self._before

    def _all_asleep(self) -> bool:
        return all([is_asleep() for is_asleep in self._watching])
