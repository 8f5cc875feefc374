"""Exponentials, logarithms, powers and roots, elementwise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microtape.ops.elementwise.arithmetic import plus_number, times_number
from microtape.ops.elementwise.selection import where
from microtape.ops.shared.choice import choose
from microtape.ops.shared.kinds import beside_number, floating, in_place, nothing, refusing
from microtape.tape.in_place import call_
from microtape.tape.operands import as_element, as_operand, number_as
from microtape.tape.operation import Binary, Operation, Unary, binary, call, unary
from microtape.tape.tensor_state import TensorState

__all__ = [
    "exp",
    "exp2",
    "exp2_",
    "exp_",
    "expm1",
    "expm1_",
    "log",
    "log1p",
    "log1p_",
    "log2",
    "log2_",
    "log10",
    "log10_",
    "log_",
    "logaddexp",
    "pow",
    "reciprocal",
    "reciprocal_",
    "rsqrt",
    "rsqrt_",
    "sqrt",
    "sqrt_",
    "square",
    "square_",
    "xlogy",
]

_NUMBERS = (int, float, complex)


class ExpBackward0(Unary):
    formula = "z = eˣ    ∂z/∂x = z"
    forward = staticmethod(np.exp)

    def grad_x(self, g: Any, z: Any) -> Any:
        return g * z


class Exp2Backward0(Unary):
    formula = "z = 2ˣ    ∂z/∂x = z · ln 2"
    op = "exp2"
    forward = staticmethod(np.exp2)

    def grad_x(self, g: Any, z: Any) -> Any:
        return g * times_number(z, math.log(2))


class Expm1Backward0(Unary):
    formula = "z = eˣ - 1    ∂z/∂x = z + 1"
    op = "expm1"
    forward = staticmethod(np.expm1)

    def grad_x(self, g: Any, z: Any) -> Any:
        return g * plus_number(z, 1)


class LogBackward0(Unary):
    formula = "z = ln x    ∂z/∂x = 1 / x"

    @staticmethod
    def forward(x: Any) -> Any:
        return np.log(floating(x))  # numpy's log of bytes, which formulas may pass, is in half precision

    def grad_x(self, g: Any, x: Any) -> Any:
        return g / x


class Log2Backward0(Unary):
    formula = "z = log₂ x    ∂z/∂x = 1 / (x · ln 2)"
    op = "log2"
    forward = staticmethod(np.log2)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g / times_number(x, math.log(2))


class Log10Backward0(Unary):
    formula = "z = log₁₀ x    ∂z/∂x = 1 / (x · ln 10)"
    op = "log10"
    forward = staticmethod(np.log10)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g / times_number(x, math.log(10))


class Log1PBackward0(Unary):
    formula = "z = ln(1 + x)    ∂z/∂x = 1 / (1 + x)"
    op = "log1p"
    forward = staticmethod(np.log1p)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g / plus_number(x, 1)


@refusing(biu="logaddexp_cpu")
class LogaddexpBackward0(Binary):
    formula = "z = ln(eˣ + eʸ)    ∂z/∂x = eˣ⁻ᶻ,  ∂z/∂y = eʸ⁻ᶻ"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        if x.dtype.kind != "c":
            more = log_of_one_plus_exp(-np.abs(x - y))
            return choose(x == y, x + math.log(2), np.maximum(x, y) + more)  # the difference of two infinities is NaN
        top = np.where(x.real > y.real, x, y)
        total = top + np.log(np.exp(x - top) + np.exp(y - top))
        return np.where(np.isneginf(top.real), top, total)

    def grad_x(self, g: Any, x: Any, _y: Any, z: Any) -> Any:
        return g * exp(x - z)

    def grad_y(self, g: Any, _x: Any, y: Any, z: Any) -> Any:
        return g * exp(y - z)


@refusing(c="xlogy_cpu")
class XlogyBackward0(Binary):
    formula = "z = x · ln y, 0 where x = 0    ∂z/∂x = ln y,  ∂z/∂y = x / y"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        x, y = floating(x), floating(y)
        return np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y)).astype(x.dtype, copy=False)

    def grad_x(self, g: Any, x: Any, y: Any) -> Any:
        return g * where((x == 0) & (y <= 0), 0.0, log(y))

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return g * (x / y)


class SqrtBackward0(Unary):
    formula = "z = √x    ∂z/∂x = 1 / 2z"
    forward = staticmethod(np.sqrt)

    def grad_x(self, g: Any, z: Any) -> Any:
        return g / times_number(z, 2)


class RsqrtBackward0(Unary):
    formula = "z = 1 / √x    ∂z/∂x = -z³ / 2"

    @staticmethod
    def forward(x: Any) -> Any:
        return 1 / np.sqrt(x)

    def grad_x(self, g: Any, z: Any) -> Any:
        return times_number(g, -0.5) * z**3


class ReciprocalBackward0(Unary):
    formula = "z = 1 / x    ∂z/∂x = -z²"
    forward = staticmethod(np.reciprocal)

    def grad_x(self, g: Any, z: Any) -> Any:
        return -g * (z * z)


class PowBackward0(Operation):
    """With a constant exponent."""

    __slots__ = ("exponent",)
    formula = "z = xⁿ    ∂z/∂x = n · xⁿ⁻¹"

    def __init__(self, exponent: Any) -> None:
        super().__init__()
        self.exponent = exponent

    def arrays(self, operands: Any) -> Any:
        """The base, promoted together with the exponent."""
        return [beside_number(operands[0].array, self.exponent)]

    def forward(self, x: Any) -> Any:
        if x.dtype.kind in "iu" and self.exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        if x.dtype.kind not in "fc":
            return np.power(x, number_as(self.exponent, x.dtype)).astype(x.dtype, copy=False)
        if self.exponent in (1, 2, 3):  # as torch does
            return x.copy() if self.exponent == 1 else x * x if self.exponent == 2 else x * x * x
        whole = not isinstance(self.exponent, complex) and self.exponent % 1 == 0
        if x.dtype.kind == "f" and whole:  # np.power takes thirty times as long for negative numbers
            size = np.power(np.abs(x), self.exponent)
            return np.copysign(size, x) if self.exponent % 2 else size
        return np.power(x, self.exponent)

    def grad_x(self, g: Any, x: Any) -> Any:
        if self.exponent == 0:
            return nothing(g)
        return g * times_number(power(x, self.exponent - 1), self.exponent)


@refusing(b="pow")
class PowBackward1(Binary):
    formula = "z = xʸ    ∂z/∂x = y · xʸ⁻¹,  ∂z/∂y = xʸ · ln x"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        if x.dtype.kind != "i":
            return np.power(x, y)
        inverse = np.where(np.abs(x) == 1, x ** (y & 1), 0)  # 1 / xⁿ rounded towards 0; 0 for x = 0, as in torch
        return np.where(y < 0, inverse, np.power(x, np.maximum(y, 0))).astype(x.dtype, copy=False)

    def grad_x(self, g: Any, x: Any, y: Any, _z: Any) -> Any:
        return g * where(y == 0, 0.0, y * x ** (y - 1))

    def grad_y(self, g: Any, x: Any, y: Any, z: Any) -> Any:
        base = x + 0j if z.dtype.kind == "c" and x.dtype.kind != "c" else x
        return g * where((x == 0) & (y.real >= 0), 0.0, z * log(base))


class PowBackward2(Operation):
    """With a constant base."""

    __slots__ = ("base",)
    operands = ("y",)
    formula = "z = bʸ    ∂z/∂y = bʸ · ln b"

    def __init__(self, base: Any) -> None:
        super().__init__()
        self.base = base

    def arrays(self, operands: Any) -> Any:
        """The exponent, promoted together with the base."""
        return [beside_number(operands[0].array, self.base)]

    def forward(self, y: Any) -> Any:
        return np.power(as_element(self.base, y.dtype), y)

    def grad_y(self, g: Any, y: Any, z: Any) -> Any:
        if self.base == 0:
            return where(y.real >= 0, 0.0, g * (z * -np.inf))
        return g * (z * log(np.asarray(self.base, z.dtype)))


def log_of_one_plus_exp(x: Any) -> Any:
    """ln(1 + eˣ) for arrays, without overflow; np.logaddexp takes ten times as long."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def exp(input: Any) -> Any:
    """eˣ."""
    return unary(ExpBackward0, input)


