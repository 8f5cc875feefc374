"""torch's `utils.hooks`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from microtape.tape.node import RemovableHandle

_F = TypeVar("_F", bound=Callable[..., Any])


def unserializable_hook(f: _F) -> _F:
    """Decorate a hook, so that pickling or copying a tensor with this hook, which is not copied, gives no warning."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


__all__ = ["RemovableHandle", "unserializable_hook"]
