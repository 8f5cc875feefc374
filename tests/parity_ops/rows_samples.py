"""Rows: quantiles, sampled functions, covariances, products with vectors, assembled matrices, windows, searches."""

from __future__ import annotations

import numpy as np

from tests.parity_ops.inputs import below, exactly, fixed, invertible, mask, positive, real
from tests.parity_ops.rows import row

COMPOSED = {"node": False}

# Order

for q in (0.0, 0.3, 0.5, 1.0):
    row(f"quantile {q}", lambda mt, x, q=q: mt.quantile(x, q), real(2, 3), **COMPOSED)
    row(f"nanquantile {q}", lambda mt, x, q=q: mt.nanquantile(x, q, dim=1), real(2, 3), **COMPOSED)
for kind in ("lower", "higher", "nearest", "midpoint", "linear"):
    row(f"quantile {kind}", lambda mt, x, k=kind: x.quantile(0.4, 0, True, interpolation=k), real(4, 2), **COMPOSED)
row("quantile several", lambda mt, x, q: mt.quantile(x, q, dim=0), real(4, 2), fixed([0.1, 0.9]), **COMPOSED)
row("quantile several kept", lambda mt, x, q: x.quantile(q, keepdim=True), real(4, 2), fixed([0.1, 0.9]), **COMPOSED)
HOLES = exactly([[1.0, np.nan, 3.0, 2.0], [np.nan, np.nan, 0.0, 1.0]])
row("quantile of NaN", lambda mt, x: mt.quantile(x, 0.5, dim=1), HOLES, smooth=False, twice=False, **COMPOSED)
row("nanquantile of NaN", lambda mt, x: mt.nanquantile(x, 0.4, dim=1), HOLES, smooth=False, **COMPOSED)
row("wrong: quantile q", lambda mt, x: mt.quantile(x, 1.5), real(3), smooth=False)
row("wrong: quantile of nothing", lambda mt, x: mt.quantile(x, 0.5), real(0), smooth=False)
row("wrong: quantile of integers", lambda mt, x: mt.quantile(x, 0.5), fixed([1, 2]), smooth=False)
row("nanmedian", lambda mt, x: mt.nanmedian(x), HOLES, smooth=False)
row("nanmedian along", lambda mt, x: x.nanmedian(1), HOLES, smooth=False)
row("mode", lambda mt, x: mt.mode(x), exactly([[1.0, 2.0, 2.0], [3.0, 1.0, 0.0]]), smooth=False)
row("mode along", lambda mt, x: x.mode(0, True), exactly([[1.0, 2.0], [1.0, 1.0], [0.0, 1.0]]), smooth=False)
row("msort", lambda mt, x: mt.msort(x), real(3, 2))
row("aminmax", lambda mt, x: (*mt.aminmax(x), *x.aminmax(dim=1)), real(2, 3), **COMPOSED)

# Sampled functions

for edge in (1, 2):
    row(f"gradient {edge}", lambda mt, x, e=edge: mt.gradient(x, edge_order=e), real(4, 3), **COMPOSED)
    row(
        f"gradient uneven {edge}",
        lambda mt, x, y, e=edge: mt.gradient(x, spacing=[y], dim=1, edge_order=e),
        real(2, 5),
        fixed([0.0, 0.5, 2.0, 2.2, 3.0]),
        **COMPOSED,
    )
