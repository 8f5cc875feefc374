"""Activation functions: what neural networks apply to each element between their layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.ops.elementwise.exponential import exp, log_of_one_plus_exp
from microtape.ops.elementwise.selection import where
from microtape.ops.shared.choice import choose
from microtape.ops.shared.kinds import in_place, refusal_of, refusing
from microtape.tape.in_place import call_
from microtape.tape.operation import Binary, Operation, Unary, binary, call, unary

__all__ = ["relu", "relu_", "selu", "sigmoid", "sigmoid_"]


class SigmoidBackward0(Unary):
    formula = "z = σ(x) = 1 / (1 + e⁻ˣ)    ∂z/∂x = z · (1 - z)"

    @staticmethod
    def forward(x: Any) -> Any:
        if x.dtype == np.float16:  # in single precision, where e⁻ˣ does not overflow as early
            return SigmoidBackward0.forward(x.astype(np.float32)).astype(x.dtype)
        return 1 / (1 + np.exp(-x))

    def grad_x(self, g: Any, z: Any) -> Any:
        return binary(SigmoidBackwardBackward0, g, z)


class SigmoidBackwardBackward0(Binary):
    """The derivative of σ as an operation of its own: x is the gradient that arrived, y the sigmoid."""

    formula = "z = x · y · (1 - y)    ∂z/∂x = y · (1 - y),  ∂z/∂y = x · (1 - 2y)"
    op = "sigmoid_backward"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return x * ((1 - y) * y)

    def grad_x(self, g: Any, _x: Any, y: Any) -> Any:
        return binary(SigmoidBackwardBackward0, g, y)

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return g * x * (1 - 2 * y)


_NO_COMPLEX = NotImplementedError("clamp is not supported for complex types")
_RELU_REFUSES: dict[str, str | NotImplementedError] = {
    "b": "Boolean inputs not supported for relu",
    "c": _NO_COMPLEX,
}  # not by `refusing`, for speed
_AS_BITS = {size: np.dtype(f"i{size}") for size in (2, 4, 8)}


class ReluBackward0(Unary):
    formula = "z = max(x, 0)    ∂z/∂x = 1 where z > 0, else 0"
    floating = False

    @staticmethod
    def forward(x: Any) -> Any:
        if x.dtype.kind in "bc":
            raise refusal_of(x.dtype, _RELU_REFUSES[x.dtype.kind])
        return x.clip(0, np.inf) if x.dtype.kind == "f" else np.maximum(x, 0)  # clip takes a third of the time

    def grad_x(self, g: Any, z: Any) -> Any:
        return binary(ThresholdBackwardBackward0, g, z)


class ThresholdBackwardBackward0(Binary):
    """The derivative of relu as an operation of its own: x is the gradient that arrived, y the result of relu."""

    formula = "z = x where y > 0, else 0    ∂z/∂x = 1 where y > 0, else 0,  ∂z/∂y = 0"
    op = "relu_backward"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        if x.dtype.kind != "f":
            return np.where(y <= 0, 0, x)
        bits = (~(y <= 0)).astype(_AS_BITS[x.dtype.itemsize])  # a NaN lets the gradient through
        bits *= x.view(bits.dtype)  # bits times 0 are +0, whatever x is, in a third of np.where's time
        return bits.view(x.dtype)

    def grad_x(self, g: Any, _x: Any, y: Any) -> Any:
        return binary(ThresholdBackwardBackward0, g, y)

    def grad_y(self, g: Any, _x: Any, _y: Any) -> Any:
        return g * 0


@refusing(biuc="leaky_relu_cpu")
class LeakyReluBackward0(Operation):
    __slots__ = ("negative_slope",)
    formula = "z = x where x > 0, else a · x    ∂z/∂x = 1 where x > 0, else a"

    def __init__(self, negative_slope: float) -> None:
        super().__init__()
        self.negative_slope = negative_slope

    def forward(self, x: Any) -> Any:
        return choose(x > 0, x, x * self.negative_slope)

    def grad_x(self, g: Any, x: Any) -> Any:
        return where(x > 0, g, g * self.negative_slope)


class LeakyReluBackward1(LeakyReluBackward0):
    """In place: x is overwritten, so the sign of z decides."""

    __slots__ = ()

    def grad_x(self, g: Any, z: Any) -> Any:
        check_slope("leakyReLu", self.negative_slope)
        return where(z > 0, g, g * self.negative_slope)


@refusing(biuc="elu_cpu")
class EluBackward0(Operation):
    __slots__ = ("alpha", "scale")
    formula = "z = s · x where x > 0, else s · α · (eˣ - 1)    ∂z/∂x = s where x > 0, else s · α · eˣ"

    def __init__(self, alpha: float, scale: float) -> None:
        super().__init__()
        self.alpha, self.scale = alpha, scale

    def forward(self, x: Any) -> Any:
        return choose(x > 0, x, np.expm1(np.minimum(x, 0)) * self.alpha) * self.scale

    def grad_x(self, g: Any, x: Any) -> Any:
        below = exp(where(x <= 0, x, 0.0)) * self.alpha
        return g * where(x <= 0, below * self.scale, self.scale)


class EluBackward1(EluBackward0):
    """In place: x is overwritten, so the sign of z decides."""

    __slots__ = ()
    formula = "z = s · x where x > 0, else s · α · (eˣ - 1)    ∂z/∂x = s where z > 0, else z + s · α"

    def grad_x(self, g: Any, z: Any) -> Any:
        check_slope("elu", self.alpha)
        return g * where(z <= 0, z + self.scale * self.alpha, self.scale)


@refusing(biu="silu_cpu")
class SiluBackward0(Unary):
    formula = "z = x · σ(x)    ∂z/∂x = σ(x) · (1 + x · (1 - σ(x)))"
    floating = False

    @staticmethod
    def forward(x: Any) -> Any:
        return x * SigmoidBackward0.forward(x)

    def grad_x(self, g: Any, x: Any) -> Any:
        s = sigmoid(x)
        return g * (s * (1 + x * (1 - s)))


@refusing(biuc="softplus_cpu")
class SoftplusBackward0(Operation):
    __slots__ = ("beta", "threshold")
    formula = "z = ln(1 + e^(β · x)) / β    ∂z/∂x = σ(β · x)"

    def __init__(self, beta: float, threshold: float) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, x: Any) -> Any:
        return choose(x * self.beta > self.threshold, x, log_of_one_plus_exp(x * self.beta) / self.beta)

    def grad_x(self, g: Any, x: Any) -> Any:
        return where(x * self.beta > self.threshold, g, g * sigmoid(x * self.beta))


@refusing(biuc="log_sigmoid_cpu")
class LogSigmoidBackward0(Unary):
    formula = "z = ln σ(x)    ∂z/∂x = σ(-x)"
    op = "logsigmoid"
    floating = False

    @staticmethod
    def forward(x: Any) -> Any:
        return np.negative(log_of_one_plus_exp(-x), order="C")

    def grad_x(self, g: Any, x: Any) -> Any:
        return g * sigmoid(-x)


@refusing(b="Bool inputs not supported for hardtanh", c=_NO_COMPLEX)
class HardtanhBackward0(Operation):
    __slots__ = ("max_val", "min_val")
    arguments = ("min_val", "max_val")
    formula = "z = x within [l, h]    ∂z/∂x = 1 where l < x < h, else 0"

    def __init__(self, min_val: float, max_val: float) -> None:
        super().__init__()
        self.min_val, self.max_val = min_val, max_val

    def forward(self, x: Any) -> Any:
        if x.dtype.kind == "u" and min(self.min_val, self.max_val) < 0:
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
        return np.clip(x, self.min_val, self.max_val).astype(x.dtype, copy=False)

    def grad_x(self, g: Any, x: Any) -> Any:
        return where((x <= self.min_val) | (x >= self.max_val), 0.0, g)


def sigmoid(input: Any) -> Any:
    """1 / (1 + e⁻ˣ)."""
    return unary(SigmoidBackward0, input)


def check_slope(name: str, slope: float) -> None:
    """Raise RuntimeError for a negative slope, with which the sign of z does not tell the sign of x."""
    if slope < 0:
        raise RuntimeError(
            f"In-place {name} backward calculation is triggered with a negative slope which is not supported. This is "
            "caused by calling in-place forward function with a negative slope, please call out-of-place version "
            "instead."
        )


# `inplace=True` writes the result into the input, like the functions with an underscore


def relu(input: Any, inplace: bool = False) -> Any:
    """max(x, 0)."""
    return relu_(input) if inplace else unary(ReluBackward0, input)


def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """x where it is positive, else `negative_slope · x` (Maas et al., 2013)."""
    return (
        call_(LeakyReluBackward1(negative_slope), input) if inplace else call(LeakyReluBackward0(negative_slope), input)
    )


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x where it is positive, else `alpha · (eˣ - 1)` (Clevert et al., 2015)."""
    return call_(EluBackward1(alpha, 1.0), input) if inplace else call(EluBackward0(alpha, 1.0), input)


