"""A node's saved values under torch's names: `grad_fn._saved_self`, `grad_fn._raw_saved_result`, `grad_fn._saved_dim`.

They are properties, made once for each class of nodes, so a node needs no memory for them.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from functools import cache, partial
from operator import attrgetter
from typing import Any

from microtape.errors import FreedGraphError
from microtape.tape.node import Node, receiver_mask
from microtape.tape.packed_tensor import Pack, PackedTensor, Unpack
from microtape.tape.saved import FREED_MESSAGE, SavedTensor, unpack_tensor
from microtape.tape.tensor_state import NUMBER, ensure_version, new_tensor

OPERAND_NAMES = {"x": "self", "y": "other", "z": "result"}
"""torch's names for the variables of a formula, except for the classes in `OTHER_NAMES`."""

_TARGET = {"y": "target"}
OTHER_NAMES = {
    "PowBackward1": {"y": "exponent"},
    "PowBackward2": {"y": "exponent"},
    "MmBackward0": {"y": "mat2"},
    "BmmBackward0": {"y": "mat2"},
    "MvBackward0": {"y": "vec"},
    "DotBackward0": {"y": "tensor"},
    "MseLossBackward0": _TARGET,
    "SmoothL1LossBackward0": _TARGET,
    "HuberLossBackward0": _TARGET,
    "BinaryCrossEntropyBackward0": _TARGET,
    "BinaryCrossEntropyWithLogitsBackward0": _TARGET,
}

PARAMETERS = {
    "x_shape": "self_sym_sizes",
    **{name: name for name in ("dim", "dim0", "dim1", "dims", "exponent", "index", "keepdim", "max", "min")},
}
"""The attributes of a node that hold the call's arguments: our name -> torch's name."""


def define_saved_attributes(cls: type[Node]) -> None:
    """Give a class of operations its `_saved_...` and `_raw_saved_...` attributes."""
    names = OPERAND_NAMES | OTHER_NAMES.get(cls.__name__, {})
    for index, name in enumerate(cls.saved_names):
        name = names.get(name, name)
        for kind, attribute in zip(("saved", "raw_saved"), _attributes(index), strict=True):
            setattr(cls, f"_{kind}_{name}", attribute)
    in_order = sorted((cls.sources[i] < 0, names.get(name, name), i) for i, name in enumerate(cls.saved_names))
    cls.saved_order = tuple(i for _, _, i in in_order)
    for slot in _slots(cls):
        if slot in PARAMETERS and slot not in cls.saved_names:
            setattr(cls, f"_saved_{PARAMETERS[slot]}", property(attrgetter(slot)))


@cache
def _attributes(index: int) -> tuple[property, property]:
    """The properties `_saved_...` and `_raw_saved_...` for the saved tensor number `index`."""
    return property(partial(_saved_value, index=index)), property(partial(_raw_saved_tensor, index=index))


def _slots(cls: type[Node]) -> Iterator[str]:
    """The attributes that this class of nodes has in addition to those of Node."""
    for one in cls.__mro__[: cls.__mro__.index(Node)]:
        yield from vars(one).get("__slots__", ())


def _saved_value(node: Any, index: int) -> Any:
    """The saved tensor number `index` with its history; None if it was not needed. Raises as `unpack` does."""
    if node.saved is None and node.save_plans[receiver_mask(node.next_nodes)][index] is None:
        return None
    tensor = unpack_tensor(node, index)
    return new_tensor(type(tensor), tensor.array.copy()) if tensor is not None and tensor.meta is NUMBER else tensor


class RawSavedTensor:
    """A handle of one saved tensor, on which saved-tensor hooks can be registered. Users cannot construct it."""

    def __init__(self) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    _node: Node
    _index: int

    @property
    def _item(self) -> Any:
        return self._node.saved[self._index] if self._node.saved is not None else None

    @property
    def data(self) -> Any:
        """The saved tensor, or the object that a pack hook returned for it; None once it has been freed."""
        item = self._item
        if isinstance(item, PackedTensor):
            return item.packed
        return item.tensor(self._node) if isinstance(item, SavedTensor) else item

    @property
    def unpack_hook(self) -> Unpack | None:
        """The hook that will unpack it; None if there is none."""
        item = self._item
        return item.unpack_hook if isinstance(item, PackedTensor) else None

    def unpack(self) -> Any:
        """The tensor with its history. Raises FreedGraphError, ModifiedInPlaceError or DetachedInPlaceError."""
        return unpack_tensor(self._node, self._index)

    def register_hooks(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        """Save `pack_hook(tensor)` instead of the tensor, and call `unpack_hook` on it when the tensor is needed.

        Raises TypeError if a hook is not callable, FreedGraphError if the tensor has been freed, and RuntimeError if
        it has hooks already, if it is None, or if `pack_hook` writes to it.
        """
        if not callable(pack_hook) or not callable(unpack_hook):
            raise TypeError("register_hooks(): pack_hook and unpack_hook must be callable")
        node, index = self._node, self._index
        if node.saved is None:
            raise FreedGraphError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the "
                "graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
                "to backward through the graph a second time or if you need to access saved variables after calling "
                "backward.",
                ("recorded", node.call_site),
            )
        item = node.saved[index]
        if item is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        if isinstance(item, PackedTensor):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of "
                "hooks is allowed at a time."
            )
        own_output = item.edge(node) if isinstance(item, SavedTensor) else None
        tensor = item.tensor(node) if isinstance(item, SavedTensor) else item
        seen = new_tensor(type(tensor), tensor.array)
        seen.version = ensure_version(tensor)
        kept = list(node.saved)
        kept[index] = PackedTensor(node, tensor, own_output, pack_hook, unpack_hook, seen)
        node.saved = tuple(kept)


_raw: weakref.WeakValueDictionary[tuple[Node, int], RawSavedTensor] = weakref.WeakValueDictionary()


def _raw_saved_tensor(node: Node, index: int) -> RawSavedTensor:
    """The handle of the saved tensor number `index`; the same object as long as it is referenced."""
    handle = _raw.get((node, index))
    if handle is None:
        handle = object.__new__(RawSavedTensor)
        handle._node, handle._index = node, index
        _raw[node, index] = handle
    return handle


def all_raw_saved(node: Node) -> tuple[RawSavedTensor, ...]:
    """The handles of all tensors that a node has saved. Raises FreedGraphError if they were freed."""
    if node.saved is None:
        raise FreedGraphError(FREED_MESSAGE, ("recorded", node.call_site))
    return tuple(_raw_saved_tensor(node, index) for index in range(len(node.saved)))
