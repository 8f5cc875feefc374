"""A tensor taken apart: several views of it at once, which nobody may write to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.ops.index import SelectBackward0, SliceBackward0
from microtape.ops.shape import cat, stack
from microtape.tensor_state import TensorState
from microtape.views import MultiViewOperation, ViewOperation, view_calls


class UnbindBackward0(MultiViewOperation):
    __slots__ = ("dim",)
    formula = "z₀, z₁, … = x[0], x[1], …    ∂x = the gradients one beside the other"

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def parts(self, shape: tuple[int, ...]) -> list[ViewOperation]:
        """See MultiViewOperation."""
        return [SelectBackward0(self.dim, i) for i in range(shape[self.dim])]

    def grad_x(self, gradients: list[Any]) -> Any:
        """See MultiViewOperation."""
        return stack(gradients, self.dim)


class SplitBackward0(MultiViewOperation):
    __slots__ = ("dim", "sizes")
    formula = "z₀, z₁, … = consecutive parts of x    ∂x = the gradients one behind the other"

    def __init__(self, sizes: Sequence[int], dim: int) -> None:
        super().__init__()
        self.sizes, self.dim = sizes, dim

    def parts(self, shape: tuple[int, ...]) -> list[ViewOperation]:
        """See MultiViewOperation."""
        stops = np.cumsum(self.sizes).tolist()
        return [
            SliceBackward0(self.dim, slice(stop - size, stop)) for size, stop in zip(self.sizes, stops, strict=True)
        ]

    def grad_x(self, gradients: list[Any]) -> Any:
        """See MultiViewOperation."""
        return cat(gradients, self.dim)


class SplitWithSizesBackward0(SplitBackward0):
    """Parts of given sizes."""

    __slots__ = ()


def unbind(x: Any, dim: int = 0) -> Any:
    """A view of x at each index along `dim`."""
    return view_calls(x, UnbindBackward0(checked_dim(x, dim)))


def split(x: Any, split_size: int | Sequence[int], dim: int = 0) -> Any:
    """Views of consecutive parts of x along `dim`, of one size (the last may be smaller) or of the sizes given.

    Raises RuntimeError if those do not add up.
    """
    if not x.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = checked_dim(x, dim)
    length = x.shape[dim]
    if isinstance(split_size, int):
        if split_size < 0 or (split_size == 0 and length):
            raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
        count = -(-length // split_size) if length else 1
        sizes = [min(split_size, length - i * split_size) for i in range(count)]
        return view_calls(x, SplitBackward0(sizes, dim))
    if sum(split_size) != length or min(split_size, default=0) < 0:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {length} (input tensor's size at dimension "
            f"{dim}), but got split_sizes={list(split_size)}"
        )
    return view_calls(x, SplitWithSizesBackward0(list(split_size), dim))


def chunk(x: Any, chunks: int, dim: int = 0) -> Any:
    """Views of x in `chunks` parts of equal size along `dim`; the last may be smaller or missing."""
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    if not x.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    length = x.shape[checked_dim(x, dim)]
    if not length:
        return split(x, [0] * chunks, dim)
    return split(x, max(1, -(-length // chunks)), dim)


def checked_dim(x: TensorState, dim: int) -> int:
    """`dim` from 0 on. Raises IndexError if x has no such dimension."""
    ndim = x.array.ndim
    if not ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if not -ndim <= dim < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
    return dim % ndim