def selu(input: Any, inplace: bool = False) -> Any:
    """`elu` with the alpha and scale that keep mean 0 and variance 1 (Klambauer et al., 2017)."""
    alpha, scale = 1.6732632423543772, 1.0507009873554805
    return call_(EluBackward1(alpha, scale), input) if inplace else call(EluBackward0(alpha, scale), input)


def silu(input: Any, inplace: bool = False) -> Any:
    """x · σ(x), also called swish (Elfwing et al., 2017)."""
    return call_(SiluBackward0(), input) if inplace else unary(SiluBackward0, input)


def softplus(input: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """ln(1 + eᵇˣ) / b with b = `beta`; x itself where b · x is above `threshold`."""
    return call(SoftplusBackward0(beta, threshold), input)


def logsigmoid(input: Any) -> Any:
    """ln σ(x), without overflow."""
    return unary(LogSigmoidBackward0, input)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """x clamped to [min_val, max_val]; at the bounds the derivative is 0. Raises ValueError if min_val > max_val."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return (call_ if inplace else call)(HardtanhBackward0(min_val, max_val), input)


def relu6(input: Any, inplace: bool = False) -> Any:
    """x clamped to [0, 6]."""
    return hardtanh(input, 0.0, 6.0, inplace)


sigmoid_, relu_ = in_place(SigmoidBackward0), in_place(ReluBackward0)
