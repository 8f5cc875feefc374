"""Cumulative sums and products, differences, and the product, whose derivative is made of cumulative products."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from microtape.ops.reduction.sums_and_extrema import Reduction
from microtape.ops.shape.casting import clone
from microtape.ops.shape.flipping import flip
from microtape.ops.shape.joining import cat, stack
from microtape.ops.shape.reshaping import reshape
from microtape.ops.shape.subviews import narrow, unbind
from microtape.ops.shared.arguments import dim_index, torch_style
from microtape.ops.shared.kinds import refusal_of
from microtape.tape.in_place import call_
from microtape.tape.operation import Operation, call
from microtape.tape.tensor_state import Array, TensorState, zeros_like

__all__ = ["cumprod", "cumsum", "diff", "prod"]

_FINER = {np.dtype(coarse): np.dtype(fine) for coarse, fine in (("f2", "f4"), ("f4", "f8"), ("c8", "c16"))}
"""The dtype in which cumulative sums and products are accumulated."""


class Scan(Operation):
    """Common: the dimension, and the dtype of the result."""

    __slots__ = ("dim", "to_dtype")
    row_major = True

    def __init__(self, dim: int, dtype: Any = None) -> None:
        super().__init__()
        self.dim, self.to_dtype = dim, dtype

    def run(self, ufunc: Any, x: Any) -> Any:
        """`ufunc` accumulated along the dimension; integers become int64."""
        dtype = np.dtype(self.to_dtype or (np.int64 if x.dtype.kind in "biu" else x.dtype))
        return accumulated(ufunc, x, self.dim, _FINER.get(dtype, dtype)).astype(dtype) if x.ndim else x.astype(dtype)

    def sums_from(self, x: Any) -> Any:
        """For each element the sum of it and all after it."""
        return flip(cumsum(flip(x, self.dim), self.dim), self.dim)


def accumulated(ufunc: Any, x: Array, dim: int, dtype: Any) -> Any:
    """`ufunc.accumulate`. Many short rows are processed together, one step along the dimension at a time."""
    length = x.shape[dim]
    if x.size < length * max(length, 256):
        return ufunc.accumulate(x, dim, dtype)
    z = x.astype(dtype)
    steps = np.moveaxis(z, dim, 0)
    for before, step in pairwise(steps):
        ufunc(before, step, out=step)
    return z


class CumsumBackward0(Scan):
    __slots__ = ()
    formula = "zᵢ = x₀ + … + xᵢ    ∂xᵢ = gᵢ + gᵢ₊₁ + …"

    def forward(self, x: Any) -> Any:
        return self.run(np.add, x)

    def grad_x(self, g: Any) -> Any:
        return self.sums_from(g)


class CumprodBackward0(Scan):
    __slots__ = ()
    formula = "zᵢ = x₀ · … · xᵢ    ∂xᵢ = zᵢ₋₁ · hᵢ  with hᵢ = gᵢ + xᵢ₊₁ · hᵢ₊₁"

    def forward(self, x: Any) -> Any:
        return self.run(np.multiply, x)

    def grad_x(self, g: Any, x: Any, z: Any) -> Any:
        if not z.ndim:
            return g
        if isinstance(x, np.ndarray) and np.all(x):
            return self.sums_from(g * z) / x
        if isinstance(x, np.ndarray):
            return self.past_zeros(g, x, z)
        gs, xs, zs = unbind(g, self.dim), unbind(x, self.dim), unbind(z, self.dim)
        parts: list[Any] = []
        h: Any = 0
        for i in reversed(range(len(gs))):
            h = gs[i] + h
            parts.append(h * zs[i - 1] if i else h)
            h = xs[i] * h
        return stack(parts[::-1], self.dim) if parts else g

    def past_zeros(self, g: Array, x: Array, z: Array) -> Any:
        """The formula for arrays, without a loop: no gradient comes from beyond a second 0."""
        zeros = np.cumsum(x == 0, self.dim)
        first = (x == 0) & (zeros == 1)
        without = self.run(np.multiply, np.where(first, 1, x))
        to_first = self.sums_from(np.where(zeros == 1, g * without, 0))
        to_others = self.sums_from(np.where(zeros == 0, g * z, 0)) / x
        return np.where(first, to_first, np.where(zeros == 0, to_others, 0))


class ProdBackward1(Reduction):
    __slots__ = ("to_dtype",)
    formula = "z = Π x    ∂z/∂xᵢ = the product of the others"

    def __init__(self, dim: tuple[int, ...] | None, keepdim: bool, dtype: Any) -> None:
        super().__init__(dim, keepdim)
        self.to_dtype = dtype

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        dtype = self.to_dtype or (np.int64 if x.dtype.kind in "biu" else None)
        return np.prod(x, self.dim, dtype, keepdims=self.keepdim)

    def grad_x(self, g: Any, x: Any, z: Any) -> Any:
        if isinstance(x, np.ndarray):
            zeros = x.size - np.count_nonzero(x)
            if not zeros:
                return self.spread(g * z) / x
            if zeros > 1 and self.dim is None:
                return np.zeros_like(x)
        return self.spread(g) * self.others(x)

    def others(self, x: Any) -> Any:
        """For each element the product of all others: those before times those after, without dividing by a 0."""
        row = reshape(x, (-1,)) if self.dim is None else x
        dim = self.dim[0] if self.dim else 0
        if not row.ndim or not row.shape[dim]:
            return x * 0 + 1
        before = _products_before(row, dim)
        after = flip(_products_before(flip(row, dim), dim), dim)
        return reshape(before * after, x.shape)


class ProdBackward0(ProdBackward1):
    """Over all dimensions."""

    __slots__ = ()


def _products_before(x: Any, dim: int) -> Any:
    """For each element along `dim` the product of those before it."""
    one = zeros_like(x, (*x.shape[:dim], 1, *x.shape[dim + 1 :]), x.dtype) + 1
    return cumprod(cat([one, narrow(x, dim, 0, x.shape[dim] - 1)], dim), dim)


def cumsum(input: Any, dim: Any = None, *, dtype: Any = None, **numpy_style: Any) -> Any:
    """The sum of all elements up to each one along `dim`."""
    return call(CumsumBackward0(_one_dim("cumsum", input, dim, **numpy_style), dtype), input)


def cumprod(input: Any, dim: Any = None, *, dtype: Any = None, **numpy_style: Any) -> Any:
    """The product of all elements up to each one along `dim`."""
    return call(CumprodBackward0(_one_dim("cumprod", input, dim, **numpy_style), dtype), input)


def _one_dim(name: str, x: Any, dim: Any, **numpy_style: Any) -> int:
    """`dim`, or numpy's `axis`, counted from the front. Raises TypeError if both are missing."""
    dim, _ = torch_style(dim, False, **numpy_style)
    if dim is None:
        raise TypeError(f'{name}() missing 1 required positional arguments: "dim"')
    return dim_index(dim, x.ndim)


