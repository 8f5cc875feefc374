"""Writing into tensors that are part of a graph.

Note [In-place operations]
  `y.mul_(w)` computes `y · w` into y's memory, counts one write on its version counter, and makes the new node y's
  history: the name `y` now means the result. Nodes that saved the old y find out by the version number.

Note [CopySlices]
  Where y is a view, it is the *base* that changed: everything outside the view stays, what the view sees is replaced.
  The base's new grad_fn is a CopySlices, which cuts the view's part out of the gradient, sends it through the
  operation's own node, and puts the result back.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.errors import InPlaceError
from microtape.grad_mode import mode
from microtape.node import NO_EDGE, AccumulateGrad, Node, next_sequence_nr
from microtape.operation import Operation, as_tensor, attach, save
from microtape.tensor_state import (
    TensorState,
    edge_of,
    ensure_version,
    is_leaf,
    new_tensor,
    requires_grad,
)
from microtape.views import View
from microtape.watch import watch


class CopySlices(Node):
    """The history of a base that was written to through one of its views; see Note [CopySlices]."""

    __slots__ = ("function", "view")
    kind = "copy_slices"
    formula = "z = x, with the view replaced by f(view)    ∂x = g, with the view's part sent through f"
    view: View
    function: Node

    def __init__(self, view: View, function: Node) -> None:
        super().__init__()
        self.view = view
        self.function = function

    def name(self) -> str:
        """The node's name as torch shows it."""
        return "torch::autograd::CopySlices"

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """See Node.apply."""
        if create_graph:
            return self._apply_tensors(gradient)
        result = np.array(gradient)
        window: Any = result
        for step in self.view.steps:
            window = step.forward(window)
        first, *rest = self.apply_function(window.copy(), False)
        window[...] = 0 if first is None else first
        return [result, *rest]

    def _apply_tensors(self, gradient: Any) -> Sequence[Any]:
        result = gradient.clone()
        window: Any = self.view.rebased(result)
        first, *rest = self.apply_function(window.clone(), True)
        if first is None:
            window.zero_()
        else:
            window.copy_(first)
        return [result, *rest]

    def apply_function(self, window: Any, create_graph: bool) -> Sequence[Any]:
        """The operation's own node on the view's part of the gradient."""
        return self.function.apply([window] if self.function.multi_output else window, create_graph)

    def release(self) -> bool:
        """Free what the operation saved."""
        return self.function.release()


def call_(node: Operation, x: TensorState, *operands: Any) -> Any:
    """Run `node.forward` on x and the operands, write the result into x's memory and record it as x's new history."""
    frame = sys._getframe(2)
    tensors = [x, *[as_tensor(operand, type(x)) for operand in operands]]
    tracked = mode.enabled and any([requires_grad(tensor) for tensor in tensors])
    if tracked:
        check_in_place(x)
    value = node.forward(*node.arrays(tensors))
    check_result(x, value)
    if not tracked:
        write(x, value)
        return x
    before = before_write(x)
    edges = tuple([edge_of(tensor) for tensor in tensors])
    write(x, value)
    attach(node, edges, x.array, frame)
    if node.saved_names:
        save(node, node.plans[tuple([edge is not NO_EDGE for edge in edges])], [before, *tensors[1:]], x)
    target, vertex = rebase_history(x, node)
    if watch.watcher is not None:
        watch.watcher.operation(vertex, (before, *tensors[1:]), (target,), True)
    return x


def before_write(x: TensorState) -> TensorState:
    """A copy of x with its history, for a formula that needs the value from before the write."""
    copy = new_tensor(type(x), x.array.copy())
    copy.edge = edge_of(x)
    return copy


def check_in_place(x: TensorState) -> None:
    """Raise InPlaceError where a recorded write into x would make gradients wrong or ambiguous."""
    view = x.meta.view if x.meta is not None else None
    if view is not None:
        if requires_grad(view.base) and is_leaf(view.base):
            raise InPlaceError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
        if view.origin:
            view.forbid("is being modified")
    if requires_grad(x) and is_leaf(x):
        raise InPlaceError("a leaf Variable that requires grad is being used in an in-place operation.")


def check_result(x: TensorState, value: Any) -> None:
    """Raise RuntimeError where a result does not fit into x's memory."""
    if value.shape != x.array.shape:
        raise RuntimeError(
            f"output with shape {list(x.array.shape)} doesn't match the broadcast shape {list(value.shape)}"
        )
    if not np.can_cast(value.dtype, x.array.dtype, "same_kind"):
        raise RuntimeError(
            f"result type {value.dtype.name.capitalize()} can't be cast to the desired output type "
            f"{x.array.dtype.name.capitalize()}"
        )
    if not x.array.flags.writeable:
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )


def write(x: TensorState, value: Any) -> None:
    """Put `value` into x's memory and count the write."""
    x.array[...] = value
    ensure_version(x).bump()


def rebase_history(x: TensorState, node: Node) -> tuple[TensorState, Node]:
    """Make `node` x's history; see the notes above. Returns what has a new grad_fn now, x or its base, and that grad_fn."""
    view = x.meta.view if x.meta is not None else None
    target = x
    if view is not None:
        target = view.base
        copy_slices = CopySlices(view, node)
        copy_slices.next_edges = (edge_of(target), *node.next_edges[1:])
        copy_slices.sequence_nr = next_sequence_nr()
        copy_slices.shape, copy_slices.dtype = target.array.shape, target.array.dtype
        copy_slices.code = node.code
        if node.code is not None:
            copy_slices.instruction = node.instruction
        node = copy_slices
        view.edge = view.edge if view.edge is not None else NO_EDGE
    move_retained(target, node)
    target.edge = (node, 0)
    return target, node


def move_retained(x: TensorState, node: Node) -> None:
    """A tensor that retains its gradient goes on doing so at its new grad_fn; hooks stay where they were."""
    if x.meta is None or not x.meta.retains_grad:
        return
    old, output_nr = edge_of(x)
    if old is not None and old.hooks is not None and not isinstance(old, AccumulateGrad):
        reference = old.hooks.retain.pop(output_nr, None)
        if reference is not None:
            node.ensure_hooks().retain[0] = reference
