"""Section 3 of the semantics: what a custom Function's backward may return."""

from tests.parity.programs.function import leaf, returning
from tests.parity.rows import shows


@shows("3 number of gradients")
def one_for_each_argument(mt, see):
    x, y = leaf(mt), leaf(mt)
    for value in (
        lambda g: g,
        lambda g: (g, g, g),
        lambda g: (g, g, None),
        lambda g: (g, g, None, None),
        lambda g: (),
        lambda g: (g, 5),
        lambda g: (g, None),
        lambda g: [g, g],
        lambda g: "gradient",
        lambda g: (g, 1.0),
        lambda g: None,
    ):
        with see.raising():
            returning(mt, value).apply(x, y).sum().backward()
        see.value(x.grad, y.grad)


@shows("3 number of gradients")
def none_for_what_is_no_tensor(mt, see):
    x = leaf(mt)
    for value in (
        lambda g: (g, g),
        lambda g: (g, None),
        lambda g: g,
        lambda g: (g, 3),
    ):
        with see.raising():
            returning(mt, value).apply(x, 2.0).sum().backward()
    with see.raising():
        returning(mt, lambda g: (g, g)).apply(x, None).sum().backward()
    see.value(x.grad)


@shows("3 number of gradients")
def a_constant_tensor_may_get_one(mt, see):
    x = leaf(mt)
    c = mt.tensor([1.0, 2.0, 3.0])
    returning(mt, lambda g: (g, g)).apply(x, c).sum().backward()
    see.value(x.grad, c.grad)


@shows("3 validation of each gradient")
def sums_broadcasts_down_and_casts(mt, see):
    x = leaf(mt)
    scalar = mt.tensor(2.0, requires_grad=True)
    for value in (
        lambda g: g.sum(),
        lambda g: g.sum().reshape(1),
        lambda g: mt.ones(3, 2),
        lambda g: mt.ones(2, 3),
        lambda g: mt.ones(3),
        lambda g: mt.ones(4, 1, 2, dtype=mt.float64),
        lambda g: mt.ones(2, dtype=mt.float64),
        lambda g: mt.ones(2, dtype=mt.int64),
        lambda g: mt.tensor([True, False]),
        lambda g: mt.zeros(0),
    ):
        with see.raising():
            returning(mt, value).apply(x).sum().backward()
        see.value(x.grad)
        with see.raising():
            returning(mt, value).apply(scalar).sum().backward()
        see.value(scalar.grad)


@shows("3 validation of each gradient")
def refuses_a_complex_one_for_a_real_input(mt, see):
    x = leaf(mt)
    with see.raising(text=False):
        returning(mt, lambda g: mt.tensor([1 + 2j, 3 + 4j])).apply(x).sum().backward()
    see.value(x.grad)


@shows("3 None returned")
def is_undefined_and_not_zero(mt, see):
    x, y = leaf(mt), leaf(mt)
    z = returning(mt, lambda g: (None, g)).apply(x, y)
    z.sum().backward()
    see.value(x.grad, y.grad)
    a = x * 3
    with see.order(returning(mt, lambda g: (None, None)).apply(a, y)):
        pass
    w = returning(mt, lambda g: (None, g)).apply(a, y)
    with see.order(w):
        w.sum().backward()
    see.value(x.grad, y.grad)
    with see.raising():
        mt.autograd.grad(returning(mt, lambda g: None).apply(x).sum(), x)


@shows("3 validation of each gradient")
def backward_writes_to_a_gradient_that_is_asked_for(mt, see):
    for shape in ((), (2,)):
        x = mt.ones(shape, requires_grad=True)
        y = returning(mt, lambda g: g.mul_(3)).apply(x)
        see.value(*mt.autograd.grad(y, [y, x], mt.full(shape, 2.0), retain_graph=True))
        y.backward(mt.full(shape, 2.0), inputs=[y, x])
        see.value(y.grad, x.grad)


@shows("3 ctx.save_for_backward")
def a_result_that_was_written_and_detached(mt, see):
    class Times(mt.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * b, g * a

    for detach in (False, True):
        for call in (Times.apply, lambda a, b: mt.utils.checkpoint.checkpoint(mt.mul, a, b, use_reentrant=True)):
            x = mt.ones(2, requires_grad=True) * 1
            y = call(x, x)
            x.mul_(2)
            if detach:
                x.detach_()
            with see.raising():
                y.sum().backward()
