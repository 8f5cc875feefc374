"""Coins of one probability: torch throws them with a library of Intel's on Intel's processors, elsewhere as here.

What torch does elsewhere is to compare its float64 numbers from 0 to 1 with the probability, which can be asked of it
on every processor.
"""

import numpy as np
import pytest

import microtape as mt

pytestmark = pytest.mark.parity
CHANCES = [0.0, 0.3, 0.5, 1.0]


def throws(chance: float, count: int) -> np.ndarray:
    """torch's, and the number it draws next."""
    import torch

    torch.manual_seed(4)
    thrown = torch.rand(count, dtype=torch.float64) < chance
    return np.append(thrown.numpy(), torch.rand(1).numpy())


@pytest.mark.parametrize("dtype", [mt.float32, mt.float64, mt.int64], ids=str)
@pytest.mark.parametrize("chance", CHANCES)
def test_bernoulli(chance, dtype):
    mt.manual_seed(4)
    thrown = mt.empty(40, dtype=dtype).bernoulli_(chance).numpy()
    np.testing.assert_array_equal(np.append(thrown, mt.rand(1).numpy()), throws(chance, 40))


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("chance", CHANCES[1:3])
def test_dropout_keeps_what_torch_keeps(chance, inplace):
    mt.manual_seed(4)
    x = mt.ones(4, 10, requires_grad=True)
    dropped = mt.nn.functional.dropout(x * 1, chance, inplace=inplace)
    kept = throws(1 - chance, 40)[:-1].reshape(4, 10)
    np.testing.assert_allclose(dropped.detach().numpy(), kept / (1 - chance), rtol=1e-6)
    dropped.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), kept / (1 - chance), rtol=1e-6)


def test_dropping_all_takes_no_numbers():
    mt.manual_seed(4)
    dropped = mt.nn.functional.dropout(mt.ones(40), 1.0)
    assert not dropped.numpy().any()
    np.testing.assert_array_equal(mt.rand(1).numpy(), throws(0.5, 0))
