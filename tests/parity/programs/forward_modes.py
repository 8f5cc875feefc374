"""Section 11 of the semantics: forward mode beside inference mode, switched off, and what `make_dual` takes."""

from tests.parity.rows import shows


def tangent(mt, tensor):
    return mt.autograd.forward_ad.unpack_dual(tensor).tangent


@shows("11 dual_level, make_dual, unpack_dual")
def normal_mode_inside_of_inference_mode(mt, see):
    fw, x = mt.autograd.forward_ad, mt.ones(2)
    with fw.dual_level():
        d = fw.make_dual(x, mt.ones(2))
        with mt.inference_mode():
            see.value(tangent(mt, d), tangent(mt, d * 2), tangent(mt, fw.make_dual(x, mt.ones(2))))
            with mt.inference_mode(False):
                see.value(tangent(mt, d * 2), tangent(mt, fw.make_dual(x, mt.ones(2))))
                with mt.inference_mode():
                    see.value(tangent(mt, d * 2))
                see.value(tangent(mt, d * 2))
            see.value(tangent(mt, d * 2))
        see.value(tangent(mt, d * 2))
    with mt.inference_mode(), fw.dual_level(), mt.inference_mode(False):
        see.value(tangent(mt, fw.make_dual(mt.ones(2), mt.ones(2)) * 2))


@shows("11 dual_level, make_dual, unpack_dual")
def of_inference_tensors(mt, see):
    fw = mt.autograd.forward_ad
    with mt.inference_mode():
        x = mt.ones(2) * 3
    with fw.dual_level():
        d = fw.make_dual(x, mt.ones(2))
        see.value(tangent(mt, d), tangent(mt, d * 2))
        see(d.is_inference())
        d = fw.make_dual(mt.ones(2), x)
        see.value(tangent(mt, d), tangent(mt, d * 2))
        d = fw.make_dual(mt.ones(2), mt.ones(2))
        see.value(*[tangent(mt, one) for one in (d * x, d + x, x / d, mt.stack([d, x]), mt.where(x > 0, d, x))])
        leaf = mt.ones(2, requires_grad=True)
        with see.raising():
            fw.make_dual(leaf, mt.ones(2)) * x


@shows("11 dual_level, make_dual, unpack_dual")
def can_be_switched_off(mt, see):
    fw = mt.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(mt.ones(2), mt.ones(2))
        with fw._set_fwd_grad_enabled(False):
            see(fw._is_fwd_grad_enabled())
            see.value(tangent(mt, d), tangent(mt, d * 2), tangent(mt, fw.make_dual(mt.ones(2), mt.ones(2))))
            with fw._set_fwd_grad_enabled(True):
                see.value(tangent(mt, d * 2))
            with mt.inference_mode(False):
                see(fw._is_fwd_grad_enabled())
            with mt.enable_grad():
                see(fw._is_fwd_grad_enabled())
        see.value(tangent(mt, d * 2))
        with mt.no_grad():
            see(fw._is_fwd_grad_enabled())
        with mt.inference_mode():
            see(fw._is_fwd_grad_enabled())
        fw._set_fwd_grad_enabled(False)
        see(fw._is_fwd_grad_enabled())
        fw._set_fwd_grad_enabled(True)
        see(fw._is_fwd_grad_enabled())


@shows("11 dual_level, make_dual, unpack_dual")
def a_tangent_with_other_strides_is_copied(mt, see):
    fw = mt.autograd.forward_ad
    make = [
        lambda: mt.ones(2, 2),
        lambda: mt.ones(2, 2).t(),
        lambda: mt.ones(2, 4)[:, :2],
        lambda: mt.ones(3, 2)[1:],
    ]
    for primal in make:
        for other in (*make, lambda: mt.ones(2).expand(2, 2)):
            with fw.dual_level():
                given = other()
                d = fw.make_dual(primal(), given)
                with see.raising():
                    given.mul_(3)
                see(tangent(mt, d) is given)
                see.value(tangent(mt, d))
    with fw.dual_level():
        see(tangent(mt, fw.make_dual(mt.ones(2, 2), mt.ones(2, 2, requires_grad=True).t())))
    base = mt.ones(2, 2, requires_grad=True) * 1
    with mt.no_grad():
        view = base.t()
    base.mul_(2)
    with fw.dual_level(), see.raising():
        fw.make_dual(base, view)


@shows("11 dual_level, make_dual, unpack_dual")
def the_primal_is_an_identity(mt, see):
    fw = mt.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(mt.ones(2, requires_grad=True), mt.ones(2))
        primal = fw.unpack_dual(d).primal
        see(primal, primal.grad_fn)
        see.graph(primal)
    y = primal * primal
    primal.mul_(2)
    with see.raising():
        y.sum().backward()


@shows(
    "11 dual_level, make_dual, unpack_dual",
    differs="A tangent of another dtype than its primal's is converted as soon as it is used in a computation; torch "
    "goes on with both dtypes.",
)
def a_tangent_of_another_dtype(mt, see):
    fw = mt.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(mt.ones(2), mt.ones(2, dtype=mt.float64))
        see.value(tangent(mt, d))
        see.value(tangent(mt, d * d), tangent(mt, d + 1))


@shows("11 dual_level, make_dual, unpack_dual")
def of_tensors_that_do_not_fit_in_inference_mode(mt, see):
    fw = mt.autograd.forward_ad
    x = mt.ones(2)
    with fw.dual_level():
        d = fw.make_dual(x, mt.ones(2))
        with mt.inference_mode():
            for primal, tangent, level in ((x, mt.ones(3), None), (d, mt.ones(2), None), (x, mt.ones(2), 3)):
                see(fw.make_dual(primal, tangent, level=level), fw.unpack_dual(primal).tangent)
            with see.raising():
                fw.make_dual(x, mt.tensor([1, 2]))


@shows("11 Function.jvp, save_for_forward")
def of_an_input_that_is_returned_without_grad_mode(mt, see):
    class Returns(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x, y * 2

        @staticmethod
        def jvp(ctx, tx, ty):
            return tuple(mt.ones(2) if one is None else one * 2 for one in (tx, ty))

    fw = mt.autograd.forward_ad
    x, y = mt.ones(2, requires_grad=True), mt.ones(2, requires_grad=True)
    with mt.no_grad(), fw.dual_level():
        dual = fw.make_dual(x, mt.ones(2))
        for args in ((dual, y), (y, dual), (x, dual)):
            first, second = Returns.apply(*args)
            see.value(fw.unpack_dual(first).tangent, fw.unpack_dual(second).tangent)
            see(first, fw.unpack_dual(args[0]).tangent)
