"""In-place operations: writing into tensors that are part of a graph.

Note [In-place operations]
  `y.mul_(w)` computes `y · w` into y's memory, adds one to y's version counter, and makes the new node the grad_fn of
  y: from now on, `y` is the result. If a node saved the old y, the version counter shows that its value is lost.

Note [CopySlices]
  If y is a view, the write changes its *base*: the elements that the view shows are replaced, all others stay. The
  base's new grad_fn is a CopySlices node. It takes the view's part out of the incoming gradient, passes that part
  through the operation's own node, and puts the result back in its place.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from microtape.basics.dtypes import scalar_name
from microtape.errors import FreedGraphError, InferenceTensorError, InPlaceError
from microtape.tape.grad_mode import mode
from microtape.tape.node import Edge, Node, next_sequence_nr, receiver_mask
from microtape.tape.operands import as_tensor
from microtape.tape.operation import Operation, attach, compute, misfit, refusal, save, tracked
from microtape.tape.packed_tensor import PackedTensor
from microtape.tape.saved import FREED_MESSAGE, SavedTensor, saved_version
from microtape.tape.tensor_state import (
    INFERENCE,
    Array,
    TensorState,
    edge_of,
    ensure_version,
    history_of,
    is_leaf,
    new_tensor,
    requires_grad,
    version_number,
)
from microtape.tape.views import View, ViewOperation, leave_hooks, move_retained, replay
from microtape.tape.watch import watch

Sharing: TypeAlias = Literal["none", "same", "any", "repeated"]
"""Which operands may share memory with the tensor that is written to: none of them, those with the same elements in the
same order, or any. With `repeated`, several elements of the written tensor may even be one memory location."""

OVERLAP = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation."
)


class CopySlices(Node):
    """The grad_fn of a base that was written to through one of its views; see Note [CopySlices]."""

    __slots__ = ("function", "layout", "view")
    kind = "copy_slices"
    formula = "z = x, with the view replaced by f(view)    ∂x = g, with the view's part sent through f"
    function: Node | None  # None once freed
    layout: tuple[int, ...]
    view: tuple[ViewOperation, ...]

    def __init__(self, view: View, function: Node) -> None:
        super().__init__()
        self.function = function
        self.view = view.steps
        self.layout = _layout_of(view.base.array)
        if function.kind == "function":
            self.ensure_hooks()  # so that the engine knows that it runs user code

    def name(self) -> str:
        """The node's name as torch shows it."""
        return "torch::autograd::CopySlices"

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """See Node.apply."""
        if self.function is None:
            raise FreedGraphError(FREED_MESSAGE, ("recorded", self.call_site))
        result = _empty_with_layout(self.layout, self.shape, self.dtype)
        if create_graph:
            result = new_tensor(type(gradient), result).copy_(gradient)
            window: Any = replay(self.view, result)
            first, *rest = _apply_to_window(self.function, window.clone())
            window.copy_(window * 0 if first is None else first)
        else:
            result[...] = gradient
            window = replay(self.view, result)
            first, *rest = _apply_to_window(self.function, window.copy())
            try:
                window[...] = 0 if first is None else first
            except ValueError as error:  # a Function's gradient of another shape
                raise refusal(error, window, first) from None
        return [result, *rest]

    def release(self) -> bool:
        """Free the operation's node, and its saved tensors with it. Returns whether there was a node."""
        freed, self.function = self.function is not None, None
        return freed


def _apply_to_window(function: Node, window: Any) -> Sequence[Any]:
    """Run `function`, the node that wrote into the view, on the view's part of the gradient."""
    create_graph = isinstance(window, TensorState)
    if function.kind != "function":
        return function.apply(window, create_graph)
    window = window.conj()  # the engine conjugated it for a built-in formula, but this is a user's backward
    gradients = function.apply([window], create_graph)
    return [None if gradient is None else gradient.conj() for gradient in gradients]


def _layout_of(array: Array) -> tuple[int, ...]:
    """The array's dimensions, from the one with the longest stride to the one with the shortest."""
    return tuple(sorted(range(array.ndim), key=lambda dim: -abs(array.strides[dim])))


def _empty_with_layout(layout: tuple[int, ...], shape: tuple[int, ...], dtype: Any) -> Array:
    """An uninitialised dense array with this layout, so that view operations on the base are views of it, too."""
    order = [layout.index(dim) for dim in range(len(layout))]
    return np.empty([shape[dim] for dim in layout], dtype).transpose(order)


def copy_in_layout(array: Array, like: Array) -> Array:
    """A copy of `array` with the layout of `like`, an array of the same shape; row-major if that has gaps in memory."""
    if not _is_dense(like):
        return array.copy()
    result = _empty_with_layout(_layout_of(like), array.shape, array.dtype)
    result[...] = array
    return result


