"""Section 5 of the semantics: inference mode."""

import copy
import threading

from tests.parity.rows import shows


@shows("5 inference_mode")
def marks_what_is_made_inside(mt, see):
    x, n = mt.ones(2, requires_grad=True), mt.ones(2)
    see(mt.is_inference_mode_enabled())
    with mt.inference_mode():
        see(mt.is_inference_mode_enabled(), mt.is_grad_enabled())
        made = [x * 2, mt.ones(2), n.clone(), x.sum(), mt.cat([x, n]), x > 0, mt.zeros_like(x), x[[0]], x.max(0)[0]]
        shared = [x.view(2, 1), n.view(2, 1), x.detach(), x, n[0], x.data]
        see([one.is_inference() for one in made], [one.is_inference() for one in shared])
        see([mt.is_inference(one.view(-1)) for one in made], [one.requires_grad for one in (*made, *shared)])
        see(made[0].grad_fn, made[0].is_leaf, shared[0].is_leaf, shared[0]._version)
        with see.raising():
            see(made[0]._version)
        leaf = mt.ones(2, requires_grad=True)
        see(leaf.requires_grad, leaf.is_inference(), (leaf * 2).requires_grad)
    see([one.is_inference() for one in (made[0] + 1, made[0].view(2, 1), made[0][0], made[0].detach(), made[0].data)])
    see(made[0].clone().is_inference(), made[0].exp().is_inference(), mt.ones(1).is_inference())


@shows("5 inference_mode")
def other_modes_inside(mt, see):
    x = mt.ones(2, requires_grad=True)
    with mt.inference_mode():
        with mt.enable_grad():
            see(mt.is_grad_enabled(), (x * 2).requires_grad, (x * 2).is_inference())
        see(mt.is_grad_enabled())
        with mt.inference_mode(False):
            see(mt.is_inference_mode_enabled(), mt.is_grad_enabled(), (x * 2).requires_grad, (x * 2).is_inference())
        with mt.no_grad():
            see(mt.ones(1).is_inference())
        see(mt.is_inference_mode_enabled(), mt.is_grad_enabled())
    with mt.no_grad(), mt.inference_mode(False):
        see(mt.is_grad_enabled(), mt.is_inference_mode_enabled())
    see(mt.is_grad_enabled(), mt.is_inference_mode_enabled())


@shows("5 inference_mode")
def writing(mt, see):
    x, n = mt.ones(2, requires_grad=True), mt.ones(2)
    with mt.inference_mode():
        a = x * 2
        see.value(a.add_(1), n.add_(1), x.mul_(2))
        see(n._version, x._version, x.is_leaf)
    for write in (lambda: a.add_(1), lambda: a.view(2, 1).mul_(2)):
        with see.raising():
            write()
        with mt.no_grad(), see.raising():
            write()
    n.add_(a)  # a's value differs: torch raises after writing
    see(n._version, n.is_inference())


@shows("5 inference_mode")
def never_in_a_graph(mt, see):
    x = mt.ones(2, requires_grad=True)
    with mt.inference_mode():
        a = x * 2
    for use in (lambda: a * x, lambda: x * a, lambda: x @ a, lambda: a.requires_grad_(), lambda: a.backward()):
        with see.raising():
            use()
    see((a + x).requires_grad, a.requires_grad_(False).requires_grad)
    with see.raising():
        a._version  # noqa: B018

    class Saves(mt.autograd.Function):
        @staticmethod
        def forward(ctx, one, other):
            ctx.save_for_backward(one)
            return one * 2

        @staticmethod
        def backward(ctx, grad):
            return grad, grad

    with see.raising():
        Saves.apply(a, x)
    see(Saves.apply(a, mt.ones(2)).requires_grad)
    with mt.inference_mode():
        see(Saves.apply(x, x).is_inference(), Saves.apply(x, x).requires_grad)


@shows("5 inference_mode")
def views_made_inside_and_written_outside(mt, see):
    x = mt.ones(2, requires_grad=True)
    y = x * 1
    n = mt.ones(2)
    with mt.inference_mode():
        of_leaf, of_result, of_constant = x.view(2, 1), y.view(2, 1), n.view(2, 1)
        see(of_leaf.requires_grad, of_result.requires_grad, of_constant.requires_grad)
    for view in (of_leaf, of_result, of_constant):
        with see.raising():
            view.mul_(2)
    y.mul_(2)
    see(of_result.requires_grad)
    with see.raising():
        of_result.grad_fn  # noqa: B018
    with see.raising():
        of_result * 2


@shows("5 inference_mode")
def as_a_decorator(mt, see):
    @mt.inference_mode()
    def with_call(t):
        return t * 2

    @mt.inference_mode
    def without_call(t):
        return t * 2

    @mt.inference_mode(mode=False)
    def off(t):
        return t * 2

    @mt.inference_mode()
    def steps():
        got = yield mt.is_inference_mode_enabled()
        yield got, mt.is_inference_mode_enabled()

    x = mt.ones(2, requires_grad=True)
    see(with_call(x).is_inference(), without_call(x).is_inference(), off(x).is_inference(), off(x).requires_grad)
    with mt.inference_mode():
        see(off(x).requires_grad, mt.is_inference_mode_enabled())
    generator = steps()
    see(next(generator), mt.is_inference_mode_enabled(), generator.send(5), mt.is_inference_mode_enabled())


