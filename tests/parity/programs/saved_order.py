"""Section 7 of the semantics: when tensors are packed, and which can be."""

import contextlib

from tests.parity.rows import shows


@contextlib.contextmanager
def packing(mt, see, pack=lambda tensor: tensor):
    """Hooks that show what they pack."""

    def seen(tensor):
        see("pack", tensor.detach().clone(), tensor._version)
        return pack(tensor)

    with mt.autograd.graph.saved_tensors_hooks(seen, lambda tensor: tensor):
        yield


def leaf(mt, *values):
    return mt.tensor(values, requires_grad=True)


@shows("7 saved_tensors_hooks")
def operands_of_a_write_are_packed_before_it(mt, see):
    x, w = leaf(mt, 1.0, 2.0), leaf(mt, 3.0, 4.0)
    for write in (
        lambda y: y.mul_(w),
        lambda y: y.sin_(),
        lambda y: y.div_(w),
        lambda y: y.pow_(3),
        lambda y: y[:1].mul_(w[1:]),
    ):
        y = x * 2
        with packing(mt, see, mt.clone):
            write(y)
        see(y)
        see.value(*mt.autograd.grad(y.sum(), [x, w], allow_unused=True))


@shows("7 saved_tensors_hooks")
def results_of_a_write_are_packed_after_it(mt, see):
    x = leaf(mt, 1.0, 2.0)
    for write in (lambda y: y.exp_(), lambda y: y.tanh_(), lambda y: y[1:].sigmoid_(), lambda y: y.sqrt_()):
        y = x * 2
        with packing(mt, see, mt.clone):
            write(y)
        see(y)
        see.value(*mt.autograd.grad(y.sum(), x))


@shows("7 saved_tensors_hooks")
def an_operand_that_shares_memory_with_what_is_written(mt, see):
    for write in (lambda y: y[1:].mul_(y[:1]), lambda y: y.mul_(y), lambda y: y[1:].mul_(y[1:])):
        x = leaf(mt, 1.0, 2.0)
        y = x * 2
        with packing(mt, see, mt.clone):
            write(y)
        with see.raising():
            y.sum().backward()
        see.value(x.grad)


@shows("7 saved_tensors_hooks")
def a_pack_hook_that_raises_stops_the_write(mt, see):
    def refuse(tensor):
        raise ValueError("no")

    w = leaf(mt, 3.0, 4.0)
    for write in (lambda y: y.mul_(w), lambda y: y.sin_(), lambda y: y[:1].mul_(w[1:])):
        x = leaf(mt, 1.0, 2.0)
        y = x * 2
        with see.raising(), packing(mt, see, refuse):
            write(y)
        see(y, y._version)
        y.sum().backward()
        see.value(x.grad)


@shows("7 saved_tensors_hooks")
def a_pack_hook_may_not_write_to_what_will_be_written(mt, see):
    x, w = leaf(mt, 1.0, 2.0), leaf(mt, 3.0, 4.0)
    y = x * 2
    with see.raising(), packing(mt, see, lambda tensor: tensor.mul_(1)):
        y.mul_(w.clone())
    see(y, y.grad_fn.name())


@shows("7 saved_tensors_hooks")
def a_function_packs_after_its_jvp(mt, see):
    class Twice(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, tangent):
            see("jvp")
            return tangent * 2

    fw = mt.autograd.forward_ad
    x = leaf(mt, 1.0, 2.0)
    with fw.dual_level():
        with packing(mt, see):
            y = Twice.apply(fw.make_dual(x, mt.ones(2)))
        see.value(*fw.unpack_dual(y))


@shows("7 saved_tensors_hooks")
def a_function_without_a_jvp_packs_nothing(mt, see):
    fw = mt.autograd.forward_ad
    checkpoint = mt.utils.checkpoint.checkpoint
    x = leaf(mt, 1.0, 2.0)
    with fw.dual_level():
        dual = fw.make_dual(x, mt.ones(2))
        with see.raising(), packing(mt, see):
            checkpoint(lambda x: x * 2, dual, use_reentrant=True)


@shows("7 saved_tensors_hooks")
def of_a_view_that_may_not_be_used_any_more(mt, see):
    class Keeps(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, others):
            ctx.save_for_backward(*others)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (saved,) = ctx.saved_tensors
            see(saved)
            return g * 2, None

    checkpoint = mt.utils.checkpoint.checkpoint
    x, w = leaf(mt, 1.0, 2.0), leaf(mt, 3.0, 4.0)
    for made, source in ((mt.no_grad, False), (mt.no_grad, True), (mt.inference_mode, False), (None, False)):
        for hooked in (False, True):
            base = x.clone()
            with made() if made else contextlib.nullcontext():
                view = base.view_as(base) if made else base.unbind(0)[0]
            if source:
                view.requires_grad_()
            base.mul_(2)
            for call in (
                lambda view=view: checkpoint(lambda a, b: b * b, view, w, use_reentrant=False),
                lambda view=view: Keeps.apply(w, [view]),
            ):
                with see.raising():
                    with packing(mt, see) if hooked else contextlib.nullcontext():
                        y = call()
                    y.sum().backward()
                see.value(w.grad)