def cumsum_(x: TensorState, dim: int) -> Any:
    """`cumsum`, in place."""
    return call_(CumsumBackward0(dim_index(dim, x.array.ndim), _in_itself("cumsum", x)), x)


def cumprod_(x: TensorState, dim: int) -> Any:
    """`cumprod`, in place."""
    return call_(CumprodBackward0(dim_index(dim, x.array.ndim), _in_itself("cumprod", x)), x)


def _in_itself(name: str, x: TensorState) -> Any:
    """The dtype of x, for writing in place. Raises NotImplementedError for bools."""
    if x.array.dtype.kind == "b":
        raise refusal_of(x.array.dtype, f"{name}_out_cpu")
    return x.array.dtype


def prod(input: Any, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None, **numpy_style: Any) -> Any:
    """The product of all elements, or along `dim`. Derivatives are right even where elements are 0."""
    dim, keepdim = torch_style(dim, keepdim, **numpy_style)
    if dim is None:
        return call(ProdBackward0(None, False, dtype), input)
    counted = dim_index(dim, input.ndim)
    dims = (counted,) if input.ndim else ()
    return call(ProdBackward1(dims, keepdim, dtype), input)


def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Each element minus the one before it along `dim`, `n` times, after joining `prepend` and `append` to the ends."""
    dim = dim_index(dim, input.ndim)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if n == 0:
        return clone(input)
    if prepend is not None or append is not None:
        input = cat([one for one in (prepend, input, append) if one is not None], dim)
    for _ in range(min(n, input.shape[dim])):
        length = input.shape[dim] - 1
        here, before = narrow(input, dim, 1, length), narrow(input, dim, 0, length)
        input = here ^ before if input.dtype.kind == "b" else here - before
    return input
