"""Tangents where a reduction has no elements, and where its result is 0."""

import warnings

from tests.parity.rows import shows

OF_ALL = {
    "sum": lambda mt, x: x.sum(),
    "mean": lambda mt, x: x.mean(),
    "prod": lambda mt, x: x.prod(),
    "median": lambda mt, x: x.median(),
    "nanmedian": lambda mt, x: x.nanmedian(),
    "norm of a matrix": lambda mt, x: mt.linalg.norm(x),
    "dist": lambda mt, x: mt.dist(x, x + 1),
    **{f"norm {p}": lambda mt, x, p=p: x.norm(p) for p in (0.5, 1, 2, 3)},
    **{
        f"{name} {reduction}": lambda mt, x, name=name, reduction=reduction: getattr(mt.nn.functional, name)(
            x, mt.ones_like(x), reduction=reduction
        )
        for name in ("mse_loss", "l1_loss", "huber_loss", "binary_cross_entropy_with_logits", "kl_div")
        for reduction in ("mean", "sum")
    },
}
ALONG = {
    "mean": lambda mt, x, dim: x.mean(dim),
    "std": lambda mt, x, dim: x.std(dim),
    "var": lambda mt, x, dim: abs(x.var(dim)),  # torch's 0 is not -0
    "var without correction": lambda mt, x, dim: x.var(dim, correction=0),
    "std_mean": lambda mt, x, dim: mt.std_mean(x, dim),
    "var_mean": lambda mt, x, dim: mt.var_mean(x, dim, correction=0),
    "logsumexp": lambda mt, x, dim: x.logsumexp(dim),
    "linalg.norm": lambda mt, x, dim: mt.linalg.norm(x, 2, dim),
    "linalg.vector_norm": lambda mt, x, dim: mt.linalg.vector_norm(x, 3, dim),
}


def tangents(mt, function, x, tangent, *args):
    """The results of a function and their tangents."""
    forward = mt.autograd.forward_ad
    with forward.dual_level(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch's, of degrees of freedom
        found = function(mt, forward.make_dual(x, tangent), *args)
        pairs = [forward.unpack_dual(one) for one in (found if isinstance(found, tuple) else (found,))]
        return [(primal.tolist(), tangent.tolist()) for primal, tangent in pairs]


@shows("11 dual_level, make_dual, unpack_dual")
def of_reductions_of_nothing(mt, see):
    for name, function in OF_ALL.items():
        for shape in ((0,), (0, 3)):
            see(name, shape, tangents(mt, function, mt.ones(*shape), mt.ones(*shape)))
    for name, function in ALONG.items():
        for shape, dim in (((0,), 0), ((0, 3), 0), ((3, 0), 1), ((0, 3), 1)):
            see(name, shape, dim, tangents(mt, function, mt.ones(*shape), mt.ones(*shape), dim))


@shows("11 dual_level, make_dual, unpack_dual")
def where_a_norm_or_a_deviation_is_0(mt, see):
    same, zeros, tangent = mt.ones(2), mt.zeros(2), mt.tensor([1.0, 3.0])
    for correction in (0, 1):
        see(tangents(mt, lambda mt, x, c=correction: x.std(correction=c), same, tangent))
        see(tangents(mt, lambda mt, x, c=correction: mt.std_mean(x, correction=c), same, tangent))
    for p in (1, 1.5, 2, 3):
        see(p, tangents(mt, lambda mt, x, p=p: x.norm(p), zeros, tangent))
    see(tangents(mt, lambda mt, x: mt.dist(x, mt.zeros(2)), zeros, tangent))
    x = mt.zeros(2, requires_grad=True)
    seed = mt.ones((), requires_grad=True)
    (slope,) = mt.autograd.grad(x.norm(), x, seed, create_graph=True)
    see(slope)
    see.value(*mt.autograd.grad(slope.sum(), (x, seed)))
