"""Trigonometric and hyperbolic functions, elementwise; angles are in radians."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.ops.elementwise.arithmetic import plus_number
from microtape.ops.elementwise.exponential import rsqrt, sqrt
from microtape.ops.elementwise.selection import where
from microtape.ops.shared.kinds import floating, in_place, refusing
from microtape.tape.operation import Binary, Unary, binary, unary

__all__ = [
    "acos",
    "acos_",
    "acosh",
    "acosh_",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asin_",
    "asinh",
    "asinh_",
    "atan",
    "atan2",
    "atan_",
    "atanh",
    "atanh_",
    "cos",
    "cos_",
    "cosh",
    "cosh_",
    "hypot",
    "sin",
    "sin_",
    "sinh",
    "sinh_",
    "tan",
    "tan_",
    "tanh",
    "tanh_",
]


class SinBackward0(Unary):
    formula = "z = sin x    ∂z/∂x = cos x"
    forward = staticmethod(np.sin)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g * cos(x)


class CosBackward0(Unary):
    formula = "z = cos x    ∂z/∂x = -sin x"
    forward = staticmethod(np.cos)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g * -sin(x)


class TanBackward0(Unary):
    formula = "z = tan x    ∂z/∂x = 1 + z²"
    forward = staticmethod(np.tan)

    def grad_x(self, g: Any, z: Any) -> Any:
        return g * plus_number(z**2, 1)


class AsinBackward0(Unary):
    formula = "z = arcsin x    ∂z/∂x = 1 / √(1 - x²)"
    forward = staticmethod(np.arcsin)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g * rsqrt(plus_number(-x * x, 1))


class AcosBackward0(Unary):
    formula = "z = arccos x    ∂z/∂x = -1 / √(1 - x²)"
    forward = staticmethod(np.arccos)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g * -rsqrt(plus_number(-x * x, 1))


class AtanBackward0(Unary):
    formula = "z = arctan x    ∂z/∂x = 1 / (1 + x²)"
    forward = staticmethod(np.arctan)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g / plus_number(x * x, 1)


@refusing(c="atan2_cpu")
class Atan2Backward0(Binary):
    formula = "z = angle of the point (y, x)    ∂z/∂x = y / (x² + y²),  ∂z/∂y = -x / (x² + y²)"
    op = "atan2"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return np.arctan2(floating(x), floating(y))

    def grad_x(self, g: Any, x: Any, y: Any) -> Any:
        return g * (y / _square_length(x, y))

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return g * (-x / _square_length(x, y))


@refusing(biuc="hypot_cpu")
class HypotBackward0(Binary):
    formula = "z = √(x² + y²)    ∂z/∂x = x / z,  ∂z/∂y = y / z"
    op = "hypot"
    forward = staticmethod(np.hypot)

    def grad_x(self, g: Any, x: Any, _y: Any, z: Any) -> Any:
        return g * (x / z)

    def grad_y(self, g: Any, _x: Any, y: Any, z: Any) -> Any:
        return g * (y / z)


def _square_length(x: Any, y: Any) -> Any:
    """x² + y², but 1 where it is 0: at the origin, which has no angle, the derivative is 0."""
    length = x * x + y * y
    return where(length == 0, 1.0, length)


class SinhBackward0(Unary):
    formula = "z = sinh x    ∂z/∂x = cosh x"
    forward = staticmethod(np.sinh)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g * cosh(x)


class CoshBackward0(Unary):
    formula = "z = cosh x    ∂z/∂x = sinh x"
    forward = staticmethod(np.cosh)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g * sinh(x)


class TanhBackward0(Unary):
    formula = "z = tanh x    ∂z/∂x = 1 - z²"
    forward = staticmethod(np.tanh)

    def grad_x(self, g: Any, z: Any) -> Any:
        return binary(TanhBackwardBackward0, g, z)


class TanhBackwardBackward0(Binary):
    """The derivative of tanh as an operation of its own: x is the gradient that arrived, y the tanh."""

    formula = "z = x · (1 - y²)    ∂z/∂x = 1 - y²,  ∂z/∂y = -2 · x · y"
    op = "tanh_backward"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        z = y * y
        if not z.ndim:
            return x * (1 - z)
        np.subtract(1, z, out=z)  # allocating a large array is much slower than writing into one
        z *= x
        return z

    def grad_x(self, g: Any, _x: Any, y: Any) -> Any:
        return binary(TanhBackwardBackward0, g, y)

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return g * (-2 * x * y)


class AsinhBackward0(Unary):
    formula = "z = arsinh x    ∂z/∂x = 1 / √(x² + 1)"
    forward = staticmethod(np.arcsinh)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g / sqrt(x * x + 1)


class AcoshBackward0(Unary):
    formula = "z = arcosh x    ∂z/∂x = 1 / √((x - 1) · (x + 1))"
    forward = staticmethod(np.arccosh)

    def grad_x(self, g: Any, x: Any) -> Any:
        if x.dtype.kind != "c":
            return g * rsqrt(x * x - 1)
        return g / (sqrt(x - 1) * sqrt(x + 1))  # rsqrt(x² - 1) would be on the other side of the branch cut


class AtanhBackward0(Unary):
    formula = "z = artanh x    ∂z/∂x = 1 / (1 - x²)"
    forward = staticmethod(np.arctanh)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g / (1 - x * x)


def sin(input: Any) -> Any:
    """The sine."""
    return unary(SinBackward0, input)


def cos(input: Any) -> Any:
    """The cosine."""
    return unary(CosBackward0, input)


def tan(input: Any) -> Any:
    """The tangent."""
    return unary(TanBackward0, input)


def asin(input: Any) -> Any:
    """The inverse sine, within [-π/2, π/2]."""
    return unary(AsinBackward0, input)


def acos(input: Any) -> Any:
    """The inverse cosine, within [0, π]."""
    return unary(AcosBackward0, input)


def atan(input: Any) -> Any:
    """The inverse tangent, within [-π/2, π/2]."""
    return unary(AtanBackward0, input)


def atan2(input: Any, other: Any) -> Any:
    """The angle within [-π, π] of the point with y-coordinate `input` and x-coordinate `other`."""
    return binary(Atan2Backward0, input, other)


def hypot(input: Any, other: Any) -> Any:
    """√(x² + y²), without overflow: the distance of the point (x, y) from the origin."""
    return binary(HypotBackward0, input, other)


def sinh(input: Any) -> Any:
    """The hyperbolic sine."""
    return unary(SinhBackward0, input)


def cosh(input: Any) -> Any:
    """The hyperbolic cosine."""
    return unary(CoshBackward0, input)


def tanh(input: Any) -> Any:
    """The hyperbolic tangent."""
    return unary(TanhBackward0, input)


def asinh(input: Any) -> Any:
    """The inverse hyperbolic sine."""
    return unary(AsinhBackward0, input)


def acosh(input: Any) -> Any:
    """The inverse hyperbolic cosine, at least 0."""
    return unary(AcoshBackward0, input)


def atanh(input: Any) -> Any:
    """The inverse hyperbolic tangent."""
    return unary(AtanhBackward0, input)


sin_, cos_, tan_ = in_place(SinBackward0), in_place(CosBackward0), in_place(TanBackward0)
asin_, acos_, atan_ = in_place(AsinBackward0), in_place(AcosBackward0), in_place(AtanBackward0)
sinh_, cosh_, tanh_ = in_place(SinhBackward0), in_place(CoshBackward0), in_place(TanhBackward0)
atan2_, hypot_ = in_place(Atan2Backward0), in_place(HypotBackward0)
asinh_, acosh_, atanh_ = in_place(AsinhBackward0), in_place(AcoshBackward0), in_place(AtanhBackward0)


# torch has several names for some functions
arccos = acos
arcsin = asin
arctan = atan
arctan2 = atan2
arccosh, arcsinh, arctanh = acosh, asinh, atanh
