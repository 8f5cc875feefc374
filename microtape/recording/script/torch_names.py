"""Lets a script that says `import torch` run on microtape: for `--engine microtape`."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from microtape.basics.devices import ELSEWHERE

_OURS, _TORCH = "microtape", "torch"


def says_torch_alone(tree: ast.Module) -> bool:
    """Whether a script imports torch, but not microtape: a script that imports both means both."""
    imported = set()
    for one in ast.walk(tree):
        if isinstance(one, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in one.names}
        elif isinstance(one, ast.ImportFrom) and one.module and not one.level:
            imported.add(one.module.partition(".")[0])
    return _TORCH in imported and _OURS not in imported


class TorchNames:
    """Finds microtape where a program imports torch: `torch.nn` is `microtape.nn`."""

    def start(self) -> None:
        """Answer all imports from now on; the process is the program's own, and ends with it."""
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """A spec that loads our module. Raises ModuleNotFoundError, in one line, for what microtape does not have."""
        first, dot, rest = name.partition(".")
        if first != _TORCH:
            return None
        try:
            module = importlib.import_module(_OURS + dot + rest)
        except ModuleNotFoundError:
            raise ModuleNotFoundError(f"microtape has no {name}; {ELSEWHERE}", name=name) from None
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
