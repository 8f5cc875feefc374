"""What a node has saved, under torch's names: `grad_fn._saved_self`, `grad_fn._raw_saved_result`, `grad_fn._saved_dim`.

The attributes are made once for each class of node, so that a node itself carries nothing more.
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
"""torch's words for a formula's letters, where it does not have others."""

OTHER_NAMES = {
    "PowBackward1": {"y": "exponent"},
    "PowBackward2": {"y": "exponent"},
    "MmBackward0": {"y": "mat2"},
    "BmmBackward0": {"y": "mat2"},
    "MvBackward0": {"y": "vec"},
    "DotBackward0": {"y": "tensor"},
    "MseLossBackward0": {"y": "target"},
}

PARAMETERS = {
    "x_shape": "self_sym_sizes",
    **{name: name for name in ("dim", "dim0", "dim1", "dims", "exponent", "index", "keepdim", "max", "min")},
}
"""What an operation was called with: our name for it and torch's."""


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
    """`_saved_...` and `_raw_saved_...` for what is saved at this position."""
    return property(partial(_saved_value, index=index)), property(partial(_raw_saved_tensor, index=index))


def _slots(cls: type[Node]) -> Iterator[str]:
    """The attributes that nodes of this class have beyond what every node has."""
    for one in cls.__mro__[: cls.__mro__.index(Node)]:
        yield from vars(one).get("__slots__", ())


def _saved_value(node: Any, index: int) -> Any:
    """A saved tensor with its history, None where it was not needed.

    Raises FreedGraphError if it was freed, ModifiedInPlaceError if it has been written to since.
    """
    if node.saved is None and node.save_plans[receiver_mask(node.next_nodes)][index] is None:
        return None
    tensor = unpack_tensor(node, index)
    return new_tensor(type(tensor), tensor.array.copy()) if tensor is not None and tensor.meta is NUMBER else tensor


class RawSavedTensor:
    """A tensor as a node keeps it, to be packed by hooks of its own. Only a node can make one."""

    def __init__(self) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    _node: Node
    _index: int

    @property
    def _item(self) -> Any:
        return self._node.saved[self._index] if self._node.saved is not None else None

    @property
    def data(self) -> Any:
        """What is kept: the tensor, or what a pack hook made of it; None after it was freed."""
        item = self._item
        if isinstance(item, PackedTensor):
            return item.packed
        return item.tensor(self._node) if isinstance(item, SavedTensor) else item

    @property
    def unpack_hook(self) -> Unpack | None:
        """The hook that will unpack it, if there is one."""
        item = self._item
        return item.unpack_hook if isinstance(item, PackedTensor) else None

    def unpack(self) -> Any:
        """The tensor with its history. Raises as reading `_saved_...` does."""
        return unpack_tensor(self._node, self._index)

    def register_hooks(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        """Keep `pack_hook(tensor)` instead of the tensor, and call `unpack_hook` with it when the tensor is needed.

        Raises RuntimeError if there are hooks already, or nothing to pack.
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
        kept[index] = PackedTensor(tensor, own_output, pack_hook, unpack_hook, seen)
        node.saved = tuple(kept)


_raw: weakref.WeakValueDictionary[tuple[Node, int], RawSavedTensor] = weakref.WeakValueDictionary()


def _raw_saved_tensor(node: Node, index: int) -> RawSavedTensor:
    """The handle of a saved tensor; the same one as long as somebody holds it."""
    handle = _raw.get((node, index))
    if handle is None:
        handle = object.__new__(RawSavedTensor)
        handle._node, handle._index = node, index
        _raw[node, index] = handle
    return handle


def all_raw_saved(node: Node) -> tuple[RawSavedTensor, ...]:
    """The handles of everything that a node has saved. Raises FreedGraphError if it was freed."""
    if node.saved is None:
        raise FreedGraphError(FREED_MESSAGE, ("recorded", node.call_site))
    return tuple(_raw_saved_tensor(node, index) for index in range(len(node.saved)))
