"""Pseudo-inverse, least squares, QR; rank and condition number."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.basics.dtypes import scalar_name
from microtape.ops.elementwise.comparison import undifferentiable
from microtape.ops.indexing.diagonals import tril
from microtape.ops.linear.decomposition import matrix_norm, svdvals
from microtape.ops.linear.linalg import check_floating, check_matrix, inv, transposed
from microtape.tape.multi_output import MultiOutputOperation, call_multi_output, return_type
from microtape.tape.operation import Operation, call
from microtape.tape.tensor_state import TensorState, zeros_like

__all__ = ["pinverse"]


class LinalgPinvBackward0(Operation):
    """Source: Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares", 1973."""

    __slots__ = ("rtol",)
    formula = "Z = pinv(X)    ∂X = -Zᵀ · G · Zᵀ + (1 - X · Z) · Gᵀ · Z · Zᵀ + Zᵀ · Z · Gᵀ · (1 - Z · X)"
    op = "pinv"

    def __init__(self, rtol: float | None) -> None:
        super().__init__()
        self.rtol = rtol

    def forward(self, x: Any) -> Any:
        rtol = max(x.shape[-2:]) * np.finfo(x.dtype).eps if self.rtol is None else self.rtol
        return np.linalg.pinv(x, rtol)

    def grad_x(self, g: Any, x: Any, z: Any) -> Any:
        h, w = transposed(g), transposed(z)
        if x.shape[-2] <= x.shape[-1]:
            k = h @ z
            kw = k @ w
            return -transposed(z @ k) + kw - (x @ z) @ kw + (w @ z) @ (h - k @ x)
        k = z @ h
        wk = w @ k
        return -transposed(k @ z) + (h - x @ k) @ z @ w + wk - (wk @ z) @ x


class LinalgQrBackward0(MultiOutputOperation):
    """Of matrices at least as tall as wide. Source: S. Walter and L. Lehmann, 2018."""

    __slots__ = ()
    formula = "X = Q · R    ∂X = (G_Q + Q · sym(M)) · inv(R)ᵀ,  M = R · G_Rᵀ - G_Qᵀ · Q,  sym copies below the diagonal"
    results = ("q", "r")
    returns = return_type("linalg_qr", "Q", "R")

    def forward(self, x: Any) -> Any:
        return tuple(np.linalg.qr(x))

    def grad_x(self, g: Any, q: Any, r: Any) -> Any:
        if q.shape[-2] < r.shape[-1]:
            raise RuntimeError(
                "The QR decomposition is not differentiable when mode='reduced' and the matrix is wider than tall."
            )
        to_q, to_r = g
        m = zeros_like(r, r.shape, r.dtype)
        m = m if to_r is None else m + r @ transposed(to_r)
        m = m if to_q is None else m - transposed(to_q) @ q
        middle = q @ (tril(m) + transposed(tril(m, -1)))
        return (middle if to_q is None else middle + to_q) @ transposed(inv(r))


def pinv(A: Any, *, rtol: float | None = None) -> Any:  # noqa: N803 - torch's name
    """The Moore-Penrose inverse; singular values below `rtol` times the largest count as 0."""
    check_matrix("linalg.pinv", A)
    if A.dtype.kind not in "fc" or A.dtype == np.float16:
        raise RuntimeError(
            f"linalg.pinv({scalar_name(A.dtype)}{{{list(A.shape)}}}): expected a tensor with 2 or more dimensions of "
            "float, double, cfloat or cdouble types"
        )
    return call(LinalgPinvBackward0(rtol), A)


def pinverse(input: Any, rcond: float = 1e-15) -> Any:
    """`linalg.pinv` with another tolerance."""
    return pinv(input, rtol=rcond)


def qr(A: Any, mode: str = "reduced") -> Any:  # noqa: N803 - torch's name
    """A = Q · R, with orthonormal columns in Q (…, m, k) and R (…, k, n) upper triangular, k the smaller of m and n.

    Raises RuntimeError for another `mode` than "reduced".
    """
    if mode != "reduced":
        raise RuntimeError(f"qr takes mode='reduced' here, not '{mode}'")
    check_floating("linalg.qr", check_matrix("linalg.qr", A))
    return call_multi_output(LinalgQrBackward0(), A)


def matrix_rank(A: Any, *, rtol: float | None = None) -> Any:  # noqa: N803 - torch's name
    """How many singular values are above `rtol` times the largest."""
    check_matrix("linalg.matrix_rank", A)
    _check_full_precision(A)

    def count(x: Any) -> Any:
        tolerance = max(x.shape[-2:]) * np.finfo(x.dtype).eps if rtol is None else rtol
        values = np.linalg.svd(x, compute_uv=False)
        return (values > tolerance * values[..., :1]).sum(-1)

    return undifferentiable(count, A, op="matrix_rank")


def cond(A: Any, p: Any = None) -> Any:  # noqa: N803 - torch's name
    """The condition number: the largest singular value over the smallest, or with `p` ‖A‖ₚ · ‖A⁻¹‖ₚ."""
    if p is None or p == 2:
        values = svdvals(A)
        return values[..., 0] / values[..., -1]
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


def _check_full_precision(x: Any) -> None:
    """Raise RuntimeError for integers and half precision."""
    if x.dtype.kind not in "fc" or x.dtype == np.float16:
        raise RuntimeError("This function doesn't handle types other than float and double")


_lstsq = return_type("linalg_lstsq", "solution", "residuals", "rank", "singular_values")


def lstsq(A: Any, B: Any, rcond: float | None = None) -> Any:  # noqa: N803 - torch's names
    """The X that makes ‖A · X - B‖ smallest, as (solution, residuals, rank, singular_values).

    NB: it is computed with the pseudo-inverse; `singular_values` is empty, and `residuals` too unless A has full rank
    and more rows than columns.
    """
    _check_full_precision(A)
    solution = pinv(A, rtol=rcond) @ B
    rank = matrix_rank(A, rtol=rcond)
    rows, columns = A.shape[-2:]
    empty = zeros_like(A, (0,), A.array.dtype)
    tall = rows > columns and bool((rank.array == columns).all())
    residuals = ((A @ solution - B).detach() ** 2).sum(-2) if tall and isinstance(A, TensorState) else empty
    return _lstsq(solution, residuals, rank, empty)
