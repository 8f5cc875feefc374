"""The same elements in other places: flipped, rolled, repeated, cut to a triangle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.ops.indexing.index_along import index_select
from microtape.ops.indexing.padding import pad
from microtape.ops.reduction.reduction import sum
from microtape.ops.shape.casting import ContiguousCopy
from microtape.ops.shape.joining import cat
from microtape.ops.shape.shape import expand, reshape, unsqueeze
from microtape.ops.shape.subviews import diagonal, narrow
from microtape.ops.shared.arguments import dim_index, dim_tuple, sizes
from microtape.ops.shared.kinds import refusing
from microtape.tape.in_place import call_
from microtape.tape.operation import Operation, call
from microtape.tape.tensor_state import TensorState


class FlipBackward0(Operation):
    __slots__ = ("dims",)
    formula = "z = x, last first    ∂x = g, last first"

    def __init__(self, dims: tuple[int, ...]) -> None:
        super().__init__()
        self.dims = dims

    def forward(self, x: Any) -> Any:
        return np.flip(x, self.dims).copy()

    def grad_x(self, g: Any) -> Any:
        return flip(g, self.dims)


class RollBackward0(Operation):
    __slots__ = ("dims", "shifts")
    formula = "z = x, moved along and in again at the other end    ∂x = g, moved back"

    def __init__(self, shifts: tuple[int, ...], dims: tuple[int, ...] | None) -> None:
        super().__init__()
        self.shifts, self.dims = shifts, dims

    def forward(self, x: Any) -> Any:
        return np.roll(x, self.shifts if self.dims is not None else self.shifts[0], self.dims)

    def grad_x(self, g: Any) -> Any:
        return call(RollBackward0(tuple([-shift for shift in self.shifts]), self.dims), g)


class Rot90Backward0(Operation):
    __slots__ = ("dims", "k")
    formula = "z = x, turned by quarters    ∂x = g, turned back"
    op = "rot90"

    def __init__(self, k: int, dims: tuple[int, int]) -> None:
        super().__init__()
        self.k, self.dims = k, dims

    def forward(self, x: Any) -> Any:
        return np.rot90(x, self.k, self.dims).copy()

    def grad_x(self, g: Any) -> Any:
        return rot90(g, -self.k, self.dims)


class TrilBackward0(Operation):
    __slots__ = ("diagonal",)
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


class RepeatBackward0(Operation):
    __slots__ = ("repeats", "x_shape")
    formula = "z = x, so many times along each dimension    ∂x = Σ g over the copies"

    def __init__(self, repeats: tuple[int, ...]) -> None:
        super().__init__()
        self.repeats = repeats

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        return np.tile(x, self.repeats)

    def grad_x(self, g: Any) -> Any:
        lead = len(self.repeats) - len(self.x_shape)
        whole = (1,) * lead + self.x_shape
        pairs = [one for pair in zip(self.repeats, whole, strict=True) for one in pair]
        copies = tuple(range(0, 2 * len(self.repeats), 2))
        return reshape(sum(reshape(g, tuple(pairs)), copies), self.x_shape) if pairs else g


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


def flip(input: Any, *given: Any, dims: Any = None) -> Any:
    """`input` with the order of elements reversed along the dimensions: `flip(x, (0, 1))`, `x.flip(0, 1)`."""
    counted = dim_tuple(sizes(given if dims is None else (dims,)), input.ndim)
    return call(FlipBackward0(counted or ()), input)


def fliplr(input: Any) -> Any:
    """`input` with its second dimension reversed. Raises RuntimeError where there is none."""
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip(input, 1)


def flipud(input: Any) -> Any:
    """`input` with its first dimension reversed. Raises RuntimeError where there is none."""
    if not input.ndim:
        raise RuntimeError("Input must be >= 1-d.")
    return flip(input, 0)


def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """`input` moved along by `shifts`; what falls off the end comes in at the front. Without `dims`, as one row."""
    moves = sizes((shifts,))
    if not moves:
        raise RuntimeError("`shifts` required")
    if dims is None:
        return call(RollBackward0(moves, None), input)
    counted = tuple([dim_index(dim, input.ndim) for dim in sizes((dims,))])
    if len(moves) != len(counted):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(moves)}, dims:{len(counted)}")
    return call(RollBackward0(moves, counted), input)


def tril(input: Any, diagonal: int = 0) -> Any:
    """`input` with zeros above the diagonal, or the one `diagonal` places above it."""
    return call(TrilBackward0(check_matrix("tril", input, diagonal)), input)


def triu(input: Any, diagonal: int = 0) -> Any:
    """`input` with zeros below the diagonal, or the one `diagonal` places above it."""
    return call(TriuBackward0(check_matrix("triu", input, diagonal)), input)


def tril_(x: TensorState, diagonal: int = 0) -> Any:
    """Write zeros above the diagonal."""
    return call_(TrilBackward0(check_matrix("tril", x, diagonal)), x)


def triu_(x: TensorState, diagonal: int = 0) -> Any:
    """Write zeros below the diagonal."""
    return call_(TriuBackward0(check_matrix("triu", x, diagonal)), x)


def check_matrix(name: str, x: Any, diagonal: int) -> int:
    """`diagonal`. Raises RuntimeError where x is no matrix."""
    if x.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    return diagonal


def repeat(x: Any, *repeats: Any) -> Any:
    """x copied so many times along each dimension, new ones in front."""
    counts = sizes(repeats)
    if len(counts) < x.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    return call(RepeatBackward0(counts), x)


def tile(input: Any, *given: Any, dims: Any = None) -> Any:
    """`repeat`, where missing counts in front are 1."""
    counts = sizes(given if dims is None else (dims,))
    return repeat(input, (1,) * (input.ndim - len(counts)) + counts)


def repeat_interleave(input: Any, repeats: Any, dim: int | None = None, *, output_size: int | None = None) -> Any:
    """Each element so many times in turn along `dim`, or of all elements in one row; a tensor has a count for each.

    `output_size`, with which torch can do without adding them up, changes nothing here.
    """
    if dim is None:
        input, dim = reshape(input, (-1,)), 0
    given, dim = dim, dim_index(dim, input.ndim)
    if isinstance(repeats, TensorState):
        size = input.shape[dim] if input.ndim else 1
        if repeats.array.ndim and len(repeats.array) not in (1, size):
            raise RuntimeError(
                "repeats must have the same size as input along dim, but got repeats.size(0) = "
                f"{len(repeats.array)} and input.size({given}) = {size}"
            )
        if np.any(repeats.array < 0):
            raise RuntimeError("repeats can not be negative")
        counts = repeats.array if repeats.array.ndim else np.repeat(repeats.array, input.shape[dim])
        return index_select(input, dim, np.repeat(np.arange(input.shape[dim]), counts))
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    shape = (*input.shape[: dim + 1], repeats, *input.shape[dim + 1 :])
    wide = call(ContiguousCopy(), expand(unsqueeze(input, dim + 1), shape))
    return reshape(wide, (*input.shape[:dim], repeats * input.shape[dim], *input.shape[dim + 1 :]))


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


def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Each element minus the one before it along `dim`, `n` times over; with more elements in front and behind."""
    dim = dim_index(dim, input.ndim)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if n == 0:
        return input
    if prepend is not None or append is not None:
        input = cat([one for one in (prepend, input, append) if one is not None], dim)
    for _ in range(min(n, input.shape[dim])):
        length = input.shape[dim] - 1
        here, before = narrow(input, dim, 1, length), narrow(input, dim, 0, length)
        input = here ^ before if input.dtype.kind == "b" else here - before
    return input


def rot90(input: Any, k: int = 1, dims: Sequence[int] = (0, 1)) -> Any:
    """`input` turned by `k` quarters, from the first of `dims` towards the second."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.ndim}")
    first, second = (dim_index(dim, input.ndim) for dim in dims)
    if first == second:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    return call(Rot90Backward0(k, (first, second)), input)
