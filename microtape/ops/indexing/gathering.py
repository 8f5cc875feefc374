"""Picking, writing and adding elements by an index tensor along one dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.ops.elementwise.selection import where
from microtape.ops.indexing.along import AlongDim, checked, out_of_range
from microtape.ops.indexing.index import add_at, places_of
from microtape.ops.shape.joining import cat
from microtape.ops.shape.reshaping import expand, reshape
from microtape.ops.shared.arguments import dim_index, plain
from microtape.tape.in_place import call_
from microtape.tape.node import is_array
from microtape.tape.operands import number_as
from microtape.tape.operation import call
from microtape.tape.tensor_state import zeros_like

__all__ = ["gather", "scatter", "scatter_add", "take_along_dim"]


class GatherBackward0(AlongDim):
    __slots__ = ()
    formula = "z[i] = x[index[i]]    ∂x = g added up at the indices"

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        if x.ndim and x.flags.c_contiguous:
            return x.reshape(-1).take(places_of(self.pointwise, x.shape))  # in half of the time
        return (x if x.ndim else x.reshape(1))[self.pointwise]

    def grad_x(self, g: Any, index: Any) -> Any:
        if is_array(g):
            return self.added_up(g, self.pointwise)
        return scatter_add(zeros_like(g, self.x_shape, g.dtype), self.dim, index, g)


class ScatterAddBackward0(AlongDim):
    __slots__ = ()
    operands = ("x", "y")
    op = "scatter_add"
    formula = "z = x, with y[i] added at index[i]    ∂x = g,  ∂y = g[index]"

    def forward(self, x: Any, y: Any) -> Any:
        self.x_shape = y.shape
        part = _within(y, plain(self.index).shape)
        return self.changed(x, lambda z: add_at(z, self.pointwise, part))

    def grad_x(self, g: Any, _index: Any) -> Any:
        return g

    def grad_y(self, g: Any, index: Any) -> Any:
        return _padded(gather(g, self.dim, index), self.x_shape)


class ScatterBackward0(AlongDim):
    __slots__ = ()
    operands = ("x", "y")
    formula = "z = x, with y[i] at index[i]    ∂x = g, 0 at the indices,  ∂y = g[index]"

    def forward(self, x: Any, y: Any) -> Any:
        self.x_shape = y.shape
        part = _within(y, plain(self.index).shape)
        return self.changed(x, lambda z: self.put(z, self.pointwise, part))

    def grad_x(self, g: Any, index: Any) -> Any:
        return scatter(g, self.dim, index, 0)

    def grad_y(self, g: Any, index: Any) -> Any:
        return _padded(gather(g, self.dim, index), self.x_shape)


class ScatterBackward1(AlongDim):
    """`scatter` of one number."""

    __slots__ = ("number",)
    formula = "z = x, with n at index[i]    ∂x = g, 0 at the indices"

    def __init__(self, dim: int, index: Any, number: Any) -> None:
        super().__init__(dim, index)
        self.number = number

    def forward(self, x: Any) -> Any:
        return self.changed(x, lambda z: self.put(z, self.pointwise, number_as(self.number, x.dtype)))

    def grad_x(self, g: Any, index: Any) -> Any:
        return scatter(g, self.dim, index, 0)


def gather(input: Any, dim: int, index: Any) -> Any:
    """For each entry of `index`, the element of `input` at that index along `dim`, elsewhere at the entry's position.

    `index` has as many dimensions as `input`. Raises RuntimeError if it does not fit.
    """
    dim, index = checked("gather", input, dim, index)
    return call(GatherBackward0(dim, index), input)


def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """`input` with each element of `src` added where `index` says along `dim`: the reverse of `gather`."""
    dim, index = checked("scatter_add", input, dim, index, src)
    return call(ScatterAddBackward0(dim, index), input, src)


def scatter_add_(x: Any, dim: int, index: Any, src: Any) -> Any:
    """Add each element of `src` where `index` says along `dim`, in place."""
    dim, index = checked("scatter_add", x, dim, index, src)
    return call_(ScatterAddBackward0(dim, index), x, src)


def scatter(input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None) -> Any:
    """`input` with each element of `src`, or the number `value`, where `index` says along `dim`."""
    return _scattered(call, input, dim, index, value if src is None else src)


def scatter_(x: Any, dim: int, index: Any, src: Any = None, *, value: Any = None) -> Any:
    """Write each element of `src`, or the number `value`, where `index` says along `dim`."""
    return _scattered(call_, x, dim, index, value if src is None else src)


def _scattered(run: Any, x: Any, dim: int, index: Any, src: Any) -> Any:
    """The common part of `scatter` and `scatter_`."""
    if isinstance(src, int | float | complex):
        dim, index = checked("scatter", x, dim, index)
        return run(ScatterBackward1(dim, index, src), x)
    dim, index = checked("scatter", x, dim, index, src)
    return run(ScatterBackward0(dim, index), x, src)


def take_along_dim(input: Any, indices: Any, dim: int | None = None) -> Any:
    """`gather` with broadcasting; without `dim`, from the flattened `input`."""
    if dim is None:
        return gather(reshape(input, (-1,)), 0, reshape(indices, (-1,)))
    dim = dim_index(dim, input.ndim)
    lead = np.broadcast_shapes(*[(*one.shape[:dim], 1, *one.shape[dim + 1 :]) for one in (input, indices)])
    wide, index = (expand(one, (*lead[:dim], one.shape[dim], *lead[dim + 1 :])) for one in (input, indices))
    if out_of_range(index, wide.shape[dim]) is not None:
        index = where(index < 0, index + wide.shape[dim], index)
    return gather(wide, dim, index)


def _within(y: Any, shape: tuple[int, ...]) -> Any:
    """The part of y that an index of that shape covers."""
    return y[tuple([slice(size) for size in shape])] if y.shape != shape else y


def _padded(part: Any, shape: tuple[int, ...]) -> Any:
    """The gradient of `_within`: zeros around the part."""
    if part.shape == shape:
        return part
    for dim, size in enumerate(shape):
        if part.shape[dim] != size:
            rest = (*part.shape[:dim], size - part.shape[dim], *part.shape[dim + 1 :])
            part = cat([part, zeros_like(part, rest, part.dtype)], dim)
    return part
