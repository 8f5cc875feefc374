"""The error functions, and gelu, which multiplies a number by the normal distribution function."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from microtape.ops.elementwise.exponential import exp
from microtape.ops.elementwise.trigonometric import tanh
from microtape.ops.shared.chunked import in_chunks
from microtape.ops.shared.kinds import in_place, named, refusing
from microtape.tape.operation import Unary, unary

__all__ = ["erf", "erf_", "erfc", "erfc_"]

_STEPS = 32  # points of the table for each unit of x
_PLACES: dict[Callable[..., float], dict[int, int]] = {  # of Gauss's rule, by itemsize
    math.erf: {4: 2, 8: 3},
    math.erfc: {4: 3, 8: 5},  # steeper, and needed to the last bits where it is small
}
_FURTHEST: dict[Callable[..., float], int] = {
    math.erf: 6,
    math.erfc: 28,
}  # beyond this |x| they are constant to the last bit


@functools.cache
def _table(function: Callable[..., float], dtype: Any) -> Any:
    """erf or erfc at the points of the table, in ascending order."""
    last = _FURTHEST[function] * _STEPS
    return np.array([function(i / _STEPS) for i in range(-last, last + 1)], dtype)


@functools.cache
def _gauss(places: int) -> Any:
    """Gauss's rule: places within [-1, 1] and their weights."""
    return [(float(place), float(share)) for place, share in zip(*np.polynomial.legendre.leggauss(places), strict=True)]


def looked_up(function: Callable[..., float], x: Any) -> Any:
    """erf or erfc for an array of floats: its value at the nearest point of a table, plus the integral from there to x.

    Over so short a distance s from the point p, Gauss's rule is exact to the last bits, and so is e⁻ᵗ² computed as
    e⁻ᵖ² · e⁻⁽²ᵖ⁺ˢ⁾ˢ. NaN stays NaN.
    """
    last = _FURTHEST[function]
    inside = (x.astype(np.float32) if x.dtype == np.float16 else x).clip(-last, last)
    nearest = np.rint(inside * _STEPS)
    point = nearest / _STEPS
    half = (inside - point) / 2
    ways = [(half * (1 + place), share) for place, share in _gauss(_PLACES[function][inside.itemsize])]
    integral = half * np.exp(-point * point) * sum([np.exp(-(2 * point + s) * s) * share for s, share in ways])
    start = _table(function, inside.dtype).take((nearest + last * _STEPS).astype(np.intp), mode="clip")
    factor = 2 / math.sqrt(math.pi) * (1 if function is math.erf else -1)
    return (start + integral * factor).astype(x.dtype, copy=False)


_OF_SQUARES = (
    5.42141299e-09,
    2.75809367e-08,
    -4.79465096e-06,
    8.45967857e-05,
    -6.14838677e-04,
    -1.95287728e-04,
    1.02769864e-01,
    1.12837925e00,
)
"""The coefficients of p in `erf_of`, the highest first: fitted to artanh(erf x) / x for |x| ≤ 4, with erf's weights."""


def erf_of(x: Any) -> Any:
    """erf for an array of floats, right to the last bits. For single precision it is tanh(x · p(x²)).

    The argument of tanh that gives erf x is so smooth that a short polynomial p suffices, in a quarter of the time of
    the table.
    """
    if x.dtype == np.float64:
        return looked_up(math.erf, x)
    inside = x.astype(np.float32, copy=False).clip(-4, 4)  # beyond, erf is ±1 to the last bit
    square = inside * inside
    z = square * _OF_SQUARES[0]
    for coefficient in _OF_SQUARES[1:-1]:
        z += coefficient
        z *= square
    z += _OF_SQUARES[-1]
    z *= inside
    return np.tanh(z).astype(x.dtype, copy=False)


@refusing(c="erf_vml_cpu")
class ErfBackward0(Unary):
    formula = "z = 2/√π · ∫₀ˣ e⁻ᵗ² dt    ∂z/∂x = 2/√π · e⁻ˣ²"

    @staticmethod
    def forward(x: Any) -> Any:
        return in_chunks(erf_of, x)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g * (2 / math.sqrt(math.pi) * exp(-x * x))


@refusing(c="erfc_vml_cpu")
class ErfcBackward0(Unary):
    formula = "z = 1 - erf x    ∂z/∂x = -2/√π · e⁻ˣ²"

    @staticmethod
    def forward(x: Any) -> Any:
        return in_chunks(lambda x: looked_up(math.erfc, x), x)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g * (-2 / math.sqrt(math.pi) * exp(-x * x))


@refusing(biuc="GeluKernelImpl")
class GeluBackward0(Unary):
    formula = "z = x · Φ(x)    ∂z/∂x = Φ(x) + x · φ(x),  Φ the normal distribution, φ its density"
    floating = False

    @staticmethod
    def forward(x: Any) -> Any:
        return in_chunks(lambda x: x * (0.5 * (1 + erf_of(x * math.sqrt(0.5)))), x)

    def grad_x(self, g: Any, x: Any) -> Any:
        return in_chunks(self.through, g, x) if isinstance(x, np.ndarray) else self.through(g, x)

    @staticmethod
    def through(g: Any, x: Any) -> Any:
        """The gradient of x, for arrays or Tensors."""
        below = 0.5 * (1 + erf(x * math.sqrt(0.5)))
        density = exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
        return g * (below + x * density)


@refusing(biuc="GeluKernelImpl")
@named("GeluBackward0")
class TanhGelu(Unary):
    """`gelu(x, approximate="tanh")`: torch's node has the same name."""

    formula = (
        "z = x/2 · (1 + tanh u),  u = √(2/π) · (x + 0.044715 x³)    ∂z/∂x = (1 + tanh u)/2 + x/2 · (1 - tanh² u) · u′"
    )
    floating = False

    @staticmethod
    def forward(x: Any) -> Any:
        return 0.5 * x * (1 + np.tanh(TanhGelu.inner(x)))

    @staticmethod
    def inner(x: Any) -> Any:
        """The u of the formula."""
        return math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)

    def grad_x(self, g: Any, x: Any) -> Any:
        t = tanh(self.inner(x))
        inner_derivative = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
        return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner_derivative)


def erf(input: Any) -> Any:
    """The error function: the share of a normal distribution within ±√2 · x standard deviations."""
    return unary(ErfBackward0, input)


def erfc(input: Any) -> Any:
    """1 - erf(x), accurate for large x."""
    return unary(ErfcBackward0, input)


def gelu(input: Any, approximate: str = "none") -> Any:
    """x · Φ(x), with Φ the normal distribution (Hendrycks and Gimpel, 2016); `approximate="tanh"` is faster.

    Raises RuntimeError for any other approximation.
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return unary(GeluBackward0 if approximate == "none" else TanhGelu, input)


erf_, erfc_ = in_place(ErfBackward0), in_place(ErfcBackward0)
