"""Counting numbers, and finding them among others: results that are never differentiable."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.basics.dtypes import scalar_name
from microtape.ops.elementwise.comparison import undifferentiable
from microtape.ops.shared.arguments import dim_index
from microtape.ops.shared.kinds import refusal_of
from microtape.ops.shared.undefined import call_undefined
from microtape.tape.operands import as_operand
from microtape.tape.tensor_state import Array, TensorState

__all__ = ["bincount", "bucketize", "histc", "isin", "unique"]


def bincount(input: TensorState, weights: TensorState | None = None, minlength: int = 0) -> Any:
    """How often each number from 0 to the largest occurs in a vector (n,), or the sum of its `weights` (n,).

    Raises RuntimeError for negative numbers, other shapes, and dtypes other than integers.
    """
    if input.array.dtype.kind not in "iu":
        raise refusal_of(input.array.dtype, "bincount_cpu")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if input.array.ndim != 1 or (input.array.size and input.array.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return undifferentiable(lambda x: np.bincount(x, None, minlength), input, op="bincount")
    if weights.array.shape != input.array.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")

    def weighed(w: Array) -> Any:
        sums = np.bincount(input.array, w.real.astype(np.float64), minlength)
        return sums.astype(np.float32) if w.dtype == np.float32 else sums

    return call_undefined("bincount", weighed, weights)


def histc(input: TensorState, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """How many elements lie in each of `bins` equal ranges between `min` and `max`; others do not count.

    If both bounds are equal, the smallest and the largest element replace them. The counts have the dtype of `input`.
    """
    kind = input.array.dtype.kind
    if kind != "f":
        kernel = "linspace_cpu" if kind == "b" else "aminmax_cpu" if kind == "c" and min == max else "histogram_cpu"
        raise refusal_of(input.array.dtype, kernel)
    if bins <= 0:
        raise RuntimeError(f"microtape.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if max < min:
        raise RuntimeError("microtape.histc: max must be larger than min")

    def counts(x: Array) -> Any:
        low, high = (x.min(), x.max()) if min == max and x.size else (min, max)
        if not np.isfinite([low, high]).all():
            raise RuntimeError(f"microtape.histc: range of [{low:g}, {high:g}] is not finite")
        if low == high:
            low, high = low - 1, high + 1
        return np.histogram(x, bins, (low, high))[0].astype(x.dtype)

    return undifferentiable(counts, input, op="histc")


def unique(
    input: TensorState,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements in order, or the distinct slices along `dim`.

    With `return_inverse` also the index of each element among them, with `return_counts` how often each occurs.
    """
    if input.array.dtype.kind == "c":
        raise refusal_of(input.array.dtype, "unique")
    axis = None if dim is None else dim_index(dim, input.array.ndim)
    values, inverse, counts = np.unique(input.array, return_inverse=True, return_counts=True, axis=axis)
    found = [values] + [inverse] * return_inverse + [counts] * return_counts
    tensors = [undifferentiable(lambda _, made=array: made, input, op="unique") for array in found]
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    """Whether each of `elements` is among `test_elements`; one of both may be a number."""
    like = elements if isinstance(elements, TensorState) else test_elements
    if not isinstance(like, TensorState):
        raise TypeError("isin(): one of elements and test_elements must be a Tensor")
    these, those = as_operand(elements, like), as_operand(test_elements, like)
    for one in (these, those):
        if one.array.dtype.kind in "bc":
            raise RuntimeError(f"Unsupported input type encountered for isin(): {scalar_name(one.array.dtype)}")
    return undifferentiable(
        lambda x, y: np.isin(x, y, assume_unique=assume_unique, invert=invert), these, those, op="isin"
    )


def bucketize(input: Any, boundaries: TensorState, *, right: bool = False) -> Any:
    """The index, from 0 to n, of the range between the ascending `boundaries` (n,) that each element falls into.

    An element that is equal to a boundary belongs below it, or with `right` above it.
    """
    if boundaries.array.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.array.ndim})")
    x = as_operand(input, boundaries)
    side: Any = "right" if right else "left"
    if x.array.dtype.kind in "bc":
        raise refusal_of(x.array.dtype, "searchsorted_out_cpu")
    return undifferentiable(lambda x, b: np.searchsorted(b, x, side), x, boundaries, op="bucketize")
