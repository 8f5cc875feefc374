"""Section 11 of the semantics: tangents that a Function's `jvp` gives, or that an in-place operation overwrites."""

from tests.parity.programs.forward import level
from tests.parity.programs.forward_saved import ROW, tangents
from tests.parity.programs.forward_views import FUNCTION, function
from tests.parity.rows import shows


def pair(mt):
    """A tensor without a tangent, and one with."""
    x = mt.tensor([1.0, 2.0], dtype=mt.float64)
    return x * 3, mt.autograd.forward_ad.make_dual(x, mt.tensor([5.0, 6.0], dtype=mt.float64))


@shows(FUNCTION)
def that_gives_a_tangent_to_a_view_of_an_input_without(mt, see):
    for forward in (lambda ctx, x, y: x.view(-1), lambda ctx, x, y: x, lambda ctx, x, y: x[:1]):
        for jvp in (lambda ctx, t, u: u * 2, lambda ctx, t, u: u[:1] * 1, lambda ctx, t, u: t):
            for part in (lambda x: x, lambda x: x.view(2)):
                with level(mt), see.raising():
                    x, d = pair(mt)
                    other = x.view(1, 2)
                    z = function(mt, forward, jvp).apply(part(x), d)
                    tangents(mt, see, z, x, other, x * 2, d)


@shows(FUNCTION)
def that_writes_to_an_input_without_a_tangent(mt, see):
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        return x.mul_(2)

    for jvp in (lambda ctx, t, u: u * 2, lambda ctx, t, u: u, lambda ctx, t, u: t.mul_(2), lambda ctx, t, u: t * 1):
        for swapped in (False, True):
            for part in (lambda x: x, lambda x: x.view(2)):
                with level(mt), see.raising():
                    x, d = pair(mt)
                    view, d = part(x), d * 1
                    z = function(mt, forward, jvp).apply(*((d, view) if swapped else (view, d)))
                    tangents(mt, see, z, x, x * 2, d)


@shows(FUNCTION)
def that_writes_to_a_dual_without_a_gradient(mt, see):
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        ctx.mark_non_differentiable(x)
        return x.mul_(2)

    w = mt.ones(2, dtype=mt.float64, requires_grad=True)
    with level(mt):
        _, d = pair(mt)
        z = function(mt, forward, lambda ctx, t, u: None).apply(d, w)
        see(z is d, z.requires_grad, z.grad_fn)
        see.value(z)
        tangents(mt, see, z)


@shows(
    FUNCTION,
    differs="The tangent of each output is the one that `jvp` returned for it; in torch, outputs have none if they "
    "follow a view of an input without a tangent.",
)
def with_a_view_before_other_outputs(mt, see):
    with level(mt):
        x, d = pair(mt)
        made = function(mt, lambda ctx, x, y: (x.view(-1), y + 1), lambda ctx, t, u: (t.view(-1), u * 1))
        tangents(mt, see, *made.apply(x, d))


@shows(ROW)
def that_are_overwritten_and_differentiated(mt, see):
    for write in (
        lambda d, w: d.sigmoid_(),
        lambda d, w: d.mul_(w),
        lambda d, w: d[:1].mul_(w[1:]),
        lambda d, w: d.exp_(),
        lambda d, w: d.div_(w),
    ):
        for part in (lambda t: t, lambda t: t.view(2)):
            w = mt.tensor([1.5, 2.0], dtype=mt.float64, requires_grad=True)
            t = part(mt.tensor([5.0, 6.0], dtype=mt.float64))
            with level(mt):
                write(mt.autograd.forward_ad.make_dual(w.clone(), t), w)
            see.value(t, *mt.autograd.grad(t.sum(), w))


@shows(
    ROW,
    differs="The new tangent of a tensor that an operation overwrites can always be differentiated; in torch, some "
    "formulas have saved the old tangent, which was overwritten as well.",
)
def that_are_overwritten_by_themselves_and_differentiated(mt, see):
    w = mt.tensor([1.5, 2.0], dtype=mt.float64, requires_grad=True)
    t = mt.tensor([5.0, 6.0], dtype=mt.float64)
    with level(mt):
        d = mt.autograd.forward_ad.make_dual(w.clone(), t)
        d.mul_(d)
    with see.raising():
        see.value(*mt.autograd.grad(t.sum(), w))


@shows("11 dual_level, make_dual, unpack_dual")
def made_in_inference_mode(mt, see):
    fw = mt.autograd.forward_ad
    for make in (lambda x, d: x, lambda x, d: d, lambda x, d: d.view(-1), lambda x, d: mt.ones(2, dtype=mt.float64)):
        with level(mt):
            x, d = pair(mt)
            with mt.inference_mode():
                primal = make(x, d)
                made = fw.make_dual(primal, mt.ones(2, dtype=mt.float64))
                tangents(mt, see, made, made * 2)
            tangents(mt, see, made, primal, made * 2, made + d, made.view(-1), fw.make_dual(made, x))


@shows(ROW)
def that_belong_to_a_written_view_made_without_grad_mode(mt, see):
    fw = mt.autograd.forward_ad
    for view in (lambda x: x.unsqueeze(0), lambda x: x[:2], lambda x: x.view(3, 1)):
        for write in (lambda d: d.tanh_(), lambda d: d.exp_(), lambda d: d.div_(2), lambda d: d.sigmoid_().mul_(2)):
            x = mt.tensor([1.0, 2.0, 0.5], dtype=mt.float64, requires_grad=True)
            with mt.no_grad(), level(mt):
                v = view(x)
                d = fw.make_dual(v, mt.ones_like(v) * 3)
                with see.raising():
                    write(d)
                    tangents(mt, see, d, d * 2)
