"""Evaluating an AccumulateGrad node: the gradient that has arrived is added to the leaf's `.grad`."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import numpy as np

from microtape.errors import GradientError, InPlaceError
from microtape.tape.in_place import copy_in_layout
from microtape.tape.node import AccumulateGrad
from microtape.tape.operation import misfit, refusal
from microtape.tape.tensor_state import TensorState, is_leaf, new_tensor, requires_grad
from microtape.tape.watch import call


def accumulate_grad(node: AccumulateGrad, gradient: Any, is_tensor: bool, *, owned: bool) -> None:
    """Add `gradient` (an array, or a Tensor if `is_tensor`) to the leaf's `.grad`, then run the leaf's hooks.

    An `owned` array, which only the engine holds, may become `.grad` itself; any other array is copied. `.grad` has the
    leaf's layout, so that `view` takes it in the same shapes. Raises InPlaceError if the leaf is no longer a leaf,
    GradientError if a hook returns a value.
    """
    leaf = node.variable
    if _takes_gradients(leaf) and gradient is not None:
        array, dims = leaf.array, gradient.ndim
        if dims != array.ndim or (dims > 1 and not is_tensor and gradient.strides != array.strides):
            gradient = fitted(leaf, gradient, is_tensor)
        elif not (owned or is_tensor):
            gradient = np.array(gradient)
        leaf.accumulate(gradient, is_tensor)
    if node.hooks is not None and node.hooks.post_accumulate:
        _run_post_accumulate_hooks(node, leaf)


def fitted(leaf: TensorState, gradient: Any, is_tensor: bool) -> Any:
    """A copy of the gradient with the layout of its leaf, and with its shape if `.data` has got another one since.

    Raises RuntimeError if the gradient cannot be broadcast to the shape of the leaf or of its `.grad`.
    """
    array, before = leaf.array, leaf.meta.grad if leaf.meta is not None else None
    if gradient.shape == array.shape:
        return copy_in_layout(gradient, array)
    shape = array.shape if before is None else before.array.shape
    if before is None and not is_tensor:
        pairs = zip_longest(gradient.shape, gradient.strides, array.strides[: gradient.ndim], fillvalue=None)
        if all([size == 1 or stride == of_leaf for size, stride, of_leaf in pairs]):
            return np.array(gradient)  # NB: as in torch, which compares only these strides
    try:
        broadcast = np.broadcast_shapes(shape, gradient.shape)
    except ValueError as error:
        raise refusal(error, np.empty(shape), gradient) from None
    if broadcast != shape:
        raise misfit(shape, broadcast)
    if is_tensor:
        return new_tensor(type(gradient), np.empty(shape, gradient.dtype)).copy_(gradient)
    return np.broadcast_to(gradient, shape).copy()


def _takes_gradients(leaf: TensorState) -> bool:
    """Whether a leaf still requires grad. Raises InPlaceError if it is no longer a leaf."""
    if leaf.edge is None and leaf.meta is not None and leaf.meta.view is None:
        return True  # the fast path
    if not is_leaf(leaf):
        raise InPlaceError("leaf variable has been moved into the graph interior")
    return requires_grad(leaf)


def _run_post_accumulate_hooks(node: AccumulateGrad, leaf: Any) -> None:
    """Run the hooks of `Tensor.register_post_accumulate_grad_hook` on the leaf, which has its new `.grad`."""
    assert node.hooks is not None
    for hook in list(node.hooks.post_accumulate.values()):
        returned = call("post-accumulate hook", node, hook, leaf)
        if returned is not None and returned is not leaf:
            raise GradientError("Tensor post accumulate grad hooks should return None.")
