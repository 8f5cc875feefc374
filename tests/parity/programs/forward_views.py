"""Section 11 of the semantics: tangents of views, of what overwrites itself, and of a Function's unusual outputs."""

import contextlib

from tests.parity.programs.forward import level
from tests.parity.programs.forward_saved import ROW, dual_leaf, tangents
from tests.parity.rows import shows

FUNCTION = "11 Function.jvp, save_for_forward"


def function(mt, forward, jvp, backward=lambda ctx, *gs: gs, **others):
    own = {"forward": forward, "jvp": jvp, "backward": backward, **others}
    return type("F", (mt.autograd.Function,), {name: staticmethod(one) for name, one in own.items()})


@shows(ROW)
def of_a_written_matrix_and_its_parts(mt, see):
    with level(mt):
        w, d = dual_leaf(mt)
        y = mt.arange(6, dtype=mt.float64).reshape(2, 3)
        row, column = y[0], y[:, 1]
        for write in (
            lambda: column.copy_(d),
            lambda: row.mul_(d[0]),
            lambda: y[1, 1:].copy_(d * d),
            lambda: y.__setitem__(mt.tensor([True, False]), d.sum()),
            lambda: y.t()[0].add_(d),
            lambda: y.zero_(),
            lambda: y.fill_(d[0]),
            lambda: row.fill_(3.0),
            lambda: y.masked_fill_(y > 5, 0.0),
            lambda: y.index_put_((mt.tensor([0, 1]), mt.tensor([1, 1])), d, accumulate=True),
            lambda: y.diagonal().mul_(d),
            lambda: y.view(-1)[::2].sub_(1),
        ):
            write()
            tangents(mt, see, y, row, column)
        (g,) = mt.autograd.grad((y**3).sum(), w, create_graph=True)
        see.value(g)
        tangents(mt, see, g)
        with mt.no_grad():
            y = d * 1
            y[:1].exp_()
            y[1:].mul_(y[0])
            tangents(mt, see, y)


@shows(ROW)
def of_a_dual_tensor_and_its_primal(mt, see):
    fw = mt.autograd.forward_ad
    with level(mt):
        x, t = mt.ones(2, dtype=mt.float64), mt.tensor([3.0, 4.0], dtype=mt.float64)
        d = fw.make_dual(x, t)
        for write in (lambda: x.mul_(2), lambda: d.mul_(3), lambda: x.copy_(d * d), lambda: d[:1].mul_(2)):
            write()
            see.value(x, t)
            tangents(mt, see, x, d, d * d, x * 1)
        primal, tangent = fw.unpack_dual(d)
        see(tangent is t)
        primal.mul_(5)
        tangents(mt, see, primal, d, x)
        primal.mul_(d)
        tangents(mt, see, primal, d, x)
    for make in (lambda d: d, lambda d: d * 2, lambda d: (d * 2)[:]):
        with level(mt):
            w, d = dual_leaf(mt, requires_grad=False)
            y = make(d)
            primal, _ = fw.unpack_dual(y)
            part, other = primal[:1], primal.view(2, 1)
            tangents(mt, see, primal, part, other, part * 1, *primal.unbind())
            tangents(mt, see, function(mt, lambda ctx, a: a, lambda ctx, t: t.view_as(t)).apply(primal))
            primal.mul_(d)
            tangents(mt, see, primal, part, other, y, w)
            part.mul_(3)
            tangents(mt, see, primal, part, other, y, w)


@shows(ROW)
def of_views_made_in_inference_mode(mt, see):
    with level(mt):
        _, d = dual_leaf(mt)
        with mt.inference_mode():
            product, view = d * d, d[:1]
            tangents(mt, see, product, view)
        tangents(mt, see, product, view, view * 2)


@shows(ROW)
def detached_in_place(mt, see):
    with level(mt):
        _, d = dual_leaf(mt)
        y = d * d
        y.detach_()
        tangents(mt, see, y, y * 2)


