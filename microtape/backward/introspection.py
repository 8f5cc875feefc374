"""Running a single node, as `grad_fn(gradient)` does in torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.backward.accumulate import accumulate_grad
from microtape.tape.fitting import conjugate, fit_gradients
from microtape.tape.grad_mode import mode
from microtape.tape.node import AccumulateGrad, Node
from microtape.tape.operation import misfit, refusal
from microtape.tape.tangents import carries_tangents
from microtape.tape.tensor_state import TensorState, as_array, new_tensor


def run_node(node: Node, gradients: Sequence[TensorState | None]) -> Any:
    """Run `node` on these gradients of its outputs. Returns those of its inputs: a tuple, or the gradient if only one.

    Raises TypeError for the wrong number of arguments, for an argument that is neither a Tensor nor None, and for the
    node of a custom Function.
    """
    if node.kind == "function":
        raise TypeError(f"'{node.name()}' object is not callable")
    if len(gradients) != node.output_count:
        raise TypeError(f"expected {node.output_count} arguments, got {len(gradients)} instead")
    for i, gradient in enumerate(gradients):
        if gradient is not None and not isinstance(gradient, TensorState):
            raise TypeError(f"argument {i} is not a Variable")
    as_tensors = mode.enabled or carries_tangents()
    arriving = [one if one is None or as_tensors else one.array for one in gradients]
    first: Any = arriving if node.multi_output else arriving[0]
    if isinstance(node, AccumulateGrad):
        accumulate_grad(node, _broadcast_to_leaf(first, node), as_tensors, owned=False)
        return ()
    like = next((type(gradient) for gradient in gradients if gradient is not None), None)
    if like is None:
        return tuple([None] * len(node.next_nodes))
    leaving = conjugate(node.apply(conjugate(first), as_tensors))
    results = [
        term if term is None or isinstance(term, TensorState) else new_tensor(like, as_array(term))
        for term in fit_gradients(node, leaving)
    ]
    return results[0] if len(results) == 1 else tuple(results)


def _broadcast_to_leaf(gradient: Any, node: AccumulateGrad) -> Any:
    """`gradient`, broadcast to the leaf's shape as in torch. Raises RuntimeError if it does not broadcast to it."""
    if gradient is None or gradient.shape == node.shape:
        return gradient
    try:
        shape = np.broadcast_shapes(node.shape, gradient.shape)
    except ValueError as error:
        raise refusal(error, node.variable.array, as_array(gradient)) from None
    if shape != node.shape:
        raise misfit(node.shape, shape)
    if isinstance(gradient, TensorState):
        return gradient.expand(shape)  # type: ignore[attr-defined]
    return np.broadcast_to(gradient, shape)