def exp2(input: Any) -> Any:
    """2ˣ."""
    return unary(Exp2Backward0, input)


def expm1(input: Any) -> Any:
    """eˣ - 1, accurate near 0."""
    return unary(Expm1Backward0, input)


def log(input: Any) -> Any:
    """The natural logarithm."""
    return unary(LogBackward0, input)


def log2(input: Any) -> Any:
    """The logarithm to the base 2."""
    return unary(Log2Backward0, input)


def log10(input: Any) -> Any:
    """The logarithm to the base 10."""
    return unary(Log10Backward0, input)


def log1p(input: Any) -> Any:
    """ln(1 + x), accurate near 0."""
    return unary(Log1PBackward0, input)


def logaddexp(input: Any, other: Any) -> Any:
    """ln(eˣ + eʸ), without overflow."""
    return binary(LogaddexpBackward0, input, other)


def xlogy(input: Any, other: Any) -> Any:
    """`input · ln other`, and 0 where `input` is 0."""
    return binary(XlogyBackward0, input, other)


def sqrt(input: Any) -> Any:
    """The square root."""
    return unary(SqrtBackward0, input)


def rsqrt(input: Any) -> Any:
    """1 / √x."""
    return unary(RsqrtBackward0, input)


def reciprocal(input: Any) -> Any:
    """1 / x."""
    return unary(ReciprocalBackward0, input)


