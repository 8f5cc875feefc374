"""gradcheck finds wrong backward formulas, and accepts right ones."""

import pytest

import microtape as mt
from microtape.autograd import gradcheck, gradgradcheck
from microtape.errors import GradcheckError


def double(data, **options):
    return mt.tensor(data, dtype=mt.float64, requires_grad=True, **options)


X = [[0.3, -1.2], [2.0, 0.7]]


class Wrong(mt.autograd.Function):
    """z = x², with half of its derivative."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x


class Unscaled(mt.autograd.Function):
    """A derivative that ignores the gradient that it receives."""

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return g * 0 + 1


class Fickle(mt.autograd.Function):
    """A derivative that is different in each call."""

    calls = 0

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        Fickle.calls += 1
        return g * (1 + 1e-9 * Fickle.calls)


class TreatsNoneAsOne(mt.autograd.Function):
    """A derivative that returns a gradient when it received none."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.shape = x.shape
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return mt.ones(ctx.shape, dtype=mt.float64) if g is None else g


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * x,
        lambda x: (x.exp().sum(0), x.tanh()),
        lambda x: x @ x,
        lambda x: x[0] * 3,
        lambda x: mt.nn.functional.cross_entropy(x, mt.tensor([0, 1])),
        lambda x: (x * 2, mt.tensor(1.0)),
    ],
)
def test_right_derivatives_pass_to_second_order(function, fast_mode):
    x = double(X)
    assert gradcheck(function, (x,), fast_mode=fast_mode)
    assert gradgradcheck(function, (x,), fast_mode=fast_mode)
    assert x.tolist() == X
    assert x.grad is None


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_wrong_derivative_is_shown_beside_the_right_one(fast_mode):
    with pytest.raises(GradcheckError) as caught:
        gradcheck(Wrong.apply, (double([3.0]),), fast_mode=fast_mode)
    text = str(caught.value)
    numerical, analytical = ("6.0", "3.0\n") if fast_mode else ("tensor([[6.0000]]", "tensor([[3.]]")
    assert text.startswith(f"Jacobian mismatch for output 0 with respect to input 0,\nnumerical:{numerical}")
    assert f"\nanalytical:{analytical}" in text
    assert ("Analytical:\ntensor([[3.]]" in text) == fast_mode


def test_a_single_tensor_will_do_and_false_can_be_the_answer():
    assert gradcheck(lambda x: x.sin(), double(X))
    assert gradcheck(Wrong.apply, double(X), raise_exception=False) is False


def test_a_wrong_second_derivative_is_found():
    class Detached(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * (x.detach() ** 2)

    assert gradcheck(Detached.apply, double(X))
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradgradcheck(Detached.apply, double(X))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (Unscaled.apply, "backward not multiplied by grad_output"),
        (Fickle.apply, "Backward is not reentrant"),
        (lambda x: x.detach() * 2, "Numerical gradient for function expected to be zero"),
    ],
)
def test_other_mistakes_have_their_names(function, message):
    with pytest.raises(GradcheckError, match=message):
        gradcheck(function, double([3.0]))


def test_a_gradient_that_comes_of_none():
    with (
        pytest.raises(GradcheckError, match="Expected all input grads to be undefined or zero"),
        pytest.warns(UserWarning, match="New undefined gradient support checking feature"),
    ):
        gradcheck(TreatsNoneAsOne.apply, double([3.0]))


def test_a_tolerance_for_a_fickle_backward():
    assert gradcheck(Fickle.apply, double(X), nondet_tol=1e-6)


def test_inputs_that_cannot_be_checked():
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda x: x, (mt.tensor([1.0], dtype=mt.float64),))
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision"):
        gradcheck(lambda x: x * 2, (mt.tensor([1.0], requires_grad=True),), atol=1e-1, rtol=1e-1)
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        gradcheck(lambda x: x * 2, double([1.0]).detach().expand(3).requires_grad_())


def test_an_error_in_the_function_is_not_swallowed():
    def broken(x):
        raise KeyError("mine")

    with pytest.raises(KeyError):
        gradcheck(broken, double(X), raise_exception=False)


def test_complex_functions():
    z = mt.tensor([1.0 + 2.0j, -0.5j], dtype=mt.complex128, requires_grad=True)
    assert gradcheck(lambda z: z * z * (1 + 2j), z)
    assert gradcheck(lambda z: z.exp(), z)
