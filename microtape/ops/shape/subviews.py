"""Parts of a tensor as views: a slice, a range, the diagonal, or all its parts at once."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from microtape.ops.shape.joining import CatBackward0, stack
from microtape.ops.shared.arguments import dim_index, is_integer
from microtape.tape.multi_output import MultiOutputOperation, call_multi_output
from microtape.tape.operation import Unary, call
from microtape.tape.tensor_state import TensorState
from microtape.tape.views import MultiViewOperation, ViewOperation, replay, view_call, view_calls, zeros_for_none

__all__ = [
    "chunk",
    "diagonal",
    "hsplit",
    "narrow",
    "select",
    "split",
    "split_with_sizes",
    "tensor_split",
    "unbind",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "vsplit",
]

_WHOLE = (slice(None),)  # one dimension of a key


class PlaceBackward(Unary):
    """The transpose of taking a part: zeros everywhere except in the part."""

    __slots__ = ("step",)
    formula = "z = 0 with x in its part    ∂x = the part of g"
    floating = False

    def __init__(self, step: ViewOperation) -> None:
        super().__init__()
        self.step = step

    def forward(self, x: Any) -> Any:
        return _placed(self.step, x, type(self))

    def grad_x(self, g: Any) -> Any:
        return replay((self.step,), g)


def _placed(step: ViewOperation, g: Any, operation: type[PlaceBackward]) -> Any:
    """Zeros with g in the part that `step` views. For a Tensor this is recorded as an `operation`."""
    if isinstance(g, TensorState):
        return call(operation(step), g)
    z = np.zeros(step.x_shape, g.dtype)
    step.forward(z)[...] = g
    return z


class SelectBackwardBackward0(PlaceBackward):
    __slots__ = ()


class SliceBackwardBackward0(PlaceBackward):
    __slots__ = ()


class DiagonalBackwardBackward0(PlaceBackward):
    __slots__ = ()


class SelectBackward0(ViewOperation):
    __slots__ = ("dim", "index")
    formula = "z = x[i]    ∂x = g at [i], 0 elsewhere"

    def __init__(self, dim: int, index: int) -> None:
        super().__init__()
        self.dim, self.index = dim, index

    def forward(self, x: Any) -> Any:
        return x[(*_WHOLE * self.dim, self.index, ...)]

    def grad_x(self, g: Any) -> Any:
        return _placed(self, g, SelectBackwardBackward0)


class SliceBackward0(ViewOperation):
    __slots__ = ("dim", "part")
    formula = "z = x[i:j]    ∂x = g at [i:j], 0 elsewhere"

    def __init__(self, dim: int, part: slice) -> None:
        super().__init__()
        self.dim, self.part = dim, part

    def forward(self, x: Any) -> Any:
        return x[(*_WHOLE * self.dim, self.part)]

    def grad_x(self, g: Any) -> Any:
        return _placed(self, g, SliceBackwardBackward0)


class DiagonalBackward0(ViewOperation):
    __slots__ = ("dim0", "dim1", "offset")
    formula = "z = the diagonal of x    ∂x = g on the diagonal, 0 elsewhere"

    def __init__(self, dim0: int, dim1: int, offset: int) -> None:
        super().__init__()
        self.dim0, self.dim1, self.offset = dim0, dim1, offset

    def forward(self, x: Any) -> Any:
        rows, columns = max(-self.offset, 0), max(self.offset, 0)
        length = max(min(x.shape[self.dim0] - rows, x.shape[self.dim1] - columns), 0)
        others = [dim for dim in range(x.ndim) if dim not in (self.dim0, self.dim1)]
        start = np.moveaxis(x, (self.dim0, self.dim1), (-2, -1))[..., rows:, columns:]
        shape = [*(x.shape[dim] for dim in others), length]
        strides = [*(x.strides[dim] for dim in others), x.strides[self.dim0] + x.strides[self.dim1]]
        return as_strided(start, shape, strides)

    def grad_x(self, g: Any) -> Any:
        return _placed(self, g, DiagonalBackwardBackward0)


class UnbindBackward0(MultiViewOperation):
    __slots__ = ("dim",)
    formula = "z₀, z₁, … = x[0], x[1], …    ∂x = g₀, g₁, … stacked"

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def parts(self, shape: tuple[int, ...]) -> list[ViewOperation]:
        """See MultiViewOperation."""
        return [SelectBackward0(self.dim, i) for i in range(shape[self.dim])]

    def grad_x(self, gradients: list[Any]) -> Any:
        """See MultiViewOperation."""
        return stack(gradients, self.dim)


class SplitWithSizesBackward0(MultiViewOperation):
    __slots__ = ("dim", "sizes")
    formula = "z₀, z₁, … = consecutive parts of x    ∂x = g₀, g₁, … concatenated"
    op = "split"

    def __init__(self, dim: int, sizes: Sequence[int]) -> None:
        super().__init__()
        self.dim, self.sizes = dim, sizes

    def parts(self, shape: tuple[int, ...]) -> list[ViewOperation]:
        """See MultiViewOperation."""
        return [SliceBackward0(self.dim, part) for part in _consecutive(self.sizes)]

    def grad_x(self, gradients: list[Any]) -> Any:
        """See MultiViewOperation."""
        return call(CatBackward0(self.dim), *gradients)


class SplitBackward0(SplitWithSizesBackward0):
    """`split` into parts of one size."""

    __slots__ = ()


class UnsafeSplitWithSizesBackward0(MultiOutputOperation):
    """Parts that share the memory of x without counting as views: cheaper, and a write to one of them is unnoticed."""

    __slots__ = ("dim", "sizes")
    formula = SplitWithSizesBackward0.formula
    op = "unsafe_split"
    returns = staticmethod(lambda *outputs: outputs)

    def __init__(self, dim: int, sizes: Sequence[int]) -> None:
        super().__init__()
        self.dim, self.sizes = dim, sizes

    def forward(self, x: Any) -> list[Any]:
        before = _WHOLE * self.dim
        return [x[(*before, part)] for part in _consecutive(self.sizes)]

    def grad_x(self, gradients: list[Any]) -> Any:
        return call(CatBackward0(self.dim), *zeros_for_none(gradients, self.shape))


class UnsafeSplitBackward0(UnsafeSplitWithSizesBackward0):
    """`unsafe_split` into parts of one size."""

    __slots__ = ()


def _consecutive(sizes: Sequence[int]) -> list[slice]:
    """The ranges of parts of these sizes, one after the other."""
    return [slice(stop - size, stop) for size, stop in zip(sizes, accumulate(sizes), strict=True)]


def split_with_sizes(input: Any, split_sizes: Sequence[int], dim: int = 0) -> Any:
    """Parts of these sizes along `dim`."""
    return split(input, list(split_sizes), dim)


def unbind(input: Any, dim: int = 0) -> Any:
    """The slices of `input` along `dim`, each without that dimension."""
    if not input.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return view_calls(input, UnbindBackward0(dim_index(dim, input.ndim)))


def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> Any:
    """`tensor` in parts of one size along `dim` (the last may be smaller), or in parts of the given sizes.

    Raises RuntimeError if the sizes do not add up.
    """
    dim, sizes = _sections(tensor, split_size_or_sections, dim)
    kind = SplitBackward0 if is_integer(split_size_or_sections) else SplitWithSizesBackward0
    return view_calls(tensor, kind(dim, sizes))


def unsafe_split(tensor: Any, split_size: int, dim: int = 0) -> Any:
    """`split`, but no part counts as a view: autograd does not notice when one of them is written to."""
    return call_multi_output(UnsafeSplitBackward0(*_sections(tensor, operator.index(split_size), dim)), tensor)


def unsafe_split_with_sizes(input: Any, split_sizes: Sequence[int], dim: int = 0) -> Any:
    """`split_with_sizes`, but no part counts as a view; see `unsafe_split`."""
    return call_multi_output(UnsafeSplitWithSizesBackward0(*_sections(input, list(split_sizes), dim)), input)


def _sections(x: Any, split_size_or_sections: Any, dim: int) -> tuple[int, list[int]]:
    """The dimension, counted from the front, and the sizes of the parts. Raises RuntimeError as `split` does."""
    if not x.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = dim_index(dim, x.ndim)
    size = x.shape[dim]
    if not is_integer(split_size_or_sections):
        sections = [int(section) for section in split_size_or_sections]
        if sum(sections) != size:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension "
                f"{dim}), but got split_sizes={sections}"
            )
        return dim, sections
    part = operator.index(split_size_or_sections)
    if part < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={part}")
    if part == 0 and size:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}")
    return dim, [min(part, size - start) for start in range(0, size, part or 1)] or [0]


def chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """At most `chunks` parts of one size along `dim`; the last may be smaller."""
    sections = _chunk_size_or_sections(input, chunks, dim)
    return split(input, sections, dim)


def unsafe_chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """`chunk`, but no part counts as a view; see `unsafe_split`."""
    sections = _chunk_size_or_sections(input, chunks, dim)
    if isinstance(sections, int):
        return unsafe_split(input, sections, dim)
    return unsafe_split_with_sizes(input, sections, dim)


def _chunk_size_or_sections(input: Any, chunks: int, dim: int) -> int | list[int]:
    """What `split` gets for `chunk`: the size of a part, or all sizes if there is nothing to share out."""
    chunks = operator.index(chunks)
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    size = input.shape[dim_index(dim, input.ndim)]
    return -(-size // chunks) if size else [0] * chunks


def tensor_split(input: Any, indices_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
    """That many parts along `dim`, of sizes that differ by at most 1; or the parts between the given indices."""
    if not input.ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    dim = dim_index(dim, input.ndim)
    size = input.shape[dim]
    if is_integer(indices_or_sections):
        count = operator.index(indices_or_sections)
        if count < 1:
            raise RuntimeError(f"number of sections must be larger than 0, got {count}")
        bounds = [i * (size // count) + min(i, size % count) for i in range(count + 1)]
    else:
        inner = [slice(None, int(index)).indices(size)[1] for index in indices_or_sections]
        bounds = [0, *inner, size]
    return tuple([narrow(input, dim, start, max(stop - start, 0)) for start, stop in pairwise(bounds)])


def hsplit(input: Any, indices_or_sections: Any) -> tuple[Any, ...]:
    """`tensor_split` from left to right: along the second dimension, or the first where there is only one."""
    return _split_evenly("hsplit", input, indices_or_sections, min(input.ndim - 1, 1), 1)


def vsplit(input: Any, indices_or_sections: Any) -> tuple[Any, ...]:
    """`tensor_split` from top to bottom, along the first of at least two dimensions."""
    return _split_evenly("vsplit", input, indices_or_sections, 0, 2)


def _split_evenly(name: str, x: Any, indices_or_sections: Any, dim: int, least: int) -> tuple[Any, ...]:
    """The common part of `hsplit` and `vsplit`. Raises RuntimeError if the parts would not be of one size."""
    if x.ndim < least:
        raise RuntimeError(
            f"microtape.{name} requires a tensor with at least {least} dimension, "
            f"but got a tensor with {x.ndim} dimensions!"
        )
    if is_integer(indices_or_sections) and x.shape[dim] % (operator.index(indices_or_sections) or 1):
        raise RuntimeError(
            f"microtape.{name} attempted to split along dimension {dim}, but the size of the dimension "
            f"{x.shape[dim]} is not divisible by the split_size {indices_or_sections}!"
        )
    return tensor_split(x, indices_or_sections, dim)


def select(input: Any, dim: int, index: int) -> Any:
    """One slice of `input` at `index` along `dim`, without that dimension."""
    if not input.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim, index = dim_index(dim, input.ndim), int(index)
    size = input.shape[dim]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {dim}"
        )
    return view_call(input, SelectBackward0, dim, index % size)


def narrow(input: Any, dim: int, start: int, length: int) -> Any:
    """The `length` slices of `input` from `start` along `dim`."""
    if not input.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    dim, start = dim_index(dim, input.ndim), int(start)
    size = input.shape[dim]
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [-{size}, {size}], but got {start})")
    start += size if start < 0 else 0
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return view_call(input, SliceBackward0, dim, slice(start, start + length, 1))


def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The diagonals of the matrices in two dimensions, as the last dimension; `offset` counts upwards."""
    first, second = dim_index(dim1, input.ndim), dim_index(dim2, input.ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return view_call(input, DiagonalBackward0, first, second, offset)
