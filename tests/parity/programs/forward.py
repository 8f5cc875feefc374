"""Section 11 of the semantics: forward-mode AD."""

import contextlib

from tests.parity.rows import shows


def duals(mt):
    x = mt.tensor([1.0, 2.0], dtype=mt.float64)
    t = mt.tensor([10.0, 20.0], dtype=mt.float64)
    return x, t, mt.autograd.forward_ad.make_dual(x, t)


def level(mt):
    return mt.autograd.forward_ad.dual_level()


def tangents(mt, see, *tensors):
    """Values, dtype and requires_grad of each tensor's tangent."""
    see.value(*[mt.autograd.forward_ad.unpack_dual(one).tangent for one in tensors])


@shows("11 dual_level, make_dual, unpack_dual")
def keeps_the_very_tangent(mt, see):
    fw = mt.autograd.forward_ad
    with level(mt) as number:
        see(number)
        x, t, d = duals(mt)
        primal, tangent = fw.unpack_dual(d)
        see(d is x, d._is_view(), d._base is x, tangent is t, primal is x, fw.unpack_dual(primal).tangent, str(d))
        see(fw.unpack_dual(x).tangent)
        kept = d
    see(fw.unpack_dual(kept).tangent, str(kept))
    with level(mt):
        see(fw.unpack_dual(kept).tangent)


@shows("11 dual_level, make_dual, unpack_dual")
def errors(mt, see):
    fw = mt.autograd.forward_ad
    x, t = mt.ones(2), mt.ones(2)
    with see.raising():
        fw.make_dual(x, t)
    with see.raising():
        fw.exit_dual_level()
    see(fw.unpack_dual(x).primal is x, fw.unpack_dual(x).tangent)
    with level(mt):
        d = fw.make_dual(x, t)
        for primal, tangent in (
            (x, mt.ones(3)),
            (x, mt.ones(2, 1)),
            (mt.tensor([1, 2]), t),
            (x, mt.tensor([1, 2])),
            (d, t),
            (mt.ones(2), d),
            (3, t),
            (x, 3),
        ):
            with see.raising():
                fw.make_dual(primal, tangent)
        with see.raising():
            fw.make_dual(mt.ones(2), t, level=1)
        with see.raising():
            fw.enter_dual_level()
        with see.raising(), level(mt):
            pass
        tangents(mt, see, fw.make_dual(mt.ones(2), mt.ones(2, dtype=mt.float64)))
    number = fw.enter_dual_level()
    with see.raising():
        fw.exit_dual_level(level=number + 1)
    fw.exit_dual_level(level=number)
    with see.raising():
        fw.exit_dual_level(level=number)


@shows("11 dual_level, make_dual, unpack_dual")
def follows_every_operation(mt, see):
    with level(mt):
        x, _, d = duals(mt)
        w = mt.tensor([[3.0, 4.0], [-1.0, 0.5]], dtype=mt.float64)
        for function in (
            lambda: d + x,
            lambda: 5 - d,
            lambda: d * x * 2,
            lambda: x / d,
            lambda: d**3,
            lambda: d**d,
            lambda: 2**d,
            lambda: d.exp().log().sqrt().sin().cos().tanh().sigmoid(),
            lambda: d.abs().sign(),
            lambda: (d - 1.5).relu(),
            lambda: d.clamp(0.0, 1.5),
            lambda: d.sum(),
            lambda: d.mean(0, keepdim=True),
            lambda: d.max(),
            lambda: mt.maximum(d, x),
            lambda: mt.where(d > 1.5, d, x),
            lambda: d.logsumexp(0),
            lambda: d.softmax(0),
            lambda: d.log_softmax(0),
            lambda: mt.cat([x, d, d * 2]),
            lambda: mt.stack([d, x], 1),
            lambda: d[[1, 1, 0]],
            lambda: w @ d,
            lambda: d @ w,
            lambda: d @ d,
            lambda: w @ d.reshape(2, 1),
            lambda: mt.bmm(w.reshape(1, 2, 2), d.reshape(1, 2, 1)),
            lambda: d.expand(3, 2) * 2,
            lambda: d.unsqueeze(0).squeeze(0).permute(0),
            lambda: w * d,
            lambda: d.clone(),
            lambda: d.to(mt.float32),
            lambda: mt.nn.functional.mse_loss(d, x),
            lambda: mt.nn.functional.cross_entropy(w * d, mt.tensor([0, 1])),
        ):
            y = function()
            see(y.requires_grad)
            tangents(mt, see, y)
        see([mt.autograd.forward_ad.unpack_dual(one).tangent for one in (d > 1, d.argmax(), x * 2)])