row("gradient spacing", lambda mt, x: mt.gradient(x, spacing=0.5, dim=0), real(4), **COMPOSED)
row("gradient spacings", lambda mt, x: mt.gradient(x, spacing=[0.5, 2.0]), real(3, 4), **COMPOSED)
row("wrong: gradient edge", lambda mt, x: mt.gradient(x, edge_order=3), real(4), smooth=False)
row("wrong: gradient spacings", lambda mt, x: mt.gradient(x, spacing=[1.0]), real(3, 4), smooth=False)
row("trapezoid", lambda mt, y: (mt.trapezoid(y), mt.trapz(y, dx=0.5, dim=0)), real(3, 2), **COMPOSED)
row("trapezoid over x", lambda mt, y, x: mt.trapezoid(y, x), real(2, 3), real(3), **COMPOSED)
row("trapezoid over x along", lambda mt, y, x: mt.trapezoid(y, x, dim=0), real(3, 2), real(3), **COMPOSED)
row("cumulative_trapezoid", lambda mt, y, x: mt.cumulative_trapezoid(y, x), real(2, 4), real(2, 4), **COMPOSED)
row("logcumsumexp", lambda mt, x: mt.logcumsumexp(x, 1), real(2, 4))
row("logcumsumexp of large", lambda mt, x: x.logcumsumexp(0), exactly([1000.0, -1000.0, 999.0]), smooth=False)
row("cov", lambda mt, x: mt.cov(x), real(2, 4), **COMPOSED)
row("cov of one row", lambda mt, x: mt.cov(x), real(1, 4), **COMPOSED)
row("cov of a vector", lambda mt, x: x.cov(correction=0), real(4), **COMPOSED)
WEIGHTS = fixed([0.5, 1.0, 2.0, 0.25])
row("cov fweights", lambda mt, x, w: mt.cov(x, fweights=w), real(2, 4), fixed([1, 2, 3, 1]), **COMPOSED)
row("cov aweights", lambda mt, x, w: mt.cov(x, aweights=w), real(2, 4), WEIGHTS, **COMPOSED)
row("corrcoef", lambda mt, x: mt.corrcoef(x), real(3, 4), node=False, smooth=False)

# Products

row("vdot", lambda mt, x, y: mt.vdot(x, y), real(3), real(3), **COMPOSED)
row("dist", lambda mt, x, y: mt.dist(x, y), real(3), real(3), **COMPOSED)
row("dist 1", lambda mt, x, y: x.dist(y, 1), real(2, 3), real(3), **COMPOSED)
row("addmv", lambda mt, x, y, w: mt.addmv(x, y, w, beta=0.5, alpha=2), real(2), real(2, 3), real(3))
row("addr", lambda mt, x, y, w: mt.addr(x, y, w, beta=3, alpha=2), real(2, 3), real(2), real(3))
row("addbmm", lambda mt, x, y, w: mt.addbmm(x, y, w, alpha=2), real(2, 2), real(4, 2, 3), real(4, 3, 2))
row("addmv_", lambda mt, x, y, w: x.clone().addmv_(y, w), real(2), real(2, 3), real(3), in_place=True)
row("cross of the first 3", lambda mt, x, y: mt.cross(x, y), real(3, 2), real(3, 2))
row("multi_dot", lambda mt, x, y, w: mt.linalg.multi_dot([x, y, w]), real(2, 3), real(3, 4), real(4, 2), **COMPOSED)
for shape in ((3, 3), (4, 2), (2, 4)):
    row(f"pinv {shape}", lambda mt, x: mt.linalg.pinv(x), invertible(*shape), node=False)
row("pinverse", lambda mt, x: mt.pinverse(x), invertible(2, 2, 3), node=False)
row("qr", lambda mt, x: mt.linalg.qr(x), invertible(4, 3), node=False)
row("qr of a square", lambda mt, x: mt.linalg.qr(x)[1], invertible(3, 3), node=False)
row("matrix_rank", lambda mt, x: mt.linalg.matrix_rank(x), fixed([[1.0, 2.0], [2.0, 4.0]]), smooth=False)
row("cond", lambda mt, x: (mt.linalg.cond(x), mt.linalg.cond(x.detach(), 1)), invertible(3, 3), **COMPOSED)
row("lstsq", lambda mt, x, y: mt.linalg.lstsq(x, y)[0], invertible(4, 2), real(4, 2), **COMPOSED)

# Assembled, picked, searched

