"""Tensors kept by a node's forward for its backward, and the check that nobody wrote to them in between.

Note [Saved tensors]
  An input is saved as the very Tensor object: it was there before the node, so no cycle can arise. An output must not
  be, because it refers to the node that would refer to it; its array and version counter are saved instead, in a
  `SavedTensor`, and the Tensor is made again when it is needed. Where hooks are in force, both become a `PackedTensor`.
"""

from __future__ import annotations

import weakref
from typing import Any

from microtape.basics.dtypes import scalar_name
from microtape.errors import DetachedInPlaceError, FreedGraphError, InferenceTensorError, ModifiedInPlaceError
from microtape.tape.node import NO_EDGE, AccumulateGrad, Edge, Node
from microtape.tape.packed_tensor import PackedTensor
from microtape.tape.tensor_state import (
    INFERENCE,
    Array,
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
    """An output of a node, as that node keeps it: the array and its version counter."""

    __slots__ = ("array", "computed_by", "like", "output_nr", "version")
    is_output = True

    def __init__(self, tensor: TensorState, output_nr: int = 0) -> None:
        self.array = tensor.array
        self.like = type(tensor)
        if tensor.version is None:
            tensor.version = Version()
        self.version: Version | None = tensor.version
        self.output_nr = output_nr
        self.computed_by: weakref.ref[Node] | None = None  # its grad_fn, where that is not the node that keeps it

    def edge(self, node: Node) -> Edge:
        """The output's history; `node` keeps it."""
        other = self.computed_by() if self.computed_by is not None else None
        return (node, self.output_nr) if other is None else (other, 0)

    def tensor(self, node: Node) -> TensorState:
        """The output again: the same memory and version counter, and its history."""
        tensor = new_tensor(self.like, self.array, self.edge(node))
        tensor.version = self.version
        return tensor


def keep_versions(node: Node) -> None:
    """Remember the versions of what `node` saved. Where it does not, all were at 0.

    Raises RuntimeError for inference tensors.
    """
    if any(item is not None and item.version is INFERENCE for item in node.saved or ()):
        raise InferenceTensorError(INFERENCE_MESSAGE, ("needed for", node.call_site))
    node.versions = tuple([0 if item is None else version_number(item) for item in node.saved or ()])


def unpack(node: Node, as_tensors: bool) -> list[Any]:
    """What `node` saved, as arrays or as Tensors with their history; None where nothing was needed.

    Raises FreedGraphError if it was freed, ModifiedInPlaceError if something has been written to since.
    """
    saved = node.saved
    if saved is None:
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
            check_unchanged(node, i)
            if type(saved[i]) is PackedTensor:
                values[i] = as_number(saved[i].unpack().array)
    return values


def unpack_tensor(node: Node, index: int) -> Any:
    """One of the tensors that `node` saved, with its history; None where it was not needed. Raises as `unpack` does."""
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
    if watch.watcher is not None:
        watch.watcher.unpacked(node, item, tensor)
    return tensor


def check_unchanged(node: Node, index: int) -> None:
    """Raise if something that `node` saved has been written to since, or has been detached in place."""
    assert node.saved is not None
    item = node.saved[index]
    if item is None or type(item) is PackedTensor:
        return
    if type(item) is not SavedTensor and history_of(item) is NO_EDGE and _was_result(node, index):
        raise DetachedInPlaceError(DETACHED_MESSAGE, ("saved", node.call_site))
    if version_number(item) != saved_version(node, index):
        raise _modified_error(node, index)


def _was_result(node: Node, index: int) -> bool:
    """Whether the operand saved as `index` had a grad_fn at that time. NB: torch does not look at a Function's."""
    source = node.sources[index]
    return node.kind != "function" and source >= 0 and not isinstance(node.next_nodes[source], AccumulateGrad | None)


def saved_version(node: Node, index: int) -> int:
    """The version at which the saved tensor `index` was saved."""
    versions = getattr(node, "versions", None)
    return versions[index] if versions is not None else 0


def _modified_error(node: Node, index: int) -> ModifiedInPlaceError:
    """torch's message for a saved tensor that was written to, and the two lines that matter."""
    assert node.saved is not None
    item = node.saved[index]
    computed_by, output_nr = item.edge(node) if type(item) is SavedTensor else history_of(item)
    hint = EXPLAINED_HINT if any([watcher.explains for watcher in watch.watchers]) else MODIFIED_HINT
    of = "" if computed_by is None else f", which is output {output_nr} of {short_name(computed_by)},"
    return ModifiedInPlaceError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{type_name(item.array)} {list(item.array.shape)}]{of} is at version {version_number(item)}; "
        f"expected version {saved_version(node, index)} instead. {hint}",
        ("saved", node.call_site),
        ("modified", item.version.written),
    )


def short_name(node: Node) -> str:
    """The operation's name as messages have it: `Add` for AddBackward0, `Sum1` for SumBackward1."""
    name, _, number = node.name().rpartition("Backward")
    if not name or (number and not number.isdigit()):
        return node.name()
    return name + (number if number != "0" else "")


def type_name(array: Array) -> str:
    """torch's name for tensors of this dtype: `microtape.FloatTensor` for float32."""
    return f"microtape.{scalar_name(array.dtype)}Tensor"
