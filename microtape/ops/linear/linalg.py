"""Linear algebra of square matrices: inverse, determinant, equations, Cholesky. Leading dimensions are batches.

The derivatives are in M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008), that of Cholesky's factor in I. Murray, "Differentiation of the Cholesky decomposition" (2016).

The engine conjugates complex gradients before and after a formula, so that xᵀ here means torch's xᴴ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microtape.basics.dtypes import scalar_name
from microtape.ops.elementwise.complex_numbers import imag
from microtape.ops.elementwise.exponential import log
from microtape.ops.elementwise.selection import where
from microtape.ops.indexing.diagonals import tril
from microtape.ops.indexing.index import IndexBackward0
from microtape.ops.linear.product import matmul
from microtape.ops.shape.reshaping import unsqueeze
from microtape.ops.shape.transposition import transpose
from microtape.ops.shared.kinds import Promoting
from microtape.tape.multi_output import MultiOutputOperation, call_multi_output, return_type
from microtape.tape.operation import Operation, call
from microtape.tape.tensor_state import Array, TensorState

__all__ = ["det", "inverse", "logdet", "matrix_power", "slogdet"]


class LinAlgError(RuntimeError):
    """A matrix cannot be inverted or factored."""


class LinalgInvExBackward0(Operation):
    formula = "Z = X⁻¹    ∂X = -Zᵀ · G · Zᵀ"
    op = "inv"

    @staticmethod
    def forward(x: Any) -> Any:
        try:
            return np.linalg.inv(x)
        except np.linalg.LinAlgError:
            raise _failure("linalg.inv", np.linalg.inv, x, _singular) from None

    def grad_x(self, g: Any, z: Any) -> Any:
        return -matmul(transposed(z), matmul(g, transposed(z)))


class LinalgDetBackward0(Operation):
    formula = "z = det X    ∂X = g · z · X⁻ᵀ = g · the cofactors of X"
    op = "det"
    forward = staticmethod(np.linalg.det)

    def grad_x(self, g: Any, x: Any, z: Any) -> Any:
        if np.all(z.array if isinstance(z, TensorState) else z):
            return _as_matrix(g * z) * transposed(inv(x))
        return _as_matrix(g) * (_cofactors_by_minors(x) if isinstance(x, TensorState) else _cofactors(x))


class LinalgSlogdetBackward0(MultiOutputOperation):
    results = ("sign", "logabsdet")
    formula = "z = sign of det X, and ln |det X|    ∂X = g₁ · X⁻ᵀ"
    op = "slogdet"
    returns = return_type("linalg_slogdet", "sign", "logabsdet")

    @staticmethod
    def forward(x: Any) -> Any:
        return np.linalg.slogdet(x)

    def grad_x(self, g: Any, x: Any, sign: Any) -> Any:
        of_sign, of_logarithm = g
        factor = 0 if of_logarithm is None else of_logarithm
        if of_sign is not None and sign.dtype.kind == "c":
            factor = factor + imag(of_sign * sign) * 1j  # the sign of a complex determinant rotates
        elif of_logarithm is None:
            return None
        return _as_matrix(factor) * transposed(inv(x))


class LinalgSolveExBackward0(Promoting):
    """With `vector`, Y is a vector for each matrix."""

    __slots__ = ("vector",)
    operands = ("x", "y")
    op = "solve"
    formula = "Z = X⁻¹ · Y    ∂Y = X⁻ᵀ · G,  ∂X = -∂Y · Zᵀ"

    def __init__(self, vector: bool) -> None:
        super().__init__()
        self.vector = vector

    def forward(self, x: Any, y: Any) -> Any:
        try:
            z = np.linalg.solve(x, y[..., None] if self.vector else y)
        except np.linalg.LinAlgError:
            reason = "The solver failed because the input matrix is singular."
            raise _failure("microtape.linalg.solve", np.linalg.inv, x, lambda _: reason) from None
        return z[..., 0] if self.vector else z

    def grad_x(self, g: Any, x: Any, _y: Any, z: Any) -> Any:
        of_y = self.grad_y(g, x, _y, z)
        if self.vector:
            return -matmul(unsqueeze(of_y, -1), unsqueeze(z, -2))
        return -matmul(of_y, transposed(z))

    def grad_y(self, g: Any, x: Any, _y: Any, _z: Any) -> Any:
        return call(LinalgSolveExBackward0(self.vector), transposed(x), g)


class LinalgCholeskyExBackward0(Operation):
    __slots__ = ("upper",)
    formula = "Z · Zᵀ = X, Z lower triangular    ∂X = ½ · Z⁻ᵀ · (P + Pᵀ without its diagonal) · Z⁻¹,  P = tril(Zᵀ · G)"
    op = "cholesky"

    def __init__(self, upper: bool) -> None:
        super().__init__()
        self.upper = upper

    def forward(self, x: Any) -> Any:
        try:
            return np.linalg.cholesky(x, upper=self.upper)
        except np.linalg.LinAlgError:
            raise _failure("linalg.cholesky", np.linalg.cholesky, x, _indefinite) from None

    def grad_x(self, g: Any, z: Any) -> Any:
        if self.upper:
            g, z = transposed(g).conj(), transposed(z).conj()
        p = tril(matmul(transposed(z), g))
        inverse = inv(z)
        both = p + transposed(tril(p, -1)).conj()
        return matmul(transposed(inverse), matmul(both, inverse.conj())) * 0.5


def transposed(x: Any) -> Any:
    """x with its last two dimensions swapped."""
    return transpose(x, -2, -1)


def _as_matrix(x: Any) -> Any:
    """A number for each matrix, with dimensions that broadcast over the matrix."""
    return unsqueeze(unsqueeze(x, -1), -1)


def _failure(name: str, function: Callable[..., Any], x: Array, reason: Callable[[Array], str]) -> LinAlgError:
    """The error to raise where `function` fails: it names the first matrix of a batch for which it does."""
    for i, matrix in enumerate(x.reshape((-1, *x.shape[-2:]))):
        try:
            function(matrix)
        except np.linalg.LinAlgError:
            return LinAlgError(f"{name}: " + (f"(Batch element {i}): " if x.ndim > 2 else "") + reason(matrix))
    raise AssertionError("the batch failed, but none of its matrices")


def _singular(matrix: Array) -> str:
    """Why there is no inverse: which diagonal element of the triangular factor is zero, counted from 1."""
    ranks = [np.linalg.matrix_rank(matrix[:, :size]) for size in range(1, len(matrix) + 1)]
    pivot = next((size for size, rank in enumerate(ranks, 1) if rank < size), len(matrix))
    return (
        f"The diagonal element {pivot} is zero, the inversion could not be completed because the input matrix is "
        "singular."
    )


def _indefinite(matrix: Array) -> str:
    """Why there is no Cholesky factor: the order of the first leading minor that is not positive."""
    minors = [np.linalg.det(matrix[:size, :size]).real for size in range(1, len(matrix) + 1)]
    order = next((size for size, minor in enumerate(minors, 1) if minor <= 0), len(matrix))
    return (
        "The factorization could not be completed because the input is not positive-definite (the leading minor of "
        f"order {order} is not positive-definite)."
    )


def _cofactors(x: Array) -> Array:
    """The derivatives of the determinant, from singular values, so that the matrix may be singular."""
    u, s, vh = np.linalg.svd(x)
    others = np.stack([np.prod(np.delete(s, i, -1), -1) for i in range(s.shape[-1])], -1)
    turn = (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    result: Array = turn * ((u * others[..., None, :]) @ vh).conj()
    return result


def _cofactors_by_minors(x: Any) -> Any:
    """The derivatives of the determinant as smaller determinants, which can be differentiated again."""
    size = x.shape[-1]
    kept = np.array([[j for j in range(size) if j != i] for i in range(size)], np.int64).reshape(size, size - 1)
    lead = (slice(None),) * (x.ndim - 2)
    minors = det(call(IndexBackward0((*lead, kept[:, None, :, None], kept[None, :, None, :])), x))
    return minors * np.array([[(-1.0) ** (i + j) for j in range(size)] for i in range(size)], x.dtype)


def inv(input: Any) -> Any:
    """The inverse. Raises LinAlgError (a RuntimeError) if there is none."""
    return call(LinalgInvExBackward0(), check_square("linalg.inv", input))


def det(input: Any) -> Any:
    """The determinant."""
    return call(LinalgDetBackward0(), check_square("linalg.det", input))


def slogdet(input: Any) -> Any:
    """The determinant's sign and the logarithm of its absolute value, as (sign, logabsdet)."""
    return call_multi_output(LinalgSlogdetBackward0(), check_square("linalg.slogdet", input))


