"""Special functions: the gamma function's logarithm and its derivatives, logit, the inverse error function, sinc."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microtape.ops.elementwise.arithmetic import times_number
from microtape.ops.elementwise.exponential import exp, exp2
from microtape.ops.elementwise.gaussian import erf_of
from microtape.ops.elementwise.selection import where
from microtape.ops.elementwise.trigonometric import cos
from microtape.ops.shared.choice import choose
from microtape.ops.shared.kinds import in_place, named, refusing
from microtape.tape.in_place import call_
from microtape.tape.operation import Binary, Unary, binary, call, unary
from microtape.tape.tensor_state import TensorState

__all__ = [
    "deg2rad",
    "deg2rad_",
    "digamma",
    "erfinv",
    "lgamma",
    "logaddexp2",
    "logit",
    "logit_",
    "polygamma",
    "rad2deg",
    "rad2deg_",
    "sinc",
    "sinc_",
]


@refusing(c="deg2rad is not supported for complex tensors.")
@named("Deg2RadBackward0")
class Deg2Rad(Unary):
    formula = "z = x · π / 180    ∂z/∂x = π / 180"

    @staticmethod
    def forward(x: Any) -> Any:
        return x * (math.pi / 180)

    def grad_x(self, g: Any) -> Any:
        return times_number(g, math.pi / 180)


@refusing(c="rad2deg is not supported for complex tensors.")
@named("Rad2DegBackward0")
class Rad2Deg(Unary):
    formula = "z = x · 180 / π    ∂z/∂x = 180 / π"

    @staticmethod
    def forward(x: Any) -> Any:
        return x * (180 / math.pi)

    def grad_x(self, g: Any) -> Any:
        return times_number(g, 180 / math.pi)


class SincBackward0(Unary):
    formula = "z = sin(πx) / πx, 1 at x = 0    ∂z/∂x = (cos(πx) - z) / x, 0 at x = 0"

    @staticmethod
    def forward(x: Any) -> Any:
        return choose(x == 0, np.ones_like(x), np.sin(math.pi * x) / (math.pi * x))

    def grad_x(self, g: Any, x: Any) -> Any:
        slope = (cos(times_number(x, math.pi)) - sinc(x)) / x
        return g * where(x == 0, 0.0, slope)


@refusing(c="lgamma_vml_cpu")
class LgammaBackward0(Unary):
    formula = "z = ln |gamma(x)|    ∂z/∂x = digamma(x)"

    @staticmethod
    def forward(x: Any) -> Any:
        return np.asarray(_log_gamma(x)).astype(x.dtype, order="C")  # as torch's

    def grad_x(self, g: Any, x: Any) -> Any:
        return g * digamma(x)


@np.vectorize(otypes=[float])
def _log_gamma(x: Any) -> float:
    """ln |Γ(x)| of a number; infinite at the poles 0, -1, -2, ..."""
    return math.inf if x <= 0 and x == math.floor(x) else math.lgamma(x)


@refusing(c="digamma")
class DigammaBackward0(Unary):
    formula = "z = digamma(x), the derivative of ln gamma(x)    ∂z/∂x = polygamma(1, x)"

    @staticmethod
    def forward(x: Any) -> Any:
        return _digamma(x.astype(np.float64)).astype(x.dtype, order="C")

    def grad_x(self, g: Any, x: Any) -> Any:
        return g * polygamma(1, x)


def _digamma(x: Any) -> Any:
    """ψ of an array: reflected to x > 0, raised to x ≥ 10 by ψ(x) = ψ(x + 1) - 1/x, then Stirling's series.

    Source: Abramowitz and Stegun, 6.3.5, 6.3.7 and 6.3.18. At 0 it is infinite, at -1, -2, ... NaN.
    """
    below = x < 0
    positive = choose(below, 1 - x, x)
    total = np.zeros_like(x)
    while np.any(small := positive < 10):
        total = total - choose(small, 1 / positive, 0.0)
        positive = choose(small, positive + 1, positive)
    inverse = 1 / (positive * positive)
    series = 0.0
    for term in (1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12):  # B₂ₖ / 2k, the last first
        series = inverse * (term + series)
    total = total + np.log(positive) - 0.5 / positive - series
    total = choose(below, total - math.pi / np.tan(math.pi * (x - np.floor(x))), total)
    total = choose(below & (x == np.floor(x)), np.nan, total)
    return choose(x == 0, np.copysign(np.inf, -x), total)


@refusing(c="{self.kernel}")
class PolygammaBackward0(Unary):
    __slots__ = ("order",)
    formula = "z = polygamma(n, x), derivative number n of digamma    ∂z/∂x = polygamma(n + 1, x)"

    def __init__(self, order: int) -> None:
        super().__init__()
        self.order = order

    @property
    def kernel(self) -> str:
        """torch's name for the computation, which is in its errors."""
        return ("digamma", "trigamma")[self.order] if self.order < 2 else "polygamma"

    def forward(self, x: Any) -> Any:
        if not self.order:
            return DigammaBackward0.forward(x)
        n = self.order
        value = (-1) ** (n + 1) * math.factorial(n) * _zeta(n + 1, x.astype(np.float64))
        return value.astype(x.dtype)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g * polygamma(self.order + 1, x)


_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)


