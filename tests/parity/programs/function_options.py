"""Section 3 of the semantics: class attributes of a Function that are options, and keyword arguments."""

from tests.parity.rows import shows


def pair(mt):
    return mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor([3.0, 4.0], requires_grad=True)


@shows("3 clear_saved_tensors_on_access")
def allows_one_look_at_what_was_saved(mt, see):
    class Cleared(mt.autograd.Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, grad):
            x, y = ctx.saved_tensors
            with see.raising():
                _ = ctx.saved_tensors
            return grad * y, grad * x

    x, y = pair(mt)
    z = Cleared.apply(x, y)
    z.sum().backward(retain_graph=True)
    see.value(x.grad, y.grad)
    with see.raising():
        _ = z.grad_fn.saved_tensors
    with see.raising():
        _ = z.grad_fn._raw_saved_tensors
    with see.raising():
        z.sum().backward()
    see(Cleared.clear_saved_tensors_on_access, mt.autograd.Function.clear_saved_tensors_on_access)


@shows("3 boxed_grads_call")
def hands_the_gradients_over_in_a_list(mt, see):
    class Boxed(mt.autograd.Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx, x, y):
            return x * 2, y * 3

        @staticmethod
        def backward(ctx, grads):
            see(type(grads).__name__, len(grads))
            second, first = grads.pop(), grads.pop()
            return first * 2, second * 3

    x, y = pair(mt)
    a, b = Boxed.apply(x, y)
    (a + 2 * b).sum().backward()
    see.value(x.grad, y.grad)
    a, b = Boxed.apply(x, y)
    (grad,) = mt.autograd.grad((a * b).sum(), x, create_graph=True)
    see.value(grad, *mt.autograd.grad(grad.sum(), y))
    see(mt.autograd.Function.boxed_grads_call)


@shows("3 _is_pure_view")
def changes_nothing_that_is_seen(mt, see):
    class Flat(mt.autograd.Function):
        _is_pure_view = True

        @staticmethod
        def forward(ctx, x):
            return x.view(-1)

        @staticmethod
        def backward(ctx, grad):
            return grad.view(2, 1)

    x = mt.ones(2, 1, requires_grad=True)
    y = x * 1
    z = Flat.apply(y)
    see(z, z._base is y)
    with see.raising():
        z.mul_(2)
    z.sum().backward()
    see.value(x.grad)


@shows("3 keyword arguments of apply")
def have_their_place_among_the_gradients(mt, see):
    class Scale(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, by=1.0, plus=None):
            see(by, plus, ctx.needs_input_grad)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return tuple(grad * (i + 1) if needed else None for i, needed in enumerate(ctx.needs_input_grad))

    x, y = pair(mt)
    for args, kwargs in (
        ((x,), {"by": y}),
        ((x,), {"plus": y, "by": x}),
        ((), {"x": x}),
        ((x,), {"plus": y}),
        ((x,), {"by": 3.0}),
        ((), {"plus": y, "x": x}),
        ((x,), {"x": y}),
        ((x,), {"other": y}),
    ):
        x.grad = y.grad = None
        with see.raising():
            z = Scale.apply(*args, **kwargs)
            see(len(z.grad_fn.next_functions))
            z.sum().backward()
            see.value(x.grad, y.grad)


@shows("3 keyword arguments of apply")
def with_a_context_of_their_own(mt, see):
    class Scale(mt.autograd.Function):
        @staticmethod
        def forward(x, by=1.0, plus=None):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            see(*inputs, ctx.needs_input_grad)

        @staticmethod
        def backward(ctx, grad):
            return tuple(grad * (i + 1) if needed else None for i, needed in enumerate(ctx.needs_input_grad))

    x, y = pair(mt)
    for args, kwargs in (((x,), {"plus": y}), ((), {"plus": 3, "x": x}), ((x,), {"other": y}), ((), {"by": y})):
        x.grad = y.grad = None
        with see.raising():
            Scale.apply(*args, **kwargs).sum().backward()
            see.value(x.grad, y.grad)


@shows("3 keyword arguments of apply")
def must_not_be_keyword_only(mt, see):
    class Scale(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, *, by=2.0):
            return x * by

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x, _ = pair(mt)
    with see.raising():
        Scale.apply(x, by=3.0)
    Scale.apply(x).sum().backward()
    see.value(x.grad)


@shows("3 forward(*args) + setup_context")
def saving_an_input_that_is_returned(mt, see):
    class Returned(mt.autograd.Function):
        @staticmethod
        def forward(x, marked, forward):
            return x, x > 0

        @staticmethod
        def setup_context(ctx, inputs, output):
            (ctx.save_for_forward if inputs[2] else ctx.save_for_backward)(output[0])
            if inputs[1]:
                ctx.mark_non_differentiable(output[0])

        @staticmethod
        def backward(ctx, g, _):
            return g, None, None

    for mode in (mt.enable_grad, mt.no_grad):
        for requires_grad in (False, True):
            for marked in (False, True):
                for forward in (False, True):
                    with mode(), see.raising():
                        Returned.apply(mt.ones(2, requires_grad=requires_grad), marked, forward)


@shows("3 ctx.set_materialize_grads")
def by_assignment(mt, see):
    for value in (False, True, None, 0):

        class Two(mt.autograd.Function):
            @staticmethod
            def forward(ctx, x, value=value):
                with see.raising():
                    ctx.materialize_grads = value
                return x * 1, x * 2

            @staticmethod
            def backward(ctx, a, b):
                see.value(a, b)
                return b

        Two.apply(mt.ones(2, requires_grad=True))[1].sum().backward()


@shows("3 ctx.save_for_backward")
def of_what_is_no_tensor_is_an_error_once_it_is_recorded(mt, see):
    class Scaled(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(x, factor, None)
            see("saved")
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return g, None

    x = mt.ones(2, requires_grad=True)
    for enabled in (False, True):
        with mt.set_grad_enabled(enabled), see.raising():
            see(Scaled.apply(x, 3.0))
    see(Scaled.apply(x.detach(), 3.0))