@shows("11 dual_level, make_dual, unpack_dual")
def with_no_grad_and_detach(mt, see):
    with level(mt):
        _, _, d = duals(mt)
        with mt.no_grad():
            tangents(mt, see, d * 3, d.view(2, 1))
        tangents(mt, see, d.detach(), d.data, d.detach() * d)


@shows("11 dual_level, make_dual, unpack_dual")
def views_have_views_of_the_tangent(mt, see):
    fw = mt.autograd.forward_ad
    with level(mt):
        x, t, d = duals(mt)
        for view in (d.view(2, 1), d[0:1], d.t(), d.unbind()[1], d.expand(3, 2)):
            tangent = fw.unpack_dual(view).tangent
            see(tangent._is_view(), tangent._base is t, tangent)
        base = x * 1
        early = base[0:1]
        tangents(mt, see, early)
        base.mul_(d)
        tangents(mt, see, base, early, base[1])
        see(fw.unpack_dual(early).tangent._base is fw.unpack_dual(base).tangent)


@shows("11 dual_level, make_dual, unpack_dual")
def writing_carries_tangents(mt, see):
    fw = mt.autograd.forward_ad
    with level(mt):
        x, t, d = duals(mt)
        a = x * 1
        a.copy_(d)
        tangents(mt, see, a)
        a = x * 1
        a.mul_(d)
        tangents(mt, see, a)
        a = x * 1
        v = a[0:1]
        v.mul_(d[0:1])
        tangents(mt, see, a, v, a[1])
        b = d * 1
        before = fw.unpack_dual(b).tangent
        b[1:].mul_(2)
        b.sin_()
        see(fw.unpack_dual(b).tangent is before)
        tangents(mt, see, b)
        b.add_(5)
        b[0] = 7.0
        tangents(mt, see, b)
        b[0] = d[1]
        tangents(mt, see, b)
        b.zero_()
        tangents(mt, see, b)
        d.mul_(3)
        see.value(t, x)
        with mt.no_grad():
            c = x * 1
            c[0:1].add_(d[1:])
        tangents(mt, see, c)


@shows("11 dual_level, make_dual, unpack_dual")
def gradients_carry_tangents(mt, see):
    fw = mt.autograd.forward_ad
    with level(mt):
        x, t, _ = duals(mt)
        w = mt.tensor([3.0, 4.0], dtype=mt.float64, requires_grad=True)
        d = fw.make_dual(w, t)
        for function in (lambda d: (d**3).sum(), lambda d: (d.exp() * d.tanh()).sum(), lambda d: (d[0] * d * x).sum()):
            for wanted in (w, d):
                (g,) = mt.autograd.grad(function(d), wanted, create_graph=True)
                see.value(g, fw.unpack_dual(g).tangent.detach())
                (g,) = mt.autograd.grad(function(d), wanted)
                see.value(g, fw.unpack_dual(g).tangent)
        y = d * x
        see(y.requires_grad, y.grad_fn.name(), d.grad_fn.name())
        y.sum().backward()
        see.value(w.grad)
        tangents(mt, see, w.grad)


@shows("11 dual_level, make_dual, unpack_dual")
def tangents_can_be_differentiated(mt, see):
    fw = mt.autograd.forward_ad
    w = mt.tensor([3.0, 4.0], dtype=mt.float64, requires_grad=True)
    t = mt.tensor([1.0, -2.0], dtype=mt.float64, requires_grad=True)
    with level(mt):
        d = fw.make_dual(w, t)
        tangent = fw.unpack_dual((d * d * d).exp()).tangent
        see(tangent.requires_grad)
        see.value(*mt.autograd.grad(tangent.sum(), (w, t)))
        constant = fw.make_dual(mt.ones(2, dtype=mt.float64), t)
        tangent = fw.unpack_dual(constant.sin()).tangent
        see.value(tangent, *mt.autograd.grad(tangent.sum(), t))
        with mt.no_grad():
            tangents(mt, see, d * d)


@shows("11 dual_level, make_dual, unpack_dual")
def saved_results_have_tangents(mt, see):
    fw = mt.autograd.forward_ad
    with level(mt):
        _, t, _ = duals(mt)
        w = mt.tensor([3.0, 4.0], dtype=mt.float64, requires_grad=True)
        d = fw.make_dual(w, t)
        for pack in (False, True):
            hooks = mt.autograd.graph.saved_tensors_hooks(lambda x: x.detach(), lambda x: x)
            with hooks if pack else contextlib.nullcontext():
                y = d.exp()
            (g,) = mt.autograd.grad(y.sum(), d, create_graph=True)
            tangents(mt, see, y.grad_fn._saved_result, g)