def logdet(input: Any) -> Any:
    """The logarithm of the determinant; NaN if it is negative."""
    sign, logabsdet = slogdet(check_square("logdet", input))
    if sign.dtype.kind == "c":
        return logabsdet + log(sign)
    return where(sign == -1, np.nan, logabsdet)


def solve(A: Any, B: Any) -> Any:  # noqa: N803 - torch's names
    """The X with A · X = B; B is a matrix, or a vector, for each matrix of A. Raises LinAlgError if A is singular."""
    check_square("linalg.solve", A)
    if not B.ndim:
        raise RuntimeError("linalg.solve: The input tensor B must have at least 2 dimensions.")
    vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and tuple(B.shape) == tuple(A.shape[:-1]))
    rows, columns = (B.shape[-1], 1) if vector else B.shape[-2:]
    if A.shape[-1] != rows:
        raise RuntimeError(
            "linalg.solve: Incompatible shapes of A and B for the equation AX = B "
            f"({A.shape[-2]}x{A.shape[-1]} and {rows}x{columns})"
        )
    return call(LinalgSolveExBackward0(vector), A, B)


def cholesky(input: Any, *, upper: bool = False) -> Any:
    """The lower triangular L with L · Lᵀ = `input`, of a symmetric positive-definite matrix; with `upper`, Lᵀ.

    Raises LinAlgError (a RuntimeError) for other matrices.
    """
    return call(LinalgCholeskyExBackward0(upper), check_square("linalg.cholesky", input))


