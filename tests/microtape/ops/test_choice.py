"""Choosing by bits, beside np.where."""

import numpy as np
import pytest

from microtape.ops.shared.choice import MANY, choose

ODD = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-45]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.int64])
@pytest.mark.parametrize("count", [6, MANY + 2])
def test_chooses_as_np_where_does(dtype, count):
    values = np.resize(ODD, count).astype(dtype) if np.dtype(dtype).kind != "i" else np.arange(count)
    condition = np.random.default_rng(0).random(count) < 0.5
    for x, y in ((values, values[::-1]), (values, 0), (2.5, values), (values[:1], values), (values, values.sum())):
        expected, chosen = np.where(condition, x, y), choose(condition, x, y)
        assert chosen.dtype == expected.dtype
        np.testing.assert_array_equal(chosen, expected)
        if expected.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(chosen), np.signbit(expected))


def test_all_are_broadcast():
    condition = np.random.default_rng(0).random((MANY, 1)) < 0.5
    x, y = np.arange(3.0), np.ones((2, 1, 1))
    np.testing.assert_array_equal(choose(condition, x, y), np.where(condition, x, y))
