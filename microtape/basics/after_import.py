"""Does something once a program has imported a module, which is never imported for it."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any


class AfterImport:
    """Finds the module `name`, which is then run as always, and calls `then` once the program has imported it."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name, self._then = name, then
        self._waits = False  # until `stop`; the import may end later, on another thread

    def start(self) -> None:
        """Wait for the import; if it has happened already, call `then` at once."""
        module = sys.modules.get(self._name)
        if module is not None and module.__name__ == self._name:  # else another one has taken its name
            self._then()
        else:
            self._waits = True
            sys.meta_path.insert(0, self)

    def stop(self) -> None:
        """Wait no longer."""
        self._waits = False
        self._leave()

    def _leave(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The usual spec of the module, whose loader tells us when it is done."""
        if name != self._name:
            return None
        self._leave()
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                del loader.exec_module
                execute(module)
                if self._waits:
                    self._then()

            loader.exec_module = exec_module
        return spec
