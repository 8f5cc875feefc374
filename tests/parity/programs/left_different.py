"""Rows of several sections on which microtape differs on purpose."""

from tests.parity.rows import shows


@shows(
    "5 inference_mode",
    differs="A Function that is called in inference mode is not recorded, even if grad mode is on inside of it; torch "
    "records it, and its result is an inference tensor that requires grad.",
)
def functions_with_grad_mode_inside(mt, see):
    class Twice(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = mt.ones(2, requires_grad=True)
    with mt.inference_mode(), mt.enable_grad():
        y = Twice.apply(x)
    see(y.is_inference(), y.requires_grad)


@shows(
    "2 backward(tensors, ...)",
    differs="Hooks get another tensor with the memory of the first gradient that was given to backward, so a write to "
    "it does not raise the version of the latter.",
)
def hooks_write_to_the_first_gradient(mt, see):
    x = mt.ones(2, requires_grad=True)
    y = x * 2
    given, seen = mt.ones(2), []
    y.register_hook(lambda g: seen.append(g.mul_(3)))
    y.backward(given)
    see.value(given, x.grad)
    see(given._version, seen[0] is given)


@shows(
    "12 complex",
    differs="The error for a Function that returns a complex gradient for a real input names the Function; torch's is "
    "that of an internal check.",
)
def a_complex_gradient_of_a_real_input(mt, see):
    class Wrong(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * 1j

    with see.raising():
        Wrong.apply(mt.ones(2, requires_grad=True)).sum().backward()


@shows(
    "7 saved_tensors_hooks",
    differs="A view whose base has got a history since the view was made keeps that history when hooks pack it as the "
    "input of a checkpoint, or for a Function that does not take it; torch unpacks a leaf.",
)
def a_view_of_a_base_that_has_got_a_history(mt, see):
    class Keeps(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, others):
            ctx.save_for_backward(*others)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (saved,) = ctx.saved_tensors
            see(saved.grad_fn is None, saved.requires_grad)
            return g * saved, None

    x, base = mt.ones(2, requires_grad=True), mt.zeros(2)
    view = base.view_as(base)
    base.copy_(x)
    with mt.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor):
        y = Keeps.apply(x, [view])
    y.sum().backward()
    see.value(x.grad)
