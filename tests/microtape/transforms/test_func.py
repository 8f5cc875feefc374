"""Function transforms: what they compute agrees with formulas, and modules run with other parameters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
from microtape import func

vectors = st.lists(st.floats(-3, 3), min_size=1, max_size=4).map(lambda numbers: mt.tensor(numbers, dtype=mt.float64))


def close(a, b):
    return np.allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-9)


@given(vectors)
def test_the_gradient_of_a_sum_of_cubes(x):
    gradient, value = func.grad_and_value(lambda x: (x**3).sum())(x)
    assert close(gradient, 3 * x**2)
    assert close(value, (x**3).sum())
    assert not gradient.requires_grad


@given(vectors)
def test_both_jacobians_are_one(x):
    def outer(x):
        return x.sin().unsqueeze(1) * x.cos()

    assert close(func.jacrev(outer)(x), func.jacfwd(outer)(x))


@given(vectors)
def test_the_hessian_is_the_jacobian_of_the_gradient(x):
    def energy(x):
        return (x * x).sum() ** 2 + x.prod()

    assert close(func.hessian(energy)(x), func.jacrev(func.grad(energy))(x))


@given(vectors)
def test_a_product_with_the_jacobian_from_either_side_is_one_number(x):
    def f(x):
        return x.exp() * x.sum()

    v = x + 1
    _, pushed = func.jvp(f, (x,), (v,))
    _, pull = func.vjp(f, x)
    assert np.allclose((pushed * v).sum().item(), (pull(v)[0] * v).sum().item())


def test_vmap_is_a_loop():
    x = mt.arange(6.0).reshape(3, 2)
    assert mt.vmap(lambda row: row * row.sum())(x).tolist() == [(row * row.sum()).tolist() for row in x]


class Linear:
    """A module as `functional_call` sees one."""

    def __init__(self):
        self._parameters = {"weight": mt.ones(2, 2), "bias": None}
        self._buffers, self._modules = {"scale": mt.tensor(2.0)}, {}

    def __getattr__(self, name):
        return {**vars(self)["_parameters"], **vars(self)["_buffers"]}[name]

    def __call__(self, x):
        return self.weight @ x * self.scale


class Net:
    def __init__(self):
        self.w, self._modules = mt.ones(2), {"inner": Linear()}

    def __call__(self, x):
        return self._modules["inner"](x) + self.w


def test_a_module_runs_with_other_parameters_and_keeps_its_own():
    net, x = Net(), mt.ones(2)
    given = {"w": mt.zeros(2), "inner.weight": mt.eye(2)}
    assert func.functional_call(net, given, (x,)).tolist() == [2.0, 2.0]
    assert func.functional_call(net, (given, {"inner.scale": mt.tensor(1.0)}), x).tolist() == [1.0, 1.0]
    assert net(x).tolist() == [5.0, 5.0]
    gradient = func.grad(lambda p: func.functional_call(net, p, x).sum())({"inner.weight": mt.eye(2)})
    assert gradient["inner.weight"].tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_a_name_that_a_module_does_not_have_is_refused_and_changes_nothing():
    net = Net()
    with pytest.raises(AttributeError, match=r"Net has no parameter or buffer 'inner\.height'"):
        func.functional_call(net, {"w": mt.zeros(2), "inner.height": mt.eye(2)}, (mt.ones(2),))
    assert net.w.tolist() == [1.0, 1.0]
