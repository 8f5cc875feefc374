"""Rows: picking and placing elements."""

from __future__ import annotations

from tests.parity_ops.inputs import below, exactly, fixed, mask, real
from tests.parity_ops.rows import row

# Indexing

for key in (0, -1, slice(1, 3), slice(None), slice(None, None, 2), None, ..., (0, 1), (slice(None), 1), (..., 0)):
    row(f"x[{key}]", lambda mt, x, key=key: x[key], real(3, 4))
for key in ([0, 2], [1, 1, 1], [True, False, True], (slice(None), [0, 0, 3]), ([0, 1], [2, 2]), (0, [1, 1])):
    row(f"x[{key}]", lambda mt, x, key=key: x[(key,) if isinstance(key, list) else key], real(3, 4))
row("x[i]", lambda mt, x, i: x[i], real(3, 4), below(3, 2, 2))
row("x[i, :, j]", lambda mt, x, i, j: x[i, :, j], real(3, 2, 4), below(3, 5), below(4, 5))
row("x[0, :, j]", lambda mt, x, j: x[0, :, j], real(3, 2, 4), below(4, 5))
row("x[..., i, None]", lambda mt, x, i: x[..., i, None], real(3, 4), below(4, 2))
row("x[mask]", lambda mt, x, m: x[m], real(3, 4), mask(3, 4))
row("x[mask, 1]", lambda mt, x, m: x[m, 1], real(3, 4), fixed([True, False, True]))
row("x[True]", lambda mt, x: x[True], real(3))
row("x[0-d]", lambda mt, x, i: x[i], real(3, 2), fixed(1))
row("index_put", lambda mt, x, i, y: x.index_put((i,), y), real(4, 2), fixed([3, 0]), real(2, 2))
row("index_put add", lambda mt, x, i, y: x.index_put((i,), y, True), real(4), fixed([1, 1]), real(2))
row("gather", lambda mt, x, i: x.gather(1, i), real(3, 4), below(4, 3, 5))
row("gather part", lambda mt, x, i: x.gather(0, i), real(3, 4), below(3, 2, 2))
row("gather scalar", lambda mt, x, i: x.gather(0, i), real(), fixed([0]))
row("scatter", lambda mt, x, i, y: x.scatter(0, i, y), real(3, 2), fixed([[2, 0]]), real(1, 2))
row("scatter number", lambda mt, x, i: x.scatter(1, i, 1.5), real(2, 3), fixed([[2], [0]]))
row("scatter value=", lambda mt, x, i: x.scatter(1, i, value=1.5), real(2, 3), fixed([[2], [0]]))
row("scatter_add", lambda mt, x, i, y: x.scatter_add(0, i, y), real(3, 2), below(3, 4, 2), real(4, 2))
row("index_select", lambda mt, x, i: x.index_select(1, i), real(2, 3), fixed([2, 0, 2]))
row("index_add", lambda mt, x, i, y: x.index_add(0, i, y, alpha=2), real(3, 2), fixed([1, 1]), real(2, 2))
row("index_copy", lambda mt, x, i, y: x.index_copy(0, i, y), real(3, 2), fixed([2, 0]), real(2, 2))
row("index_fill", lambda mt, x, i: x.index_fill(1, i, 0.5), real(2, 3), fixed([2, 2]))
row("index_fill tensor", lambda mt, x, i, y: x.index_fill(0, i, y), real(3, 2), fixed([2, 2]), real())
row("take_along_dim", lambda mt, x, i: mt.take_along_dim(x, i, 1), real(3, 4), below(4, 3, 2))
row("masked_fill", lambda mt, x, m: x.masked_fill(m, 2.0), real(2, 3), mask(3))
row("masked_fill tensor", lambda mt, x, m, y: x.masked_fill(m, y), real(2, 3), mask(2, 3), real())
row("masked_select", lambda mt, x, m: x.masked_select(m), real(2, 3), mask(2, 3))
for kind in ("sum", "prod", "mean", "amax", "amin"):
    for included in (True, False):
        row(
            f"scatter_reduce {kind} {included}",
            lambda mt, x, i, y, kind=kind, own=included: x.scatter_reduce(0, i, y, kind, include_self=own),
            real(3, 2),
            fixed([[0, 2], [0, 0], [0, 2]]),
            real(3, 2),
        )
    row(
        f"scatter_reduce {kind} at ties and zeros",
        lambda mt, x, i, y, kind=kind: mt.scatter_reduce(x, 0, i, y, kind),
        exactly([1.0, 0.0, 2.0, 5.0]),
        fixed([0, 0, 1, 1, 2, 2]),
        exactly([1.0, 0.0, 3.0, 3.0, 0.0, 0.0]),
        smooth=False,
        twice=False,
    )
row("masked_scatter", lambda mt, x, m, y: x.masked_scatter(m, y), real(2, 3), mask(2, 3), real(7))
