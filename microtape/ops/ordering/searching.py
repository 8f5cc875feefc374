"""Histograms with edges, places in sorted sequences, runs of equal elements, common divisors: never differentiable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.ops.elementwise.comparison import nonzero, undifferentiable
from microtape.ops.shared.arguments import dim_index, plain
from microtape.ops.shared.kinds import refusal_of
from microtape.ops.shared.undefined import call_undefined
from microtape.tape.multi_output import return_type
from microtape.tape.operands import as_operand
from microtape.tape.tensor_state import Array, TensorState

__all__ = ["argwhere", "gcd", "histogram", "lcm", "searchsorted", "unique_consecutive"]

_histogram = return_type("histogram", "hist", "bin_edges")


def histogram(
    input: TensorState,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: TensorState | None = None,
    density: bool = False,
) -> Any:
    """How many elements lie between neighbouring edges, and the edges, as (hist, bin_edges).

    `bins` is the number of equal bins in `range`, by default from the smallest to the largest element, or the edges
    themselves, ascending. With `weight`, of the shape of `input`, its numbers are added; with `density` the counts are
    scaled to an integral of 1. Raises NotImplementedError for integers, RuntimeError for wrong arguments.
    """
    if not isinstance(bins, int | TensorState):
        raise TypeError(f"histogram(): argument 'bins' (position 2) must be int or Tensor, not {type(bins).__name__}")
    measured = isinstance(bins, int) and range is None
    if input.array.dtype.kind != "f" or (measured and input.array.dtype == np.float16):
        raise refusal_of(input.array.dtype, "histogramdd" if measured else "histogram_cpu")
    if isinstance(bins, int) and bins <= 0:
        raise RuntimeError(f"microtape.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if weight is not None and weight.array.shape != input.array.shape:
        raise RuntimeError(
            "microtape.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
            f"excluding its innermost dimension, but got input with shape [{input.array.size}, 1] and weight with "
            f"shape [{weight.array.size}]"
        )
    x = input.array
    edges = _edges(x, bins, range) if isinstance(bins, int) else plain(bins)
    values = np.histogram(x, edges, None, False, None if weight is None else weight.array)[0].astype(x.dtype)
    if density:
        values = values / (values.sum() * np.diff(edges))
    found = [call_undefined("histogram", lambda _, made=made: made.copy(), input) for made in (values, edges)]
    return _histogram(*found)


def _edges(x: Array, bins: int, range: Sequence[float] | None) -> Array:
    """The edges of `bins` equal bins in the range, by default that of the elements, widened if it is one number."""
    low, high = range if range is not None else (x.min(), x.max()) if x.size else (0.0, 0.0)
    if low == high:
        low, high = (low - 1, high + 1) if x.size else (0.0, 1.0)
    return np.linspace(low, high, bins + 1, dtype=x.dtype)


def searchsorted(
    sorted_sequence: TensorState,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: TensorState | None = None,
) -> Any:
    """Where each element of `input` would be inserted into a sorted sequence (…, n) to keep it sorted.

    It goes before equal elements, or with `right` (or `side="right"`) behind them. The sequence is a vector, or has
    one row for each row of `input`. Raises RuntimeError if the sizes do not fit.
    """
    if side is not None and side not in ("left", "right"):
        raise RuntimeError(f"microtape.searchsorted(): side can only be 'left' or 'right' but got {side}")
    x = as_operand(input, sorted_sequence)
    if x.array.dtype.kind in "bc":
        raise refusal_of(x.array.dtype, "searchsorted_out_cpu")
    where: Any = "right" if right or side == "right" else "left"

    def find(rows: Array, values: Array) -> Any:
        order = None if sorter is None else sorter.array
        rows = rows if order is None else np.take_along_axis(rows, order, -1)
        if rows.ndim == 1:
            found = np.searchsorted(rows, values, where)
        else:
            if rows.shape[:-1] != values.shape[:-1]:
                raise RuntimeError(
                    "microtape.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
                    "boundaries tensor and input value tensor must match, but we got boundaries tensor "
                    f"{list(rows.shape)} and input value tensor {list(values.shape)}"
                )
            found = np.empty(values.shape, np.int64)
            for place in np.ndindex(rows.shape[:-1]):
                found[place] = np.searchsorted(rows[place], values[place], where)
        return np.asarray(found, np.int32 if out_int32 else np.int64)

    return undifferentiable(find, sorted_sequence, x, op="searchsorted")


def unique_consecutive(
    input: TensorState, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements, or the slices along `dim`, without those that equal the one before.

    With `return_inverse` also the run that each belongs to, with `return_counts` the lengths of the runs.
    """
    x = input.array
    rows = x.reshape(-1, 1) if dim is None else np.moveaxis(x, dim_index(dim, x.ndim), 0).reshape(x.shape[dim], -1)
    begins = np.ones(len(rows), bool)
    begins[1:] = (rows[1:] != rows[:-1]).any(1)
    starts = np.flatnonzero(begins)
    values = x.reshape(-1)[starts] if dim is None else x.take(starts, dim)
    runs = np.cumsum(begins) - 1
    found = [values]
    found += [runs.reshape(x.shape) if dim is None else runs] if return_inverse else []
    found += [np.diff(np.append(starts, len(rows)))] if return_counts else []
    made = [undifferentiable(lambda _, one=one: one.copy(), input, op="unique_consecutive") for one in found]
    return made[0] if len(made) == 1 else tuple(made)


def argwhere(input: TensorState) -> Any:
    """The indices of the nonzero elements, a row for each."""
    return nonzero(input)


def _of_integers(name: str, function: Any) -> Any:
    """A function of two integer tensors."""

    def operate(input: TensorState, other: TensorState) -> Any:
        for one in (input, other):
            if one.array.dtype.kind not in "iu":
                raise refusal_of(one.array.dtype, f"{name}_cpu")
        return undifferentiable(function, input, other, op=name)

    return operate


gcd, lcm = _of_integers("gcd", np.gcd), _of_integers("lcm", np.lcm)
gcd.__name__ = gcd.__qualname__ = "gcd"
gcd.__doc__ = "The greatest common divisor of integers, elementwise."
lcm.__name__ = lcm.__qualname__ = "lcm"
lcm.__doc__ = "The least common multiple of integers, elementwise."