def call_(node: Operation, x: TensorState, *operands: Any, sharing: Sharing = "same") -> Any:
    """Run `node.forward` on x and the operands, write the result into x's memory, and make `node` the grad_fn of x.

    Raises InPlaceError if autograd cannot record the write, RuntimeError if the result has another shape or a dtype
    that cannot be cast to x's, or if operands overlap in a way that `sharing` forbids. Returns x.
    """
    frame = sys._getframe(2)
    tensors = [x, *[one if isinstance(one, TensorState) else as_tensor(one, type(x)) for one in operands]]
    is_recorded = mode.enabled and x.array.dtype.kind in "fc" and any([requires_grad(tensor) for tensor in tensors])
    if is_recorded:
        check_in_place(x)
    edges = tracked(tensors) if is_recorded else ()
    _check_overlap(x, tensors[1:], sharing)
    value = compute(node, tensors)
    _check_result(x, value)
    if not edges:
        _write_unrecorded(node, tensors, value)
        return x
    node.next_edges = edges
    attach(node, x.array, frame)
    plan = node.save_plans[receiver_mask(node.next_nodes)] if node.saved_names else ()
    before, watcher = x, watch.watcher
    if 0 in plan or watcher is not None:  # a copy of the old x, with its old history
        before = new_tensor(type(x), x.array.copy(), edges[0])
    if plan:
        save(node, plan, [before, *tensors[1:]], x)
        if watcher is not None:
            watcher.operands_saved(node, x)
    write(x, value)
    if -1 in plan:  # the saved result has the new version of x, the saved operands have their old ones
        node.versions = tuple(
            [version_number(x) if source == -1 else saved_version(node, i) for i, source in enumerate(plan)]
        )
    target, vertex = rebase_history(x, (node, 0))
    if watcher is not None:
        watcher.operation(vertex, (before, *tensors[1:]), (target,), True)
    if target is not x:
        computed_by = renew_history(x)
        for item in node.saved or ():  # the view; weak, because its new grad_fn leads to `node`
            if isinstance(item, (SavedTensor, PackedTensor)) and item.is_output:
                item.computed_by = weakref.ref(computed_by)
    return x


def _write_unrecorded(node: Operation, tensors: Sequence[TensorState], value: Any) -> None:
    """Write into the first tensor without history. The observer gets a copy of the old values."""
    x, watcher = tensors[0], watch.watcher
    if watcher is None:
        write(x, value)
        return
    before = new_tensor(type(x), x.array.copy())
    write(x, value)
    Node.__init__(node)
    node.shape, node.dtype = x.array.shape, x.array.dtype
    watcher.unrecorded(node, (before, *tensors[1:]), (x,), True)


def renew_history(x: TensorState) -> Node:
    """Record the new history of a written view now, so that its node, returned, follows the base's on the tape."""
    assert x.meta is not None
    assert x.meta.view is not None
    x.meta.view.seen = -1
    node, _ = x.meta.view.history(x)
    assert node is not None
    return node


def check_in_place(x: TensorState) -> None:
    """Raise InPlaceError if a recorded write into x would make gradients wrong or ambiguous."""
    view = x.meta.view if x.meta is not None else None
    if view is not None:
        view.check("is being")
        if requires_grad(x) and is_leaf(view.base):
            raise InPlaceError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    if requires_grad(x) and is_leaf(x):
        raise InPlaceError("a leaf Variable that requires grad is being used in an in-place operation.")


def _check_result(x: TensorState, value: Any) -> None:
    """Raise RuntimeError if a result of this shape and dtype cannot be written into x's memory."""
    if value.shape != x.array.shape:
        raise misfit(x.array.shape, value.shape)
    if value.dtype is not x.array.dtype and not np.can_cast(value.dtype, x.array.dtype, "same_kind"):
        raise RuntimeError(
            f"result type {scalar_name(value.dtype)} can't be cast to the desired output type "
            f"{scalar_name(x.array.dtype)}"
        )


def _check_overlap(x: TensorState, others: Sequence[TensorState], sharing: Sharing) -> None:
    """Raise RuntimeError if a memory location would be written to more than once, or both read and written."""
    ours = x.array
    if sharing == "repeated":
        return
    if (
        ours.size
        and not ours.flags.c_contiguous
        and any([size > 1 and stride == 0 for size, stride in zip(ours.shape, ours.strides, strict=True)])
    ):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )
    for other in others if sharing != "any" else ():
        if other is x:
            overlap = sharing == "none"
        elif other.version is None or other.version is not x.version or not np.may_share_memory(ours, other.array):
            overlap = False
        else:
            overlap = (
                _is_dense(ours)
                and _is_dense(other.array)
                and (sharing == "none" or places(ours) != places(other.array))
            )
        if overlap:
            raise RuntimeError(OVERLAP)


def places(array: Array) -> tuple[Any, ...]:
    """A value that is equal for arrays with the same elements in memory in the same order."""
    strides = [stride for size, stride in zip(array.shape, array.strides, strict=True) if size > 1]
    return (array.ctypes.data, array.size, array.ndim, *strides)


def _is_dense(array: Array) -> bool:
    """Whether the array's elements fill a block of memory without gaps, in any order."""
    return array.transpose(_layout_of(array)).flags.c_contiguous


def write(x: TensorState, value: Any) -> None:
    """Write `value` into x's memory and count the write. Raises as Note [Inference tensors] says."""
    if x.version is INFERENCE and not mode.inference:
        raise InferenceTensorError(
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a "
            "normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
        )
    if (watcher := watch.watcher) is not None:
        watcher.writing(x)
    x.array[...] = value
    ensure_version(x).bump()


def rebase_history(x: TensorState, edge: Edge) -> tuple[TensorState, Node]:
    """Make `edge` the history of x or, if x is a view, the part of a CopySlices that becomes its base's grad_fn.

    Returns x or the base, and its new grad_fn. The caller has to renew the history of a view afterwards.
    """
    view = x.meta.view if x.meta is not None else None
    node, target = edge[0], x
    assert node is not None
    if view is not None:
        target, node = view.base, _make_copy_slices(view, node)
        edge = (node, 0)
    else:
        leave_hooks(x)
    move_retained(target, history_of(target), edge)
    target.edge = edge
    return target, node


def _make_copy_slices(view: View, function: Node) -> CopySlices:
    """The new grad_fn of the view's base, after `function` has written into the view."""
    view.check_base()
    node = CopySlices(view, function)
    node.next_edges = edge_of(view.base), *function.next_edges[1:]
    node.sequence_nr = next_sequence_nr()
    node.shape, node.dtype = view.base.array.shape, view.base.array.dtype
    node.code = function.code
    if function.code is not None:
        node.instruction = function.instruction
    return node