row("block_diag", lambda mt, x, y, w: mt.block_diag(x, y, w), real(2, 1), real(3), real(), **COMPOSED)
row("cartesian_prod", lambda mt, x, y: mt.cartesian_prod(x, y), real(2), real(3), **COMPOSED)
row("combinations", lambda mt, x: (mt.combinations(x), mt.combinations(x, 3, True)), real(4), **COMPOSED)
row("diagflat", lambda mt, x: (mt.diagflat(x), x.diagflat(-1)), real(2, 2), **COMPOSED)
row("vander", lambda mt, x: (mt.vander(x), mt.vander(x, 2, increasing=True)), fixed([1.5, -2.0, 0.0]), smooth=False)
row("take", lambda mt, x, i: mt.take(x, i), real(2, 3), below(6, 2, 2), **COMPOSED)
row("unfold into windows", lambda mt, x: x.unfold(0, 2, 1), real(5))
row("unfold of many", lambda mt, x: x.unfold(1, 3, 2), real(2, 7, 2))
row("wrong: unfold", lambda mt, x: x.unfold(0, 4, 1), real(3), smooth=False)
row("fill_diagonal_", lambda mt, x: x.clone().fill_diagonal_(2.0), real(3, 2), in_place=True)
row(
    "fill_diagonal_ wrap", lambda mt, x: x.clone().fill_diagonal_(2.0, wrap=True), real(5, 2), in_place=True, node=False
)
row("split_with_sizes", lambda mt, x: mt.split_with_sizes(x, [1, 2]), real(3))
row("unsafe_split", lambda mt, x: mt.unsafe_split(x, 2), real(3, 2))
row("unsafe_split, one part used", lambda mt, x: x.unsafe_split(2, dim=1)[1], real(2, 3))
row("unsafe_split_with_sizes", lambda mt, x: x.unsafe_split_with_sizes([1, 2], dim=1), real(2, 3))
row("unsafe_chunk", lambda mt, x: mt.unsafe_chunk(x, 3, -1), real(2, 5))
row("unsafe_chunk of nothing", lambda mt, x: x.unsafe_chunk(3), real(0, 2))
row("wrong: unsafe_split", lambda mt, x: mt.unsafe_split(x, -1), real(3), smooth=False)
row("wrong: unsafe_chunk", lambda mt, x: x.unsafe_chunk(0), real(3), smooth=False)
row("split_with_sizes along", lambda mt, x: x.split_with_sizes([1, 1], dim=1), real(3, 2))
row(
    "concatenate, row_stack",
    lambda mt, x, y: (mt.concatenate([x, y], axis=1), mt.row_stack((x, y))),
    real(2, 2),
    real(2, 2),
)
SAMPLES = fixed([1, -1, 3, 0, 4, -2, 9])
EDGES = fixed([0.0, 1.0, 2.5])
row("histogram", lambda mt, x: mt.histogram(x.detach(), 3), real(7), smooth=False)
row("histogram range", lambda mt, x: mt.histogram(x.double() / 2, 4, range=(-1.0, 2.0)), SAMPLES, smooth=False)
row("histogram density", lambda mt, x, e: x.detach().histogram(e, density=True), positive(7), EDGES, smooth=False)
row(
    "histogram weight",
    lambda mt, x, w: mt.histogram(x.detach(), 2, weight=w),
    real(3),
    fixed([1.0, 2.0, 3.0]),
    smooth=False,
)
row("histogram has no derivative", lambda mt, x: mt.histogram(x, 3), real(7), smooth=False)
SORTED = fixed([1.0, 2.0, 2.0, 4.0])
row(
    "searchsorted",
    lambda mt, s, x: (mt.searchsorted(s, x), mt.searchsorted(s, x, right=True)),
    SORTED,
    fixed([2.0, 5.0]),
    smooth=False,
)
row(
    "searchsorted rows",
    lambda mt, s, x: mt.searchsorted(s, x, side="right"),
    fixed([[1, 3], [0, 9]]),
    fixed([[3], [4]]),
    smooth=False,
)
RUNS = fixed([1, 1, 2, 2, 2, 1])
row("unique_consecutive", lambda mt, x: mt.unique_consecutive(x, True, True), RUNS, smooth=False)
row(
    "unique_consecutive along", lambda mt, x: x.unique_consecutive(dim=0), fixed([[1, 1], [1, 1], [2, 1]]), smooth=False
)
row("argwhere", lambda mt, x: mt.argwhere(x), mask(2, 3), smooth=False)
