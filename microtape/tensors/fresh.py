"""The methods `x.new_zeros(size)`, `x.new_full(...)`, ...: new leaves with the dtype of an existing tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.basics.devices import check_device
from microtape.ops.shared.arguments import sizes
from microtape.tape.operands import number_as
from microtape.tape.tensor_state import TensorState
from microtape.tape.tensor_state import new_tensor as make
from microtape.tensors.from_data import as_numeric_array


def new_full(
    x: TensorState, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Any:
    """A leaf of the given size, filled with `fill_value`, in x's dtype unless another is given."""
    number = number_as(fill_value, dtype or x.array.dtype)
    return _make_leaf(x, np.full(sizes((size,)), number), device, requires_grad)


def new_zeros(
    x: TensorState,
    *shape: Any,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """A leaf of zeros of the given size, in x's dtype unless another is given."""
    return _make_leaf(
        x, np.zeros(sizes(shape if size is None else (size,)), dtype or x.array.dtype), device, requires_grad
    )


def new_ones(
    x: TensorState,
    *shape: Any,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """A leaf of ones of the given size, in x's dtype unless another is given."""
    return _make_leaf(
        x, np.ones(sizes(shape if size is None else (size,)), dtype or x.array.dtype), device, requires_grad
    )


def new_tensor(x: TensorState, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    """A leaf with a copy of `data`, in x's dtype unless another is given."""
    return _make_leaf(x, np.array(as_numeric_array(data, dtype or x.array.dtype)), device, requires_grad)


def _make_leaf(x: Any, array: Any, device: Any, requires_grad: bool) -> Any:
    """A leaf of x's class around `array`. Raises RuntimeError for another device, or an integer that requires grad."""
    check_device(device)
    if requires_grad and array.dtype.kind not in "fc":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    leaf: Any = make(type(x), array)
    return leaf.requires_grad_(requires_grad)
