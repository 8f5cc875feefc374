"""Derivatives agree with what evaluating the function alone gives; no torch, and no derivative code, is needed."""

from __future__ import annotations

import contextlib
import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microtape as mt
from microtape.autograd import forward_ad, graph
from microtape.utils.checkpoint import checkpoint
from tests.parity_ops.rows import operands
from tests.parity_ops.table import ROWS
from tests.support.finite_differences import check

SMOOTH = [row for row in ROWS if row.smooth]

ANALYTIC = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "square": np.square,
    "reciprocal": np.reciprocal,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "prod": np.prod,
    "cumprod": lambda x: np.cumprod(x, 0),
    "logsumexp": lambda x: np.log(np.sum(np.exp(x))),
    "softmax": lambda x: np.exp(x) / np.sum(np.exp(x)),
}
DIMENSION = ("cumprod", "logsumexp", "softmax")
TINY = 1e-30


def call_and_values(row):
    """The row's call as a function of the operands that require grad, and their values."""
    made = operands(row, mt)
    wanted = [i for i, operand in enumerate(made) if operand.requires_grad]

    def function(*inputs):
        arguments = operands(row, mt)
        for i, one in zip(wanted, inputs, strict=True):
            arguments[i] = one
        return row.call(mt, *arguments)

    return function, [made[i].detach().numpy() for i in wanted]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("row", SMOOTH, ids=[row.name for row in SMOOTH])
def test_derivatives_of_an_operation_agree_with_differences_of_its_values(row):
    function, values = call_and_values(row)
    check(function, values)


@pytest.mark.parametrize("name", ANALYTIC)
def test_derivatives_agree_with_a_complex_step(name):
    # f(x + ih · v) = f(x) + ih · f′(x) · v + O(h²): no difference is taken, so no digit is lost
    analytic = ANALYTIC[name]
    x, v = np.array([0.35, 0.6, 0.8]), np.array([0.5, -1.0, 0.25])
    moved = analytic(x + 1j * TINY * v).imag / TINY
    dimension = (0,) if name in DIMENSION else ()
    with forward_ad.dual_level():
        leaf = mt.tensor(x, requires_grad=True)
        z = getattr(mt, name)(forward_ad.make_dual(leaf, mt.tensor(v)), *dimension)
        np.testing.assert_allclose(forward_ad.unpack_dual(z).tangent.detach().numpy(), moved, rtol=1e-12)
        weights = np.linspace(1, 2, z.numel()).reshape(z.shape)
        (gradient,) = mt.autograd.grad(z, leaf, mt.tensor(weights))
        np.testing.assert_allclose((gradient.numpy() * v).sum(), (weights * moved).sum(), rtol=1e-12)
        second = (forward_ad.unpack_dual(gradient).tangent.numpy() * v).sum()
    firsts = [np.sum(weights * analytic(x + s * v + 1j * TINY * v).imag / TINY) for s in (-2e-4, -1e-4, 1e-4, 2e-4)]
    np.testing.assert_allclose(second, np.dot(firsts, [1, -8, 8, -1]) / 12e-4, rtol=1e-9, atol=1e-9)


# Random compositions

SINGLE = ("sin", "cos", "tanh", "sigmoid", "exp", "square", "atan", "asinh", "erf", "neg")
DOUBLE = ("mul", "add", "sub")
WRITTEN = ("sin", "cos", "tanh", "sigmoid", "square", "neg", "mul", "add", "sub")
HOOKS = {
    "nothing": contextlib.nullcontext,
    "hooks that copy": lambda: graph.saved_tensors_hooks(lambda x: x.detach().clone(), lambda x: x),
    "save_on_cpu": graph.save_on_cpu,
}
step = st.tuples(
    st.sampled_from(SINGLE + DOUBLE), st.integers(0, 9), st.sampled_from(["new", "written", "into a view"])
)


def composed(steps, x, y):
    """Apply the steps one after the other; each takes earlier results, damped so that numbers stay small."""
    results = [x, y, x * y]
    for name, which, how in steps:
        a, b = results[which % len(results)], results[-1]
        others = (b,) if name in DOUBLE else ()
        if how == "new" or name not in WRITTEN:
            results.append(getattr(a, name)(*others) * 0.5)
            continue
        z = a * 0.5  # a result that no node has saved
        target, others = (z, others) if how == "written" else (z[1:], tuple(other[1:] for other in others))
        getattr(target, name + "_")(*others)
        results.append(z)
    return results[-1] + results[-2]


def check_composition(steps, hooks, checkpointed, seed):
    function = functools.partial(composed, steps)

    def run(x, y):
        with HOOKS[hooks]():
            return checkpoint(function, x, y, use_reentrant=False) if checkpointed else function(x, y)

    random = np.random.default_rng(seed)
    check(run, [random.uniform(-1, 1, 3), random.uniform(-1, 1, 3)], seed)


compositions = given(
    st.lists(step, min_size=1, max_size=6), st.sampled_from(list(HOOKS)), st.booleans(), st.integers(0, 9999)
)


@compositions
def test_derivatives_of_compositions_agree_with_differences(steps, hooks, checkpointed, seed):
    check_composition(steps, hooks, checkpointed, seed)


@pytest.mark.slow
@settings(max_examples=1000)
@compositions
def test_derivatives_of_many_compositions_agree_with_differences(steps, hooks, checkpointed, seed):
    check_composition(steps, hooks, checkpointed, seed)


# The oracle itself


def wrong(first, second):
    """A cube whose first and second derivatives are multiplied by these numbers."""

    class Cube(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x * x * 3 * first + (x - x.detach()) * g * x * 6 * (second - 1)

        @staticmethod
        def jvp(ctx, t):
            (x,) = ctx.saved_tensors
            return 3 * x * x * t

    return Cube.apply


def test_the_oracle_finds_wrong_formulas():
    x = [np.array([0.5, -1.2, 2.0])]
    check(wrong(1, 1), x)
    with pytest.raises(AssertionError, match="reverse mode"):
        check(wrong(1.001, 1), x)
    with pytest.raises(AssertionError, match="forward over reverse"):
        check(wrong(1, 1.001), x)
