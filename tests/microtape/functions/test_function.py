"""`autograd.Function`: operations written by users."""

from __future__ import annotations

from typing import ClassVar

import pytest

import microtape as mt
from microtape.errors import FreedGraphError, GradientError, InPlaceError


def leaf(*values):
    return mt.tensor(list(values), requires_grad=True)


class Linear(mt.autograd.Function):
    """`x @ weight.T + bias`; the bias is optional, and only needed gradients are computed."""

    computed: ClassVar[list[str]] = []

    @staticmethod
    def forward(ctx, x, weight, bias=None):
        ctx.save_for_backward(x, weight, bias)
        product = x.mm(weight.t())
        return product if bias is None else product + bias.unsqueeze(0).expand_as(product)

    @staticmethod
    def backward(ctx, grad_output):
        x, weight, bias = ctx.saved_tensors
        grad_x = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            Linear.computed.append("x")
            grad_x = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            Linear.computed.append("weight")
            grad_weight = grad_output.t().mm(x)
        if bias is not None and ctx.needs_input_grad[2]:
            Linear.computed.append("bias")
            grad_bias = grad_output.sum(0)
        return grad_x, grad_weight, grad_bias


class MulConstant(mt.autograd.Function):
    """A tensor times a Python number."""

    @staticmethod
    def forward(ctx, tensor, constant):
        ctx.constant = constant
        return tensor * constant

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.constant, None


def test_linear_gives_all_three_gradients():
    x, weight, bias = leaf([1.0, 2.0]), leaf([3.0, 4.0], [5.0, 6.0], [7.0, 8.0]), leaf(0.5, 0.5, 0.5)
    y = Linear.apply(x, weight, bias)
    assert y.tolist() == [[11.5, 17.5, 23.5]]
    y.sum().backward()
    assert x.grad.tolist() == [[15.0, 18.0]]
    assert weight.grad.tolist() == [[1.0, 2.0]] * 3
    assert bias.grad.tolist() == [1.0, 1.0, 1.0]


def test_linear_computes_only_what_is_needed():
    Linear.computed.clear()
    weight = leaf([3.0, 4.0])
    Linear.apply(mt.tensor([[1.0, 2.0]]), weight).sum().backward()
    assert Linear.computed == ["weight"]
    assert weight.grad.tolist() == [[1.0, 2.0]]


def test_linear_can_be_differentiated_twice():
    x, weight = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    (g,) = mt.autograd.grad(Linear.apply(x, weight).sum(), x, create_graph=True)
    (g * g).sum().backward()
    assert weight.grad.tolist() == [[6.0, 8.0]]


def test_a_number_gets_no_gradient():
    x = leaf(1.0, 2.0)
    MulConstant.apply(x, 5.5).sum().backward()
    assert x.grad.tolist() == [5.5, 5.5]


def test_a_node_is_named_after_its_function():
    y = MulConstant.apply(leaf(1.0), 2.0)
    assert y.grad_fn.name() == "MulConstantBackward"
    assert repr(y) == "tensor([2.], grad_fn=<MulConstantBackward>)"


def returning(value):
    class F(mt.autograd.Function):
        @staticmethod
        def forward(ctx, *args):
            return args[0] * 2

        @staticmethod
        def backward(ctx, g):
            return value(g)

    return F


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda g: (g, g), "incorrect number of gradients (expected 1, got 2)"),
        (lambda g: g.sum().expand(2, 3)[:, :0], "invalid gradient at index 0"),
        (lambda g: 3.0, "expected Variable or None (got float)"),
    ],
)
def test_what_backward_returns_is_checked(value, message):
    with pytest.raises(GradientError) as caught:
        returning(value).apply(leaf(1.0, 2.0)).sum().backward()
    assert message in str(caught.value)


