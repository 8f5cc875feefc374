"""Sections 3 and 6 of the semantics: custom Functions that write to their inputs or return them."""

import warnings

from tests.parity.programs.function import leaf
from tests.parity.rows import shows


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


def marking(mt, mark, output=lambda x, other: x * 2):
    class Marks(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, other):
            getattr(ctx, mark)(other)
            return output(x, other)

        @staticmethod
        def backward(ctx, grad, *others):
            return grad * 2, None

    return Marks


@shows("3 ctx.mark_dirty")
def only_tensors_can_be_marked(mt, see):
    for mark in ("mark_dirty", "mark_non_differentiable"):
        for value in (3, None):
            with see.raising(text=False):
                marking(mt, mark).apply(leaf(mt), value)


@shows("3 ctx.mark_dirty")
def an_error_comes_without_the_warning(mt, see):
    class MarksItsView(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            view = x[:1]
            ctx.mark_dirty(view.mul_(3))
            return view

        @staticmethod
        def backward(ctx, grad):
            return mt.cat([grad * 3, grad])

    with see.raising():
        MarksItsView.apply(leaf(mt).clone())
    other = mt.ones(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with see.raising():
            marking(mt, "mark_dirty", lambda x, other: (x * 2, other)).apply(leaf(mt), other)
    see(other._version)


@shows("3 ctx.mark_dirty")
def a_written_view_gets_a_gradient_of_another_shape(mt, see):
    class Doubled(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return mt.ones(5)

    for create_graph in (False, True):
        y = mt.ones(3, requires_grad=True) * 1
        Doubled.apply(y[:])
        with see.raising():
            y.backward(mt.ones(3), create_graph=create_graph)