def function(mt, forward, jvp):
    return type("F", (mt.autograd.Function,), {"forward": staticmethod(forward), "jvp": staticmethod(jvp)})


@shows("11 Function.jvp, save_for_forward")
def gets_and_returns_tangents(mt, see):
    def forward(ctx, a, number, b):
        ctx.number = number
        ctx.save_for_forward(a, b)
        return a * number * b

    def jvp(ctx, to_a, nothing, to_b):
        see(to_a, nothing, to_b, ctx.number, len(ctx.saved_tensors), mt.is_grad_enabled())
        a, b = ctx.saved_tensors
        return to_a * ctx.number * b + a * ctx.number * to_b

    with level(mt):
        x, _, d = duals(mt)
        made = function(mt, forward, jvp)
        tangents(mt, see, made.apply(d, 3, x), made.apply(x, 3, x), made.apply(d, 2, d))
        with mt.no_grad():
            tangents(mt, see, made.apply(x, 3, d))
    see(made.apply(x, 3, x))


@shows("11 Function.jvp, save_for_forward")
def without_zeros(mt, see):
    def forward(ctx, a, b):
        ctx.set_materialize_grads(False)
        return a * 2

    def jvp(ctx, to_a, to_b):
        see(to_a, to_b)
        return to_a * 2

    with level(mt):
        x, _, d = duals(mt)
        tangents(mt, see, function(mt, forward, jvp).apply(d, x))


@shows("11 Function.jvp, save_for_forward")
def of_several_outputs(mt, see):
    def forward(ctx, a):
        plain = a * 1
        ctx.mark_non_differentiable(plain)
        return a * 2, 5, plain, a.sum(), a.long()

    with level(mt):
        _, _, d = duals(mt)
        good = function(mt, forward, lambda ctx, t: (t * 2, None, None, t.sum(), None)).apply(d)
        see(good[1])
        tangents(mt, see, good[0], good[2], good[3], good[4])
        with see.raising():
            function(mt, forward, lambda ctx, t: (t * 2, None, t, t.sum(), None)).apply(d)
        with see.raising():
            function(mt, forward, lambda ctx, t: (t * 2, None)).apply(d)


@shows("11 Function.jvp, save_for_forward")
def errors_of_jvp(mt, see):
    def double(ctx, a):
        return a * 2

    with level(mt):
        _, _, d = duals(mt)
        for jvp in (
            lambda ctx, t: (t, t),
            lambda ctx, t: 5,
            lambda ctx, t: mt.ones(3),
            lambda ctx, t: 1 / 0,
            lambda ctx, t: ctx.saved_tensors,
        ):
            with see.raising():
                function(mt, double, jvp).apply(d)
        with see.raising():
            type("G", (mt.autograd.Function,), {"forward": staticmethod(double)}).apply(d)
        with see.raising():
            function(mt, lambda ctx, a: ctx.save_for_forward(5), lambda ctx, t: t).apply(d)


@shows("11 Function.jvp, save_for_forward")
def that_returns_its_input_or_a_view(mt, see):
    with level(mt):
        _, _, d = duals(mt)
        as_is, view = (lambda ctx, a: a), (lambda ctx, a: a.view(2, 1))
        for forward, jvp in (
            (as_is, lambda ctx, t: t),
            (as_is, lambda ctx, t: t * 1),
            (as_is, lambda ctx, t: t.view_as(t)),
            (view, lambda ctx, t: t.view(2, 1)),
            (view, lambda ctx, t: t.clone().view(2, 1)),
            (lambda ctx, a: a * 2, lambda ctx, t: t),
        ):
            with see.raising():
                tangents(mt, see, function(mt, forward, jvp).apply(d))


@shows("11 Function.jvp, save_for_forward")
def that_writes_to_its_input(mt, see):
    def forward(ctx, a):
        a.mul_(2)
        ctx.mark_dirty(a)
        return a

    with level(mt):
        _, _, d = duals(mt)
        for jvp in (lambda ctx, t: t.mul_(2), lambda ctx, t: t * 2, lambda ctx, t: t):
            a = d * 1
            with see.raising():
                tangents(mt, see, function(mt, forward, jvp).apply(a), a)


@shows("11 Function.jvp, save_for_forward")
def nothing_is_followed_inside_of_forward(mt, see):
    def forward(ctx, a):
        tangents(mt, see, a, a * 2)
        return a * 2

    with level(mt):
        _, _, d = duals(mt)
        tangents(mt, see, function(mt, forward, lambda ctx, t: t * 7).apply(d))
