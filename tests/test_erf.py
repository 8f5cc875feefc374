"""erf, which numpy does not have, beside Python's, which takes one number at a time."""

import math

import numpy as np
import pytest

from microtape.ops.gaussian import erf_of


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-4, 0.1, 1, 10])
def test_erf_is_right_to_the_last_bits(dtype, scale):
    x = (np.random.default_rng(0).normal(size=1000) * scale).astype(dtype)
    expected = np.vectorize(math.erf)(x.astype(np.float64))
    kind = np.finfo(dtype)
    np.testing.assert_allclose(erf_of(x), expected, rtol=8 * kind.eps, atol=kind.smallest_subnormal)


def test_erf_of_what_is_no_number():
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(erf_of(np.array([np.inf, -np.inf, np.nan, 0.0])), [1, -1, np.nan, 0])
