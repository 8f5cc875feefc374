"""Which tensors carry a tangent, and how views and in-place writes pass it on.

Note [Tangents of views]
  A view of a tensor with a tangent has a view of that tangent, so that writing to either is seen by both. A write into
  a view gives its base a tangent, too: zeros outside of the view. And a base that has got one so gives it to the views
  that were made before.
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
    """The tangents that exist between entering a level of forward-mode AD and leaving it."""

    def __init__(self) -> None:
        self.tangents: weakref.WeakKeyDictionary[AutogradMeta, TensorState | None] = weakref.WeakKeyDictionary()
        self.of_outputs: weakref.WeakKeyDictionary[Node, Sequence[TensorState | None]] = weakref.WeakKeyDictionary()


class _Current:
    """The level that is open, for all threads; there can be one."""

    level: Level | None = None


current = _Current()


@contextmanager
def without_tangents(internal: bool = True) -> Iterator[None]:
    """What this thread does inside carries no tangents and, unless it is the user's doing, is not observed."""
    before = mode.forward_ad, mode.internal
    mode.forward_ad, mode.internal = False, internal or mode.internal
    try:
        yield
    finally:
        mode.forward_ad, mode.internal = before


def carries_tangents() -> bool:
    """Whether what this thread does now carries tangents, if its operands have some."""
    return current.level is not None and mode.forward_ad


def check_size(tensor: TensorState, tangent: TensorState) -> None:
    """Raise RuntimeError for a tangent of another shape than its tensor's."""
    if tensor.array.shape != tangent.array.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor.array.shape)} while the given forward gradient is of size "
            f"{list(tangent.array.shape)}."
        )


def tangent_of(tensor: TensorState) -> TensorState | None:
    """The tensor's tangent at the open level, None if it has none."""
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
    """Give the tensor this very tangent; None: it is to have none, even if its base does."""
    assert current.level is not None
    current.level.tangents[ensure_meta(tensor)] = tangent


def write_tangent(tensor: TensorState, tangent: TensorState) -> None:
    """The tangent of what was written into the tensor: overwrites the one that it has."""
    held = tangent_of(tensor)
    view = tensor.meta.view if tensor.meta is not None else None
    with without_tangents():
        if held is None and view is None:
            held = tangent
        elif held is None:
            assert view is not None
            of_base = new_tensor(type(tangent), np.zeros(view.base.array.shape, tangent.array.dtype))
            set_tangent(view.base, of_base)
            held = replay(view.steps, of_base)
        if held is not tangent:
            held.copy_(tangent)  # type: ignore[union-attr]
    set_tangent(tensor, held)
