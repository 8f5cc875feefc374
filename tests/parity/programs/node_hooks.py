"""Section 4 of the semantics: what the hooks of nodes see."""

from tests.parity.rows import shows


@shows("4 Node.register_hook")
def of_a_list_of_tensors_see_all_gradients(mt, see):
    joins = (
        lambda x, y: mt.stack([x, y]),
        lambda x, y: mt.cat([x, y]),
        lambda x, y: mt.cat([y, x, y[:0], mt.tensor([])]),
        lambda x, y: mt.hstack([y, x]),
    )
    for join in joins:
        for needed in ((True, False), (False, True), (True, True)):
            x, y = (mt.tensor([1.0, 2.0], requires_grad=one) for one in needed)
            z = join(x, y)
            z.grad_fn.register_hook(lambda gradients, arrived: see.value(*gradients, *arrived))
            see.value(*z.grad_fn(mt.ones_like(z)))
            z.sum().backward()
            see.value(x.grad, y.grad)


@shows("4 Node.register_hook")
def of_a_list_of_tensors_replace_all_gradients(mt, see):
    for create_graph in (False, True):
        x, y = mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor([3.0, 4.0], requires_grad=True)
        z = mt.stack([x, y, mt.ones(2)])
        z.grad_fn.register_hook(lambda gradients, arrived: tuple(gradient * 2 for gradient in gradients))
        see.value(*mt.autograd.grad(z.sum(), [y], create_graph=create_graph))


@shows("4 Node.register_hook")
def of_a_list_of_tensors_of_which_some_are_asked_for(mt, see):
    for join in (mt.stack, mt.cat):
        x, y = mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor([3.0, 4.0], requires_grad=True)
        z = join([x, y])
        z.grad_fn.register_hook(lambda gradients, arrived: see.value(*gradients, *arrived))
        first = mt.ones_like(z)
        see.value(*mt.autograd.grad(z, z, first, retain_graph=True))
        see.value(*mt.autograd.grad(z, y, first, retain_graph=True))
        z.backward(first, inputs=[z], retain_graph=True)
        z.backward(first, inputs=[x])
        see.value(x.grad, y.grad)


@shows("5 grad mode inside backward")
def what_a_backward_that_wrote_to_a_view_sets_ends_with_it(mt, see):
    class Doubles(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            mt.set_grad_enabled(True)
            return g * 2

    class Looks(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            see(mt.is_grad_enabled(), g.requires_grad)
            return g

    x = mt.tensor([1.0, 2.0], requires_grad=True)
    base = Looks.apply(x)
    base = base * 1
    Doubles.apply(base[:1])
    base.sum().backward()
    see.value(x.grad)
    see(mt.is_grad_enabled())


@shows("4 Node.register_hook")
def of_roots_that_are_asked_for(mt, see):
    fw = mt.autograd.forward_ad

    def written(x):
        y = mt.zeros(2)
        return y.copy_(x)

    def unpacked(x):
        with fw.dual_level():
            return fw.unpack_dual(fw.make_dual(x, mt.ones(2))).primal

    for operation in (unpacked, written, lambda x: x.view_as(x), lambda x: x.clone(), lambda x: x[:1], lambda x: x * x):
        for inputs in (True, False):
            x = mt.tensor([1.0, 2.0], requires_grad=True)
            y = operation(x)
            y.grad_fn.register_hook(lambda gradients, arrived: see.value(*gradients, *arrived))
            y.backward(mt.ones_like(y).detach(), inputs=[y] if inputs else None)
            see.value(x.grad)


@shows("4 Node.register_hook")
def beside_hooks_of_the_leaf(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda gradient: see.value("tensor", gradient))
    y = x * 3
    accumulator = y.grad_fn.next_functions[0][0]
    accumulator.register_prehook(lambda gradients: see.value("before", *gradients))
    x.register_hook(lambda gradient: gradient * 2)
    x.register_post_accumulate_grad_hook(lambda leaf: see.value("after", leaf.grad))
    y.sum().backward()
    see.value(x.grad)
