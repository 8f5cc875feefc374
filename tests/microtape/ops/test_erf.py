"""erf and erfc, which numpy does not have, beside Python's, which take one number at a time."""

import functools
import math

import numpy as np
import pytest

from microtape.ops.elementwise.gaussian import erf_of, looked_up

OURS = {math.erf: erf_of, math.erfc: functools.partial(looked_up, math.erfc)}
each_function = pytest.mark.parametrize("function", OURS)


@each_function
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-4, 0.1, 1, 10])
def test_they_are_right_to_the_last_bits(function, dtype, scale):
    x = (np.random.default_rng(0).normal(size=1000) * scale).astype(dtype)
    expected = np.vectorize(function)(x.astype(np.float64))
    kind = np.finfo(dtype)
    np.testing.assert_allclose(OURS[function](x), expected, rtol=8 * kind.eps, atol=16 * kind.smallest_subnormal)


@each_function
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_of_what_is_no_number(function, dtype):
    x = np.array([np.inf, -np.inf, np.nan, 0.0], dtype)
    with np.errstate(invalid="ignore", under="ignore"):
        np.testing.assert_array_equal(OURS[function](x), [function(one) for one in x])
