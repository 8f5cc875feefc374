"""Maxima, minima, sorting and ranking: each gives values *and* their indices, which is where the gradients go."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.ops.elementwise.comparison import undifferentiable
from microtape.ops.elementwise.selection import maximum, minimum
from microtape.ops.indexing.gathering import scatter
from microtape.ops.reduction.sums_and_extrema import MaxBackward1, MinBackward1, check_not_empty
from microtape.ops.shape.reshaping import unsqueeze
from microtape.ops.shared.arguments import dim_index, torch_style
from microtape.ops.shared.kinds import refusing
from microtape.tape.multi_output import MultiOutputOperation, call_multi_output, return_type
from microtape.tape.operation import call
from microtape.tape.tensor_state import Array, TensorState, zeros_like

__all__ = ["argmax", "argmin", "argsort", "kthvalue", "max", "median", "min", "sort", "topk"]


class Choice(MultiOutputOperation):
    """Common: elements of x chosen along `dim`, and their indices there."""

    __slots__ = ("dim", "keepdim", "x_shape")
    results = ("values", "indices")
    x_shape: tuple[int, ...]

    def __init__(self, dim: int, keepdim: bool = True) -> None:
        super().__init__()
        self.dim, self.keepdim = dim, keepdim

    def forward(self, x: Any) -> tuple[Any, Any]:
        self.x_shape = x.shape
        if not x.ndim:
            return x.copy(), np.zeros((), np.int64)
        indices = self.chosen(x)
        values = np.take_along_axis(x, indices, self.dim)
        return (values, indices) if self.keepdim else (values.squeeze(self.dim), indices.squeeze(self.dim))

    def chosen(self, x: Array) -> Any:
        """The indices along `dim` of the chosen elements, in as many dimensions as x has."""
        raise NotImplementedError

    def grad_x(self, g: Any, indices: Any) -> Any:
        gradient = g[0]
        zeros = zeros_like(gradient, self.x_shape, gradient.dtype)
        if self.x_shape and not self.keepdim:
            gradient, indices = unsqueeze(gradient, self.dim), unsqueeze(indices, self.dim)
        return scatter(zeros, self.dim, indices, gradient)


@refusing(c="max(): does not support complex input")
class MaxBackward0(Choice):
    __slots__ = ()
    formula = "z = the largest along a dimension    ∂x = g where it stood, 0 elsewhere"
    returns = return_type("max", "values", "indices")

    def chosen(self, x: Array) -> Any:
        check_not_empty("max", x, (self.dim,))
        return np.argmax(x, self.dim, keepdims=True)


@refusing(c="min(): does not support complex input")
class MinBackward0(Choice):
    __slots__ = ()
    formula = "z = the smallest along a dimension    ∂x = g where it stood, 0 elsewhere"
    returns = return_type("min", "values", "indices")

    def chosen(self, x: Array) -> Any:
        check_not_empty("min", x, (self.dim,))
        return np.argmin(x, self.dim, keepdims=True)


@refusing(c=" Sort does not support complex dtypes on CPU")
class SortBackward0(Choice):
    __slots__ = ("descending",)
    formula = "z = x in order    ∂x = g, each where its element stood"
    returns = return_type("sort", "values", "indices")

    def __init__(self, dim: int, descending: bool) -> None:
        super().__init__(dim)
        self.descending = descending

    def chosen(self, x: Array) -> Any:
        return _order(x, self.dim, self.descending)


class SortBackward1(SortBackward0):
    """With `stable=`: every sort is stable here."""

    __slots__ = ()


@refusing(b="topk does not support bool dtypes on CPU", c=" topk does not support complex dtypes on CPU")
class TopkBackward0(SortBackward0):
    __slots__ = ("k",)
    formula = "z = the k largest    ∂x = g, each where its element stood, 0 elsewhere"
    returns = return_type("topk", "values", "indices")

    def __init__(self, dim: int, descending: bool, k: int) -> None:
        super().__init__(dim, descending)
        self.k = k

    def chosen(self, x: Array) -> Any:
        size, k, dim = x.shape[self.dim], self.k, self.dim
        if not k or size <= 4 * k:
            return np.take(super().chosen(x), range(k), dim)
        first, edge = (size - k, size - k) if self.descending else (0, k - 1)
        best = np.argpartition(x, edge, dim).take(range(first, first + k), dim)
        best.sort(dim)  # equal ones stay in their order
        return np.take_along_axis(best, super().chosen(np.take_along_axis(x, best, dim)), dim)


@refusing(bc="kthvalue_cpu")
class KthvalueBackward0(Choice):
    __slots__ = ("k",)
    formula = "z = the k-th smallest along a dimension    ∂x = g where it stood, 0 elsewhere"
    returns = return_type("kthvalue", "values", "indices")

    def __init__(self, dim: int, keepdim: bool, k: int) -> None:
        super().__init__(dim, keepdim)
        self.k = k

    def chosen(self, x: Array) -> Any:
        return _ranked(x, self.k - 1, self.dim)


@refusing(bc="median_out")
class MedianBackward1(Choice):
    """Of an even number of elements, the lower of the middle two; NaN if there is one."""

    __slots__ = ()
    formula = "z = the middle one along a dimension    ∂x = g where it stood, 0 elsewhere"
    returns = return_type("median", "values", "indices")

    def chosen(self, x: Array) -> Any:
        check_not_empty("median", x, (self.dim,))
        middle = _ranked(x, (x.shape[self.dim] - 1) // 2, self.dim)
        return np.where(np.isnan(x).any(self.dim, keepdims=True), np.argmax(x, self.dim, keepdims=True), middle)


@refusing(bc="median_cpu")
class MedianBackward0(MaxBackward1):
    """Over all elements."""

    __slots__ = ()
    formula = "z = the middle one of all    ∂z/∂x = 1 where it stands, shared at ties"

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        if not x.size:
            return np.asarray(np.nan if x.dtype.kind == "f" else np.iinfo(x.dtype).min, x.dtype)
        largest = np.max(x)  # NaN, if there is one
        return largest if np.isnan(largest) else np.partition(x, (x.size - 1) // 2, None)[(x.size - 1) // 2]


def _order(x: Array, dim: int, descending: bool) -> Any:
    """The indices along `dim` that sort x stably; NaN counts as the largest."""
    if not descending:
        return np.argsort(x, dim, kind="stable")
    backwards = np.flip(np.argsort(np.flip(x, dim), dim, kind="stable"), dim)
    return x.shape[dim] - 1 - backwards


def _ranked(x: Array, rank: int, dim: int) -> Any:
    """The index along `dim` of the element at position `rank`, counted from 0, after sorting; see `_order`."""
    parted = np.partition(x, rank, dim)
    value = parted.take([rank], dim)
    before = np.sum(
        _alike(parted.take(range(rank), dim), value), dim, keepdims=True
    )  # how many equal elements rank before it
    return np.argmax(np.cumsum(_alike(x, value), dim) > before, dim, keepdims=True)


def _alike(a: Array, b: Array) -> Any:
    """Where two arrays are equal, or both NaN."""
    return (a == b) | (a != a) & (b != b)


def max(input: Any, dim: Any = None, keepdim: bool = False, **numpy_style: Any) -> Any:
    """The largest of all elements; with `dim`, (values, indices) along it; with a tensor, `maximum`.

    At ties the gradient of the largest of all is shared; along a dimension the first of them gets it.
    """
    dim, keepdim = torch_style(dim, keepdim, **numpy_style)
    if dim is None:
        return call(MaxBackward1(None, False), input)
    if isinstance(dim, TensorState):
        return maximum(input, dim)
    return call_multi_output(MaxBackward0(dim_index(dim, input.ndim), keepdim), input)


def min(input: Any, dim: Any = None, keepdim: bool = False, **numpy_style: Any) -> Any:
    """The smallest of all elements; with `dim`, (values, indices) along it; with a tensor, `minimum`.

    At ties the gradient of the smallest of all is shared; along a dimension the first of them gets it.
    """
    dim, keepdim = torch_style(dim, keepdim, **numpy_style)
    if dim is None:
        return call(MinBackward1(None, False), input)
    if isinstance(dim, TensorState):
        return minimum(input, dim)
    return call_multi_output(MinBackward0(dim_index(dim, input.ndim), keepdim), input)


def argmax(input: TensorState, dim: int | None = None, keepdim: bool = False, **numpy_style: Any) -> Any:
    """The index of the largest element, as int64: in the flattened `input`, or along `dim`."""
    return _position("argmax", np.argmax, input, *torch_style(dim, keepdim, **numpy_style))


def argmin(input: TensorState, dim: int | None = None, keepdim: bool = False, **numpy_style: Any) -> Any:
    """The index of the smallest element, as int64: in the flattened `input`, or along `dim`."""
    return _position("argmin", np.argmin, input, *torch_style(dim, keepdim, **numpy_style))


def _position(name: str, find: Any, x: TensorState, dim: int | None, keepdim: bool) -> Any:
    """The common part of `argmax` and `argmin`. Raises RuntimeError for bools and complex numbers."""
    if x.array.dtype.kind in "bc":
        kind = "bool" if x.array.dtype.kind == "b" else "complex"
        raise RuntimeError(f"{name}(): does not support {kind} input")
    if dim is None:
        if not x.array.size:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        return undifferentiable(lambda array: find(array, None, keepdims=keepdim), x, op=name)
    counted = dim_index(dim, x.array.ndim)
    if not x.array.ndim:
        return undifferentiable(lambda array: np.zeros((), np.int64), x, op=name)
    check_not_empty(name, x.array, (counted,))
    return undifferentiable(lambda array: find(array, counted, keepdims=keepdim), x, op=name)


def sort(input: Any, dim: int = -1, descending: bool = False, *, stable: bool | None = None) -> Any:
    """The elements in order along `dim`, and their indices in `input`, as (values, indices)."""
    cls = SortBackward0 if stable is None else SortBackward1
    return call_multi_output(cls(dim_index(dim, input.ndim), descending), input)


def argsort(input: TensorState, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Any:
    """The indices that put the elements in order along `dim`."""
    counted = dim_index(dim, input.array.ndim)
    if input.array.dtype.kind == "c":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")

    def ranked(x: Array) -> Any:
        return _order(x, counted, descending) if x.ndim else np.zeros((), np.int64)

    return undifferentiable(ranked, input, op="argsort")


def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The `k` largest (or smallest) elements along `dim`, in order, and their indices, as (values, indices)."""
    dim = dim_index(dim, input.ndim)
    if not 0 <= k <= (input.shape[dim] if input.ndim else 1):
        raise RuntimeError("selected index k out of range")
    return call_multi_output(TopkBackward0(dim, largest, k), input)


def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The `k`-th smallest element along `dim`, counted from 1, and its index, as (values, indices)."""
    dim = dim_index(dim, input.ndim)
    if not 1 <= k <= (input.shape[dim] if input.ndim else 1):
        raise RuntimeError("kthvalue(): selected number k out of range for dimension " + str(dim))
    return call_multi_output(KthvalueBackward0(dim, keepdim, k), input)


def median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The middle element, the lower one of two: of all, or along `dim` as (values, indices)."""
    if dim is None:
        return call(MedianBackward0(None, False), input)
    return call_multi_output(MedianBackward1(dim_index(dim, input.ndim), keepdim), input)
