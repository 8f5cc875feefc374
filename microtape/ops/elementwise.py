"""Functions of each element by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.operation import Binary, Operation, Unary, as_operand, binary, call, constant, unary
from microtape.tensor_state import TensorState


class ExpBackward0(Unary):
    formula = "z = eˣ    ∂z/∂x = z"
    forward = staticmethod(np.exp)

    def grad_x(self, g: Any, z: Any) -> Any:
        return g * z


class LogBackward0(Unary):
    formula = "z = ln x    ∂z/∂x = 1 / x"
    forward = staticmethod(np.log)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g / x


class Log1PBackward0(Unary):
    formula = "z = ln(1 + x)    ∂z/∂x = 1 / (1 + x)"
    op = "log1p"
    forward = staticmethod(np.log1p)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g / (x + 1)


class Expm1Backward0(Unary):
    formula = "z = eˣ - 1    ∂z/∂x = z + 1"
    op = "expm1"
    forward = staticmethod(np.expm1)

    def grad_x(self, g: Any, z: Any) -> Any:
        return g * (z + 1)


class SqrtBackward0(Unary):
    formula = "z = √x    ∂z/∂x = 1 / 2z"
    forward = staticmethod(np.sqrt)

    def grad_x(self, g: Any, z: Any) -> Any:
        return g / (2 * z)


class RsqrtBackward0(Unary):
    formula = "z = 1 / √x    ∂z/∂x = -z³ / 2"

    @staticmethod
    def forward(x: Any) -> Any:
        return 1 / np.sqrt(x)

    def grad_x(self, g: Any, z: Any) -> Any:
        return -0.5 * g * z**3


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


class TanhBackward0(Unary):
    formula = "z = tanh x    ∂z/∂x = 1 - z²"
    forward = staticmethod(np.tanh)

    def grad_x(self, g: Any, z: Any) -> Any:
        return binary(TanhBackwardBackward0, g, z)


class TanhBackwardBackward0(Binary):
    """The gradient of tanh, one node of its own where it is differentiated again."""

    formula = "z = x · (1 - y²)    ∂z/∂x = 1 - y²,  ∂z/∂y = -2 x · y"
    op = "tanh_backward"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return x * (1 - y * y)

    def grad_x(self, g: Any, _x: Any, y: Any) -> Any:
        return binary(TanhBackwardBackward0, g, y)

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return g * (-2 * x * y)


class SigmoidBackward0(Unary):
    formula = "z = σ(x) = 1 / (1 + e⁻ˣ)    ∂z/∂x = z · (1 - z)"

    @staticmethod
    def forward(x: Any) -> Any:
        positive = 1 / (1 + np.exp(-np.abs(x)))  # exp of a large positive number would overflow
        return np.where(x >= 0, positive, 1 - positive).astype(x.dtype, copy=False)

    def grad_x(self, g: Any, z: Any) -> Any:
        return g * ((1 - z) * z)


class ReluBackward0(Unary):
    formula = "z = max(x, 0)    ∂z/∂x = 1 where z > 0, else 0"

    @staticmethod
    def forward(x: Any) -> Any:
        return np.maximum(x, 0)

    def grad_x(self, g: Any, z: Any) -> Any:
        return where(z > 0, g, 0.0)


class SoftplusBackward0(Unary):
    formula = "z = ln(1 + eˣ)    ∂z/∂x = σ(x)"

    @staticmethod
    def forward(x: Any) -> Any:
        return np.logaddexp(x, np.zeros((), x.dtype))

    def grad_x(self, g: Any, x: Any) -> Any:
        return g * sigmoid(x)


class AbsBackward0(Unary):
    formula = "z = |x|    ∂z/∂x = sign x"
    forward = staticmethod(np.abs)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g * sign(x)


class SignBackward0(Unary):
    formula = "z = sign x    ∂z/∂x = 0"
    forward = staticmethod(np.sign)

    def grad_x(self, g: Any) -> Any:
        return g * 0


class ReciprocalBackward0(Unary):
    formula = "z = 1 / x    ∂z/∂x = -z²"
    forward = staticmethod(np.reciprocal)

    def grad_x(self, g: Any, z: Any) -> Any:
        return -g * (z * z)


class ClampBackward1(Operation):
    """Bounds that are numbers or None."""

    __slots__ = ("max", "min")
    formula = "z = x within [min, max]    ∂z/∂x = 1 inside and at the bounds, 0 outside"

    def __init__(self, min: float | None, max: float | None) -> None:
        super().__init__()
        self.min, self.max = min, max

    def forward(self, x: Any) -> Any:
        return np.clip(x, self.min, self.max)

    def grad_x(self, g: Any, x: Any) -> Any:
        if self.min is not None:
            g = where(x >= self.min, g, 0.0)
        return g if self.max is None else where(x <= self.max, g, 0.0)


class MaximumBackward0(Binary):
    formula = "z = max(x, y)    ∂z/∂x = 1 where x > y, ½ where x = y"
    forward = staticmethod(np.maximum)

    def grad_x(self, g: Any, x: Any, y: Any) -> Any:
        return where(x == y, g / 2, g) * (x >= y)

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return where(x == y, g / 2, g) * (x <= y)


class MinimumBackward0(Binary):
    formula = "z = min(x, y)    ∂z/∂x = 1 where x < y, ½ where x = y"
    forward = staticmethod(np.minimum)

    def grad_x(self, g: Any, x: Any, y: Any) -> Any:
        return where(x == y, g / 2, g) * (x <= y)

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return where(x == y, g / 2, g) * (x >= y)


class WhereBackward0(Operation):
    __slots__ = ("condition",)
    operands = ("x", "y")
    formula = "z = x where c, else y    ∂z/∂x = c,  ∂z/∂y = 1 - c"

    def __init__(self, condition: Any) -> None:
        super().__init__()
        self.condition = condition  # an array or, if the operands are, a Tensor

    def forward(self, x: Any, y: Any) -> Any:
        return np.where(getattr(self.condition, "array", self.condition), x, y)

    def grad_x(self, g: Any, condition: Any) -> Any:
        return where(condition, g, 0.0)

    def grad_y(self, g: Any, condition: Any) -> Any:
        return where(condition, 0.0, g)


def exp(x: Any) -> Any:
    """eˣ."""
    return unary(ExpBackward0, x)


def log(x: Any) -> Any:
    """The natural logarithm."""
    return unary(LogBackward0, x)


def log1p(x: Any) -> Any:
    """ln(1 + x), exact near 0."""
    return unary(Log1PBackward0, x)


def expm1(x: Any) -> Any:
    """eˣ - 1, exact near 0."""
    return unary(Expm1Backward0, x)


def sqrt(x: Any) -> Any:
    """The square root."""
    return unary(SqrtBackward0, x)


def rsqrt(x: Any) -> Any:
    """1 / √x."""
    return unary(RsqrtBackward0, x)


def sin(x: Any) -> Any:
    """The sine, of radians."""
    return unary(SinBackward0, x)


def cos(x: Any) -> Any:
    """The cosine, of radians."""
    return unary(CosBackward0, x)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return unary(TanhBackward0, x)


def sigmoid(x: Any) -> Any:
    """1 / (1 + e⁻ˣ)."""
    return unary(SigmoidBackward0, x)


def relu(x: Any) -> Any:
    """max(x, 0)."""
    return call(ReluBackward0(), x)


def softplus(x: Any) -> Any:
    """ln(1 + eˣ)."""
    return unary(SoftplusBackward0, x)


def abs(x: Any) -> Any:
    """The absolute value."""
    return call(AbsBackward0(), x)


def sign(x: Any) -> Any:
    """-1, 0 or 1."""
    return call(SignBackward0(), x)


def reciprocal(x: Any) -> Any:
    """1 / x."""
    return unary(ReciprocalBackward0, x)


def square(x: Any) -> Any:
    """x², which torch records as a power."""
    return x**2


def clamp(x: Any, min: float | None = None, max: float | None = None) -> Any:
    """x within [min, max]."""
    return call(ClampBackward1(min, max), x)


def maximum(x: Any, y: Any) -> Any:
    """The larger of each pair of elements; at ties the gradient is split."""
    return binary(MaximumBackward0, x, y)


def minimum(x: Any, y: Any) -> Any:
    """The smaller of each pair of elements; at ties the gradient is split."""
    return binary(MinimumBackward0, x, y)


def where(condition: Any, x: Any, y: Any) -> Any:
    """x where `condition` holds, else y; all broadcast against each other."""
    tensor = next((one for one in (x, y, condition) if isinstance(one, TensorState)), None)
    if tensor is not None:
        x = x if isinstance(x, TensorState) else as_operand(x, tensor)
        y = y if isinstance(y, TensorState) else as_operand(y, tensor)
        condition = condition if isinstance(condition, TensorState) else constant(condition, type(tensor))
    return call(WhereBackward0(condition), x, y)