def matrix_power(input: Any, n: int) -> Any:
    """The `n`-th power of the matrix; for a negative `n`, of its inverse."""
    if check_matrix("linalg.matrix_power", input).shape[-1] != input.shape[-2]:
        check_square("linalg.matrix_power", input)
    if n < 0:
        return matrix_power(inv(input), -n)
    if n == 0:
        return input * 0 + np.eye(input.shape[-1], dtype=input.dtype)
    if n == 3:
        return matmul(matmul(input, input), input)
    result, power = None, input  # power runs through input², input⁴, …
    while True:
        if n % 2:
            result = power if result is None else matmul(result, power)
        n //= 2
        if not n:
            return result
        power = matmul(power, power)


def check_square(name: str, x: Any) -> Any:
    """The matrix. Raises RuntimeError if it is not square, or not of floats."""
    check_matrix(name, x)
    if x.shape[-1] != x.shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {x.shape[-2]} by {x.shape[-1]} matrices"
        )
    return check_floating(name, x)


def check_matrix(name: str, x: Any) -> Any:
    """The matrix. Raises RuntimeError if it has fewer than two dimensions."""
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    return x


def check_floating(name: str, x: Any) -> Any:
    """The matrix. Raises RuntimeError for integers, and for half precision, which LAPACK lacks."""
    if x.dtype.kind not in "fc":
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {scalar_name(x.dtype)}")
    if x.dtype == np.float16:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got Half")
    return x


# torch has several names for some functions
inverse = inv
