"""Elements repeated: whole tensors along each dimension, or each element in turn."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.ops.indexing.index_along import index_select
from microtape.ops.reduction.sums_and_extrema import sum
from microtape.ops.shape.casting import ContiguousCopy
from microtape.ops.shape.reshaping import expand, reshape, unsqueeze
from microtape.ops.shared.arguments import dim_index, sizes
from microtape.tape.operation import Operation, call
from microtape.tape.tensor_state import TensorState

__all__ = ["repeat_interleave", "tile"]


class RepeatBackward0(Operation):
    __slots__ = ("repeats", "x_shape")
    formula = "z = x, repeated along each dimension    ∂x = Σ g over the copies"

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


def repeat(x: Any, *repeats: Any) -> Any:
    """x repeated along each dimension; extra counts add dimensions in front."""
    counts = sizes(repeats)
    if len(counts) < x.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    return call(RepeatBackward0(counts), x)


def tile(input: Any, *given: Any, dims: Any = None) -> Any:
    """`repeat`, where missing counts in front are 1."""
    counts = sizes(given if dims is None else (dims,))
    return repeat(input, (1,) * (input.ndim - len(counts)) + counts)


def repeat_interleave(input: Any, repeats: Any, dim: int | None = None, *, output_size: int | None = None) -> Any:
    """Each element repeated along `dim`, or of the flattened `input`; `repeats` may be a tensor of counts.

    `output_size`, which saves torch from summing the counts, has no effect here.
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
