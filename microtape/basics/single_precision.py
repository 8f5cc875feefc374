"""Logarithm, sine and cosine of float32 arrays, bit by bit as torch computes them for its normal numbers.

The polynomials and their order of evaluation are those of Moshier's Cephes library, which Pommier wrote down for vector
processors (`avx_mathfun.h`, 2012); each product that is added to is fused with the sum, as compilers do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_f = np.float32
_LOG = [7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1]
_LOG += [-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1]
_LOG_2 = (0.693359375, -2.12194440e-4)  # log 2 is their sum; the first part has few bits, so that products are exact
_ROOT_HALF = _f(0.707106781186547524)
_QUARTER_PI = (0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8)  # likewise π / 4
_COS = [2.443315711809948e-005, -1.388731625493765e-003, 4.166664568298827e-002]
_SIN = [-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1]


def log(x: Any) -> Any:
    """The logarithm of positive normal float32 numbers: x = m · 2ᵉ with m near 1, and log x = log m + e · log 2."""
    bits = x.view(np.uint32)
    exponent = (bits >> 23).astype(_f) - _f(126)
    mantissa = ((bits & 0x007FFFFF) | 0x3F000000).view(_f)  # in [0.5, 1)
    below = mantissa < _ROOT_HALF
    exponent -= below
    m = (mantissa - _f(1)) + np.where(below, mantissa, _f(0))
    square = m * m
    result = _polynomial(_LOG, m) * m
    result = _fused(result, square, exponent * _f(_LOG_2[1]))
    result = _fused(square, _f(-0.5), result)
    return _fused(exponent, _f(_LOG_2[0]), m + result)


def sine_and_cosine(x: Any) -> tuple[Any, Any]:
    """Both for float32 numbers that are not negative: x = k · π / 2 + r with r in ±π / 4, and a polynomial in r."""
    octant = ((x * _f(1.27323954473516)).astype(np.int32) + 1) & ~1
    r = x
    for part in _QUARTER_PI:
        r = _fused(octant.astype(_f), _f(-part), r)
    square = r * r
    cosine = _fused(_polynomial(_COS, square) * square, square, -(square * _f(0.5))) + _f(1)
    sine = _fused(_polynomial(_SIN, square) * square, r, r)
    swapped = (octant & 2) != 0
    sines, cosines = np.where(swapped, cosine, sine), np.where(swapped, sine, cosine)
    return np.where(octant & 4, -sines, sines), np.where((octant + 2) & 4, -cosines, cosines)


def _polynomial(coefficients: list[float], x: Any) -> Any:
    """Horner's rule."""
    result = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        result = _fused(result, x, _f(coefficient))
    return result


def _fused(x: Any, factor: Any, term: Any) -> Any:
    """`x · factor + term`, rounded once: float64 holds the product of two float32 numbers exactly."""
    return (x.astype(np.float64) * factor + term).astype(_f)
