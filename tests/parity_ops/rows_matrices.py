"""Rows: products, linear algebra and complex numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from parity_ops.inputs import complex_, definite, exactly, invertible, positive, real
from parity_ops.rows import row

# Products and linear algebra

for left, right in (
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3,)),
    ((5, 2, 3), (3, 4)),
    ((3,), (5, 3, 2)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((2, 1, 2, 3), (4, 3, 2)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 2)),
    ((4, 2, 0), (0, 3)),
):
    row(f"matmul {left} {right}", lambda mt, x, y: x @ y, real(*left), real(*right))
row("matmul complex", lambda mt, x, y: x @ y, complex_(2, 3), complex_(3, 2))
row("mm", lambda mt, x, y: mt.mm(x, y), real(2, 3), real(3, 2))
row("mv", lambda mt, x, y: mt.mv(x, y), real(2, 3), real(3))
row("dot", lambda mt, x, y: mt.dot(x, y), real(3), real(3))
row("bmm", lambda mt, x, y: mt.bmm(x, y), real(2, 2, 3), real(2, 3, 1))
row("outer", lambda mt, x, y: mt.outer(x, y), real(2), real(3))
row("inner", lambda mt, x, y: mt.inner(x, y), real(2, 3), real(4, 3))
row("kron", lambda mt, x, y: mt.kron(x, y), real(2, 1), real(3))
row("addmm", lambda mt, x, y, z: mt.addmm(x, y, z, beta=2, alpha=0.5), real(2), real(3, 2), real(2, 2))
row("baddbmm", lambda mt, x, y, z: mt.baddbmm(x, y, z), real(2, 1, 2), real(2, 3, 2), real(2, 2, 2))
row("tensordot", lambda mt, x, y: mt.tensordot(x, y, ([0, 1], [1, 0])), real(2, 3), real(3, 2), node=False)
for equation, *shapes in (
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("bij,bjk->bik", (2, 2, 3), (2, 3, 1)),
    ("ij->ji", (2, 3)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("ij->", (2, 3)),
    ("i,j", (2,), (3,)),
    ("ij,ij->ij", (2, 3), (2, 3)),
    ("ij,j", (2, 3), (3,)),
    ("...ij,...jk", (2, 2, 3), (3, 4)),
    ("bn,anm,bm->ba", (2, 3), (5, 3, 4), (2, 4)),
):
    row(f"einsum {equation}", lambda mt, *x, e=equation: mt.einsum(e, *x), *[real(*one) for one in shapes], node=False)
row("inv", lambda mt, x: mt.linalg.inv(x), invertible(2, 3, 3))
row("inverse", lambda mt, x: x.inverse(), invertible(3, 3))
row("det", lambda mt, x: mt.linalg.det(x), invertible(2, 3, 3))
row(
    "det singular",
    lambda mt, x: x.det(),
    exactly([[1.0, 2, 3], [2, 4, 6], [0, 1, 1]]),
    differs="the determinant of a singular matrix has its derivative, where torch gives zeros",
)
row("det complex", lambda mt, x: mt.linalg.det(x), complex_(3, 3))
row("slogdet", lambda mt, x: mt.linalg.slogdet(x), invertible(3, 3))
row("logdet", lambda mt, x: mt.logdet(x), definite(3, 3))
row("solve", lambda mt, x, y: mt.linalg.solve(x, y), invertible(2, 3, 3), real(2, 3, 2))
row("solve vector", lambda mt, x, y: mt.linalg.solve(x, y), invertible(3, 3), real(3))
row("cholesky", lambda mt, x: mt.linalg.cholesky((x + x.mT) / 2), definite(3, 3))
row("cholesky upper", lambda mt, x: mt.linalg.cholesky((x + x.mT) / 2, upper=True), definite(3, 3))
row("svdvals", lambda mt, x: mt.linalg.svdvals(x), real(3, 4))
row("svd", lambda mt, x: scaled_back(mt.linalg.svd(x, full_matrices=False)), real(4, 3), node=False)
row("svd full", lambda mt, x: scaled_back(mt.linalg.svd(x)), real(3, 4), node=False)
row("eigvalsh", lambda mt, x: mt.linalg.eigvalsh((x + x.mT) / 2), real(3, 3))
row("eigh", lambda mt, x: rebuilt(*mt.linalg.eigh((x + x.mT) / 2)), real(3, 3), node=False)
for order in ("fro", "nuc", 1, -1, 2, -2, float("inf"), float("-inf")):
    row(f"matrix_norm {order}", lambda mt, x, o=order: mt.linalg.matrix_norm(x, o), real(3, 2))
row("linalg.norm", lambda mt, x: mt.linalg.norm(x, 3, 1), real(3, 2))
row("matrix_power 5", lambda mt, x: mt.linalg.matrix_power(x, 5), real(2, 2))
row("matrix_power", lambda mt, x: mt.linalg.matrix_power(x, 3), real(2, 2))
row("matrix_power -2", lambda mt, x: mt.linalg.matrix_power(x, -2), invertible(2, 2))


def scaled_back(factors: Sequence[Any]) -> Any:
    """U · S² · Vᴴ, in which the signs that a library chooses cancel."""
    u, s, vh = factors
    k = s.shape[-1]
    return (u[..., :k] * s**2) @ vh[..., :k, :]


def rebuilt(values: Any, vectors: Any) -> Any:
    """V · W³ · Vᵀ, in which the signs that a library chooses cancel."""
    return (vectors * values**3) @ vectors.mT


# Complex numbers

row("conj", lambda mt, x: mt.conj(x) * 1, complex_(3))
row("real", lambda mt, x: x.real, complex_(3))
row("imag", lambda mt, x: x.imag, complex_(3))
row("angle", lambda mt, x: mt.angle(x), complex_(3))
row("view_as_real", lambda mt, x: mt.view_as_real(x), complex_(2, 3))
row("view_as_complex", lambda mt, x: mt.view_as_complex(x), real(3, 2))
row("complex", lambda mt, x, y: mt.complex(x, y), real(3), real(3))
row("polar", lambda mt, x, y: mt.polar(x, y), positive(3), real(3))
row("abs complex at 0", lambda mt, x: x.abs(), exactly([0j, 1 + 1j], np.complex128), smooth=False, twice=False)
