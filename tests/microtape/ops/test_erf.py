"""erf and erfc, which numpy does not have, beside Python's, which take one number at a time."""

import math

import numpy as np
import pytest

from microtape.ops.elementwise.gaussian import looked_up

each_function = pytest.mark.parametrize("function", [math.erf, math.erfc])


@each_function
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-4, 0.1, 1, 10])
def test_they_are_right_to_the_last_bits(function, dtype, scale):
    x = (np.random.default_rng(0).normal(size=1000) * scale).astype(dtype)
    expected = np.vectorize(function)(x.astype(np.float64))
    kind = np.finfo(dtype)
    np.testing.assert_allclose(looked_up(function, x), expected, rtol=8 * kind.eps, atol=16 * kind.smallest_subnormal)


@each_function
def test_of_what_is_no_number(function):
    x = np.array([np.inf, -np.inf, np.nan, 0.0])
    with np.errstate(invalid="ignore", under="ignore"):
        np.testing.assert_array_equal(looked_up(function, x), [function(one) for one in x])
