"""Variance, standard deviation and norms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microtape.dtypes import scalar_name
from microtape.operation import call
from microtape.ops.arguments import dim_tuple, torch_style
from microtape.ops.mask import masked_fill
from microtape.ops.reduction import Reduction, mean, sum
from microtape.ops.rounding import abs, sgn


class Spread(Reduction):
    """Common to variance and standard deviation; `correction` is what n is made smaller by."""

    __slots__ = ("correction",)

    def __init__(self, dim: tuple[int, ...] | None, keepdim: bool, correction: float) -> None:
        super().__init__(dim, keepdim)
        self.correction = correction

    @property
    def freedom(self) -> float:
        """What the sum of squares is divided by: n - c."""
        return max(self.count - self.correction, 0)

    def variance(self, x: Any) -> Any:
        """The variance of an array."""
        self.x_shape = x.shape
        away = np.abs(x - np.sum(x, self.dim, keepdims=True) / self.count)
        return np.sum(away * away, self.dim, keepdims=self.keepdim) / np.float64(self.freedom).astype(away.dtype)

    def through_variance(self, g: Any, x: Any) -> Any:
        """x's gradient from that of its variance."""
        factor = 2 / self.freedom if self.freedom else math.inf
        return self.spread(g * factor) * (x - mean(x, self.dim, True))


class VarBackward0(Spread):
    __slots__ = ()
    formula = "z = Σ (x - x̄)² / (n - c)    ∂z/∂x = 2 (x - x̄) / (n - c)"

    def forward(self, x: Any) -> Any:
        return self.variance(x)

    def grad_x(self, g: Any, x: Any) -> Any:
        return self.through_variance(g, x)


class StdBackward0(Spread):
    __slots__ = ()
    formula = "z = √(Σ (x - x̄)² / (n - c))    ∂z/∂x = (x - x̄) / (z · (n - c)),  0 where z = 0"

    def forward(self, x: Any) -> Any:
        return np.sqrt(self.variance(x))

    def grad_x(self, g: Any, x: Any, z: Any) -> Any:
        return self.through_variance(masked_fill(g / (z * 2), z == 0, 0), x)


class LinalgVectorNormBackward0(Reduction):
    __slots__ = ("order", "to_dtype")
    formula = "z = (Σ |x|ᵖ)^(1/p)    ∂z/∂x = x · |x|ᵖ⁻² / zᵖ⁻¹,  0 where z = 0"
    op = "norm"

    def __init__(self, dim: tuple[int, ...] | None, keepdim: bool, order: float, dtype: Any) -> None:
        super().__init__(dim, keepdim)
        self.order, self.to_dtype = float(order), dtype

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        size, dims, keep = np.abs(x if self.to_dtype is None else x.astype(self.to_dtype)), self.dim, self.keepdim
        if self.order == 2:
            return np.sqrt(np.sum(size * size, dims, keepdims=keep))
        if self.order == 1:
            return np.sum(size, dims, keepdims=keep)
        if math.isinf(self.order):
            if not self.count:
                raise RuntimeError(
                    f"linalg.vector_norm cannot compute the {self.order} norm on an empty tensor because the operation "
                    "does not have an identity"
                )
            return (np.max if self.order > 0 else np.min)(size, dims, keepdims=keep)
        if self.order == 0:
            return np.sum(size != 0, dims, keepdims=keep, dtype=size.dtype)
        return np.sum(size**self.order, dims, keepdims=keep) ** (1 / self.order)

    def grad_x(self, g: Any, x: Any, z: Any) -> Any:
        p = self.order
        if p == 0:
            return x * 0
        if p == 1:
            return self.spread(g) * sgn(x)
        if p == 2:
            return x * self.spread(masked_fill(g / z, z == 0, 0))
        if math.isinf(p):
            chosen = abs(x) == self.spread(z)
            return sgn(x) * self.spread(g / sum(chosen, self.dim, self.keepdim)) * chosen
        powers = x * abs(x) ** (p - 2) if p >= 2 else masked_fill(sgn(x) * abs(x) ** (p - 1), x == 0, 0)
        return powers * self.spread(masked_fill(g / z ** (p - 1), z == 0, 0))


def var(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    **numpy_style: Any,
) -> Any:
    """The variance of all elements, or over the dimensions `dim`.

    The sum of squares is divided by n - `correction`, which is 1 (or with `unbiased=False` 0).
    """
    dim, keepdim = torch_style(dim, keepdim, **numpy_style)
    return spread_call(VarBackward0, input, dim, unbiased, keepdim, correction)


def std(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    **numpy_style: Any,
) -> Any:
    """The standard deviation of all elements, or over the dimensions `dim`; the arguments are those of `var`."""
    dim, keepdim = torch_style(dim, keepdim, **numpy_style)
    return spread_call(StdBackward0, input, dim, unbiased, keepdim, correction)


def spread_call(
    cls: type[Spread], x: Any, dim: Any, unbiased: bool | None, keepdim: bool, correction: float | None
) -> Any:
    """The common part of `var` and `std`. Raises RuntimeError for whole numbers."""
    if x.dtype.kind not in "fc":
        raise RuntimeError("std and var only support floating point and complex dtypes")
    if isinstance(dim, bool):  # `x.var(False)`
        dim, unbiased = None, dim
    if correction is None:
        correction = 0 if unbiased is False else 1
    return call(cls(dim_tuple(dim, x.ndim), keepdim, correction), x)


def var_mean(input: Any, dim: Any = None, **arguments: Any) -> Any:
    """The variance and the mean; the arguments are those of `var`."""
    return var(input, dim, **arguments), mean(input, dim, arguments.get("keepdim", False))


def vector_norm(x: Any, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """(Σ |x|ᵖ)^(1/p) with p = `ord`, which may be infinite: over all elements, or over the dimensions `dim`."""
    if x.dtype.kind not in "fc":
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {scalar_name(x.dtype)}"
        )
    return call(LinalgVectorNormBackward0(dim_tuple(dim, x.ndim), keepdim, ord, dtype), x)


def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """`vector_norm` with p = `p`; "fro" means 2. For the nuclear norm see `linalg.matrix_norm`."""
    return vector_norm(input, 2 if p == "fro" or p is None else p, dim, keepdim, dtype=dtype)
