"""Triangles and diagonals of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.ops.indexing.padding import pad
from microtape.ops.shape.reshaping import expand
from microtape.ops.shape.subviews import diagonal
from microtape.ops.shared.arguments import dim_index
from microtape.ops.shared.kinds import refusing
from microtape.tape.in_place import call_
from microtape.tape.operation import Operation, call
from microtape.tape.tensor_state import TensorState

__all__ = ["diag", "diag_embed", "trace", "tril", "triu"]


class TrilBackward0(Operation):
    __slots__ = ("diagonal",)
    row_major = True
    formula = "z = x, 0 above the diagonal    ∂x = g, 0 above the diagonal"

    def __init__(self, diagonal: int) -> None:
        super().__init__()
        self.diagonal = diagonal

    def forward(self, x: Any) -> Any:
        return np.tril(x, self.diagonal)

    def grad_x(self, g: Any) -> Any:
        return call(type(self)(self.diagonal), g)


class TriuBackward0(TrilBackward0):
    __slots__ = ()
    formula = "z = x, 0 below the diagonal    ∂x = g, 0 below the diagonal"

    def forward(self, x: Any) -> Any:
        return np.triu(x, self.diagonal)


class DiagEmbedBackward0(Operation):
    __slots__ = ("dim0", "dim1", "offset")
    formula = "z = 0 with x on the diagonal    ∂x = the diagonal of g"
    op = "diag_embed"

    def __init__(self, offset: int, dim0: int, dim1: int) -> None:
        super().__init__()
        self.offset, self.dim0, self.dim1 = offset, dim0, dim1

    def forward(self, x: Any) -> Any:
        size = x.shape[-1] + np.abs(self.offset)
        z = np.zeros((*x.shape[:-1], size, size), x.dtype)
        rows = np.arange(x.shape[-1]) + max(-self.offset, 0)
        z[..., rows, rows + self.offset] = x
        return np.moveaxis(z, (-2, -1), (self.dim0, self.dim1))

    def grad_x(self, g: Any) -> Any:
        return diagonal(g, self.offset, self.dim0, self.dim1)


class DiagonalCopy(Operation):
    """The diagonal of a matrix, not as a view."""

    __slots__ = ("offset", "x_shape")
    formula = "z = the diagonal of x    ∂x = g on the diagonal, 0 elsewhere"
    op = "diag"

    def __init__(self, offset: int) -> None:
        super().__init__()
        self.offset = offset

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        return np.diagonal(x, self.offset).copy()

    def grad_x(self, g: Any) -> Any:
        square = diag_embed(g, self.offset)
        (rows, columns), (n, m) = square.shape, self.x_shape
        return pad(square, (0, m - columns, 0, n - rows))


DiagonalCopy.__name__ = "DiagonalBackward0_copy"


@refusing(b="trace")
class TraceBackward0(Operation):
    __slots__ = ("x_shape",)
    formula = "z = Σ xᵢᵢ    ∂x = g on the diagonal, 0 elsewhere"

    def forward(self, x: Any) -> Any:
        if x.ndim != 2:
            raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {x.ndim}")
        self.x_shape = x.shape
        return np.trace(x, dtype=np.int64 if x.dtype.kind in "biu" else None)

    def grad_x(self, g: Any) -> Any:
        return expand(g, self.x_shape) * np.eye(*self.x_shape, dtype=g.dtype)


def tril(input: Any, diagonal: int = 0) -> Any:
    """`input` with zeros above its diagonal number `diagonal`, counted upwards from the main one."""
    return call(TrilBackward0(_check_matrix("tril", input, diagonal)), input)


def triu(input: Any, diagonal: int = 0) -> Any:
    """`input` with zeros below its diagonal number `diagonal`, counted upwards from the main one."""
    return call(TriuBackward0(_check_matrix("triu", input, diagonal)), input)


def tril_(x: TensorState, diagonal: int = 0) -> Any:
    """Write zeros above the diagonal."""
    return call_(TrilBackward0(_check_matrix("tril", x, diagonal)), x)


def triu_(x: TensorState, diagonal: int = 0) -> Any:
    """Write zeros below the diagonal."""
    return call_(TriuBackward0(_check_matrix("triu", x, diagonal)), x)


def _check_matrix(name: str, x: Any, diagonal: int) -> int:
    """`diagonal`. Raises RuntimeError if x has fewer than two dimensions."""
    if x.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    return diagonal


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices of zeros with the last dimension of `input` on their diagonal."""
    ndim = input.ndim + 1
    return call(DiagEmbedBackward0(offset, dim_index(dim1, ndim), dim_index(dim2, ndim)), input)


def diag(input: Any, diagonal: int = 0) -> Any:
    """A vector as a diagonal matrix, or the diagonal of a matrix as a vector. Raises RuntimeError for other tensors."""
    if input.ndim == 1:
        return diag_embed(input, diagonal)
    if input.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    return call(DiagonalCopy(diagonal), input)


def trace(input: Any) -> Any:
    """The sum of a matrix's diagonal."""
    return call(TraceBackward0(), input)
