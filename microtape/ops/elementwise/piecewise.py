"""Activations with another formula on each side of a threshold: celu, prelu, threshold, hardshrink, softshrink."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.basics.dtypes import scalar_name
from microtape.ops.elementwise.activation import check_slope
from microtape.ops.elementwise.exponential import exp
from microtape.ops.elementwise.selection import where
from microtape.ops.elementwise.trigonometric import tanh
from microtape.ops.shape.reshaping import reshape
from microtape.ops.shared.choice import choose
from microtape.ops.shared.kinds import refusing
from microtape.tape.in_place import call_
from microtape.tape.operands import number_as
from microtape.tape.operation import Operation, call

__all__ = ["celu", "celu_", "hardshrink", "prelu", "threshold", "threshold_"]


@refusing(biuc="elu_cpu")
class CeluBackward0(Operation):
    __slots__ = ("alpha",)
    formula = "z = x where x > 0, else α · (e^(x / α) - 1)    ∂z/∂x = 1 where x > 0, else e^(x / α)"

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self.alpha = alpha

    def forward(self, x: Any) -> Any:
        return choose(x > 0, x, np.expm1(np.minimum(x / self.alpha, 0)) * self.alpha)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g * where(x <= 0, exp(where(x <= 0, x / self.alpha, 0.0)), 1.0)


class CeluBackward1(CeluBackward0):
    """In place: x is overwritten, so the sign of z decides."""

    __slots__ = ()
    formula = "z = x where x > 0, else α · (e^(x / α) - 1)    ∂z/∂x = 1 where z > 0, else z / α + 1"

    def grad_x(self, g: Any, z: Any) -> Any:
        check_slope("elu", self.alpha)
        return g * where(z <= 0, z / self.alpha + 1, 1.0)


@refusing(biuc="prelu_cpu")
class PreluKernelBackward0(Operation):
    operands = ("x", "w")
    formula = "z = x where x > 0, else w · x    ∂z/∂x = 1 where x > 0, else w,  ∂z/∂w = 0 where x > 0, else x"
    op = "prelu"

    @staticmethod
    def forward(x: Any, w: Any) -> Any:
        return choose(x > 0, x, w * x)

    def grad_x(self, g: Any, x: Any, w: Any) -> Any:
        return where(x > 0, g, w * g)

    def grad_w(self, g: Any, x: Any, _w: Any) -> Any:
        return where(x > 0, 0.0, x * g)


@refusing(bc="threshold_cpu")
class ThresholdBackward0(Operation):
    __slots__ = ("threshold", "value")
    formula = "z = x where x > t, else v    ∂z/∂x = 1 where x > t, else 0"

    def __init__(self, threshold: float, value: float) -> None:
        super().__init__()
        self.threshold, self.value = threshold, value

    def forward(self, x: Any) -> Any:
        return choose(x <= self.threshold, number_as(self.value, x.dtype), x)

    def grad_x(self, g: Any, x: Any) -> Any:
        return where(x <= self.threshold, 0.0, g)


class ThresholdBackward1(ThresholdBackward0):
    """In place."""

    __slots__ = ()


class _Shrink(Operation):
    """Common: nothing is left of what lies within ±lambd."""

    __slots__ = ("lambd",)

    def __init__(self, lambd: float) -> None:
        super().__init__()
        self.lambd = lambd

    def grad_x(self, g: Any, x: Any) -> Any:
        return where((x >= -self.lambd) & (x <= self.lambd), 0.0, g)


@refusing(biuc="hardshrink_cpu")
class HardshrinkBackward0(_Shrink):
    __slots__ = ()
    formula = "z = x where |x| > λ, else 0    ∂z/∂x = 1 where |x| > λ, else 0"

    def forward(self, x: Any) -> Any:
        return choose((x >= -self.lambd) & (x <= self.lambd), np.zeros((), x.dtype), x)


@refusing(biuc="softshrink_check")
class SoftshrinkBackward0(_Shrink):
    __slots__ = ()
    formula = "z = x - λ where x > λ, x + λ where x < -λ, else 0    ∂z/∂x = 1 where |x| > λ, else 0"

    def forward(self, x: Any) -> Any:
        most = np.finfo(x.dtype).max
        if not 0 <= self.lambd <= most:
            raise RuntimeError(
                f"lambda must be in range [0, {most:g}] for input dtype {scalar_name(x.dtype)}, but found "
                f"{self.lambd:g}"
            )
        return x - np.clip(x, -self.lambd, self.lambd)


def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x where it is positive, else `alpha · (exp(x / alpha) - 1)` (Barron, 2017). Raises RuntimeError for alpha 0."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return call_(CeluBackward1(alpha), input) if inplace else call(CeluBackward0(alpha), input)


def celu_(input: Any, alpha: float = 1.0) -> Any:
    """`celu`, in place."""
    return celu(input, alpha, inplace=True)


def prelu(input: Any, weight: Any) -> Any:
    """x where it is positive, else `weight · x` (He et al., 2015).

    The weight has one element, or one for each of the channels, which are dimension 1. Raises RuntimeError for other
    sizes and for two dtypes.
    """
    if input.dtype != weight.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {scalar_name(input.dtype)} and {scalar_name(weight.dtype)}"
        )
    count = weight.numel()
    if count != 1:
        if input.ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.ndim > 1 else 1
        if channels != count:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{count} and channel size = {channels}."
            )
    if weight.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")
    if weight.ndim != input.ndim:
        weight = reshape(weight, tuple([count if i == 1 else 1 for i in range(input.ndim)]))
    return call(PreluKernelBackward0(), input, weight)


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """x where it is above the threshold, else `value`."""
    return (
        call_(ThresholdBackward1(threshold, value), input)
        if inplace
        else call(ThresholdBackward0(threshold, value), input)
    )


def threshold_(input: Any, threshold: float, value: float) -> Any:
    """x where it is above the threshold, else `value`, in place."""
    return call_(ThresholdBackward1(threshold, value), input)


def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """x where |x| is above `lambd`, else 0."""
    return call(HardshrinkBackward0(lambd), input)


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """x, moved towards 0 by `lambd`. Raises RuntimeError for a negative `lambd`."""
    return call(SoftshrinkBackward0(lambd), input)


def tanhshrink(input: Any) -> Any:
    """x - tanh x."""
    return input - tanh(input)
