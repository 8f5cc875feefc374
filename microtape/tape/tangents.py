"""Tangents for forward-mode AD: which tensors carry one, and how views and in-place writes pass it on.

Note [Tangents of views]
  The tangent of a view is a view of its base's tangent, so a write to one is visible in the other. Writing a tensor
  with a tangent into a view gives the base a tangent, too, with zeros outside of the view; the base's other views,
  also those made earlier, then have views of that tangent. As in torch, the view that `make_dual` or `unpack_dual`
  returns has a tangent of its own, which its base does not share, at this level and at all later ones: it is the *root*
  of its views.

Note [Tangents of saved tensors]
  A saved tensor needs the tangent that it had when it was saved. An operand is saved as the object itself, which keeps
  its tangent; of an operand that the operation overwrites, the saved copy gets a copy of the tangent. Outputs and
  packed tensors are new objects each time they are unpacked: the level keeps their tangents, by the node that computed
  the output and by the PackedTensor. While a hook's tensor still shares the memory of the one that it packed, writes
  reach it, and its tangent is the one that these writes change; once it has memory of its own, such as a copy or
  recomputed values, its tangent is a copy, too. NB: torch keeps no copy.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from microtape.tape.grad_mode import mode
from microtape.tape.node import Node
from microtape.tape.packed_tensor import PackedTensor
from microtape.tape.tensor_state import Array, AutogradMeta, TensorState, ensure_meta, new_tensor
from microtape.tape.views import ITSELF, replay
from microtape.tape.watch import watch


class PackedTangent(NamedTuple):
    """The tangent of a tensor that saved-tensor hooks have packed; see Note [Tangents of saved tensors]."""

    memory: Array  # of the packed tensor
    tangent: TensorState
    copy: TensorState

    def of(self, tensor: TensorState) -> TensorState:
        """The tangent of `tensor`, which the unpack hook has returned."""
        return self.tangent if np.may_share_memory(tensor.array, self.memory) else self.copy


class Level:
    """One level of forward-mode AD: the tangents that exist until it is left."""

    def __init__(self) -> None:
        self.tangents: weakref.WeakKeyDictionary[AutogradMeta, TensorState | None] = weakref.WeakKeyDictionary()
        self.of_outputs: weakref.WeakKeyDictionary[Node, Sequence[TensorState | None]] = weakref.WeakKeyDictionary()
        self.of_overwritten: weakref.WeakKeyDictionary[Node, tuple[TensorState, Sequence[int]]] = (
            weakref.WeakKeyDictionary()
        )  # the old tangent of the tensor that the operation overwrote, and which of its operands that was
        self.of_packed: weakref.WeakKeyDictionary[PackedTensor, PackedTangent] = weakref.WeakKeyDictionary()


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


def one_write(
    op: str, tensor: TensorState, write: Callable[..., Any], *args: Any, source: TensorState | None = None
) -> None:
    """Call `write(*args)`; for Watchers it is one write to `tensor`, by `op` (`SGD.step`), perhaps of `source`."""
    watcher = watch.watcher
    if watcher is None:
        write(*args)
        return
    watcher.writing(tensor)
    with without_tangents():
        write(*args)
    watcher.without_history(op, (tensor,) if source is None else (tensor, source), tensor)


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
    root = root_of(tensor)
    if meta in level.tangents or root is tensor:
        return level.tangents.get(meta)
    of_root = tangent_of(root)
    if of_root is None:
        return None
    tangent = level.tangents[meta] = _same_view(tensor, of_root)
    return tangent


def root_of(tensor: TensorState) -> TensorState:
    """The tensor itself, or the tensor that it is a view of as far as tangents go; see Note [Tangents of views]."""
    view = tensor.meta.view if tensor.meta is not None else None
    if view is None or view.root is ITSELF:
        return tensor
    return view.base if view.root is None else view.root


def _same_view(tensor: TensorState, of_root: TensorState) -> TensorState:
    """The view of its root's tangent that `tensor` is of its root."""
    root, view = root_of(tensor), tensor.meta.view  # type: ignore[union-attr]
    done = len(root.meta.view.steps) if root.meta is not None and root.meta.view is not None else 0
    with without_tangents():
        tangent: TensorState = replay(view.steps[done:], of_root)  # type: ignore[union-attr]
    return tangent


def set_own_tangent(tensor: TensorState, tangent: TensorState | None) -> None:
    """Make `tangent` that of a view, but not of its base."""
    set_tangent(tensor, tangent)
    view = ensure_meta(tensor).view
    if view is not None:  # else an inference tensor
        view.root = ITSELF


def set_tangent(tensor: TensorState, tangent: TensorState | None) -> None:
    """Make `tangent`, not a copy, the tensor's tangent; None: the tensor has none, even if its root has one."""
    assert current.level is not None
    current.level.tangents[ensure_meta(tensor)] = tangent


def write_tangent(tensor: TensorState, tangent: TensorState) -> None:
    """Overwrite the tensor's tangent after a write into the tensor; see Note [Tangents of views]."""
    target, root = tangent_of(tensor), root_of(tensor)
    if target is None and root is tensor:
        target = tangent
    elif target is None:
        of_root = tangent_of(root)
        if of_root is None:
            of_root = new_tensor(type(tangent), np.zeros(root.array.shape, tangent.array.dtype))
            set_tangent(root, of_root)
        target = _same_view(tensor, of_root)
    if target is not tangent:
        with without_tangents():
            target.copy_(tangent)  # type: ignore[attr-defined]
    set_tangent(tensor, target)
