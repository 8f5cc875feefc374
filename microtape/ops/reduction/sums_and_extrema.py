"""Many elements into one: sums, means, maxima and minima."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microtape.basics.dtypes import scalar_name
from microtape.basics.summing import add_up, total
from microtape.ops.elementwise.division import over_number
from microtape.ops.shape.reshaping import expand, repeated, unsqueeze
from microtape.ops.shared.arguments import dim_tuple, torch_style
from microtape.ops.shared.kinds import refusing
from microtape.tape.operation import Operation, call
from microtape.tape.tensor_state import TensorState

__all__ = ["amax", "amin", "mean", "nanmean", "nansum", "sum"]


class Reduction(Operation):
    """Common to reductions: the reduced dimensions (None: all), and expanding z's shape back to x's."""

    __slots__ = ("dim", "keepdim", "x_shape")
    row_major = True
    x_shape: tuple[int, ...]

    def __init__(self, dim: tuple[int, ...] | None, keepdim: bool) -> None:
        super().__init__()
        self.dim, self.keepdim = dim, keepdim

    def spread(self, z: Any) -> Any:
        """A value in z's shape, repeated to x's shape."""
        if self.dim is not None and not self.keepdim:
            for dim in sorted(self.dim):
                z = unsqueeze(z, dim)
        return expand(z, self.x_shape) if isinstance(z, TensorState) else repeated(z, self.x_shape)

    @property
    def count(self) -> int:
        """How many elements of x are reduced to one of z."""
        return math.prod(self.x_shape if self.dim is None else [self.x_shape[i] for i in self.dim])


class SumBackward1(Reduction):
    __slots__ = ("to_dtype",)
    formula = "z = Σ x    ∂z/∂x = 1"

    def __init__(self, dim: tuple[int, ...] | None, keepdim: bool, dtype: Any = None) -> None:
        super().__init__(dim, keepdim)
        self.to_dtype = dtype

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        dtype: Any = self.to_dtype or (np.int64 if x.dtype.kind in "biu" else None)
        return total(x, self.dim, dtype, self.keepdim)

    def grad_x(self, g: Any) -> Any:
        return self.spread(g)


class SumBackward0(SumBackward1):
    """Over all dimensions."""

    __slots__ = ()


class MeanBackward1(SumBackward1):
    __slots__ = ()
    averages = True
    formula = "z = Σ x / N    ∂z/∂x = 1 / N"

    def forward(self, x: Any) -> Any:
        if x.dtype == np.float16:  # added up in single precision
            return (super().forward(x.astype(np.float32)) / self.count).astype(self.to_dtype or x.dtype)
        return super().forward(x) / self.count

    def grad_x(self, g: Any) -> Any:
        return over_number(self.spread(g), self.count)


class MeanBackward0(MeanBackward1):
    """Over all dimensions."""

    __slots__ = ()


@refusing(c="nansum on CPU does not support complex inputs")
class NansumBackward0(Reduction):
    __slots__ = ("to_dtype",)
    formula = "z = Σ x without NaN    ∂z/∂x = 1, 0 where x is NaN"

    def __init__(self, dim: tuple[int, ...] | None, keepdim: bool, dtype: Any) -> None:
        super().__init__(dim, keepdim)
        self.to_dtype = dtype

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        there = np.where(np.isnan(x), x.dtype.type(0), x)
        return total(there, self.dim, self.to_dtype or (np.int64 if x.dtype.kind in "biu" else None), self.keepdim)

    def grad_x(self, g: Any, x: Any) -> Any:
        return self.spread(g) * (x == x)  # NaN is not equal to itself


@refusing(c="max_values_cpu")
class AmaxBackward0(Reduction):
    __slots__ = ()
    formula = "z = max x    ∂z/∂x = 1 at the largest, shared at ties"

    def forward(self, x: Any) -> Any:
        self.x_shape = check_not_empty(self.op, x, self.dim)
        return np.max(x, self.dim, keepdims=self.keepdim)

    def grad_x(self, g: Any, x: Any, z: Any) -> Any:
        if 0 in x.shape:  # the median of nothing: there is nowhere for g to go
            return self.spread(g)
        chosen = self.chosen(x, z)
        return self.spread(g / sum(chosen, self.dim, self.keepdim)) * chosen

    def chosen(self, x: Any, z: Any) -> Any:
        """Where x equals z. NB: nowhere if z is NaN; then the gradient is NaN too, as in torch."""
        return x == self.spread(z)


@refusing(c="max_all")
class MaxBackward1(AmaxBackward0):
    """Over all dimensions. If the result is NaN, the gradient goes to the elements that are NaN."""

    __slots__ = ()

    def forward(self, x: Any) -> Any:
        self.x_shape = check_not_empty(self.op, x, self.dim)
        return np.max(x)

    def chosen(self, x: Any, z: Any) -> Any:
        """See AmaxBackward0."""
        return (x == z) | (x != x) & (z != z)


@refusing(c="min_values_cpu")
class AminBackward0(AmaxBackward0):
    __slots__ = ()
    formula = "z = min x    ∂z/∂x = 1 at the smallest, shared at ties"

    def forward(self, x: Any) -> Any:
        self.x_shape = check_not_empty(self.op, x, self.dim)
        return np.min(x, self.dim, keepdims=self.keepdim)


@refusing(c="min_all")
class MinBackward1(MaxBackward1):
    """Over all dimensions."""

    __slots__ = ()
    formula = AminBackward0.formula

    def forward(self, x: Any) -> Any:
        self.x_shape = check_not_empty(self.op, x, self.dim)
        return np.min(x)


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, **numpy_style: Any) -> Any:
    """The sum over all elements, or over the dimensions `dim`; sums of integers are int64."""
    if numpy_style:
        dim, keepdim = torch_style(dim, keepdim, **numpy_style)
    if type(input) is np.ndarray:
        return add_up(input, None if dim == () else dim, dtype, keepdims=keepdim)  # in a derivative formula
    dims = None if dim is None else dim_tuple(dim, input.ndim)
    return call((SumBackward0 if dim is None else SumBackward1)(dims, keepdim, dtype), input)


def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, **numpy_style: Any) -> Any:
    """The mean over all elements, or over the dimensions `dim`. Raises RuntimeError for integers."""
    if numpy_style:
        dim, keepdim = torch_style(dim, keepdim, **numpy_style)
    if dtype is None and input.dtype.kind in "biu":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {scalar_name(input.dtype)}"
        )
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        raise RuntimeError(
            "mean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. "
            f"Got: {scalar_name(np.dtype(dtype))}"
        )
    dims = None if dim is None else dim_tuple(dim, input.ndim)
    if type(input) is np.ndarray:
        return MeanBackward1(dims, keepdim, dtype).forward(input)  # in a derivative formula
    return call((MeanBackward0 if dim is None else MeanBackward1)(dims, keepdim, dtype), input)


def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, **numpy_style: Any) -> Any:
    """`sum`, with NaN counted as 0."""
    dim, keepdim = torch_style(dim, keepdim, **numpy_style)
    return call(NansumBackward0(dim_tuple(dim, input.ndim), keepdim, dtype), input)


def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, **numpy_style: Any) -> Any:
    """The mean of the elements that are not NaN. Raises RuntimeError for integers."""
    dim, keepdim = torch_style(dim, keepdim, **numpy_style)
    if input.dtype.kind not in "fc":
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {scalar_name(input.dtype)}"
        )
    return nansum(input, dim, keepdim, dtype=dtype) / sum(input == input, dim, keepdim)


def amax(input: Any, dim: Any = (), keepdim: bool = False, **numpy_style: Any) -> Any:
    """The largest element over the dimensions `dim`, or of all; at ties the gradient is shared."""
    dim, keepdim = torch_style(dim, keepdim, **numpy_style)
    return call(AmaxBackward0(dim_tuple(dim, input.ndim), keepdim), input)


def amin(input: Any, dim: Any = (), keepdim: bool = False, **numpy_style: Any) -> Any:
    """The smallest element over the dimensions `dim`, or of all; at ties the gradient is shared."""
    dim, keepdim = torch_style(dim, keepdim, **numpy_style)
    return call(AminBackward0(dim_tuple(dim, input.ndim), keepdim), input)


def check_not_empty(name: str, x: Any, dim: tuple[int, ...] | None) -> tuple[int, ...]:
    """The shape of x. Raises RuntimeError or IndexError, as torch does, if a reduced dimension is empty."""
    if x.size == 0:
        if dim is None:
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
                "with the 'dim' argument."
            )
        for one in dim:
            if not x.shape[one]:
                raise IndexError(f"{name}(): Expected reduction dim {one} to have non-zero size.")
    return x.shape  # type: ignore[no-any-return]
