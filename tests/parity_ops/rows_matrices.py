"""Rows: products, linear algebra and complex numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.parity_ops.inputs import complex_, definite, exactly, invertible, positive, real
from tests.parity_ops.rows import row

FUNCTIONS = "inv det slogdet svdvals eigvalsh"

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
    exactly([[1.0, 2], [2, 4]]),  # elimination leaves an exact zero, whatever library does it
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
row("svd with V", lambda mt, x: scaled_back(with_vh(mt.svd(x))), real(4, 3), node=False)
row("svd with all of V", lambda mt, x: scaled_back(with_vh(x.svd(some=False))), real(3, 4), node=False)
row("svd without vectors", lambda mt, x: mt.svd(x, compute_uv=False), real(2, 3), node=False)
row("renorm", lambda mt, x: mt.renorm(x, 2, 0, 1.0), real(4, 3), node=False)
row("renorm of columns", lambda mt, x: x.renorm(p=1, dim=-1, maxnorm=2.0), real(2, 3, 4), node=False)
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


def with_vh(parts):
    """The results of torch.svd as those of linalg.svd."""
    u, s, v = parts
    return u, s, v.mH


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

# Stacks, complex numbers, and degenerate cases

for name, operand in {
    "stacked": real(2, 1, 3, 3),
    "of complex numbers": complex_(3, 3),
    "of nothing": real(0, 3, 3),
}.items():
    smooth = name != "of nothing"
    for function in FUNCTIONS.split():
        row(f"{function} {name}", lambda mt, x, f=function: getattr(mt.linalg, f)(x + x.mH), operand, smooth=smooth)
    row(f"solve {name}", lambda mt, x: mt.linalg.solve(x + 5, x), operand, smooth=smooth)
    row(f"cholesky {name}", lambda mt, x: mt.linalg.cholesky(x @ x.mH + mt.eye(3)), operand, smooth=smooth)
    row(f"eigh {name}", lambda mt, x: rebuilt_hermitian(*mt.linalg.eigh(x + x.mH)), operand, node=False, smooth=smooth)
    row(f"svd {name}", lambda mt, x: scaled_back(mt.linalg.svd(x)), operand, node=False, smooth=smooth)
    row(f"matrix_norm nuc {name}", lambda mt, x: mt.linalg.matrix_norm(x, "nuc"), operand, smooth=smooth, twice=smooth)
    row(f"matrix_power {name}", lambda mt, x: mt.linalg.matrix_power(x, 2), operand, smooth=smooth)
row("det of 0 by 0", lambda mt, x: mt.linalg.det(x), real(0, 0), smooth=False)
row("inv of 0 by 0", lambda mt, x: mt.linalg.inv(x), real(0, 0), smooth=False)
row("det of 1 by 1", lambda mt, x: mt.linalg.det(x), real(1, 1))
row("eigvalsh upper", lambda mt, x: mt.linalg.eigvalsh((x + x.mT) / 2, "U"), real(3, 3))
row("slogdet negative", lambda mt, x: mt.linalg.slogdet(x), exactly([[0.0, 1.0], [1.0, 0.0]]), smooth=False)
row("logdet negative", lambda mt, x: mt.logdet(x), exactly([[0.0, 1.0], [1.0, 0.0]]), smooth=False, twice=False)
for order in (None, 0, 1, 2, 3, float("inf"), float("-inf"), "fro", "nuc"):
    for dim in (None, 1, (0, 1)):
        if (order in ("fro", "nuc") and dim == 1) or (order in (0, 3) and dim != 1):
            continue
        row(
            f"linalg.norm {order} {dim}",
            lambda mt, x, o=order, d=dim: mt.linalg.norm(x, o, d, keepdim=True),
            real(3, 2),
            smooth=order != 0,
            twice=order != 0,
        )
row("matrix_norm of dims", lambda mt, x: mt.linalg.matrix_norm(x, "nuc", (0, 2)), real(2, 3, 2))
row("norm nuc", lambda mt, x: mt.norm(x, "nuc"), real(3, 2))
row("norm 0", lambda mt, x: x.norm(0), exactly([0.0, 1.0, 2.0]), smooth=False, twice=False)
row("norm of dims", lambda mt, x: x.norm(2, (0, 2)), real(2, 3, 2))
for equation, *shapes in (
    ("i->", (3,)),
    ("ij->j", (2, 3)),
    ("ijk->kji", (2, 3, 4)),
    ("ab,cb,c->a", (2, 3), (4, 3), (4,)),
    ("...i,...i->...", (2, 3), (2, 3)),
    ("i...,j...->ij...", (2, 3), (4, 3)),
    ("ij,jk", (2, 3), (3, 2)),
    ("ba,ca", (2, 3), (4, 3)),
    ("iij,j->i", (3, 3, 2), (2,)),
    (" i j , j k -> i k ", (2, 3), (3, 2)),
    ("Ij,jK->IK", (2, 3), (3, 2)),
    ("ij,jk->ik", (0, 3), (3, 2)),
    (",i->i", (), (3,)),
):
    row(
        f"einsum {equation} of {shapes}",
        lambda mt, *x, e=equation: mt.einsum(e, *x),
        *[real(*one) for one in shapes],
        node=False,
        smooth=(0, 3) not in shapes,
    )
row("einsum of a list", lambda mt, x, y: mt.einsum("ij,jk->ik", [x, y]), real(2, 3), real(3, 2), node=False)
row("einsum of sizes 1", lambda mt, x, y: mt.einsum("ij,ij->", x, y), complex_(1, 3), complex_(2, 3), node=False)
row("einsum complex", lambda mt, x, y: mt.einsum("ij,jk->ik", x, y), complex_(2, 3), complex_(3, 2), node=False)


def rebuilt_hermitian(values: Any, vectors: Any) -> Any:
    """V · W³ · Vᴴ, in which the phases that a library chooses cancel."""
    return (vectors * values**3) @ vectors.mH


row("cross", lambda mt, x, y: mt.linalg.cross(x, y), real(2, 3), real(2, 3))
row("cross along", lambda mt, x, y: mt.linalg.cross(x, y, dim=0), real(3, 2), real(3, 1))
row("wrong: cross of two", lambda mt, x, y: mt.linalg.cross(x, y), real(2), real(2), smooth=False)
for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, np.inf):
    row(f"cdist {p}", lambda mt, x, y, p=p: mt.cdist(x, y, p), real(2, 3), real(4, 3), node=False, twice=False)
row("cdist stacks", lambda mt, x, y: mt.cdist(x, y), real(2, 2, 3), real(2, 4, 3), node=False, twice=False)
row("wrong: cdist columns", lambda mt, x, y: mt.cdist(x, y), real(2, 3), real(4, 2), smooth=False)
row("wrong: cdist vector", lambda mt, x, y: mt.cdist(x, y), real(3), real(4, 3), smooth=False)
row("wrong: cdist p", lambda mt, x, y: mt.cdist(x, y, -1.0), real(2, 3), real(4, 3), smooth=False)
row("cdist of many", lambda mt, x, y: mt.cdist(x, y), real(30, 3), real(4, 3), node=False)
row(
    "cdist of many stacks",
    lambda mt, x, y: mt.cdist(x.double(), y.double()),
    real(2, 1, 4, 3),
    real(3, 30, 3),
    node=False,
)
row("cdist of many equal", lambda mt, x: mt.cdist(x, x[:2]), exactly([[3.0, 4.0]] * 30), node=False, smooth=False)
row(
    "cdist of many nothings",
    lambda mt, x, y: mt.cdist(x, y),
    real(30, 0),
    real(2, 0),
    node=False,
    smooth=False,
    twice=False,
)
row("cdist of none", lambda mt, x, y: mt.cdist(x, y), real(30, 3), real(0, 3), node=False, smooth=False, twice=False)
row(
    "cdist at ties",
    lambda mt, x: mt.cdist(x, x * 0, np.inf),
    exactly([[1.0, -1.0], [0.0, 0.0]]),
    node=False,
    smooth=False,
    twice=False,
)
for count in (3, 30):
    mixed = lambda mt, x, y: mt.cdist(x, y.to(mt.float32))  # noqa: E731
    row(f"wrong: cdist of dtypes, {count}", mixed, real(count, 2), real(2, 2), smooth=False)
for name, left, right, dims in (
    ("sizes", (2, 3), (2, 3), ([1], [0])),
    ("sizes of the last", (2, 3), (3, 2), 2),
    ("counts", (2, 3), (3, 2), ([0], [0, 1])),
    ("-1", (2, 3), (3, 2), -1),
    ("too many", (2, 3), (3,), 2),
):
    call = lambda mt, x, y, dims=dims: mt.tensordot(x, y, dims)  # noqa: E731
    row(f"wrong: tensordot {name}", call, real(*left), real(*right), smooth=False)
row("tensordot of sizes 1", lambda mt, x, y: mt.tensordot(x, y, 2), real(2, 3), real(1, 3, 2), node=False)
row("tensordot of size 1 and nothing", lambda mt, x, y: mt.tensordot(x, y, 1), real(2, 1), real(0, 2), node=False)
row("wrong: inner", lambda mt, x, y: mt.inner(x, y), real(2), real(0, 3), smooth=False)
row("wrong: solve", lambda mt, x, y: mt.linalg.solve(x, y), invertible(2, 2), real(3), smooth=False)
row("wrong: solve a number", lambda mt, x, y: mt.linalg.solve(x, y), invertible(2, 2), real(), smooth=False)
row("eigh values", lambda mt, x: mt.linalg.eigh(x)[0], definite(3, 3), node=False, smooth=False)
row("eigvalsh of a symmetric matrix", lambda mt, x: mt.linalg.eigvalsh(x), definite(2, 2), node=False, smooth=False)
row("eigh vectors", lambda mt, x: mt.linalg.eigh(x)[1] ** 2, definite(3, 3), node=False, smooth=False)
row("addmm beta 0", lambda mt, x, y, w: mt.addmm(x, y, w, beta=0), exactly([[np.nan]]), real(2, 3), real(3, 2))
row("wrong: addmm input", lambda mt, x, y, w: mt.addmm(x, y, w), real(7), real(2, 3), real(3, 2), smooth=False)
row("wrong: addmm vector", lambda mt, x, y, w: mt.addmm(x, y, w), real(2), real(3), real(3, 2), smooth=False)
for name in ("H", "mH", "mT"):
    for shape in ((), (3,), (2, 3, 4)):
        row(f"{name} of {len(shape)} dimensions", lambda mt, x, name=name: getattr(x, name), real(*shape), smooth=False)
