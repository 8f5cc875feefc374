"""The fused multiply-add rounds once; logarithm, sine and cosine are within one unit of float32's last place."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from microtape.basics.fused import multiply_add
from microtape.basics.single_precision import log, sine_and_cosine

UNIT = st.floats(2.0**-53, 1.0, width=64)
NARROW = st.floats(2.0**-24, 1.0, width=32)


@given(UNIT, st.floats(0.001, 1000), st.floats(-1000, 1000))
@example(0.3333333333333333, 1.5, -2.225073858507e-311)  # the term breaks a tie
def test_float64_is_rounded_once(x: float, factor: float, term: float) -> None:
    exact = Fraction(x) * Fraction(factor) + Fraction(term)
    assert multiply_add(np.array([x]), factor, term)[0] == float(exact)


@given(NARROW, st.floats(2.0**-10, 1000, width=32), st.floats(-1000, 1000, width=32))
def test_float32_is_rounded_once(x: float, factor: float, term: float) -> None:
    result = multiply_add(np.array([x], np.float32), factor, term)
    exact = Fraction(x) * Fraction(factor) + Fraction(term)
    below, above = (np.nextafter(result[0], np.float32(to)) for to in (-np.inf, np.inf))
    assert result.dtype == np.float32
    assert abs(Fraction(float(result[0])) - exact) <= min(abs(Fraction(float(one)) - exact) for one in (below, above))


@given(st.lists(NARROW, min_size=1, max_size=20))
def test_the_logarithm_is_near(values: list[float]) -> None:
    x = np.array(values, np.float32)
    np.testing.assert_allclose(log(x), np.log(x.astype(np.float64)), rtol=2e-7, atol=1e-7)


@given(st.lists(st.floats(0, 6.25, width=32), min_size=1, max_size=20))
def test_sine_and_cosine_are_near(values: list[float]) -> None:
    x = np.array(values, np.float32)
    sine, cosine = sine_and_cosine(x)
    np.testing.assert_allclose(sine, np.sin(x.astype(np.float64)), atol=2e-7)
    np.testing.assert_allclose(cosine, np.cos(x.astype(np.float64)), atol=2e-7)