@shows("5 inference_mode")
def belongs_to_its_thread(mt, see):
    seen = []
    with mt.inference_mode():
        thread = threading.Thread(
            target=lambda: seen.append((mt.is_inference_mode_enabled(), mt.ones(1).is_inference()))
        )
        thread.start()
        thread.join()
    see(seen)


@shows("5 inference_mode")
def backward_inside(mt, see):
    x = mt.ones(2, requires_grad=True)
    y = (x * 3).sum()
    with mt.inference_mode():
        y.backward(retain_graph=True)
        see(x.grad.is_inference(), x.grad.requires_grad)
        see.value(x.grad)
        (grad,) = mt.autograd.grad(y, x, retain_graph=True)
        see(grad.is_inference())
        y.backward(retain_graph=True)
    see.value(x.grad)
    with see.raising():
        y.backward()


@shows("5 inference_mode")
def views_of_inference_tensors_are_not_tracked(mt, see):
    def flags(tensor):
        return tensor.requires_grad, tensor.is_leaf, tensor.is_inference(), tensor._is_view(), tensor.grad_fn

    with mt.inference_mode():
        leaf = mt.ones(2, requires_grad=True)
        for view in (
            leaf.view(2, 1),
            leaf[0],
            leaf.reshape(1, 2),
            leaf.expand(3, 2),
            leaf.split(1)[0],
            leaf.unbind()[0],
        ):
            see(flags(view), flags(view.detach()), flags(view.data), flags(view.clone()))
        view = leaf.view(2, 1).requires_grad_()
        see(flags(view), flags(view.view(-1)), flags(view.add_(1)), flags(leaf.requires_grad_(False)), flags(view))
        with mt.inference_mode(False):
            see(
                flags(leaf.requires_grad_(False).view(2, 1)), flags(view.view(-1)), flags(view[0]), flags(view.detach())
            )
        with mt.enable_grad():
            see(flags(view.view(-1)))
    see(flags(view.view(-1)), flags(view.split(1)[0]), flags(view.unbind()[0]), flags(view.t()))
    with see.raising():
        view.view(-1).sum().backward()


@shows("5 inference_mode")
def functions_on_inference_tensors(mt, see):
    class Same(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            see(mt.is_inference_mode_enabled(), ctx.needs_input_grad)
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    class Flat(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(-1)

        @staticmethod
        def backward(ctx, g):
            return g

    class Doubled(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x, n = mt.ones(2, requires_grad=True), mt.ones(2)
    with mt.inference_mode():
        leaf = mt.ones(2, requires_grad=True)
        for function in (Same, Flat, Doubled):
            for tensor in (leaf, x, x * 1, n):
                with see.raising():
                    y = function.apply(tensor)
                    see(y.requires_grad, y.is_leaf, y.is_inference(), y._is_view(), y.grad_fn)
    for function in (Same, Flat, Doubled):
        with see.raising():
            y = function.apply(leaf)
            see(y.requires_grad, y.is_leaf, y.is_inference(), y._is_view(), y.grad_fn.name())


@shows("5 inference_mode")
def detaching_in_place_has_no_effect(mt, see):
    x = mt.ones(2, requires_grad=True)
    y = x * 2
    v = y.view(2, 1)
    with mt.inference_mode():
        leaf = mt.ones(2, requires_grad=True)
        see([one.detach_() is one for one in (x, y, v, leaf)], [one.requires_grad for one in (x, y, v, leaf)])
        see([one.is_leaf for one in (x, y, v, leaf)])
    see(leaf.detach_().requires_grad, leaf.view(2, 1).detach_().requires_grad, x.detach_().requires_grad)
    with see.raising():
        v.detach_()


@shows("5 inference_mode")
def deep_copies(mt, see):
    n = mt.ones(2, requires_grad=True)
    with mt.inference_mode():
        i, leaf = mt.ones(2), mt.ones(2, requires_grad=True)
        copies = [copy.deepcopy(one) for one in (i, leaf, n)]
    copies += [copy.deepcopy(one) for one in (i, leaf, n)]
    see([(one.is_inference(), one.requires_grad, one.is_leaf) for one in copies])


@shows(
    "5 inference_mode",
    differs="An inference tensor that requires grad is recorded in normal mode like any other tensor that "
    "does. PyTorch records an operation only if one of its operands is a normal tensor, and a clone as CopyBackwards.",
)
def told_to_require_grad(mt, see):
    with mt.inference_mode():
        x = mt.ones(2).requires_grad_()
    y = -x
    see(y.requires_grad, (x + mt.ones(2)).requires_grad, x.clone().grad_fn.name())


@shows(
    "5 inference_mode",
    differs="Writing to the `.data` of an inference tensor outside of inference mode raises an error, like any write "
    "to an inference tensor. PyTorch lets it through.",
)
def writing_through_data(mt, see):
    with mt.inference_mode():
        x = mt.ones(2)
    with see.raising():
        x.data.add_(1)


@shows("5 inference_mode")
def views_of_views_from_different_modes(mt, see):
    modes = (mt.no_grad, mt.inference_mode, mt.enable_grad)
    for first in modes:
        for second in modes:
            for third in modes:
                base = mt.ones(2, requires_grad=True) * 1
                with first():
                    view = base[:1]
                with second():
                    view = view.squeeze(0)
                with third():
                    view = view.view(1)
                with see.raising():
                    view.sub_(1)
