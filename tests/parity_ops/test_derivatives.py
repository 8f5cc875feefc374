"""Every smooth row of the table has the derivatives that finite differences have, forwards too. No torch needed."""

from __future__ import annotations

import numpy as np
import pytest

import microtape
from microtape.autograd import forward_ad, gradcheck, gradgradcheck
from tests.parity_ops.rows import operands
from tests.parity_ops.table import ROWS

SMOOTH = [row for row in ROWS if row.smooth]


def call_and_inputs(row):
    """The row's call as a function of those operands that require grad, and these."""
    made = operands(row, microtape)
    wanted = [i for i, operand in enumerate(made) if operand.requires_grad]

    def function(*inputs):
        arguments = list(made)
        for i, one in zip(wanted, inputs, strict=True):
            arguments[i] = one
        return row.call(microtape, *arguments)

    return function, [made[i] for i in wanted]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("row", SMOOTH, ids=[row.name for row in SMOOTH])
def test_a_row_has_the_derivatives_that_finite_differences_have(row):
    function, inputs = call_and_inputs(row)
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs)


@pytest.mark.parametrize("row", SMOOTH, ids=[row.name for row in SMOOTH])
def test_a_row_has_the_same_derivative_forwards_and_backwards(row):
    function, inputs = call_and_inputs(row)
    random = np.random.default_rng(5)
    directions = [like(random, x) for x in inputs]
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x.detach(), v.clone()) for x, v in zip(inputs, directions, strict=True)]
        tangents = [forward_ad.unpack_dual(z).tangent for z in listed(function(*duals))]
    pairs = [(z, t) for z, t in zip(listed(function(*inputs)), tangents, strict=True) if z.requires_grad]
    firsts = [like(random, z) for z, _ in pairs]
    gradients = microtape.autograd.grad([z for z, _ in pairs], inputs, firsts, allow_unused=True)
    forwards = sum(inner(u, t) for u, (_, t) in zip(firsts, pairs, strict=True) if t is not None)
    backwards = sum(inner(g, v) for g, v in zip(gradients, directions, strict=True) if g is not None)
    assert forwards == pytest.approx(backwards, rel=1e-6, abs=1e-7)


def listed(result):
    return list(result) if isinstance(result, tuple | list) else [result]


def like(random, tensor):
    """A random tensor of the same shape and dtype."""
    numbers = random.normal(size=tuple(tensor.shape))
    if tensor.dtype.kind == "c":
        numbers = numbers + 1j * random.normal(size=tuple(tensor.shape))
    return microtape.tensor(np.asarray(numbers, tensor.dtype))


def inner(a, b):
    """The inner product, in which a complex number counts as two real ones."""
    return float(np.sum((a.numpy().conj() * b.numpy()).real))
