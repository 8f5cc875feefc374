"""Softmax of many short rows, which is computed by columns, and of one row, which is not."""

import numpy as np
import pytest

import microtape as mt

FUNCTIONS = {
    "softmax": lambda x: mt.softmax(x, 1),
    "log_softmax": lambda x: mt.log_softmax(x, 1),
    "logsumexp": lambda x: mt.logsumexp(x, 1, keepdim=True),
}


def value_and_gradient(function, rows):
    x = mt.tensor(rows, requires_grad=True)
    z = function(x)
    z.backward(mt.ones_like(z) * mt.arange(1, z.shape[1] + 1))
    return z.detach().numpy(), x.grad.numpy()


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(32, 1), (40, 10), (33, 16), (33, 17), (40, 0), (0, 10)])
def test_every_row_is_as_it_would_be_alone(name, dtype, shape):
    function = FUNCTIONS[name]
    rows = np.random.default_rng(0).normal(0, 3, shape).astype(dtype)
    if rows.size > 20:
        rows[0, 0], rows[1, 0], rows[2, 0], rows[3] = np.nan, np.inf, -np.inf, -np.inf
    together = value_and_gradient(function, rows)
    tolerance = 1e-2 if dtype == "float16" else 1e-5
    for i in range(shape[0]):
        alone = value_and_gradient(function, rows[i : i + 1])
        for found, expected in zip(together, alone, strict=True):
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found[i : i + 1], expected, rtol=tolerance, atol=tolerance)
    assert together[1].shape == shape
