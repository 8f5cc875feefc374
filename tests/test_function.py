"""Custom Functions: the two examples that everybody starts from, and what ctx promises."""

import pytest

import microtape as mt
from microtape.autograd import Function, gradcheck, gradgradcheck


class Linear(Function):
    @staticmethod
    def forward(ctx, x, weight, bias=None):
        ctx.save_for_backward(x, weight)
        output = x @ weight.t()
        return output if bias is None else output + bias

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        Linear.computed = []
        grad_x = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            Linear.computed.append("x")
            grad_x = grad_output @ weight
        if ctx.needs_input_grad[1]:
            Linear.computed.append("weight")
            grad_weight = grad_output.t() @ x
        if len(ctx.needs_input_grad) > 2 and ctx.needs_input_grad[2]:
            Linear.computed.append("bias")
            grad_bias = grad_output.sum(0)
        return (grad_x, grad_weight, grad_bias)[: len(ctx.needs_input_grad)]


class MulConstant(Function):
    @staticmethod
    def forward(ctx, x, constant):
        ctx.constant = constant
        return x * constant

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.constant, None


def double(data, requires_grad=True):
    return mt.tensor(data, dtype=mt.float64, requires_grad=requires_grad)


X, WEIGHT, BIAS = [[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]], [[0.1, -0.2], [0.3, 0.4]], [1.0, -1.0]


@pytest.mark.parametrize("arguments", [(X, WEIGHT), (X, WEIGHT, BIAS)])
def test_linear_with_and_without_bias(arguments):
    tensors = [double(one) for one in arguments]
    assert gradcheck(Linear.apply, tensors)
    assert gradgradcheck(Linear.apply, tensors)


def test_linear_computes_only_what_is_needed():
    Linear.apply(double(X, False), double(WEIGHT), double(BIAS, False)).sum().backward()
    assert Linear.computed == ["weight"]


def test_mul_constant_has_no_gradient_for_its_constant():
    x = double([1.0, 2.0])
    assert gradcheck(lambda x: MulConstant.apply(x, 5.0), x)
    MulConstant.apply(x, 5.0).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


@pytest.mark.parametrize(
    "name", ["shape", "dtype", "code", "saved", "hooks", "versions", "sequence_nr", "function", "ctx"]
)
def test_any_attribute_may_be_put_on_ctx(name):
    class Keeps(Function):
        @staticmethod
        def forward(ctx, x):
            setattr(ctx, name, "mine")
            ctx.save_for_backward(x)
            return x * x, x * 2

        @staticmethod
        def backward(ctx, a, b):
            assert getattr(ctx, name) == "mine"
            (x,) = ctx.saved_tensors
            return 2 * x * a + 2 * b

    x = double([3.0])
    squares, doubles = Keeps.apply(x)
    (squares + doubles).backward()
    assert x.grad.tolist() == [8.0]


def test_the_grad_fn_shows_what_is_on_ctx():
    y = MulConstant.apply(double([1.0]), 7.0)
    assert type(y.grad_fn).__name__ == "MulConstantBackward"
    assert y.grad_fn.constant == 7.0
    with pytest.raises(AttributeError, match="'MulConstantBackward' object has no attribute 'missing'"):
        y.grad_fn.missing  # noqa: B018


def test_a_graph_with_a_function_is_freed_at_once():
    import gc
    import weakref

    gc.collect()
    gc.disable()
    try:
        y = MulConstant.apply(double([1.0]), 7.0)
        reference = weakref.ref(y.grad_fn)
        del y
        assert reference() is None
    finally:
        gc.enable()