def test_gradients_are_summed_down_and_cast():
    x = leaf(1.0, 2.0)
    returning(lambda g: mt.ones(3, 2, dtype=mt.float64)).apply(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert x.grad.dtype == mt.float32


def test_none_is_not_zero():
    x = leaf(1.0)
    returning(lambda g: None).apply(x).backward()
    assert x.grad is None


def test_undefined_gradients_arrive_as_zeros_or_none():
    for materialize, expected in ((True, [0.0]), (False, None)):
        seen = []

        class Two(mt.autograd.Function):
            @staticmethod
            def forward(ctx, x, materialize=materialize):
                ctx.set_materialize_grads(materialize)
                return x * 2, x * 3

            @staticmethod
            def backward(ctx, g, h, seen=seen):
                seen.append(h if h is None else h.tolist())
                return g * 2

        Two.apply(leaf(1.0))[0].backward()
        assert seen == [expected]


def test_setup_context_sees_the_defaults_of_forward():
    class Scale(mt.autograd.Function):
        @staticmethod
        def forward(x, factor=3.0):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None

    x = leaf(1.0)
    Scale.apply(x).backward()
    assert x.grad.item() == 3.0


def test_a_saved_output_has_this_call_as_its_history():
    class Exp(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            z = x.exp()
            ctx.save_for_backward(z)
            return z

        @staticmethod
        def backward(ctx, g):
            (z,) = ctx.saved_tensors
            return g * z

    x = leaf(0.0)
    y = Exp.apply(x)
    (g,) = mt.autograd.grad(y, x, create_graph=True)
    assert mt.autograd.grad(g, x)[0].item() == 1.0


def test_saved_tensors_are_freed_and_attributes_stay():
    class Keep(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.note = "mine"
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    y = Keep.apply(leaf(1.0))
    y.backward()
    assert y.grad_fn.note == "mine"
    with pytest.raises(FreedGraphError):
        _ = y.grad_fn.saved_tensors


class TwiceInPlace(mt.autograd.Function):
    """2x, in place."""

    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 2


def test_a_dirty_input_becomes_the_output():
    x = leaf(1.0, 2.0)
    y = x * 3
    z = TwiceInPlace.apply(y)
    assert z is y
    assert y.grad_fn.name() == "TwiceInPlaceBackward"
    z.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_a_dirty_view_rewrites_its_base():
    x = leaf(1.0, 2.0)
    y = x * 3
    TwiceInPlace.apply(y[:1])
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 3.0]


def test_a_dirty_view_without_a_gradient_leaves_the_rest_of_its_base_alone():
    class Forget(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.zero_()

        @staticmethod
        def backward(ctx, g):
            return None

    x = mt.ones(3, requires_grad=True)
    y = x * 2
    Forget.apply(y[:2])
    (y * 5).sum().backward()
    assert x.grad.tolist() == [0, 0, 10]


def test_a_dirty_leaf_is_refused():
    with pytest.raises(InPlaceError, match="a leaf Variable that requires grad"):
        TwiceInPlace.apply(leaf(1.0))


def test_an_input_returned_as_it_is_keeps_its_own_history():
    class Same(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 5

    x = leaf(1.0)
    y = Same.apply(x)
    assert y is not x
    assert x.is_leaf
    y.backward()
    assert x.grad.item() == 5.0
    with pytest.raises(InPlaceError, match="created inside a custom Function"):
        Same.apply(x * 1).mul_(2)


def test_once_differentiable_refuses_the_second_time():
    class Square(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @mt.autograd.function.once_differentiable
        def backward(ctx, g):
            assert not mt.is_grad_enabled()
            return 2 * g * ctx.saved_tensors[0]

    x, v = leaf(3.0), leaf(1.0)
    (g,) = mt.autograd.grad(Square.apply(x), x, v, create_graph=True)
    assert g.item() == 6.0
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.backward()


def test_exceptions_keep_their_type():
    def fail(g):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        returning(fail).apply(leaf(1.0)).backward()


def test_an_instance_is_of_no_use():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        function = MulConstant()
    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        function(leaf(1.0), 2.0)


def test_an_input_that_is_saved_and_returned_keeps_its_history_in_backward():
    class Both(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * 2, y

        @staticmethod
        def backward(ctx, g, h):
            seen.extend(one.grad_fn.name() for one in ctx.saved_tensors)
            return g * 2, h

    seen = []
    x = leaf(1.0)
    a, b = Both.apply(x * 1, x + 1)
    (a + b).backward()
    assert seen == ["MulBackward0", "AddBackward0"]
    assert x.grad.tolist() == [3.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_written_view_without_a_gradient_gets_zeros(create_graph):
    class Overwritten(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.zero_()

        @staticmethod
        def backward(ctx, g):
            return None

    x = leaf(1.0, 2.0)
    base = x * 1
    Overwritten.apply(base[:1])
    (gradient,) = mt.autograd.grad(base.sum(), x, create_graph=create_graph)
    assert gradient.tolist() == [0.0, 1.0]


def test_a_gradient_that_backward_has_kept_stays_as_it_was():
    class Kept(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            kept.append(g * 2)
            return kept[-1]

    kept = []
    x = leaf(1.0, 2.0)
    y = x * 1
    (Kept.apply(y) + Kept.apply(y) + y * 3).sum().backward()
    assert [one.tolist() for one in kept] == [[2.0, 2.0], [2.0, 2.0]]
    assert x.grad.tolist() == [7.0, 7.0]
