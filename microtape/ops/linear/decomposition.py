"""Matrix decompositions: singular values, eigenvalues, and the norms computed from them.

The derivatives are in J. Townsend, "Differentiating the singular value decomposition" (2016), and for eigenvalues in
M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microtape.ops.indexing.diagonals import diag_embed
from microtape.ops.linear.linalg import check_floating, check_matrix, check_square, transposed
from microtape.ops.linear.product import matmul
from microtape.ops.reduction.statistics import vector_norm
from microtape.ops.reduction.sums_and_extrema import amax, amin, sum
from microtape.ops.shape.reshaping import unsqueeze
from microtape.ops.shape.subviews import diagonal
from microtape.ops.shape.transposition import movedim
from microtape.ops.shared.arguments import dim_tuple
from microtape.ops.shared.kinds import refusal_of
from microtape.tape.multi_output import MultiOutputOperation, call_multi_output, return_type

__all__ = ["norm"]


class LinalgSvdBackward0(MultiOutputOperation):
    """With `full`, U has more columns and Vᴴ more rows than there are singular values; those have no derivative."""

    __slots__ = ("full",)
    results = ("u", "s", "vh")
    formula = (
        "X = U · diag(s) · Vᴴ    ∂X = U · (diag(g_s) + (K_U · diag(s) + diag(s) · K_V) / E) · Vᴴ + …, Eᵢⱼ = sⱼ² - sᵢ²"
    )
    op = "svd"
    returns = return_type("linalg_svd", "U", "S", "Vh")

    def __init__(self, full: bool) -> None:
        super().__init__()
        self.full = full

    def forward(self, x: Any) -> Any:
        return np.linalg.svd(x, self.full)

    def grad_x(self, g: Any, u: Any, s: Any, vh: Any) -> Any:
        k = s.shape[-1]
        u, vh = u[..., :k].conj(), vh[..., :k, :].conj()  # the engine conjugates gradients, so this is torch's formula
        g_u = None if g[0] is None else g[0][..., :k]
        g_vh = None if g[2] is None else g[2][..., :k, :]
        core = None if g[1] is None else diag_embed(g[1])
        gaps = _square_gaps(s)
        turn_u = None if g_u is None else _skew(matmul(_adjoint(u), g_u))
        turn_v = None if g_vh is None else _skew(matmul(vh, _adjoint(g_vh)))
        if turn_u is not None:
            core = _added(core, turn_u / gaps * unsqueeze(s, -2))
        if turn_v is not None:
            core = _added(core, unsqueeze(s, -1) * (turn_v / gaps))
        if turn_u is not None and turn_v is not None and u.dtype.kind == "c":
            core = core + diag_embed(diagonal(turn_u, 0, -2, -1) / (2 * s))
        core = core * np.ones((), u.dtype)  # complex if the vectors are
        left = matmul(u, core)
        if g_u is not None and u.shape[-2] > k:
            outside = g_u / unsqueeze(s, -2)
            left = left + outside - matmul(u, matmul(_adjoint(u), outside))
        result = matmul(left, vh)
        if g_vh is not None and vh.shape[-1] > k:
            outside = g_vh / unsqueeze(s, -1)
            result = result + matmul(u, outside - matmul(matmul(outside, _adjoint(vh)), vh))
        return result


class LinalgEighBackward0(MultiOutputOperation):
    __slots__ = ("upper",)
    results = ("values", "vectors")
    formula = "X · V = V · diag(w)    ∂X = V · (diag(g_w) + H / E) · Vᴴ, H = (Vᴴ · G_V - G_Vᴴ · V) / 2, Eᵢⱼ = wⱼ - wᵢ"
    op = "eigh"
    returns = return_type("linalg_eigh", "eigenvalues", "eigenvectors")

    def __init__(self, upper: bool) -> None:
        super().__init__()
        self.upper = upper

    def forward(self, x: Any) -> Any:
        return np.linalg.eigh(x, "U" if self.upper else "L")

    def grad_x(self, g: Any, values: Any, vectors: Any) -> Any:
        vectors = vectors.conj()  # the engine conjugates gradients, so this is torch's formula
        core = None if g[0] is None else diag_embed(g[0])
        if g[1] is not None:
            gaps = unsqueeze(values, -2) - unsqueeze(values, -1)
            turn = _skew(matmul(_adjoint(vectors), g[1])) / 2  # vectors of length 1 can only rotate
            core = _added(core, _off_diagonal(turn, gaps))
        return matmul(vectors, matmul(core * np.ones((), vectors.dtype), _adjoint(vectors)))


def _adjoint(x: Any) -> Any:
    """The conjugate transpose."""
    return transposed(x).conj()


def _skew(x: Any) -> Any:
    """The matrix minus its adjoint."""
    return x - _adjoint(x)


def _added(total: Any, term: Any) -> Any:
    """The sum of both; `total` may be None."""
    return term if total is None else total + term


def _square_gaps(s: Any) -> Any:
    """sⱼ² - sᵢ², and 1 on the diagonal, where the dividend is 0."""
    squares = s * s
    return unsqueeze(squares, -2) - unsqueeze(squares, -1) + np.eye(s.shape[-1], dtype=s.dtype)


def _off_diagonal(x: Any, gaps: Any) -> Any:
    """x / gaps, with 0 on the diagonal, where the gaps are 0."""
    ones = np.eye(x.shape[-1], dtype=gaps.dtype)
    return x / (gaps + ones) * (1 - ones)


def svd(A: Any, full_matrices: bool = True) -> Any:  # noqa: N803 - torch's name
    """A = U · diag(S) · Vh, with orthonormal columns in U and rows in Vh, and S descending, as (U, S, Vh).

    Singular vectors have a derivative only if no two singular values are equal.
    """
    return call_multi_output(
        LinalgSvdBackward0(full_matrices), check_floating("linalg.svd", check_matrix("linalg.svd", A))
    )


def svdvals(A: Any) -> Any:  # noqa: N803 - torch's name
    """The singular values, the largest first."""
    return svd(A, False)[1]


def eigh(A: Any, UPLO: str = "L") -> Any:  # noqa: N803 - torch's names
    """The eigenvalues, the smallest first, and eigenvectors (in columns) of a symmetric or Hermitian matrix.

    Only the lower triangle is read, or with `UPLO="U"` the upper one. Eigenvectors have a derivative only if no two
    eigenvalues are equal.
    """
    if A.dtype.kind not in "fc":
        raise refusal_of(A.dtype, "linalg_eigh_cpu")
    if not isinstance(UPLO, str):
        raise TypeError(f"linalg_eigh(): argument 'UPLO' (position 2) must be str, not {type(UPLO).__name__}")
    return call_multi_output(LinalgEighBackward0(UPLO.upper() == "U"), check_square("linalg.eigh", A))


def eigvalsh(A: Any, UPLO: str = "L") -> Any:  # noqa: N803 - torch's names
    """The eigenvalues of a symmetric or Hermitian matrix, the smallest first."""
    return eigh(A, UPLO)[0]


def matrix_norm(A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Any:  # noqa: N803
    """A norm of the matrices in two dimensions: "fro", "nuc", ±1 (columns), ±inf (rows), ±2 (singular values)."""
    check_matrix("linalg.matrix_norm", A)
    if A.dtype != np.float16:  # norms without singular values support it
        check_floating("linalg.matrix_norm", A)
    first, second = dim_tuple(dim, A.ndim) or ()
    if ord == "fro":
        return vector_norm(A, 2, (first, second), keepdim, dtype=dtype)
    if ord == "nuc" or abs(ord) == 2:
        check_floating("linalg.matrix_norm", A)
        values = svdvals(movedim(A, (first, second), (-2, -1)))
        result = sum(values, -1) if ord == "nuc" else _extreme(values, ord, -1)
        return movedim(unsqueeze(unsqueeze(result, -1), -1), (-2, -1), (first, second)) if keepdim else result
    if abs(ord) not in (1, math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    summed, chosen = (first, second) if abs(ord) == 1 else (second, first)
    sizes = vector_norm(A, 1, summed, keepdim, dtype=dtype)
    if not keepdim and chosen > summed:
        chosen -= 1  # the summed dimension is gone
    return _extreme(sizes, ord, chosen, keepdim)


def _extreme(sizes: Any, ord: float, dim: int, keepdim: bool = False) -> Any:
    """The largest of sizes along `dim`, 0 if there are none, or for a negative `ord` the smallest."""
    return (amin if ord < 0 else amax if sizes.shape[dim] else sum)(sizes, dim, keepdim)


def linalg_norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:  # noqa: N803
    """`vector_norm` or `matrix_norm`, depending on `ord` and the number of dimensions."""
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    count = A.ndim if dim is None else 1 if isinstance(dim, int) else len(dim)
    if count == 1:
        return vector_norm(A, ord, dim, keepdim, dtype=dtype)
    return matrix_norm(A, ord, (0, 1) if dim is None else dim, keepdim, dtype=dtype)


def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """(Σ |x|ᵖ)^(1/p): over all elements, or over the dimensions `dim`; "fro" means 2, "nuc" the nuclear norm."""
    if p == "nuc":
        return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(input, 2 if p == "fro" or p is None else p, dim, keepdim, dtype=dtype)
