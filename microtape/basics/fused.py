"""The fused multiply-add of processors, `x · factor + term` rounded once: torch scales random numbers with it."""

from __future__ import annotations

from typing import Any

import numpy as np

_SPLITTER = 2.0**27 + 1  # cuts a float64 into two halves of 26 bits


def multiply_add(x: np.ndarray[Any, Any], factor: float, term: float) -> np.ndarray[Any, Any]:
    """`x · factor + term` for an array, in x's dtype: rounded once if that is real.

    For float64, the rounding errors of the product (Dekker, 1971) and of the sum (Knuth, 1969) are computed exactly and
    added at the end. Narrower numbers are computed in float64, which holds their product exactly.
    """
    if x.dtype.kind == "c":
        scaled: np.ndarray[Any, Any] = x * factor + term
        return scaled
    if x.dtype != np.float64:
        narrow = x.dtype.type
        return (x.astype(np.float64) * np.float64(narrow(factor)) + np.float64(narrow(term))).astype(x.dtype)
    product = x * factor
    total = product + term
    back = total - product
    error_of_sum = (product - (total - back)) + (term - back)
    fused: np.ndarray[Any, Any] = total + (_product_error(x, factor, product) + error_of_sum)
    return fused


def _product_error(x: Any, factor: float, product: Any) -> Any:
    """x · factor - product, exactly."""
    x_high, f_high = (_SPLITTER * one - (_SPLITTER * one - one) for one in (x, factor))
    x_low, f_low = x - x_high, factor - f_high
    return x_low * f_low - (((product - x_high * f_high) - x_low * f_high) - x_high * f_low)
