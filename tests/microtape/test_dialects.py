"""Functions and calls written as in R torch, libtorch and OneFlow give the results of torch's own form."""

import pytest

import microtape as mt
from microtape import dialects
from microtape.errors import FreedGraphError, GradientError, ModifiedInPlaceError, UnusedInputError


def leaf(data):
    return mt.tensor(data, requires_grad=True)


class Linear(dialects.NamedFunction):
    """R torch's own example of extending autograd."""

    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input=input, weight=weight, has_bias=bias is not None)
        output = input @ weight.t()
        return output if bias is None else output + bias

    @staticmethod
    def backward(ctx, grad_output):
        gradients = {}
        if ctx.needs_input_grad.input:
            gradients["input"] = grad_output @ ctx.saved.weight
        if ctx.needs_input_grad.weight:
            gradients["weight"] = grad_output.t() @ ctx.saved_variables.input
        if ctx.saved.has_bias and ctx.needs_input_grad.bias:
            gradients["bias"] = grad_output.sum(0)
        return gradients


class MulConstant(dialects.NamedFunction):
    @staticmethod
    def forward(ctx, tensor, constant):
        ctx.constant = constant
        return tensor * constant

    @staticmethod
    def backward(ctx, grad_output):
        return {"tensor": grad_output * ctx.constant}


def test_arguments_can_be_given_by_name():
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    MulConstant.apply(x, constant=3.0).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    w = mt.tensor([[1.0, 2.0]], requires_grad=True)
    Linear.apply(input=mt.ones(1, 2), weight=w).sum().backward()
    assert w.grad.tolist() == [[1.0, 1.0]]
    with pytest.raises(TypeError, match="unexpected keyword argument 'by'"):
        MulConstant.apply(x, by=3.0)


class Powers(dialects.CppFunction):
    """Two outputs and a number, in libtorch's style."""

    @staticmethod
    def forward(ctx, x, exponent):
        ctx.saved_data["exponent"] = exponent
        ctx.save_for_backward([x])
        signs = x.sign()
        ctx.mark_non_differentiable([signs])
        return [x**exponent, signs]

    @staticmethod
    def backward(ctx, grad_outputs):
        assert isinstance(grad_outputs, list)
        (x,) = ctx.get_saved_variables()
        exponent = ctx.saved_data["exponent"]
        return [grad_outputs[0] * exponent * x ** (exponent - 1), None]


@pytest.mark.parametrize("with_bias", [False, True])
def test_gradients_by_name(with_bias):
    x, w, b = leaf([[1.0, 2.0]]), leaf([[3.0, 4.0], [5.0, 6.0]]), leaf([0.5, -0.5])
    arguments = (x, w, b) if with_bias else (x, w)
    Linear.apply(*arguments).sum().backward()
    assert x.grad.tolist() == [[8.0, 10.0]]
    assert w.grad.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert (b.grad.tolist() if with_bias else b.grad) == ([1.0, 1.0] if with_bias else None)


def test_what_is_not_needed_may_be_missing():
    x, w = mt.tensor([[1.0, 2.0]]), leaf([[3.0, 4.0]])
    Linear.apply(x, w).sum().backward()
    assert w.grad.tolist() == [[1.0, 2.0]]


def test_an_argument_that_is_no_tensor():
    x = leaf([1.0, 2.0])
    MulConstant.apply(x, 5.5).sum().backward()
    assert x.grad.tolist() == [5.5, 5.5]


def test_a_gradient_for_an_argument_that_is_none_says_which_there_are():
    class Wrong(dialects.NamedFunction):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, grad):
            return {"z": grad}

    with pytest.raises(GradientError, match="a gradient for 'z', but forward's arguments are x, y"):
        Wrong.apply(leaf([1.0]), leaf([2.0])).backward()


def test_saved_names_are_checked_and_freed_like_any_saved_tensor():
    x, w = leaf([[1.0, 2.0]]), leaf([[3.0, 4.0]])
    doubled = w * 2
    y = Linear.apply(x, doubled)
    doubled.add_(1)
    with pytest.raises(ModifiedInPlaceError):
        y.backward()
    y = Linear.apply(x, w)
    y.backward()
    with pytest.raises(FreedGraphError):
        y.backward()


def test_twice_differentiable():
    x, w = leaf([[1.0, 2.0]]), leaf([[3.0, 4.0]])
    (first,) = mt.autograd.grad(Linear.apply(x, w), x, create_graph=True)
    (second,) = mt.autograd.grad((first * first).sum(), w)
    assert second.tolist() == [[6.0, 8.0]]


