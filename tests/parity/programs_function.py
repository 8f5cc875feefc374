"""Section 3 of the semantics: `autograd.Function`."""

from parity.rows import shows


def leaf(mt, *values):
    return mt.tensor(list(values) or [1.0, 2.0], requires_grad=True)


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


def in_place(mt, save=False, also=False):
    """A Function that doubles its input in place."""

    class Twice(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            if save:
                ctx.save_for_backward(x)
            return (x, x * 3) if also else x

        @staticmethod
        def backward(ctx, g, *rest):
            if save:
                see_saved.append(ctx.saved_tensors[0])
            return g * 2

    see_saved = Twice.saved = []
    return Twice


@shows("3 ctx.mark_dirty")
def makes_the_input_the_output(mt, see):
    x = leaf(mt)
    a = x * 3
    old = a.grad_fn
    b = in_place(mt).apply(a)
    see(b is a, a, a.grad_fn is old, b._version)
    see.graph(b)
    with see.order(b):
        b.sum().backward()
    see.value(x.grad)


@shows("3 ctx.mark_dirty")
def is_noticed_by_who_saved_the_input(mt, see):
    x = leaf(mt)
    a = x * 3
    c = a * a
    in_place(mt).apply(a)
    with see.raising():
        c.sum().backward()


@shows("3 ctx.mark_dirty")
def on_a_view_writes_a_copy_slices(mt, see):
    x = leaf(mt, 1.0, 2.0, 3.0)
    a = x * 3
    v = a[:2]
    w = in_place(mt).apply(v)
    see(w is v, v, a)
    see.graph(a)
    see.graph(v)
    (a * a).sum().backward()
    see.value(x.grad)


@shows("3 ctx.mark_dirty")
def with_its_result_saved(mt, see):
    x = leaf(mt, 1.0, 2.0, 3.0)
    a = x * 3
    twice = in_place(mt, save=True)
    b = twice.apply(a)
    b.sum().backward()
    see(twice.saved[0])
    see.value(x.grad)
    c = x * 3
    v = c[1:]
    twice.apply(v)
    c.sum().backward()
    see(twice.saved[1])
    see.value(x.grad)


@shows("3 ctx.mark_dirty")
def of_a_leaf_or_of_its_view_is_refused(mt, see):
    x = leaf(mt)
    with see.raising():
        in_place(mt).apply(x)
    see(x)
    y = leaf(mt)
    with see.raising():
        in_place(mt).apply(y[:1])
    see(y)
    with mt.no_grad():
        see(in_place(mt).apply(x) is x, x)
        v = x[0]
        see(in_place(mt).apply(v) is v, x)


@shows("3 ctx.mark_dirty")
def with_several_outputs(mt, see):
    x = leaf(mt)
    a = x * 3
    b, c = in_place(mt, also=True).apply(a)
    see(b is a, b, c)
    (b + c).sum().backward()
    see.value(x.grad)
    d = x * 3
    with see.raising():
        in_place(mt, also=True).apply(d[:1])
    see(d)


@shows("3 ctx.mark_dirty")
def of_what_is_no_input_or_not_returned(mt, see):
    class NotReturned(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x * 3

        @staticmethod
        def backward(ctx, g):
            return g * 6

    class NotInput(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 3
            ctx.mark_dirty(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = leaf(mt)
    with see.raising():
        NotReturned.apply(x * 1)
    y = NotInput.apply(x * 1)
    see(y)
    y.sum().backward()
    see.value(x.grad)
    with see.raising():
        see(NotReturned.apply(mt.tensor([1.0])))


@shows("3 ctx.mark_dirty")
def on_a_constant(mt, see):
    c = mt.tensor([1.0, 2.0])
    d = in_place(mt).apply(c)
    see(d is c, c)

    class AddInto(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            x.add_(y)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g, g

    y = leaf(mt)
    e = AddInto.apply(c, y)
    see(e is c, c)
    e.sum().backward()
    see.value(y.grad)
    f = mt.zeros(3)
    AddInto.apply(f[:2], y)
    see(f)
    f.sum().backward()
    see.value(y.grad)


@shows("3 input returned as it is")
def becomes_a_view_with_this_node(mt, see):
    class Identity(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 5

    x = leaf(mt)
    y = Identity.apply(x)
    see(y is x, y, x, y._base is x)
    y.sum().backward()
    see.value(x.grad)
    a = x * 2
    b = Identity.apply(a)
    see(b, b._base is a)
    with see.raising():
        b.mul_(2)
    see(a)
    a.mul_(2)
    with see.raising():
        see(b)
    with mt.no_grad():
        c = Identity.apply(x)
        see(c is x, c)
    d = mt.tensor([1.0])
    e = Identity.apply(d)
    see(e is d, e, e._base is d)


@shows("3 input returned as it is")
def saved_with_setup_context(mt, see):
    class Identity(mt.autograd.Function):
        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, g):
            return g * 5

    with see.raising():
        Identity.apply(leaf(mt))


@shows("6 view made in a Function")
def may_not_be_written_to(mt, see):
    class View(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1]

        @staticmethod
        def backward(ctx, g):
            return mt.cat([g, g * 0])

    x = leaf(mt)
    a = x * 2
    v = View.apply(a)
    see(v, v._base is a)
    with see.raising():
        v.mul_(2)
    v.sum().backward()
    see.value(x.grad)
    b = x * 2
    w = View.apply(b)
    b.mul_(2)
    with see.raising():
        see(w)


@shows("6 view made in a Function")
def beside_another_output(mt, see):
    class Views(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1], x * 2

        @staticmethod
        def backward(ctx, g, h):
            return mt.cat([g, g * 0]) + h * 2

    x = leaf(mt)
    v, w = Views.apply(x * 1)
    see(v, w)
    with see.raising():
        v.mul_(2)
    (v.sum() + w.sum()).backward()
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
