"""Sliding windows along a dimension, and elements by their place in the flattened tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.ops.indexing.index import index
from microtape.ops.indexing.index_along import index_add
from microtape.ops.shape.reshaping import reshape
from microtape.ops.shape.subviews import diagonal
from microtape.ops.shape.transposition import movedim
from microtape.ops.shared.arguments import dim_index
from microtape.tape.tensor_state import TensorState, new_tensor, zeros_like
from microtape.tape.views import ViewOperation, view_call

__all__ = ["take"]


class UnfoldBackward0(ViewOperation):
    __slots__ = ("dim", "size", "step")
    formula = "z = the windows of x along a dimension    ∂x = Σ g over the windows that show it"

    def __init__(self, dim: int, size: int, step: int) -> None:
        super().__init__()
        self.dim, self.size, self.step = dim, size, step

    def forward(self, x: Any) -> Any:
        if not x.ndim:
            return x.reshape(1)[: self.size]
        windows = np.lib.stride_tricks.sliding_window_view(x, self.size, self.dim, writeable=x.flags.writeable)
        return windows[(slice(None),) * self.dim + (slice(None, None, self.step),)]

    def grad_x(self, g: Any) -> Any:
        if not self.x_shape:
            return g.sum(0)
        zeros = zeros_like(g, self.x_shape, g.dtype)
        count = g.shape[self.dim]
        places = (np.arange(count)[:, None] * self.step + np.arange(self.size)).reshape(-1)
        parts = movedim(g, -1, self.dim + 1)
        parts = parts.reshape((*g.shape[: self.dim], count * self.size, *self.x_shape[self.dim + 1 :]))
        if isinstance(g, TensorState):
            return index_add(zeros, self.dim, new_tensor(type(g), places), parts)
        key: Any = (slice(None),) * self.dim + (places,)
        np.add.at(zeros, key, parts)
        return zeros


def unfold(x: Any, dimension: int, size: int, step: int) -> Any:
    """A view of the windows of that `size` along a dimension, `step` apart; the window is the last dimension.

    Raises RuntimeError if a window is larger than the dimension.
    """
    dim = dim_index(dimension, x.ndim)
    most = x.shape[dim] if x.ndim else 1
    if size < 0 or step <= 0:
        raise RuntimeError(f"size is {size} but must be >= 0" if size < 0 else f"step is {step} but must be > 0")
    if size > most:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {most} but size is {size}")
    return view_call(x, UnfoldBackward0, dim, size, step)


def take(input: Any, index: Any) -> Any:
    """The elements of the flattened `input` at the places in `index`, in the shape of `index`."""
    if not isinstance(index, TensorState):
        raise AttributeError("index")  # see Note [Arguments that are no tensors]
    return _picked(reshape(input, (-1,)), index)


_picked = index


def fill_diagonal_(x: TensorState, fill_value: Any, wrap: bool = False) -> Any:
    """Write a number onto the main diagonal; with `wrap`, that of a tall matrix begins again after each square.

    Raises RuntimeError below two dimensions, and above if the sizes differ.
    """
    ndim, shape = x.array.ndim, x.array.shape
    if ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if ndim == 2:
        rows, columns = shape
        diagonal(x).fill_(fill_value)
        for start in range(columns + 1, rows, columns + 1) if wrap else ():
            diagonal(x, -start).fill_(fill_value)
        return x
    if len(set(shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    places = new_tensor(type(x), np.arange(shape[0]))
    x[(places,) * ndim] = fill_value  # type: ignore[index]
    return x
