"""The fused multiply-add of processors, `x · factor + term` rounded once: torch scales random numbers with it."""

from __future__ import annotations

from typing import Any

import numpy as np

_SPLITTER = 2.0**27 + 1  # cuts a float64 into two halves of 26 bits


def multiply_add(x: np.ndarray[Any, Any], factor: float, term: float) -> np.ndarray[Any, Any]:
    """`x · factor + term` for an array, in x's dtype: rounded once if that is real.

    For float64, the rounding errors of the product (Dekker, 1971) and of the sums (Knuth, 1969) are computed exactly.
    They are themselves added with rounding to odd, after which the last addition rounds as if it were the only one
    (Boldo and Melquiond, 2008). Narrower numbers are computed in float64, which holds their product exactly.
    """
    if x.dtype.kind == "c":
        scaled: np.ndarray[Any, Any] = x * factor + term
        return scaled
    if x.dtype != np.float64:
        narrow = x.dtype.type
        return (x.astype(np.float64) * np.float64(narrow(factor)) + np.float64(narrow(term))).astype(x.dtype)
    product = x * factor
    rest, error_of_rest = _sum_and_error(term, _product_error(x, factor, product))
    total, error_of_total = _sum_and_error(product, rest)
    fused: np.ndarray[Any, Any] = total + _rounded_to_odd(error_of_rest, error_of_total)
    return fused


def _sum_and_error(a: Any, b: Any) -> tuple[Any, Any]:
    """a + b as it is rounded, and what rounding took away, exactly."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def _rounded_to_odd(a: Any, b: Any) -> Any:
    """a + b; if it is no float64, that one of its two neighbours whose last bit is 1."""
    total, error = _sum_and_error(a, b)
    is_even = total.view(np.int64) % 2 == 0
    return np.where((error != 0) & is_even, np.nextafter(total, np.copysign(np.inf, error)), total)


def _product_error(x: Any, factor: float, product: Any) -> Any:
    """x · factor - product, exactly."""
    x_high, f_high = (_SPLITTER * one - (_SPLITTER * one - one) for one in (x, factor))
    x_low, f_low = x - x_high, factor - f_high
    return x_low * f_low - (((product - x_high * f_high) - x_low * f_high) - x_high * f_low)
