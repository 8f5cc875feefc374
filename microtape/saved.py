"""Tensors kept by a node's forward for its backward, and the check that nobody wrote to them in between.

Note [Saved tensors]
  An input is saved as the very Tensor object: it was there before the node, so no cycle can arise. An output must not
  be, because it refers to the node that would refer to it; its array and version counter are saved instead, in a
  `SavedTensor`, and the Tensor is made again when it is needed.
"""

from __future__ import annotations

from typing import Any

from microtape.errors import FreedGraphError, ModifiedInPlaceError
from microtape.node import AccumulateGrad, Edge, Node
from microtape.tensor_state import Array, TensorState, Version, ensure_version, new_tensor

FREED_MESSAGE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)

MODIFIED_HINT = (
    "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
    "microtape.autograd.set_detect_anomaly(True, check_nan=False)."
)


class SavedTensor:
    """An output of a node, as that node keeps it: array, version counter and the number that was saved."""

    __slots__ = ("array", "counter", "edge_nr", "like", "number")

    def __init__(self, tensor: TensorState, output_nr: int = 0) -> None:
        self.array = tensor.array
        self.like = type(tensor)
        self.counter = ensure_version(tensor)
        self.number = self.counter.number
        self.edge_nr = output_nr

    def tensor(self, node: Node) -> TensorState:
        """The output again: the same memory and version counter, with `node` as its grad_fn."""
        tensor = new_tensor(self.like, self.array, (node, self.edge_nr))
        tensor.version = self.counter
        return tensor


def unpack(node: Node, as_tensors: bool) -> list[Any]:
    """What `node` saved, as arrays or as Tensors with their history; None where nothing was needed.

    Raises FreedGraphError if it was freed, ModifiedInPlaceError if something has been written to since.
    """
    saved, versions = node.saved, node.versions
    if saved is None:
        raise FreedGraphError(FREED_MESSAGE, ("recorded", node.call_site))
    result: list[Any] = []
    for i, item in enumerate(saved):
        if item is None:
            result.append(None)
        elif type(item) is SavedTensor:
            if item.counter.number != item.number:
                raise modified_error(node, item.array, item.counter, item.number, (node, item.edge_nr))
            result.append(item.tensor(node) if as_tensors else item.array)
        else:
            expected = versions[i] if versions is not None else 0
            if item.version is not None and item.version.number != expected:
                source = node.sources[i]
                raise modified_error(
                    node, item.array, item.version, expected, node.next_edges[source] if source >= 0 else None
                )
            result.append(item if as_tensors else item.array)
    return result


def saved_version(node: Node, index: int) -> int:
    """The version at which the saved tensor `index` was saved."""
    assert node.saved is not None
    item = node.saved[index]
    if type(item) is SavedTensor:
        return item.number
    return node.versions[index] if node.versions is not None else 0


def modified_error(
    node: Node, array: Array, counter: Version, expected: int, edge: Edge | None
) -> ModifiedInPlaceError:
    """torch's message for a saved tensor that was written to, and the two lines that matter."""
    of = ""
    if edge is not None and edge[0] is not None and not isinstance(edge[0], AccumulateGrad):
        of = f", which is output {edge[1]} of {short_name(edge[0])},"
    return ModifiedInPlaceError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{type_name(array)} {list(array.shape)}]{of} is at version {counter.number}; "
        f"expected version {expected} instead. {MODIFIED_HINT}",
        ("saved", node.call_site),
        ("modified", counter.written),
    )


def short_name(node: Node) -> str:
    """The operation's name without `Backward0`."""
    name, _, number = node.name().rpartition("Backward")
    return name if name and (not number or number.isdigit()) else node.name()


_TYPE_NAMES = {
    "float16": "Half",
    "float32": "Float",
    "float64": "Double",
    "int8": "Char",
    "uint8": "Byte",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "bool": "Bool",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}


def type_name(array: Array) -> str:
    """torch's name for tensors of this dtype: `microtape.FloatTensor` for float32."""
    return f"microtape.{_TYPE_NAMES.get(array.dtype.name, array.dtype.name.capitalize())}Tensor"