@shows(
    ROW,
    differs="`x.mul_(x)` and other in-place operations with an operand that they overwrite have the right tangent; "
    "torch uses the overwritten tangent or value",
)
def of_operands_overwritten_by_the_operation(mt, see):
    for write in (
        lambda y: y.mul_(y),
        lambda y: y.pow_(y),
        lambda y: y.addcmul_(y, y),
        lambda y: y.mul_(y[:]),
        lambda y: y[:].mul_(y),
        lambda y: y.pow_(y.view_as(y)),
    ):
        with level(mt):
            _, d = dual_leaf(mt, requires_grad=False)
            y = d * 1
            write(y)
            see.value(y)
            tangents(mt, see, y)


@shows(
    ROW,
    differs="of `x.mul_(x)` under saved-tensor hooks, the value and the tangent from before it are saved; torch saves "
    "overwritten ones",
)
def of_packed_operands_overwritten_by_the_operation(mt, see):
    graph = mt.autograd.graph
    for way in (graph.save_on_cpu, lambda: graph.saved_tensors_hooks(lambda kept: kept.clone(), lambda kept: kept)):
        for make in (lambda y: y, lambda y: y[:1]):
            with level(mt):
                w, d = dual_leaf(mt)
                y = d * 1
                x = make(y)
                with way():
                    x.mul_(x)
                (g,) = mt.autograd.grad((y * y).sum(), w, create_graph=True)
                see.value(g)
                tangents(mt, see, g)


@shows(FUNCTION)
def jvp_does_not_see_what_is_saved_for_backward(mt, see):
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * 2

    def jvp(ctx, t):
        see(len(ctx.saved_tensors))
        return t * 2

    for requires_grad in (False, True):
        with level(mt):
            tangents(mt, see, function(mt, forward, jvp).apply(dual_leaf(mt, requires_grad)[1]))


@shows(FUNCTION)
def saved_inputs_and_outputs_have_tangents(mt, see):
    def forward(ctx, a, b):
        z, flag = a.exp(), a > 1
        ctx.save_for_backward(a, b, z)
        ctx.save_for_forward(a, b, z)
        ctx.mark_non_differentiable(flag)
        return a * b, flag, z, 7

    def jvp(ctx, t, u):
        a, b, z = ctx.saved_tensors
        return t * b + a * u, None, t * z, None

    def backward(ctx, g, _flag, g_z, _number):
        a, b, z = ctx.saved_tensors
        tangents(mt, see, a, b, z)
        return g * b + g_z * z, g * a

    made = function(mt, forward, jvp, backward)
    for pack in (None, lambda x: x, lambda x: x.clone()):
        with level(mt):
            w, d = dual_leaf(mt)
            way = mt.autograd.graph.saved_tensors_hooks(pack, lambda x: x) if pack else contextlib.nullcontext()
            with way:
                y, flag, z, number = made.apply(d * 1, d * d)
            see.value(flag)
            see(number)
            tangents(mt, see, y, z)
            for create_graph in (False, True):
                (g,) = mt.autograd.grad((y * z).sum(), w, retain_graph=True, create_graph=create_graph)
                see.value(g)
                tangents(mt, see, g)


@shows(FUNCTION)
def with_its_own_context_setup(mt, see):
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output[1])
        ctx.save_for_forward(*inputs, output[1])

    def jvp(ctx, t, u):
        a, b, z = ctx.saved_tensors
        return t * b + a * u, t * z

    def backward(ctx, g, g_z):
        a, b, z = ctx.saved_tensors
        return g * b + g_z * z, g * a

    made = function(mt, lambda a, b: (a * b, a.exp()), jvp, backward, setup_context=setup_context)
    with level(mt):
        w, d = dual_leaf(mt)
        y, z = made.apply(d, d * d)
        tangents(mt, see, y, z)
        for create_graph in (False, True):
            (g,) = mt.autograd.grad((y * z).sum(), w, retain_graph=True, create_graph=create_graph)
            see.value(g)
            tangents(mt, see, g)


