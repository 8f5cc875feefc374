"""Named parts of a program: `with microtape.scope("encoder"):`. Only the recorder reads them; the engine does not."""

from __future__ import annotations

import contextlib
import threading
from typing import Any


class Scope:
    """One entry into a named part of the program; `outer` is the enclosing one."""

    __slots__ = ("name", "outer")

    def __init__(self, name: str, outer: Scope | None) -> None:
        self.name, self.outer = name, outer


class _Open(threading.local):
    innermost: Scope | None = None


open_scopes = _Open()


class scope(contextlib.ContextDecorator):  # noqa: N801 - used like `no_grad`
    """Give a name to the operations recorded inside, so that pictures can fold them: `with scope("encoder"): ...`.

    Every entry counts: a scope entered twelve times in a loop is shown as `layer ×12`. Scopes may be nested. A scope is
    also a decorator for functions: `@scope("cell")`.

    Args:
        name: any text that is not empty.

    Raises:
        TypeError: `name` is not a string.
        ValueError: `name` is empty.
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"scope() takes a name, not {type(name).__name__}")
        if not name.strip():
            raise ValueError("scope() takes a name that is not empty")
        self.name = name

    def __enter__(self) -> scope:
        open_scopes.innermost = Scope(self.name, open_scopes.innermost)
        return self

    def __exit__(self, *exception: Any) -> None:
        assert open_scopes.innermost is not None
        open_scopes.innermost = open_scopes.innermost.outer