def _zeta(s: int, x: Any) -> Any:
    """Hurwitz' zeta function Σ (x + k)⁻ˢ of an array, by the formula of Euler and Maclaurin from x + k ≥ 10 on."""
    total = np.zeros_like(x)
    while np.any(small := x < 10):
        total = total + choose(small, x ** float(-s), 0.0)
        x = choose(small, x + 1, x)
    total = total + x ** (1.0 - s) / (s - 1) + x ** float(-s) / 2
    factor = float(s)
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        total = total + bernoulli / math.factorial(2 * k) * factor * x ** (1.0 - s - 2 * k)
        factor *= (s + 2 * k - 1) * (s + 2 * k)
    return total


@refusing(c="logit_cpu")
class LogitBackward0(Unary):
    __slots__ = ("eps",)
    formula = "z = ln(x / (1 - x)), x within [ε, 1 - ε]    ∂z/∂x = 1 / (x · (1 - x)) inside"

    def __init__(self, eps: float | None) -> None:
        super().__init__()
        self.eps = eps

    def forward(self, x: Any) -> Any:
        x = x if self.eps is None else np.clip(x, x.dtype.type(self.eps), x.dtype.type(1 - self.eps))
        return np.log(x / (1 - x))

    def grad_x(self, g: Any, x: Any) -> Any:
        slope = g / (x * (1 - x))
        if self.eps is None:
            return where((x < 0) | (x > 1), math.nan, slope)
        return where((x < self.eps) | (x > 1 - self.eps), 0.0, slope)


@refusing(c="erfinv_vml_cpu")
class ErfinvBackward0(Unary):
    formula = "z = erf⁻¹(x)    ∂z/∂x = √π/2 · exp(z²)"

    @staticmethod
    def forward(x: Any) -> Any:
        return _inverse_erf(x.astype(np.float64)).astype(x.dtype)

    def grad_x(self, g: Any, z: Any) -> Any:
        return g * times_number(exp(z * z), math.sqrt(math.pi) / 2)


_CENTRE: tuple[float, ...] = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
)
_CENTRE = (*_CENTRE, -0.00417768164, 0.246640727, 1.50140941)
_TAIL: tuple[float, ...] = (
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
)
_TAIL = (*_TAIL, 0.00943887047, 1.00167406, 2.83297682)


def _inverse_erf(x: Any) -> Any:
    """erf⁻¹ of an array: a polynomial (M. Giles, "Approximating the erfinv function", 2010), then two Newton steps."""
    w = -np.log((1 - x) * (1 + x))
    z = x * choose(w < 5, np.polyval(_CENTRE, w - 2.5), np.polyval(_TAIL, np.sqrt(w) - 3))
    for _ in range(2):
        z = z - (erf_of(z) - x) / (2 / math.sqrt(math.pi) * np.exp(-z * z))
    return choose(np.abs(x) == 1, np.copysign(np.inf, x), choose(np.abs(x) > 1, np.nan, z))


@refusing(biu="logaddexp2_cpu", c="logaddexp2_cpu")
@named("Logaddexp2Backward0")
class Logaddexp2(Binary):
    formula = "z = log₂(2ˣ + 2ʸ)    ∂z/∂x = 2ˣ⁻ᶻ,  ∂z/∂y = 2ʸ⁻ᶻ"
    forward = staticmethod(np.logaddexp2)

    def grad_x(self, g: Any, x: Any, _y: Any, z: Any) -> Any:
        return g * exp2(x - z)

    def grad_y(self, g: Any, _x: Any, y: Any, z: Any) -> Any:
        return g * exp2(y - z)


def deg2rad(input: Any) -> Any:
    """An angle in degrees, in radians."""
    return unary(Deg2Rad, input)


def rad2deg(input: Any) -> Any:
    """An angle in radians, in degrees."""
    return unary(Rad2Deg, input)


def sinc(input: Any) -> Any:
    """sin(πx) / πx, which is 1 at x = 0."""
    return unary(SincBackward0, input)


def lgamma(input: Any) -> Any:
    """The logarithm of |Γ(x)|; Γ(n + 1) = n!."""
    return unary(LgammaBackward0, input)


def digamma(input: Any) -> Any:
    """The derivative of ln Γ(x)."""
    return unary(DigammaBackward0, input)


def polygamma(n: int, input: Any) -> Any:
    """The n-th derivative of the digamma function. Raises RuntimeError for a negative `n`."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return call(PolygammaBackward0(n), input)


def logit(input: Any, eps: float | None = None) -> Any:
    """ln(x / (1 - x)), the inverse of sigmoid; with `eps`, x is first clamped to [eps, 1 - eps]."""
    return call(LogitBackward0(eps), input)


def erfinv(input: Any) -> Any:
    """The inverse of `erf`: infinite at ±1, NaN beyond."""
    return unary(ErfinvBackward0, input)


def logaddexp2(input: Any, other: Any) -> Any:
    """log₂(2ˣ + 2ʸ), without overflow."""
    return binary(Logaddexp2, input, other)


def polygamma_of(x: TensorState, n: int) -> Any:
    """The method `x.polygamma(n)`."""
    return polygamma(n, x)


def logit_(x: TensorState, eps: float | None = None) -> Any:
    """`logit`, in place."""
    return call_(LogitBackward0(eps), x)


deg2rad_, rad2deg_, sinc_ = in_place(Deg2Rad), in_place(Rad2Deg), in_place(SincBackward0)
lgamma_, digamma_, erfinv_ = in_place(LgammaBackward0), in_place(DigammaBackward0), in_place(ErfinvBackward0)
