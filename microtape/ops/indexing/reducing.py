"""Many elements into one by an index tensor along one dimension: sums, products, means and extrema."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.basics.dtypes import scalar_name
from microtape.ops.elementwise.mask import masked_fill
from microtape.ops.elementwise.selection import where
from microtape.ops.indexing.along import AlongDim, checked
from microtape.ops.indexing.gathering import gather, scatter, scatter_add
from microtape.ops.shape.subviews import narrow
from microtape.ops.shared.arguments import plain
from microtape.tape.in_place import call_
from microtape.tape.operation import call
from microtape.tape.tensor_state import zeros_like

__all__ = ["scatter_reduce"]

_KERNELS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


class ScatterReduceBackward0(AlongDim):
    __slots__ = ("include_self", "reduction")
    operands = ("x", "y")
    op = "scatter_reduce"
    formula = (
        "z = the sum, product, mean or extremum of x and the y[i] of index[i]    "
        "∂y = s[index], s = g, of a product g · z / y, of a mean g / N, of an extremum g / ties where y = z"
    )

    def __init__(self, dim: int, index: Any, reduction: str, include_self: bool) -> None:
        super().__init__(dim, index)
        self.reduction, self.include_self = reduction, include_self

    def forward(self, x: Any, y: Any) -> Any:
        kind, key = self.reduction, self.pointwise
        if (kind == "mean" and x.dtype.kind == "b") or (kind in ("amax", "amin") and x.dtype.kind == "c"):
            name = scalar_name(x.dtype)
            raise NotImplementedError(f"\"scatter_gather_tensor_cpu_reduce_{kind}\" not implemented for '{name}'")

        def change(z: Any) -> None:
            if not self.include_self:
                z[key] = _neutral(kind, z.dtype)
            _KERNELS[kind].at(z, key, y)
            if kind == "mean":
                count = np.ones(z.shape, np.int64) * (1 if self.include_self else 0)
                np.add.at(count, key, 1)
                np.maximum(count, 1, out=count)
                z[...] = z / count if z.dtype.kind in "fc" else z // count

        return self.changed(x, change)

    def grad_x(self, g: Any, x: Any, y: Any, z: Any, index: Any) -> Any:
        if self.reduction == "prod":
            others = masked_fill(x, x == 0, 1)
            result = g * scatter_reduce(others, self.dim, index, y, "prod", include_self=self.include_self) / others
        elif self.reduction == "mean":
            result = g / self._count(x, index)
        elif self.reduction == "sum":
            result = g
        else:
            result = where(x == z, g / self._ties(x, y, z, index), 0.0)
        return result if self.include_self else scatter(result, self.dim, index, 0)

    def grad_y(self, g: Any, x: Any, y: Any, z: Any, index: Any) -> Any:
        def picked(values: Any) -> Any:
            return gather(values, self.dim, index)

        if self.reduction == "sum":
            return picked(g)
        if self.reduction == "mean":
            return picked(g / self._count(x, index))
        if self.reduction != "prod":
            return where(y == picked(z), picked(g / self._ties(x, y, z, index)), 0.0)
        zero = y == 0
        alone = zero & (picked(scatter_add(_zeros(x), self.dim, index, where(zero, _ones(y), 0.0))) == 1)
        without = masked_fill(y, alone, 1)
        product = scatter_reduce(x, self.dim, index, without, "prod", include_self=self.include_self)
        return where(alone, picked(g * product), picked(g * z) / masked_fill(y, zero, 1))

    def _count(self, x: Any, index: Any) -> Any:
        """How many numbers each mean is of."""
        first = _ones(x) if self.include_self else _zeros(x)
        count = scatter_add(first, self.dim, index, _ones(gather(x, self.dim, index)))
        return masked_fill(count, count == 0, 1)

    def _ties(self, x: Any, y: Any, z: Any, index: Any) -> Any:
        """How many numbers equal each extremum: they share its gradient."""
        own = where(x == z, _ones(x), 0.0)
        if not self.include_self:
            own = scatter(own, self.dim, index, 0)
        ties = scatter_add(own, self.dim, index, where(y == gather(z, self.dim, index), _ones(y), 0.0))
        return masked_fill(ties, ties == 0, 1)


def scatter_reduce(input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    """`input` with the elements of `src` reduced into it where `index` says along `dim`.

    `reduce` is "sum", "prod", "mean", "amax" or "amin". With `include_self=False`, the element of `input` does not take
    part where there are others. Raises RuntimeError for another reduction, and if index or src do not fit.
    """
    return _reduced(call, input, dim, index, src, reduce, include_self)


def scatter_reduce_(x: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    """`scatter_reduce`, in place."""
    return _reduced(call_, x, dim, index, src, reduce, include_self)


def _reduced(run: Any, x: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool) -> Any:
    """The common part of `scatter_reduce` and `scatter_reduce_`."""
    if reduce not in _KERNELS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    dim, index = checked("scatter_reduce", x, dim, index, src)
    for i, size in enumerate(plain(index).shape):
        src = src if src.shape[i] == size else narrow(src, i, 0, size)
    return run(ScatterReduceBackward0(dim, index, reduce, include_self), x, src)


def _neutral(kind: str, dtype: Any) -> Any:
    """The number that a reduction begins with."""
    if kind in ("sum", "mean"):
        return 0
    if kind == "prod":
        return 1
    if dtype.kind == "f":
        return -np.inf if kind == "amax" else np.inf
    if dtype.kind == "b":
        return kind == "amin"
    return np.iinfo(dtype).min if kind == "amax" else np.iinfo(dtype).max


def _zeros(x: Any) -> Any:
    return zeros_like(x, x.shape, x.dtype)


def _ones(x: Any) -> Any:
    return _zeros(x) + 1