def test_positions_work_as_well_as_names():
    seen = []

    class Asks(dialects.NamedFunction):
        @staticmethod
        def forward(ctx, x, number, y):
            seen.append((ctx.needs_input_grad, ctx.needs_input_grad.y, ctx.needs_input_grad[0]))
            return x * y

        @staticmethod
        def backward(ctx, grad):
            return grad * 2, None, grad * 3

    x, y = mt.ones(1), leaf([1.0])
    Asks.apply(x, 5, y).backward()
    assert seen == [((False, False, True), True, False)]
    assert y.grad.item() == 3.0


def test_a_function_may_be_called_directly():
    x = leaf([1.0, 2.0])
    y = MulConstant(x, 2)
    assert y.grad_fn.name() == "MulConstantBackward"
    assert y.grad_fn.code.co_filename == __file__
    (y + MulConstant(x, constant=3.0)).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]
    with pytest.raises(TypeError, match="missing"):
        MulConstant()


def test_a_function_made_of_a_forward_and_a_backward():
    def mul_constant(ctx, tensor, constant):
        ctx.save_for_backward(constant=constant)
        return tensor * constant

    function = dialects.autograd_function(mul_constant, lambda ctx, grad: {"tensor": grad * ctx.saved.constant})
    x = leaf([1.0, 2.0])
    y = function(x, 2.0)
    assert y.grad_fn.name() == "mul_constantBackward"
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_list_of_outputs():
    def forward(ctx, x):
        ctx.save_for_backward(x=x)
        return [x * 2, x * x]

    two = dialects.autograd_function(forward, lambda ctx, g, h: {"x": g * 2 + h * 2 * ctx.saved.x})
    x = leaf([1.0, 3.0])
    doubled, squared = two(x)
    assert (doubled.output_nr, squared.output_nr) == (0, 1)
    (doubled + squared).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]


def test_lists_and_saved_data():
    x = leaf([1.0, 3.0])
    powers, signs = Powers.apply(x, 3)
    assert not signs.requires_grad
    assert powers.grad_fn.name() == "PowersBackward"
    powers.sum().backward()
    assert x.grad.tolist() == [3.0, 27.0]


def test_a_list_of_inputs_that_were_written_to():
    class Double(dialects.CppFunction):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty([x])
            return x

        @staticmethod
        def backward(ctx, grad_outputs):
            return [grad_outputs[0] * 2]

    x = leaf([1.0])
    y = x * 1
    assert Double.apply(y) is y
    y.backward()
    assert x.grad.item() == 2.0


def test_grad_of_some_inputs_adds_to_the_other_leaves():
    x, y, z = leaf([2.0]), leaf([3.0]), leaf([5.0])
    z.grad = mt.tensor([100.0])
    (of_x,) = dialects.grad(x * y * z, x, only_inputs=False)
    assert (of_x.item(), x.grad) == (15.0, None)
    assert (y.grad.item(), z.grad.item()) == (10.0, 106.0)
    y.grad = None
    dialects.grad(x * y * z, [x])
    assert y.grad is None


def test_grad_of_an_unused_input():
    x, y, z = leaf([2.0]), leaf([3.0]), leaf([5.0])
    with pytest.raises(UnusedInputError, match="index 1 appears to not have been used"):
        dialects.grad(x * y, (x, z), only_inputs=False)
    assert y.grad is None
    assert dialects.grad(x * y, (x, z), allow_unused=True)[1] is None


def test_backward_with_the_arguments_in_oneflows_order():
    x = leaf([1.0, 2.0])
    y = x * x
    dialects.backward([y], [mt.tensor([1.0, 10.0])], True)
    assert x.grad.tolist() == [2.0, 40.0]
    dialects.backward(outputs=y, out_grads=mt.ones(2))
    assert x.grad.tolist() == [4.0, 44.0]
    with pytest.raises(FreedGraphError):
        dialects.backward(y, mt.ones(2))
    dialects.backward(tensors=[x * x], grad_tensors=[mt.ones(2)])
    assert x.grad.tolist() == [6.0, 48.0]
    with pytest.raises(TypeError, match="multiple values for argument 'outputs'"):
        dialects.backward(y, tensors=y)
    with pytest.raises(TypeError, match="missing"):
        dialects.backward()


def test_the_core_knows_nothing_of_them():
    import subprocess
    import sys

    code = "import sys, microtape; print('microtape.dialects' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
