"""Picking and writing whole slices by an index tensor along one dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.ops.indexing.along import AlongDim, checked_vector
from microtape.ops.indexing.index import add_at
from microtape.ops.shared.arguments import plain
from microtape.tape.in_place import call_
from microtape.tape.node import is_array
from microtape.tape.operands import number_as
from microtape.tape.operation import call
from microtape.tape.tensor_state import TensorState, zeros_like

__all__ = ["index_add", "index_copy", "index_fill", "index_select"]


class IndexSelectBackward0(AlongDim):
    __slots__ = ()
    op = "index_select"
    formula = "z = x[…, index]    ∂x = g added up at the indices"

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        return x[self.slices] if x.ndim else x.reshape(1)[self.slices].reshape(())

    def grad_x(self, g: Any, index: Any) -> Any:
        if is_array(g):
            return self.added_up(g, self.slices)
        return index_add(zeros_like(g, self.x_shape, g.dtype), self.dim, index, g)


class IndexAddBackward0(AlongDim):
    __slots__ = ("alpha",)
    operands = ("x", "y")
    op = "index_add"
    formula = "z = x, with α · y added at [index]    ∂x = g,  ∂y = α · g[index]"

    def __init__(self, dim: int, index: Any, alpha: Any) -> None:
        super().__init__(dim, index)
        self.alpha = alpha

    def forward(self, x: Any, y: Any) -> Any:
        scaled = y if self.alpha == 1 else self.alpha * y
        return self.changed(x, lambda z: add_at(z, self.slices, scaled))

    def grad_x(self, g: Any, _index: Any) -> Any:
        return g

    def grad_y(self, g: Any, index: Any) -> Any:
        picked = index_select(g, self.dim, index)
        return picked if self.alpha == 1 else picked * self.alpha


class IndexCopyBackward0(AlongDim):
    __slots__ = ()
    operands = ("x", "y")
    op = "index_copy"
    formula = "z = x, with y at [index]    ∂x = g, 0 at the indices,  ∂y = g[index]"

    def forward(self, x: Any, y: Any) -> Any:
        return self.changed(x, lambda z: self.put(z, self.slices, y))

    def grad_x(self, g: Any, index: Any) -> Any:
        return index_fill(g, self.dim, index, 0)

    def grad_y(self, g: Any, index: Any) -> Any:
        return index_select(g, self.dim, index)


class IndexFillBackward0(AlongDim):
    __slots__ = ("number",)
    op = "index_fill"
    formula = "z = x, with n at [index]    ∂x = g, 0 at the indices"

    def __init__(self, dim: int, index: Any, number: Any) -> None:
        super().__init__(dim, index)
        self.number = number

    def forward(self, x: Any) -> Any:
        return self.changed(x, lambda z: self.put(z, self.slices, number_as(self.number, x.dtype)))

    def grad_x(self, g: Any, index: Any) -> Any:
        return index_fill(g, self.dim, index, 0)


class IndexFillBackward1(AlongDim):
    """`index_fill` with a tensor without dimensions."""

    __slots__ = ()
    operands = ("x", "y")
    op = "index_fill"
    formula = "z = x, with y at [index]    ∂x = g, 0 at the indices,  ∂y = Σ g[index]"

    def forward(self, x: Any, y: Any) -> Any:
        return self.changed(x, lambda z: self.put(z, self.slices, y))

    def grad_x(self, g: Any, index: Any) -> Any:
        return index_fill(g, self.dim, index, 0)

    def grad_y(self, g: Any, index: Any) -> Any:
        return index_select(g, self.dim, np.unique(plain(index)))  # the engine sums it up


def index_select(input: Any, dim: int, index: Any) -> Any:
    """The slices of `input` along `dim` that `index`, a vector, names."""
    dim, index = checked_vector("index_select", input, dim, index)
    return call(IndexSelectBackward0(dim, index), input)


def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """`input` with `alpha` times each slice of `source` added to the slice that `index` names along `dim`."""
    dim, index = checked_vector("index_add_", input, dim, index, source)
    return call(IndexAddBackward0(dim, index, alpha), input, source)


def index_add_(x: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """Add `alpha` times each slice of `source` to the slice that `index` names along `dim`, in place."""
    dim, index = checked_vector("index_add_", x, dim, index, source)
    return call_(IndexAddBackward0(dim, index, alpha), x, source)


def index_copy(input: Any, dim: int, index: Any, source: Any) -> Any:
    """`input` with the slices that `index` names along `dim` replaced by those of `source`."""
    dim, index = checked_vector("index_copy_", input, dim, index, source)
    return call(IndexCopyBackward0(dim, index), input, source)


def index_copy_(x: Any, dim: int, index: Any, source: Any) -> Any:
    """Write the slices of `source` into the slices that `index` names along `dim`."""
    dim, index = checked_vector("index_copy_", x, dim, index, source)
    return call_(IndexCopyBackward0(dim, index), x, source)


def index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    """`input` with `value`, a number or a tensor without dimensions, in the slices that `index` names along `dim`."""
    dim, index = checked_vector("index_fill_", input, dim, index)
    if isinstance(value, TensorState):
        return call(IndexFillBackward1(dim, index), input, value)
    return call(IndexFillBackward0(dim, index, value), input)


def index_fill_(x: Any, dim: int, index: Any, value: Any) -> Any:
    """Write `value` into the slices that `index` names along `dim`."""
    dim, index = checked_vector("index_fill_", x, dim, index)
    if isinstance(value, TensorState):
        return call_(IndexFillBackward1(dim, index), x, value)
    return call_(IndexFillBackward0(dim, index, value), x)