def divides(x: Any, y: Any) -> Any:
    """`y / x`, where y is a number: recorded as 1 / x, times y."""
    return reciprocal(x) * y if isinstance(y, (*_NUMBERS, np.ndarray)) else NotImplemented


def square(input: Any) -> Any:
    """x², which torch records as a power."""
    return power(input, 2)


def power(x: Any, y: Any) -> Any:
    """`x ** y`, of tensors or numbers; NotImplemented for anything else."""
    if isinstance(y, _NUMBERS):
        return call(PowBackward0(y), x)
    if isinstance(x, _NUMBERS):
        return call(PowBackward2(x), y)
    return binary(PowBackward1, x, y)


def power_of(x: Any, y: Any) -> Any:
    """`y ** x`, where y is a number."""
    return power(y, x)


def pow(input: Any, exponent: Any) -> Any:
    """`input ** exponent`, of tensors or numbers. Raises RuntimeError for integers to a negative power."""
    return power(input, exponent)


def pow_(x: TensorState, exponent: Any) -> Any:
    """Raise to a power in place."""
    if isinstance(exponent, _NUMBERS):
        return call_(PowBackward0(exponent), x)
    return call_(PowBackward1(), x, as_operand(exponent, x))


def square_(x: TensorState) -> Any:
    """Square in place."""
    return pow_(x, 2)


exp_, exp2_, expm1_ = in_place(ExpBackward0), in_place(Exp2Backward0), in_place(Expm1Backward0)
log_, log2_, log10_, log1p_ = map(in_place, (LogBackward0, Log2Backward0, Log10Backward0, Log1PBackward0))
sqrt_, rsqrt_, reciprocal_ = in_place(SqrtBackward0), in_place(RsqrtBackward0), in_place(ReciprocalBackward0)
xlogy_ = in_place(XlogyBackward0)
