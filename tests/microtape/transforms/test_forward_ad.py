"""Forward-mode AD: tangents agree with finite differences, and follow views, in-place writes and gradients."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
from microtape.autograd import forward_ad as fw
from tests.support.finite_differences import check

RNG = np.random.default_rng(0)
X = RNG.uniform(0.2, 1.5, (2, 3))
T = RNG.normal(size=(2, 3))
W = RNG.uniform(0.2, 1.5, (2, 3))
EPS = 1e-6

OPERATIONS = {
    "add": lambda x, w: x + w,
    "multiply": lambda x, w: x * w * x,
    "divide": lambda x, w: w / x,
    "power": lambda x, w: x**w + 2**x + x**3,
    "elementwise": lambda x, w: x.exp().log1p().sqrt().sin().tanh(),
    "piecewise": lambda x, w: (x - 0.7).relu() + x.clamp(0.5, 1.0) + (x - 1).abs(),
    "select": lambda x, w: mt.where(x > w, x, w * x) + mt.maximum(x, w) + mt.minimum(x, w),
    "sum": lambda x, w: x.sum(0) * x.mean() + x.sum(1, keepdim=True),
    "extreme": lambda x, w: x.amax(1) + x.max() - x.min(),
    "extreme with index": lambda x, w: x.max(1).values * x.sort(1).values[:, 1],
    "statistics": lambda x, w: x.var(1) + x.std() + x.prod(1),
    "scan": lambda x, w: x.cumsum(1) * x.cumprod(0),
    "softmax": lambda x, w: x.softmax(1) + x.log_softmax(0) + x.logsumexp(1, keepdim=True),
    "matrix": lambda x, w: (x @ w.T) @ x,
    "vector": lambda x, w: (x[0] @ w[1]) * (x @ w[0]).sum(),
    "shape": lambda x, w: x.T.reshape(2, 3).flip(0).roll(1, 1).repeat(2, 1),
    "join": lambda x, w: mt.cat([x, w, x * x]).sum(1) + mt.stack([x, x], 0).sum(),
    "split": lambda x, w: x.split(1, 1)[1] * x.unbind(0)[1].sum(),
    "index": lambda x, w: x[[0, 1, 0], [2, 1, 2]] * x[:, 1:].sum() * x[0, ::2].sum(),
    "gather": lambda x, w: x.gather(1, mt.tensor([[2, 0], [1, 1]])),
    "loss": lambda x, w: mt.nn.functional.mse_loss(x, w) + mt.nn.functional.cross_entropy(x, mt.tensor([2, 0])),
    "broadcast": lambda x, w: x[0] * w + x[:, :1] * x.sum(),
}


def dual(array, tangent):
    return fw.make_dual(mt.tensor(array), mt.tensor(tangent))


def tangent_of(tensor):
    return fw.unpack_dual(tensor).tangent


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("recorded", [False, True])
def test_a_tangent_is_the_derivative_in_its_direction(name, recorded):
    function = OPERATIONS[name]
    with fw.dual_level():
        x = fw.make_dual(mt.tensor(X, requires_grad=recorded), mt.tensor(T))
        found = tangent_of(function(x, mt.tensor(W))).detach().numpy()
    ahead = function(mt.tensor(X + EPS * T), mt.tensor(W)).numpy()
    behind = function(mt.tensor(X - EPS * T), mt.tensor(W)).numpy()
    np.testing.assert_allclose(found, (ahead - behind) / (2 * EPS), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", OPERATIONS)
def test_it_is_the_product_that_two_backward_passes_give(name):
    function = OPERATIONS[name]
    with fw.dual_level():
        found = tangent_of(function(dual(X, T), mt.tensor(W)))
    _, expected = mt.autograd.functional.jvp(lambda x: function(x, mt.tensor(W)), mt.tensor(X), mt.tensor(T))
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", OPERATIONS)
def test_forward_over_reverse_is_the_hessian_product(name):
    def number(x):
        return (OPERATIONS[name](x, mt.tensor(W)) ** 2).sum()

    x = mt.tensor(X, requires_grad=True)
    with fw.dual_level():
        (gradient,) = mt.autograd.grad(number(fw.make_dual(x, mt.tensor(T))), x, create_graph=True)
        found = tangent_of(gradient).detach().numpy()
    _, expected = mt.autograd.functional.vhp(number, mt.tensor(X), mt.tensor(T))
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-8, atol=1e-10)


WRITES = [
    lambda a, d: a.mul_(d),
    lambda a, d: a[0].add_(d[1]),
    lambda a, d: a[:, 1:].copy_(d[:, :2] * d[:, 1:]),
    lambda a, d: a.sin_(),
    lambda a, d: a.__setitem__((slice(None), 0), d[:, 2] * 3),
    lambda a, d: a.T.tanh_(),
    lambda a, d: a[1].zero_(),
    lambda a, d: a.reshape(-1)[2:4].mul_(2),
]


@given(st.lists(st.integers(0, len(WRITES) - 1), min_size=1, max_size=5), st.booleans(), st.booleans())
def test_written_tensors_and_their_views_have_the_right_tangents(writes, starts_dual, recorded):
    def run(x):
        a = x * 1 if starts_dual else mt.tensor(W) * 1
        early = a[:, 1]
        for write in writes:
            WRITES[write](a, x)
        return mt.cat([a.reshape(-1), early, a[1]])

    with fw.dual_level():
        out = run(fw.make_dual(mt.tensor(X, requires_grad=recorded), mt.tensor(T)))
        found = tangent_of(out)
        found = np.zeros(out.shape) if found is None else found.detach().numpy()
    ahead, behind = (run(mt.tensor(X + sign * EPS * T)).numpy() for sign in (1, -1))
    np.testing.assert_allclose(found, (ahead - behind) / (2 * EPS), rtol=1e-4, atol=1e-5)


def test_what_a_write_overwrites_of_its_own_operand():
    with fw.dual_level():
        a = dual(np.array([3.0]), np.array([1.0])) * 1
        a.mul_(a)
        assert tangent_of(a).item() == 6.0  # torch says 12


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.mul_(y),
        lambda y: (lambda part: part.mul_(part))(y[:, :1]),
        lambda y: y.sqrt_().sigmoid_().tanh_(),
        lambda y: y.addcmul_(y, y).pow_(y),
    ],
)
def test_what_a_hook_copied_has_its_old_tangent(write):
    def function(x):
        with mt.autograd.graph.saved_tensors_hooks(lambda kept: kept.detach().clone(), lambda kept: kept):
            y = x * 1
            write(y)
        return y * y

    check(function, [X])


@pytest.mark.parametrize(
    "write", [lambda y: y.mul_(y[:]), lambda y: y[:].pow_(y), lambda y: y.addcmul_(y.view(2, 3), y)]
)
def test_what_a_write_overwrites_of_a_view(write):
    with fw.dual_level():
        a = dual(X, T) * 1
        write(a)
        found = tangent_of(a).numpy()
    values = []
    for sign in (1, -1):
        a = mt.tensor(X + sign * EPS * T)
        write(a)
        values.append(a.numpy())
    np.testing.assert_allclose(found, (values[0] - values[1]) / (2 * EPS), rtol=1e-6)


def test_accumulated_gradients_have_tangents():
    x = mt.tensor(X, requires_grad=True)
    with fw.dual_level():
        d = fw.make_dual(x, mt.tensor(T))
        for count in (1, 2):
            (d**3).sum().backward()
            np.testing.assert_allclose(tangent_of(x.grad).numpy(), count * 6 * X * T)


def test_complex_tensors():
    z, t = np.array([1 + 2j, 0.5 - 1j]), np.array([0.3 - 1j, 2 + 0.1j])

    def function(z):
        return (z * z).exp() * z

    with fw.dual_level():
        found = tangent_of(function(dual(z, t))).numpy()
    ahead, behind = (function(mt.tensor(z + sign * EPS * t)).numpy() for sign in (1, -1))
    np.testing.assert_allclose(found, (ahead - behind) / (2 * EPS), rtol=1e-6)


def test_tangents_end_with_their_level():
    with fw.dual_level():
        kept = dual(X, T)
        assert tangent_of(kept) is not None
    with fw.dual_level():
        assert tangent_of(kept) is None
    assert fw.unpack_dual(kept).primal is kept


def test_what_is_constant_has_none_and_what_does_not_change_has_zero():
    with fw.dual_level():
        x = dual(X, T)
        assert tangent_of(mt.tensor(X) * 2) is None
        assert tangent_of(x.detach() * 2) is None
        assert tangent_of(x > 1) is None
        np.testing.assert_array_equal(tangent_of(x.sign()).numpy(), np.zeros((2, 3)))


def test_tangents_are_found_in_every_thread():
    seen = []
    with fw.dual_level():
        x = dual(X, T)
        thread = threading.Thread(target=lambda: seen.append(tangent_of(x * 2).tolist()))
        thread.start()
        thread.join()
    np.testing.assert_allclose(seen[0], 2 * T)


def test_finding_a_tangent_is_not_observed():
    packed = []
    x = mt.tensor(X, requires_grad=True)
    with (
        mt.record() as recorder,
        mt.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t),
        fw.dual_level(),
    ):
        y = (fw.make_dual(x, mt.tensor(T)) * x).exp()
        y.sum().backward()
    assert len(recorder.recording.passes) == 1
    assert [node.name for node in recorder.recording.nodes] == [
        "AccumulateGrad",
        "ViewBackward0",
        "MulBackward0",
        "ExpBackward0",
        "SumBackward0",
    ]
    assert len(packed) == 3


def test_a_function_without_jvp_says_so():
    class Double(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with fw.dual_level(), pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        Double.apply(dual(X, T))
    assert Double.apply(mt.tensor(X)).tolist() == (2 * X).tolist()


def test_levels_do_not_nest_and_close_in_order():
    with fw.dual_level():
        with pytest.raises(RuntimeError, match="Nested forward mode AD"), fw.dual_level():
            pass
        assert tangent_of(dual(X, T)) is not None
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        fw.exit_dual_level()
    with pytest.raises(RuntimeError, match="no level exists"):
        dual(X, T)
