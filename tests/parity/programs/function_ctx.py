"""Section 3 of the semantics: the ctx of a custom Function, saved tensors, and marks on inputs and outputs."""

from tests.parity.programs.function import leaf
from tests.parity.rows import shows


@shows("3 ctx.save_for_backward")
def takes_tensors_and_none(mt, see):
    class Saving(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, wrong):
            ctx.save_for_backward(x, None)
            if wrong is not None:
                ctx.save_for_backward(x, wrong)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            see(ctx.saved_tensors[1], len(ctx.saved_tensors))
            return g, None

    x = leaf(mt)
    Saving.apply(x, None).sum().backward()
    for wrong in (3, "a", [x], {}):
        with see.raising():
            Saving.apply(x, wrong)


@shows("3 ctx.save_for_backward")
def gives_tensors_back_with_their_history(mt, see):
    class Square(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            z = x * x
            inside = x * 2
            ctx.save_for_backward(x, z, inside)
            return z

        @staticmethod
        def backward(ctx, g):
            x, z, inside = ctx.saved_tensors
            see(x, z, inside, x is a, z.grad_fn is y.grad_fn, z is y)
            return 2 * g * x

    a = leaf(mt) * 1
    y = Square.apply(a)
    (g,) = mt.autograd.grad(y.sum(), a, create_graph=True)
    see.value(g)
    see.value(*mt.autograd.grad(g.sum(), a))


@shows("3 ctx.save_for_backward")
def an_output_saved_is_differentiated_through(mt, see):
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

    x = leaf(mt)
    y = Exp.apply(x)
    (g,) = mt.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = mt.autograd.grad(g.sum(), x, create_graph=True)
    (i,) = mt.autograd.grad(h.sum(), x)
    see.value(g, h, i)


@shows("3 ctx.save_for_backward")
def is_checked_for_versions_at_access(mt, see):
    class Keep(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            z = x * 2
            ctx.save_for_backward(x, z)
            return z

        @staticmethod
        def backward(ctx, g):
            with see.raising():
                _ = ctx.saved_tensors
            return g

    x = leaf(mt)
    a = x * 1
    y = Keep.apply(a)
    a.add_(1)
    y.sum().backward()
    b = x * 1
    y = Keep.apply(b)
    y.add_(1)
    y.sum().backward()
    with mt.no_grad():
        y = Keep.apply(x)
        x.add_(1)
    y = Keep.apply(x)
    with mt.no_grad():
        x.add_(1)
    y.sum().backward()
    see.value(x.grad)


@shows("3 ctx.save_for_backward")
def is_freed_after_backward(mt, see):
    class Keep(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, save):
            ctx.keep = x.detach()
            if save is not None:
                ctx.save_for_backward(*save)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            see(len(ctx.saved_tensors), ctx.keep.tolist())
            return g, None

    x = leaf(mt)
    for save in ([x], [None], [], None):
        y = Keep.apply(x, save)
        z = y.sum()
        z.backward(retain_graph=True)
        z.backward()
        with see.raising():
            z.backward()
        with see.raising():
            _ = y.grad_fn.saved_tensors
        see(y.grad_fn.keep.tolist())


@shows("3 ctx.<attribute>")
def survives(mt, see):
    class Attr(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.anything = {"a": [1, 2]}
            return x * 2

        @staticmethod
        def backward(ctx, g):
            see(ctx.anything)
            ctx.count = getattr(ctx, "count", 0) + 1
            return g * ctx.count

    x = leaf(mt)
    y = Attr.apply(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    y.backward()
    see.value(x.grad)


@shows("3 ctx.needs_input_grad")
def has_a_bool_for_each_argument(mt, see):
    class Needs(mt.autograd.Function):
        @staticmethod
        def forward(ctx, *args):
            see(ctx.needs_input_grad)
            return args[0] * 2

        @staticmethod
        def backward(ctx, g):
            see(ctx.needs_input_grad)
            return tuple([g if needed else None for needed in ctx.needs_input_grad])

    x, y, c = leaf(mt), leaf(mt), mt.tensor([1.0, 2.0])
    z = Needs.apply(x, c, y, 3, None, mt.tensor([1, 2]))
    z.sum().backward(retain_graph=True)
    see.value(x.grad, y.grad, c.grad)
    z.sum().backward(inputs=[x])
    with mt.no_grad():
        Needs.apply(x, c)
    Needs.apply(c, c)


@shows("3 ctx.set_materialize_grads")
def takes_a_bool(mt, see):
    class Wrong(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            see(isinstance(ctx, mt.autograd.function.FunctionCtx))
            ctx.set_materialize_grads(1)
            return x

    with see.raising():
        Wrong.apply(leaf(mt))


@shows("3 ctx.set_materialize_grads")
def decides_between_zeros_and_none(mt, see):
    for materialize in (True, False, None):

        class Two(mt.autograd.Function):
            @staticmethod
            def forward(ctx, x, setting=materialize):
                if setting is not None:
                    ctx.set_materialize_grads(setting)
                return x * 2, x * 3

            @staticmethod
            def backward(ctx, a, b):
                see.value(a, b)
                return a if a is not None else b

        x = leaf(mt)
        first, second = Two.apply(x)
        first.sum().backward(retain_graph=True)
        second.sum().backward()
        see.value(x.grad)


@shows("3 ctx.mark_non_differentiable")
def takes_the_gradient_away(mt, see):
    class Split(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            a, b = x * 2, x * 3
            ctx.mark_non_differentiable(b)
            return a, b

        @staticmethod
        def backward(ctx, ga, gb):
            see.value(ga, gb)
            return ga * 2

    x = leaf(mt)
    a, b = Split.apply(x)
    see(a, b)
    (a * b).sum().backward()
    see.value(x.grad)


@shows("3 ctx.mark_non_differentiable")
def of_an_input_that_is_returned(mt, see):
    class Same(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_non_differentiable(x)
            return x, y * 2

        @staticmethod
        def backward(ctx, gx, gy):
            return gx, gy * 2

    x, y = leaf(mt), leaf(mt)
    a, b = Same.apply(x, y)
    see(a, b, a is x)
    c, d = Same.apply(mt.tensor([1.0]), y)
    see(c, d)
    b.sum().backward()
    see.value(x.grad, y.grad)


@shows("3 once_differentiable")
def the_error_node_has_an_edge_for_each_gradient(mt, see):
    class Product(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, factor):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        @mt.autograd.function.once_differentiable
        def backward(ctx, grad):
            x, y = ctx.saved_tensors
            return grad * y, grad * x, None

    x, y, seed = leaf(mt), leaf(mt), leaf(mt)
    first, second = mt.autograd.grad(Product.apply(x, y, 3), (x, y), seed, create_graph=True)
    see(first, second, first.grad_fn is second.grad_fn)
    see.graph(first, second)
    with see.raising():
        (first + second).sum().backward()
    see(x.grad, seed.grad)
    with see.raising():
        mt.autograd.grad(second.sum(), x, allow_unused=True)


@shows("3 ctx.set_materialize_grads")
def only_of_differentiable_outputs(mt, see):
    class Several(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, materialize):
            see(ctx._materialize_non_diff_grads)
            with see.raising():
                ctx._materialize_non_diff_grads = 3
            ctx._materialize_non_diff_grads = materialize
            marked = x * 2
            ctx.mark_non_differentiable(marked)
            return x * 3, marked, x.long(), x * 4

        @staticmethod
        def backward(ctx, first, marked, whole, last):
            see.value(first, marked, whole, last)
            return first, None

    for materialize in (True, False):
        Several.apply(leaf(mt), materialize)[0].sum().backward()


@shows(
    "3 ctx.mark_dirty", differs="the message names the type of an argument that is no tensor; torch's text ends before"
)
def takes_tensors_only(mt, see):
    for mark in ("mark_dirty", "mark_non_differentiable"):
        for value in (None, 3.0):

            class Marks(mt.autograd.Function):
                @staticmethod
                def forward(ctx, x, mark=mark, value=value):
                    getattr(ctx, mark)(value)
                    return x * 2

            with see.raising():
                Marks.apply(mt.ones(2))
