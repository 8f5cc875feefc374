"""Checks on what is assigned to a tensor's `.grad`, and the dtype in which a leaf accumulates gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.basics.dtypes import DType, cpp_name, is_differentiable, scalar_name
from microtape.tape.node import OWN_DTYPE
from microtape.tape.tensor_state import TensorState, ensure_meta, is_leaf, requires_grad


def check_grad(tensor: TensorState, grad: Any) -> None:
    """Raise TypeError if `grad` is not a Tensor, RuntimeError if its shape or dtype does not suit `tensor`."""
    if not isinstance(grad, TensorState):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(grad).__name__}")
    if grad is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    if grad.array.shape != tensor.array.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(grad.array.shape)}' to a tensor of size "
            f"'{list(tensor.array.shape)}'. Please ensure that the gradient and the tensor are the same size"
        )
    expected = grad_dtype_of(tensor)
    if expected is not None and grad.array.dtype != expected:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{cpp_name(grad.array.dtype)}' to a tensor with grad_dtype "
            f"'{scalar_name(expected)}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's "
            "dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. "
            "Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break downstream "
            "systems that assume they match."
        )


def grad_dtype_of(tensor: TensorState) -> DType | None:
    """The dtype in which a leaf accumulates gradients: its own unless another was set; None for any dtype."""
    chosen = tensor.meta.grad_dtype if tensor.meta is not None else OWN_DTYPE
    return tensor.array.dtype if chosen is OWN_DTYPE else chosen


def set_grad_dtype(tensor: TensorState, dtype: Any) -> None:
    """Set the dtype in which a leaf accumulates gradients; None lets them keep the dtype in which they arrive.

    Raises RuntimeError on a non-leaf tensor, for a `dtype` that is not a floating or complex dtype, and if the leaf
    already has a gradient of another dtype.
    """
    if not is_leaf(tensor):
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    if dtype is not None and not isinstance(dtype, np.dtype):
        raise RuntimeError(f"grad_dtype must be a microtape.dtype or None, but got {type(dtype).__name__}")
    if dtype is not None and requires_grad(tensor) and not is_differentiable(dtype):
        raise RuntimeError(f"gradients cannot be of dtype {dtype.name}: grad_dtype must be floating point or complex")
    meta = ensure_meta(tensor)
    if dtype is not None and meta.grad is not None and meta.grad.array.dtype != dtype:
        raise RuntimeError(
            f"Cannot set grad_dtype to '{scalar_name(dtype)}' because there is already a gradient with dtype "
            f"'{cpp_name(meta.grad.array.dtype)}'. Please clear the gradient (.grad = None) before changing "
            "grad_dtype, or ensure the new grad_dtype matches the existing gradient's dtype."
        )
    meta.grad_dtype = dtype
    accumulator = meta.accumulator() if meta.accumulator is not None else None
    if accumulator is not None:
        accumulator.dtype = dtype