@shows(FUNCTION)
def that_writes_to_a_dual_input_that_requires_grad(mt, see):
    def forward(ctx, a):
        a.exp_()
        ctx.mark_dirty(a)
        ctx.save_for_backward(a)
        ctx.save_for_forward(a)
        return a

    def jvp(ctx, t):
        return t.mul_(*ctx.saved_tensors)

    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        tangents(mt, see, a)
        return g * a

    made = function(mt, forward, jvp, backward)
    for make in (lambda d: d * 1, lambda d: (d * 1)[:1], lambda d: (d * d).view(2, 1)):
        for pack in (False, True):
            with level(mt):
                w, d = dual_leaf(mt)
                hooks = mt.autograd.graph.saved_tensors_hooks(lambda x: x.clone(), lambda x: x)
                a = make(d)
                with hooks if pack else contextlib.nullcontext():
                    made.apply(a)
                tangents(mt, see, a, a._base)
                for create_graph in (False, True):
                    (g,) = mt.autograd.grad((a * a).sum(), w, retain_graph=True, create_graph=create_graph)
                    see.value(g)
                    tangents(mt, see, g)


@shows(FUNCTION)
def that_writes_to_several_inputs(mt, see):
    def forward(ctx, a, b):
        a.add_(b)
        b.mul_(2)
        ctx.mark_dirty(a, b)
        return a, b

    def jvp(ctx, t, u):
        t.add_(u)
        u.mul_(2)
        return t, u

    made = function(mt, forward, jvp, lambda ctx, g, h: (g, g + 2 * h))
    for requires_grad in (False, True):
        for make in (
            lambda w, d: (d * 1, d * d),
            lambda w, d: (w * 1, d * d),
            lambda w, d: (d * 1, w * w),
            lambda w, d: ((w * 1)[:1], (d * 1)[1:]),
            lambda w, d: ((d * 1)[:1], w[1:] * 1),
        ):
            with level(mt), see.raising():
                a, b = make(*dual_leaf(mt, requires_grad))
                made.apply(a, b)
                tangents(mt, see, a, b, *[one._base for one in (a, b) if one._is_view()])


@shows(FUNCTION, differs="a `jvp` may return None for an output without tangent; torch fails in an internal check")
def that_returns_no_tangent(mt, see):
    for forward in (lambda ctx, a: a * 2, lambda ctx, a: a, lambda ctx, a: a[:1]):
        with level(mt), see.raising():
            tangents(mt, see, function(mt, forward, lambda ctx, t: None).apply(dual_leaf(mt)[1]))


@shows(ROW)
def of_a_dual_tensor_at_a_later_level(mt, see):
    fw = mt.autograd.forward_ad
    x, t = mt.ones(2, 2, dtype=mt.float64), mt.full((2, 2), 2.0, dtype=mt.float64)
    with level(mt):
        d = fw.make_dual(x, t)
        primal, _ = fw.unpack_dual(d)
        inside = d[0]
    outside, view = d[0], x[0]
    for target in (x, view, d, inside, outside, primal, primal[0]):  # each but the views of x has a tangent of its own
        with level(mt):
            target.copy_(fw.make_dual(mt.ones_like(target), mt.full_like(target, 3.0)))
            tangents(mt, see, x, view, d, inside, outside, outside[:1], primal)


@shows(ROW)
def laid_out_as_a_part_of_a_larger_tensor(mt, see):
    fw = mt.autograd.forward_ad
    w = mt.ones(2, 3, dtype=mt.float64, requires_grad=True)
    for part in (w[1:], w[:, 1:], w.t()[1:], w[:, ::2], w[0, 1:], w.double()[1:]):
        with level(mt):
            _, t = fw.unpack_dual(fw.make_dual(part, mt.ones(part.shape, dtype=mt.float64)))
        see.value(t)
        see(t.stride())
        with level(mt):
            d = fw.make_dual(t, part.view_as(part))  # the tangent lies in memory as its primal does, and is not copied
            with see.raising():
                d.copy_(mt.ones_like(d).detach())


@shows(ROW)
def of_means_of_nothing(mt, see):
    x = mt.zeros(0, 2, dtype=mt.float64, requires_grad=True)
    with level(mt):
        d = mt.autograd.forward_ad.make_dual(x, mt.zeros(0, 2, dtype=mt.float64))
        tangents(mt, see, d.mean(), d.mean(0), d.mean(1), d.mean((0, 1), keepdim=True), d.sum(), d.sum(0), d.prod())
        for loss in (mt.nn.functional.mse_loss, mt.nn.functional.l1_loss, mt.nn.functional.huber_loss):
            tangents(mt, see, *[loss(d, x.detach(), reduction=one) for one in ("mean", "sum", "none")])
