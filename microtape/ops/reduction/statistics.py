"""Variance, standard deviation and norms."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any

import numpy as np

from microtape.basics.dtypes import scalar_name
from microtape.basics.summing import total
from microtape.ops.elementwise.division import over_number
from microtape.ops.elementwise.mask import masked_fill
from microtape.ops.elementwise.rounding import abs, sgn
from microtape.ops.elementwise.selection import where
from microtape.ops.reduction.sums_and_extrema import MeanBackward1, Reduction, mean, sum
from microtape.ops.shared.arguments import dim_tuple, torch_style
from microtape.tape.multi_output import MultiOutputOperation, call_multi_output
from microtape.tape.operation import call

__all__ = ["std", "std_mean", "var", "var_mean"]


class Deviation(Reduction):
    """Common to variance and standard deviation; `correction` is subtracted from n."""

    __slots__ = ("correction",)

    def __init__(self, dim: tuple[int, ...] | None, keepdim: bool, correction: float) -> None:
        super().__init__(dim, keepdim)
        self.correction = correction

    @property
    def freedom(self) -> float:
        """The divisor of the sum of squares: N - c, at least 0."""
        return max(self.count - self.correction, 0)

    def variance(self, x: Any) -> Any:
        """The variance of an array; half precision is computed in single precision."""
        self.x_shape = x.shape
        if x.dtype == np.float16:
            return self.variance(x.astype(np.float32))
        if x.dtype.kind == "c":
            return self.variance(x.real) + self.variance(x.imag)
        away = x - total(x, self.dim, keepdims=True) / self.count
        return total(away * away, self.dim, keepdims=self.keepdim) / np.float64(self.freedom).astype(away.dtype)

    def through_variance(self, g: Any, x: Any) -> Any:
        """The gradient of x, given that of its variance."""
        away, left = x - mean(x, self.dim, True), self.count - self.correction
        if left <= 0 and (self.dim is None or not self.x_shape):
            return self.spread(g) * where(away == 0, math.nan, math.inf)  # as in torch
        return self.spread(g * (2 / left if left else math.inf if self.count else 0)) * away


class VarBackward0(Deviation):
    __slots__ = ()
    formula = "z = Σ (x - mean x)² / (N - c)    ∂z/∂x = 2 (x - mean x) / (N - c)"

    def forward(self, x: Any) -> Any:
        return _rounded(self.variance(x), x)

    def grad_x(self, g: Any, x: Any) -> Any:
        return self.through_variance(g, x)


class StdBackward0(Deviation):
    __slots__ = ()
    formula = "z = √(Σ (x - mean x)² / (N - c))    ∂z/∂x = (x - mean x) / (z · (N - c)),  0 where z = 0"

    def forward(self, x: Any) -> Any:
        return _rounded(np.sqrt(self.variance(x)), x)

    def grad_x(self, g: Any, x: Any, z: Any) -> Any:
        return self.through_variance(_over_norm(g, z * 2), x)


class VarMeanBackward0(MultiOutputOperation):
    """The variance and the mean at once; `deviation` is the operation that computes the former."""

    __slots__ = ("deviation",)
    arguments = ("dim", "keepdim", "correction")
    dim, keepdim, correction = (property(attrgetter(f"deviation.{name}")) for name in arguments)
    row_major = True
    results = ("z", "mean")
    formula = "z = Σ (x - mean x)² / (N - c), and mean x    ∂x = 2 g₀ (x - mean x) / (N - c) + g₁ / N"
    returns = staticmethod(lambda *outputs: outputs)

    def __init__(self, deviation: Any) -> None:
        super().__init__()
        self.deviation = deviation

    def forward(self, x: Any) -> tuple[Any, Any]:
        mean = MeanBackward1(self.deviation.dim, self.deviation.keepdim)
        return self.deviation.forward(x), mean.forward(x)

    def grad_x(self, g: Any, x: Any) -> Any:
        return self.together(None if g[0] is None else self.deviation.grad_x(g[0], x), g[1])

    def together(self, from_deviation: Any, of_mean: Any) -> Any:
        """The sum of both gradients: the mean's comes conjugated from the engine, so the other is conjugated here."""
        if from_deviation is not None and from_deviation.dtype.kind == "c":
            from_deviation = from_deviation.conj()
        if of_mean is None:
            return from_deviation
        from_mean = self.deviation.spread(over_number(of_mean, self.deviation.count))  # 0 / 0 over no elements
        return from_mean if from_deviation is None else from_deviation + from_mean


class StdMeanBackward0(VarMeanBackward0):
    __slots__ = ()
    formula = "z = √(Σ (x - mean x)² / (N - c)), and mean x    ∂x = g₀ (x - mean x) / (z · (N - c)) + g₁ / N"

    def grad_x(self, g: Any, x: Any, z: Any) -> Any:  # type: ignore[override]  # it needs z too
        return self.together(None if g[0] is None else self.deviation.grad_x(g[0], x, z), g[1])


