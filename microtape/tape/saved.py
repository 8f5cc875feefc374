"""Saved tensors: what a node keeps from forward for backward, and the check that it was not overwritten in between.

Note [Saved tensors]
  An input is saved as the Tensor object itself: it existed before the node, so no reference cycle can arise. An output
  refers to its node, so saving the object would make a cycle; the node saves its array and version counter instead, in
  a `SavedTensor`, and builds the Tensor again when it is needed. With saved-tensor hooks, inputs and outputs are saved
  as a `PackedTensor`.
"""

from __future__ import annotations

import weakref
from typing import Any

from microtape.basics.dtypes import DType, scalar_name
from microtape.errors import DetachedInPlaceError, FreedGraphError, InferenceTensorError, ModifiedInPlaceError
from microtape.tape.node import NO_EDGE, Edge, Node, receiver_mask
from microtape.tape.packed_tensor import PackedTensor
from microtape.tape.tensor_state import (
    INFERENCE,
    TensorState,
    Version,
    as_number,
    history_of,
    new_tensor,
    version_number,
)
from microtape.tape.watch import watch

FREED_MESSAGE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)

DETACHED_MESSAGE = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, please "
    "use out-of-place `.detach()` instead"
)

INFERENCE_MESSAGE = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
    "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in "
    "autograd, or use `microtape.no_grad()` instead of `microtape.inference_mode()`."
)

MODIFIED_HINT = (
    "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
    "microtape.autograd.set_detect_anomaly(True, check_nan=False)."
)


EXPLAINED_HINT = (
    "Hint: the backtrace further above shows the operation that failed to compute its gradient. The variable in "
    "question was changed in there or anywhere later. Good luck!"
)


class SavedTensor:
    """An output as its own node saves it: the array and the version counter; see Note [Saved tensors]."""

    __slots__ = ("array", "computed_by", "like", "output_nr", "version")
    is_output = True

    def __init__(self, tensor: TensorState, output_nr: int = 0) -> None:
        self.array = tensor.array
        self.like = type(tensor)
        if tensor.version is None:
            tensor.version = Version()
        self.version: Version | None = tensor.version
        self.output_nr = output_nr
        self.computed_by: weakref.ref[Node] | None = None  # its grad_fn, if that is not the node that saved it

    def edge(self, node: Node) -> Edge:
        """The output's edge; `node` is the node that saved it."""
        other = self.computed_by() if self.computed_by is not None else None
        return (node, self.output_nr) if other is None else (other, 0)

    def tensor(self, node: Node) -> TensorState:
        """A Tensor with the output's memory, version counter and history; `node` is the node that saved it."""
        tensor = new_tensor(self.like, self.array, self.edge(node))
        tensor.version = self.version
        return tensor


def keep_versions(node: Node) -> None:
    """Store the versions of the tensors that `node` saved; only needed if one of them is not at version 0.

    Raises InferenceTensorError if one of them is an inference tensor.
    """
    versions = tuple([0 if item is None or item.version is None else item.version.number for item in node.saved or ()])
    if INFERENCE.number in versions:
        raise InferenceTensorError(INFERENCE_MESSAGE, ("needed for", node.call_site))
    node.versions = versions


def unpack(node: Node, as_tensors: bool) -> list[Any]:
    """The tensors that `node` saved, as arrays or as Tensors with their history; None for those not needed.

    Raises FreedGraphError if they were freed, ModifiedInPlaceError if one of them has been written to since, and
    DetachedInPlaceError if one of them has been detached in place.
    """
    saved = node.saved
    if saved is None:
        if saves_nothing(node):
            return [None] * len(node.saved_names)
        raise FreedGraphError(FREED_MESSAGE, ("recorded", node.call_site))
    if as_tensors:
        values: list[Any] = [None] * len(saved)
        for i in node.saved_order or range(len(saved)):
            values[i] = unpack_tensor(node, i)
        return values
    values, touched = [], False
    for item in saved:
        if item is None:
            values.append(None)
            continue
        array, version = item.array, item.version
        if version is not None and version.touched:
            touched = True
        values.append(array if array is None or array.ndim else array[()])  # see `as_number`
    if touched:
        for i in node.saved_order or range(len(saved)):
            item = saved[i]
            if type(item) is PackedTensor:
                values[i] = as_number(item.unpack(node).array)
            elif item is not None:
                check_unchanged(node, i)
    return values


def saves_nothing(node: Any) -> bool:
    """Whether none of the tensors that the node could save is needed for the gradients that are wanted of it."""
    plans = getattr(node, "save_plans", None)
    return plans is not None and all(source is None for source in plans[receiver_mask(node.next_nodes)])


def unpack_tensor(node: Node, index: int) -> Any:
    """The saved tensor number `index` with its history; None if it was not needed. Raises as `unpack` does."""
    if node.saved is None:
        raise FreedGraphError(FREED_MESSAGE, ("recorded", node.call_site))
    item = node.saved[index]
    if item is None:
        return None
    if item.version is not None and item.version.touched:
        check_unchanged(node, index)
    if isinstance(item, TensorState):
        return item
    tensor = item.tensor(node)
    if (watcher := watch.watcher) is not None:
        watcher.unpacked(node, item, tensor)
    return tensor


def check_unchanged(node: Node, index: int) -> None:
    """Raise if the saved tensor number `index` has been written to, or detached in place, since it was saved."""
    assert node.saved is not None
    item = node.saved[index]
    if item is None or type(item) is PackedTensor:
        return
    # NB: as in torch, a Function does not notice this
    detached = type(item) is not SavedTensor and history_of(item) is NO_EDGE and node.saved_a_result(index)
    if detached and node.kind != "function":
        raise DetachedInPlaceError(DETACHED_MESSAGE, ("saved", node.call_site))
    if version_number(item) != saved_version(node, index):
        raise _modified_error(node, index)


def saved_version(node: Node, index: int) -> int:
    """The version that the saved tensor number `index` had when it was saved."""
    versions = getattr(node, "versions", None)
    return versions[index] if versions is not None else 0


def _modified_error(node: Node, index: int) -> ModifiedInPlaceError:
    """The error for a saved tensor that was written to: torch's message, and the lines that saved and modified it."""
    assert node.saved is not None
    item = node.saved[index]
    computed_by, output_nr = item.edge(node) if type(item) is SavedTensor else history_of(item)
    if computed_by is None and node.saved_a_result(index):  # detached since: torch names the node that saved it
        computed_by = node
    hint = EXPLAINED_HINT if any([watcher.explains for watcher in watch.watchers]) else MODIFIED_HINT
    of = "" if computed_by is None else f", which is output {output_nr} of {short_name(computed_by)},"
    return ModifiedInPlaceError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{type_name(item.array.dtype)} {list(item.array.shape)}]{of} is at version {version_number(item)}; "
        f"expected version {saved_version(node, index)} instead. {hint}",
        ("saved", node.call_site),
        ("modified", item.version.written),
    )


def short_name(node: Node) -> str:
    """The node's name as in torch's messages: `Add` for AddBackward0, `Sum1` for SumBackward1."""
    name, _, number = node.name().rpartition("Backward")
    if not name or (number and not number.isdigit()):
        return node.name()
    return name + (number if number != "0" else "")


def type_name(dtype: DType) -> str:
    """The type name in torch's messages for tensors of this dtype: `microtape.FloatTensor` for float32."""
    name = scalar_name(dtype)
    return f"CPU{name}Type" if dtype.kind in "bc" else f"microtape.{name}Tensor"
