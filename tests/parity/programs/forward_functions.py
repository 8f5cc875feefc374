"""Section 11 of the semantics: the tangents of what a Function returns as it is, or as a view of its arguments."""

import itertools

from tests.parity.rows import shows

RETURNED = {
    "x": lambda x, y: x,
    "y": lambda x, y: y,
    "a view of x": lambda x, y: x.view(-1),
    "a view of y": lambda x, y: y.t(),
    "a part of x": lambda x, y: x[0],
    "x detached": lambda x, y: x.detach(),
    "a view of a result": lambda x, y: (x * 2).view(-1),
}


def returning(mt, returned, gives_zeros, gives_view):
    """A Function of x and y, whose jvp returns a view of the tangent where its forward returns one, or a copy."""

    class Returns(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(gives_zeros)
            return x.sum(), returned(x, y)

        @staticmethod
        def backward(ctx, g, h):
            return None, None

        @staticmethod
        def jvp(ctx, tx, ty):
            tx = mt.full((2, 2), 3.0) if tx is None else tx
            ty = mt.full((2, 2), 4.0) if ty is None else ty
            tangent = returned(tx, ty)
            if tangent is tx or tangent is ty:
                tangent = tangent.view_as(tangent)
            return tx.sum(), tangent if gives_view else tangent * 2

    return Returns


def arguments(mt):
    """Tensors and dual tensors, some of which share memory."""
    x, other = (mt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True) for _ in range(2))
    dual = mt.autograd.forward_ad.make_dual(x, mt.tensor([[1.0, 1.0], [1.0, 2.0]]))
    another = mt.autograd.forward_ad.make_dual(other, mt.tensor([[5.0, 1.0], [1.0, 2.0]]))
    return {"x": x, "dual": dual, "another": another, "view": x.view(-1, 2), "view of dual": dual.view(-1, 2)}


@shows("11 Function.jvp, save_for_forward")
def of_views_of_any_argument(mt, see):
    fw = mt.autograd.forward_ad
    cases = itertools.product(RETURNED.items(), *[(True, False)] * 3)
    for (name, returned), gives_zeros, gives_view, recorded in cases:
        function = returning(mt, returned, gives_zeros, gives_view)
        for first, second in itertools.product(("x", "dual", "another", "view", "view of dual"), repeat=2):
            with fw.dual_level(), mt.set_grad_enabled(recorded):
                given = arguments(mt)
                case = (name, gives_zeros, gives_view, recorded, first, second)
                try:
                    outputs = function.apply(given[first], given[second])
                except RuntimeError as error:
                    see(case, str(error))
                    continue
                tangents = [fw.unpack_dual(one).tangent for one in (*outputs, *given.values())]
                see(case, [None if tangent is None else tangent.tolist() for tangent in tangents])


@shows("11 Function.jvp, save_for_forward")
def returns_what_is_a_view_as_far_as_tangents_go(mt, see):
    class Same(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def jvp(ctx, tx):
            return tx

    def dual(mt):
        with fw.dual_level():
            return fw.make_dual(mt.ones(2), mt.ones(2))

    def primal(mt):
        with fw.dual_level():
            return fw.unpack_dual(mt.ones(2)).primal

    fw = mt.autograd.forward_ad
    kinds = (lambda mt: mt.ones(2), lambda mt: mt.ones(2).view(2), dual, primal, lambda mt: dual(mt).view(2))
    for make_primal, make_tangent in itertools.product(kinds, repeat=2):
        of, tangent = make_primal(mt), make_tangent(mt)
        with fw.dual_level(), see.raising():
            see(Same.apply(fw.make_dual(of, tangent)))