class LinalgVectorNormBackward0(Reduction):
    __slots__ = ("ord", "to_dtype")
    formula = "z = (Σ |x|ᵖ)^(1/p)    ∂z/∂x = x · |x|ᵖ⁻² / zᵖ⁻¹,  0 where z = 0"
    op = "norm"

    def __init__(self, dim: tuple[int, ...] | None, keepdim: bool, ord: float, dtype: Any) -> None:
        super().__init__(dim, keepdim)
        self.ord, self.to_dtype = float(ord), dtype

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        x = x if self.to_dtype is None else x.astype(self.to_dtype)
        return _rounded(self.norm(np.abs(x.astype(np.float32) if x.dtype == np.float16 else x)), x)

    def norm(self, size: Any) -> Any:
        """The norm, given the absolute values of the elements."""
        dims, keep = self.dim, self.keepdim
        if not self.count and (self.ord < 0 or math.isinf(self.ord)):
            dim = next((dim for dim in dims or () if not size.shape[dim]), None)
            on = "an empty tensor because" if dim is None else f"the dimension {dim}because this dimension is empty and"
            name = f"the {self.ord:g} norm"
            raise RuntimeError(
                f"linalg.vector_norm cannot compute {name} on {on} the operation does not have an identity"
            )
        if self.ord == 2:
            return np.sqrt(total(size * size, dims, keepdims=keep))
        if self.ord == 1:
            return total(size, dims, keepdims=keep)
        if math.isinf(self.ord):
            return (np.max if self.ord > 0 else np.min)(size, dims, keepdims=keep)
        if self.ord == 0:
            return np.sum(size != 0, dims, keepdims=keep, dtype=size.dtype)
        return total(size**self.ord, dims, keepdims=keep) ** (1 / self.ord)

    def grad_x(self, g: Any, x: Any, z: Any) -> Any:
        p = self.ord
        if p == 0:
            return None  # Note [Undefined gradients]
        if p == 1:
            return self.spread(g) * sgn(x)
        if p == 2:
            return self.spread(g) * masked_fill(x / self.spread(z), self.spread(z == 0), 0)
        if math.isinf(p):
            chosen = abs(x) == self.spread(z)
            return sgn(x) * self.spread(g / sum(chosen, self.dim, self.keepdim)) * chosen
        powers = x * abs(x) ** (p - 2) if p >= 2 else masked_fill(sgn(x) * abs(x) ** (p - 1), x == 0, 0)
        return powers * self.spread(_over_norm(g, z ** (p - 1)))


def _over_norm(g: Any, z: Any) -> Any:
    """g / z, 0 where z = 0; its own derivative is 0 there, too, as forward mode needs it."""
    return g / masked_fill(z, z == 0, math.inf)


def _rounded(z: Any, x: Any) -> Any:
    """z, cast back to half precision if x has it."""
    return z.astype(x.dtype) if x.dtype == np.float16 else z


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
    dim, keepdim, correction = _torch_deviation(dim, keepdim, correction, **numpy_style)
    return call(_deviation_node(VarBackward0, input, dim, unbiased, keepdim, correction), input)


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
    dim, keepdim, correction = _torch_deviation(dim, keepdim, correction, **numpy_style)
    return call(_deviation_node(StdBackward0, input, dim, unbiased, keepdim, correction), input)


def _torch_deviation(
    dim: Any, keepdim: bool, correction: float | None, dtype: None = None, ddof: float | None = None, **style: Any
) -> tuple[Any, bool, float | None]:
    """`dim`, `keepdim` and `correction`, which may also be given by numpy's names, as `np.std(x)` does."""
    if dtype is not None:
        raise TypeError("dtype= does not exist here: cast with to()")
    return *torch_style(dim, keepdim, **style), correction if ddof is None else ddof


def _deviation_node(
    cls: type[Deviation], x: Any, dim: Any, unbiased: bool | None, keepdim: bool, correction: float | None = None
) -> Any:
    """The node for these arguments. Raises RuntimeError for integers."""
    _check_floating("std and var", x)
    if isinstance(dim, bool):  # `x.var(False)`
        dim, unbiased = None, dim
    if correction is None:
        correction = 0 if unbiased is False else 1
    return cls(dim_tuple(dim, x.ndim), keepdim, correction)


def _check_floating(name: str, x: Any) -> None:
    """Raise RuntimeError for integers."""
    if x.dtype.kind not in "fc":
        raise RuntimeError(f"{name} only support floating point and complex dtypes")


def var_mean(input: Any, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, **arguments: Any) -> Any:
    """The variance and the mean, as a pair; the arguments are those of `var`."""
    _check_floating("var_mean", input)
    return call_multi_output(
        VarMeanBackward0(_deviation_node(VarBackward0, input, dim, unbiased, keepdim, **arguments)), input
    )


def std_mean(input: Any, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, **arguments: Any) -> Any:
    """The standard deviation and the mean, as a pair; the arguments are those of `std`."""
    _check_floating("std_mean", input)
    return call_multi_output(
        StdMeanBackward0(_deviation_node(StdBackward0, input, dim, unbiased, keepdim, **arguments)), input
    )


def vector_norm(x: Any, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """(Σ |x|ᵖ)^(1/p) with p = `ord`, which may be infinite: over all elements, or over the dimensions `dim`."""
    if x.dtype.kind not in "fc":
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {scalar_name(x.dtype)}"
        )
    return call(LinalgVectorNormBackward0(dim_tuple(dim, x.ndim), keepdim, ord, dtype), x)
