"""Names of a package that are imported when they are asked for, so that importing one of its modules stays quick."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def imported_later(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """A package's `__getattr__` and `__dir__`; `homes` says in which of its modules each name is.

    Type checkers do not see these names: the package imports them under TYPE_CHECKING as well.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, found)  # it is asked for once
        return found

    return find, lambda: sorted(vars(sys.modules[package]).keys() | homes.keys())
