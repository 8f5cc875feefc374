"""Section 3 of the semantics: `autograd.Function`."""

from tests.parity.rows import shows


def leaf(mt, *values):
    return mt.tensor(list(values) or [1.0, 2.0], requires_grad=True)


def returning(mt, value, arguments=1):
    """A Function of some arguments whose backward returns `value(g)`."""

    class F(mt.autograd.Function):
        @staticmethod
        def forward(ctx, *args):
            return args[0] * 2

        @staticmethod
        def backward(ctx, g):
            return value(g)

    return F


@shows("3 forward(ctx, *args)")
def runs_without_recording_on_the_very_inputs(mt, see):
    class Mul(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, factor):
            see(mt.is_grad_enabled(), x.requires_grad, y.requires_grad, x is a, y is b)
            product = x * y * factor
            see(product)
            ctx.save_for_backward(x, y)
            ctx.factor = factor
            return product

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            see(x is a, y is b, mt.is_grad_enabled(), ctx.needs_input_grad)
            see.value(g)
            return g * y * ctx.factor, g * x * ctx.factor, None

    a, b = leaf(mt), mt.tensor([3.0, 4.0])
    z = Mul.apply(a, b, 10)
    see(z)
    see.graph(z)
    with see.order(z):
        z.sum().backward()
    see.value(a.grad, b.grad)


@shows("3 forward(ctx, *args)")
def does_not_see_tensors_inside_containers(mt, see):
    class First(mt.autograd.Function):
        @staticmethod
        def forward(ctx, pair):
            see(ctx.needs_input_grad)
            return pair[0] * 2

        @staticmethod
        def backward(ctx, g):
            return None

    see(First.apply([leaf(mt), leaf(mt)]))


@shows("3 forward(ctx, *args)")
def as_class_methods(mt, see):
    class Double(mt.autograd.Function):
        @classmethod
        def forward(cls, ctx, x):
            return x * 2

        @classmethod
        def backward(cls, ctx, g):
            return g * 2

    x = leaf(mt)
    Double.apply(x).sum().backward()
    see.value(x.grad)


@shows("3 forward(*args) + setup_context")
def has_forwards_defaults_among_the_inputs(mt, see):
    class Scale(mt.autograd.Function):
        @staticmethod
        def forward(x, factor=3.0, offset=1.0):
            see(mt.is_grad_enabled())
            return x * factor + offset

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, factor, offset = inputs
            see(mt.is_grad_enabled(), factor, offset, x is a)
            see(output)
            ctx.factor = factor
            ctx.save_for_backward(x, output)

        @staticmethod
        def backward(ctx, g):
            x, z = ctx.saved_tensors
            see(x is a)
            see(z)
            return g * ctx.factor, None, None

    a = leaf(mt)
    z = Scale.apply(a)
    see(z)
    z.sum().backward()
    Scale.apply(a, 5.0).sum().backward()
    see.value(a.grad)
    with see.raising():
        Scale.apply()


