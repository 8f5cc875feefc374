"""Quantiles, the most frequent element, and medians and sorts in other forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.ops.elementwise.combination import lerp
from microtape.ops.indexing.gathering import gather
from microtape.ops.ordering.extremum import Choice, sort
from microtape.ops.reduction.sums_and_extrema import MaxBackward1, amax, amin, check_not_empty
from microtape.ops.shape.reshaping import reshape, squeeze, unsqueeze
from microtape.ops.shape.transposition import movedim
from microtape.ops.shared.arguments import dim_index
from microtape.ops.shared.kinds import refusal_of, refusing
from microtape.tape.multi_output import call_multi_output, return_type
from microtape.tape.operation import call
from microtape.tape.tensor_state import Array, TensorState, new_tensor

__all__ = ["aminmax", "mode", "msort", "nanmedian", "nanquantile", "quantile"]


@refusing(c="mode_cpu")
class ModeBackward0(Choice):
    """Of several elements that are equally frequent, the smallest; its last place."""

    __slots__ = ()
    formula = "z = the most frequent along a dimension    ∂x = g where it stood, 0 elsewhere"
    returns = return_type("mode", "values", "indices")

    def chosen(self, x: Array) -> Any:
        check_not_empty("mode", x, (self.dim,))
        return np.apply_along_axis(_most_frequent, self.dim, x)


def _most_frequent(row: Array) -> Any:
    """The last index of the most frequent element of a vector, as a vector of one."""
    values, counts = np.unique(row, return_counts=True)
    return np.flatnonzero(row == values[np.argmax(counts)])[-1:]


@refusing(bc="median_out")
class NanmedianBackward1(Choice):
    """The median of those that are numbers; NaN if there is none."""

    __slots__ = ()
    formula = "z = the middle one of the numbers along a dimension    ∂x = g where it stood, 0 elsewhere"
    returns = return_type("nanmedian", "values", "indices")

    def chosen(self, x: Array) -> Any:
        check_not_empty("median", x, (self.dim,))
        count = np.sum(~np.isnan(x), self.dim, keepdims=True)
        order = np.argsort(x, self.dim, kind="stable")
        return np.take_along_axis(order, np.maximum(count - 1, 0) // 2, self.dim)


@refusing(bc="median_cpu")
class NanmedianBackward0(MaxBackward1):
    """Over all elements."""

    __slots__ = ()
    formula = "z = the middle one of all numbers    ∂z/∂x = 1 where it stands, shared at ties"

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        numbers = np.sort(x[~np.isnan(x)], None)
        return np.asarray(numbers[(numbers.size - 1) // 2] if numbers.size else np.nan, x.dtype)


def mode(input: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along `dim`, the smallest of several, and its last index, as (values, indices)."""
    return call_multi_output(ModeBackward0(dim_index(dim, input.ndim), keepdim), input)


def nanmedian(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """`median` of the elements that are not NaN."""
    if dim is None:
        return call(NanmedianBackward0(None, False), input)
    return call_multi_output(NanmedianBackward1(dim_index(dim, input.ndim), keepdim), input)


_aminmax = return_type("aminmax", "min", "max")


def aminmax(input: Any, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """`amin` and `amax` as one tuple (min, max)."""
    if input.array.dtype.kind == "c":
        raise refusal_of(input.array.dtype, "aminmax_cpu")
    return _aminmax(*[function(input, () if dim is None else dim, keepdim) for function in (amin, amax)])


def msort(input: Any) -> Any:
    """The elements in order along the first dimension."""
    return sort(input, 0)[0]


def quantile(
    input: Any, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Any:
    """The value below which the share `q` of the elements lies: of all elements, or along `dim`.

    `q` is a number, or a tensor (n,), which gives a result with n as its first size. Between two elements the result is
    interpolated ("linear"), or one of them ("lower", "higher", "nearest") or their "midpoint". NaN gives NaN. Raises
    RuntimeError for other dtypes than float32 and float64, for a `q` outside [0, 1], and for an empty `input`.
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, False)


def nanquantile(
    input: Any, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Any:
    """`quantile` of the elements that are not NaN."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, True)


def _quantile(name: str, x: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str, skip_nan: bool) -> Any:
    """The common part of both."""
    _check_quantile(name, x, q, interpolation)
    one = not isinstance(q, TensorState) or not q.array.ndim
    shares = np.atleast_1d(q.array if isinstance(q, TensorState) else np.asarray(q, x.array.dtype))
    counted = dim_index(dim or 0, x.array.ndim)
    rows = reshape(x, (-1,)) if dim is None or not x.array.ndim else movedim(x, counted, -1)
    ordered = sort(rows, -1)[0]
    is_number = ~np.isnan(ordered.array)
    numbers, size = is_number.sum(-1, keepdims=True), ordered.array.shape[-1]
    ranks = shares * (numbers - 1 if skip_nan else np.where(numbers == size, size - 1, np.nan))
    ranks = np.where(np.isnan(ranks), size - 1, np.maximum(ranks, 0)).astype(x.array.dtype)
    below, above = np.floor(ranks), np.ceil(ranks)
    if interpolation in ("lower", "higher", "nearest"):
        below = {"lower": below, "higher": above, "nearest": np.rint(ranks)}[interpolation]
        found = gather(ordered, -1, new_tensor(type(x), below.astype(np.int64)))
    else:
        lower, upper = [gather(ordered, -1, new_tensor(type(x), one.astype(np.int64))) for one in (below, above)]
        weight = np.full_like(ranks, 0.5) if interpolation == "midpoint" else ranks - below
        found = lerp(lower, upper, new_tensor(type(x), weight))
    found = movedim(found, -1, 0)
    if keepdim:
        found = unsqueeze(found, counted + 1) if dim is not None else reshape(found, (-1, *[1] * x.array.ndim))
    return squeeze(found, 0) if one else found


def _check_quantile(name: str, x: Any, q: Any, interpolation: str) -> None:
    """Raise RuntimeError as `quantile` says."""
    if not x.array.size:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if x.array.dtype not in (np.float32, np.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if isinstance(q, TensorState):
        if q.array.ndim > 1:
            raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
        if q.array.dtype != x.array.dtype:
            raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    elif not 0 <= q <= 1:
        raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}")
    if isinstance(q, TensorState) and not np.all((q.array >= 0) & (q.array <= 1)):
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    if interpolation not in ("linear", "lower", "higher", "nearest", "midpoint"):
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
