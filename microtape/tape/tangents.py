"""Tangents for forward-mode AD: which tensors carry one, and how views and in-place writes pass it on.

Note [Tangents of views]
  The tangent of a view is a view of its base's tangent, so a write to one is visible in the other. Writing a tensor
  with a tangent into a view gives the base a tangent, too, with zeros outside of the view; the base's other views,
  also those made earlier, then have views of that tangent.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from microtape.tape.grad_mode import mode
from microtape.tape.node import Node
from microtape.tape.tensor_state import AutogradMeta, TensorState, ensure_meta, new_tensor
from microtape.tape.views import replay


class Level:
    """One level of forward-mode AD: the tangents that exist until it is left."""

    def __init__(self) -> None:
        self.tangents: weakref.WeakKeyDictionary[AutogradMeta, TensorState | None] = weakref.WeakKeyDictionary()
        self.of_outputs: weakref.WeakKeyDictionary[Node, Sequence[TensorState | None]] = weakref.WeakKeyDictionary()


class _Current:
    """The current level, shared by all threads; there is at most one."""

    level: Level | None = None


current = _Current()


@contextmanager
def without_tangents(internal: bool = True) -> Iterator[None]:
    """Operations of this thread inside do not pass tangents on; if `internal`, Watchers do not see them either."""
    before = mode.forward_ad, mode.internal
    mode.forward_ad, mode.internal = False, internal or mode.internal
    try:
        yield
    finally:
        mode.forward_ad, mode.internal = before


def carries_tangents() -> bool:
    """Whether this thread's operations pass the tangents of their operands on."""
    return current.level is not None and mode.forward_ad


def check_size(tensor: TensorState, tangent: TensorState) -> None:
    """Raise RuntimeError if the tangent does not have its tensor's shape."""
    if tensor.array.shape != tangent.array.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor.array.shape)} while the given forward gradient is of size "
            f"{list(tangent.array.shape)}."
        )


def tangent_of(tensor: TensorState) -> TensorState | None:
    """The tensor's tangent at the current level; None if it has none. See Note [Tangents of views]."""
    level, meta = current.level, tensor.meta
    if level is None or meta is None or not mode.forward_ad:
        return None
    if meta in level.tangents or meta.view is None:
        return level.tangents.get(meta)
    of_base = tangent_of(meta.view.base)
    if of_base is None:
        return None
    with without_tangents():
        tangent: TensorState = replay(meta.view.steps, of_base)
    level.tangents[meta] = tangent
    return tangent


def set_tangent(tensor: TensorState, tangent: TensorState | None) -> None:
    """Make `tangent`, not a copy, the tensor's tangent; None: the tensor has none, even if its base has one."""
    assert current.level is not None
    current.level.tangents[ensure_meta(tensor)] = tangent


def write_tangent(tensor: TensorState, tangent: TensorState) -> None:
    """Overwrite the tensor's tangent after a write into the tensor; see Note [Tangents of views]."""
    target = tangent_of(tensor)
    view = tensor.meta.view if tensor.meta is not None else None
    with without_tangents():
        if target is None and view is None:
            target = tangent
        elif target is None:
            assert view is not None
            of_base = new_tensor(type(tangent), np.zeros(view.base.array.shape, tangent.array.dtype))
            set_tangent(view.base, of_base)
            target = replay(view.steps, of_base)
        if target is not tangent:
            target.copy_(tangent)  # type: ignore[union-attr]
    set_tangent(tensor, target)