@shows("3 outputs")
def tensors_tuples_and_other_things(mt, see):
    class Many(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            total = x + y
            return total, "text", x * y, 3, None, total

        @staticmethod
        def backward(ctx, a, text, b, three, none, again):
            see(text, three, none)
            see.value(a, b, again)
            return a + b * 2, a + b * 3

    x, y = leaf(mt), leaf(mt, 3.0, 4.0)
    total, text, product, three, none, again = Many.apply(x, y)
    see(total, text, product, three, none, again, again is total)
    (total * 2 + again).sum().backward(retain_graph=True)
    product.sum().backward()
    see.value(x.grad, y.grad)


@shows("3 outputs")
def a_list_is_no_tuple(mt, see):
    class Listed(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return [x * 2]

        @staticmethod
        def backward(ctx, g):
            return g

    with see.raising():
        see(Listed.apply(leaf(mt)))


@shows("3 outputs")
def of_integers_require_no_grad(mt, see):
    class Parts(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x.long()

        @staticmethod
        def backward(ctx, g, h):
            see.value(g, h)
            return g * 2

    x = leaf(mt)
    a, b = Parts.apply(x)
    see(a, b)
    a.sum().backward()
    see.value(x.grad)


@shows("3 once_differentiable")
def runs_without_grad_mode_and_refuses_twice(mt, see):
    class Square(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @mt.autograd.function.once_differentiable
        def backward(ctx, g):
            see(mt.is_grad_enabled())
            (x,) = ctx.saved_tensors
            return 2 * g * x

    x = leaf(mt)
    y = Square.apply(x)
    (g,) = mt.autograd.grad(y.sum(), x, create_graph=True)
    see(g)
    v = mt.tensor([1.0, 1.0], requires_grad=True)
    (h,) = mt.autograd.grad(y, x, v, create_graph=True)
    see(h)
    with see.raising():
        h.sum().backward()
    Square.apply(x).sum().backward()
    see.value(x.grad)


@shows("3 vjp")
def one_of_the_two(mt, see):
    class Vjp(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 2

    class Both(Vjp):
        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(mt)
    Vjp.apply(x).sum().backward()
    see.value(x.grad)
    with see.raising():
        Both.apply(x).sum().backward()


@shows("3 missing methods")
def are_named(mt, see):
    class Nothing(mt.autograd.Function):
        pass

    class Forward(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    x = leaf(mt)
    with see.raising():
        Nothing.apply(x)
    y = Forward.apply(x)
    with see.raising():
        y.sum().backward()


@shows("3 instantiating")
def is_deprecated(mt, see):
    class Double(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    function = Double()
    with see.raising():
        function(leaf(mt))


@shows("3 names")
def are_the_classes_with_backward(mt, see):
    class MyOwn(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    y = MyOwn.apply(leaf(mt))
    see(y.grad_fn.name(), type(y.grad_fn).__name__, repr(y))


@shows("3 names")
def in_messages(mt, see):
    x = leaf(mt)
    a = returning(mt, lambda g: g).apply(x)
    b = a * a
    a.add_(1)
    with see.raising():
        b.sum().backward()
    c = returning(mt, lambda g: g).apply(x)
    d = c.exp()
    d.mul_(2)
    with see.raising():
        d.sum().backward()
    e = x * 2
    f = e.exp() * e
    e.detach().add_(1)
    with see.raising():
        f.sum().backward()
    h = mt.tensor([1.0, 2.0])
    i = x * h
    h.add_(1)
    with see.raising():
        i.sum().backward()


@shows("3 exceptions in backward")
def keep_their_type(mt, see):
    def fail(g):
        raise KeyError("mine")

    x = leaf(mt)
    with see.raising():
        returning(mt, fail).apply(x).sum().backward()
    see(mt.is_grad_enabled())
    with see.raising():
        returning(mt, lambda g: g.nothing).apply(x).sum().backward()


@shows("3 forward(ctx, *args)")
def leave_everything_as_it_was(mt, see):
    class Fails(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            raise KeyError("mine")

    x = leaf(mt)
    with see.raising():
        Fails.apply(x)
    see(mt.is_grad_enabled(), x)


@shows("3 under no_grad")
def forward_runs_without_a_node(mt, see):
    class View(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x[:1], x * 2

        @staticmethod
        def backward(ctx, g, h):
            return None

    x = leaf(mt)
    a = x * 1
    with mt.no_grad():
        v, w = View.apply(a)
    see(v, w)
    with see.raising():
        v.mul_(2)


@shows("3 forward(ctx, *args)")
def inside_of_another_functions_forward_and_backward(mt, see):
    class Inner(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class Outer(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return Inner.apply(x) + 1

        @staticmethod
        def backward(ctx, g):
            return Inner.apply(g)

    x = leaf(mt)
    y = Outer.apply(x)
    see.graph(y)
    (g,) = mt.autograd.grad(y, x, mt.ones(2, requires_grad=True), create_graph=True)
    see(g)
    see.graph(g)


@shows("3 forward(ctx, *args)")
def recording_inside_forward_on_purpose(mt, see):
    class Recorded(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with mt.enable_grad():
                inner = x.detach().requires_grad_()
                z = (inner * inner).sum()
            ctx.inner, ctx.z = inner, z
            return z.detach()

        @staticmethod
        def backward(ctx, g):
            (d,) = mt.autograd.grad(ctx.z, ctx.inner, g)
            return d

    x = leaf(mt)
    y = Recorded.apply(x * 3)
    see(y)
    y.backward()
    see.value(x.grad)


@shows("3 forward(ctx, *args)")
def returning_a_tensor_with_a_history_of_its_own(mt, see):
    class Recorded(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with mt.enable_grad():
                return x * 3

        @staticmethod
        def backward(ctx, g):
            return g * 5

    x = leaf(mt)
    y = Recorded.apply(x)
    see(y)
    y.sum().backward()
    see.value(x.grad)
