"""Lets a program that imports one package run on another: microtape where it says torch, or the other way round."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Renamed:
    """Finds the modules of one package where a program imports another: `torch.nn` is `microtape.nn`."""

    def __init__(self, asked: str, given: str, missing: str) -> None:
        """`missing` is the message about a module that is not there, in which `{}` stands for its name."""
        self._asked, self._given, self._missing = asked, given, missing

    def start(self) -> None:
        """Answer all imports from now on; the process is the program's own, and ends with it."""
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """A spec that loads the other package's module. Raises ModuleNotFoundError, in one line, if it has none."""
        first, dot, rest = name.partition(".")
        if first != self._asked:
            return None
        try:
            module = importlib.import_module(self._given + dot + rest)
        except ModuleNotFoundError:
            raise ModuleNotFoundError(self._missing.format(name), name=name) from None
        loader: Any = _Known(module)  # no subclass: `importlib.abc` is slow to import
        return ModuleSpec(name, loader, is_package=hasattr(module, "__path__"))


class _Known:
    """Loads a module that is there already, and leaves it as it is."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> Any:
        """The module."""
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Give back the spec that the import has overwritten."""
        module.__spec__ = self._spec
