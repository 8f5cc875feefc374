"""`x[...]`: basic indexing is a chain of views, as in torch; an index array picks copies."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from microtape.in_place import call_
from microtape.operation import Operation, call
from microtape.ops.arithmetic import copy_, fill_, operand
from microtape.ops.shape import expand, unsqueeze, view
from microtape.tensor_state import TensorState
from microtape.views import ViewOperation, view_call


class SelectBackward0(ViewOperation):
    __slots__ = ("dim", "index")
    formula = "z = x[i]    ∂x = g at i, 0 elsewhere"

    def __init__(self, dim: int, index: int) -> None:
        super().__init__()
        self.dim, self.index = dim, index

    @property
    def key(self) -> tuple[Any, ...]:
        """What to index x with."""
        return (*(slice(None),) * self.dim, self.index, ...)

    def forward(self, x: Any) -> Any:
        return x[self.key]

    def grad_x(self, g: Any) -> Any:
        return place(g, self.key, self.x_shape)


class SliceBackward0(ViewOperation):
    __slots__ = ("dim", "part")
    formula = "z = x[i:j]    ∂x = g at i:j, 0 elsewhere"

    def __init__(self, dim: int, part: slice) -> None:
        super().__init__()
        self.dim, self.part = dim, part

    @property
    def key(self) -> tuple[Any, ...]:
        """What to index x with."""
        return (*(slice(None),) * self.dim, self.part)

    def forward(self, x: Any) -> Any:
        return x[self.key]

    def grad_x(self, g: Any) -> Any:
        return place(g, self.key, self.x_shape)


class AliasBackward0(ViewOperation):
    __slots__ = ()
    formula = "z = x    ∂x = g"

    def forward(self, x: Any) -> Any:
        return x.view()

    def grad_x(self, g: Any) -> Any:
        return g


class PlaceBackward0(Operation):
    """The transpose of basic indexing."""

    __slots__ = ("key", "shape_")
    formula = "z = 0 with x placed at [i]    ∂x = g[i]"

    def __init__(self, key: tuple[Any, ...], shape: tuple[int, ...]) -> None:
        super().__init__()
        self.key, self.shape_ = key, shape

    def forward(self, x: Any) -> Any:
        z = np.zeros(self.shape_, x.dtype)
        z[self.key] = x
        return z

    def grad_x(self, g: Any) -> Any:
        return g[self.key]


class IndexBackward0(Operation):
    __slots__ = ("key", "x_shape")
    formula = "z = x[indices]    ∂x = g added up at the indices"

    def __init__(self, key: tuple[Any, ...]) -> None:
        super().__init__()
        self.key = key

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        return x[self.key]

    def grad_x(self, g: Any) -> Any:
        return call(IndexPutBackward0(self.key, self.x_shape), g)


class IndexPutBackward0(Operation):
    """The transpose of picking: an element that was picked twice gets both gradients."""

    __slots__ = ("key", "shape_")
    formula = "z = 0 with x added at [indices]    ∂x = g[indices]"

    def __init__(self, key: tuple[Any, ...], shape: tuple[int, ...]) -> None:
        super().__init__()
        self.key, self.shape_ = key, shape

    def forward(self, x: Any) -> Any:
        z = np.zeros(self.shape_, x.dtype)
        np.add.at(z, self.key, x)
        return z

    def grad_x(self, g: Any) -> Any:
        return call(IndexBackward0(self.key), g)


class IndexPutBackward1(Operation):
    """`x[indices] = y`."""

    __slots__ = ("key",)
    operands = ("x", "y")
    op = "index_put"
    formula = "z = x with y at [indices]    ∂x = g, 0 at the indices,  ∂y = g[indices]"

    def name(self) -> str:
        return "IndexPutBackward0"

    def __init__(self, key: tuple[Any, ...]) -> None:
        super().__init__()
        self.key = key

    def forward(self, x: Any, y: Any) -> Any:
        z = x.copy()
        z[self.key] = y
        return z

    def grad_x(self, g: Any) -> Any:
        hidden = np.ones(g.shape, bool)
        hidden[self.key] = False
        return g * hidden

    def grad_y(self, g: Any) -> Any:
        return call(IndexBackward0(self.key), g)


def place(g: Any, key: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """Zeros of `shape` with `g` at `key`."""
    return call(PlaceBackward0(key, shape), g)


def index(x: TensorState, key: Any) -> Any:
    """`x[key]`: integers, slices, None and `...` give views; lists, arrays and masks give copies."""
    key = key if isinstance(key, tuple) else (key,)
    if any(is_advanced(one) for one in key):
        return call(IndexBackward0(tuple(plain(one) for one in key)), x)
    if len(key) == 1 and isinstance(key[0], slice):
        return sliced(x, 0, key[0])
    result = basic(x, key)
    return view_call(x, AliasBackward0) if result is x else result


def basic(x: Any, key: tuple[Any, ...]) -> Any:
    """A view for each part of the key that does something."""
    named = len([one for one in key if one is not None and one is not ...])
    if named > x.ndim:
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}")
    dim = 0
    for one in key:
        if one is ...:
            dim += x.ndim - dim - len([k for k in key[key.index(...) + 1 :] if k is not None])
        elif one is None:
            x = unsqueeze(x, dim)
            dim += 1
        elif isinstance(one, slice):
            if one.indices(x.shape[dim]) != (0, x.shape[dim], 1):
                x = sliced(x, dim, one)
            dim += 1
        else:
            i, size = int(one), x.shape[dim]
            if not -size <= i < size:
                raise IndexError(f"index {i} is out of bounds for dimension {dim} with size {size}")
            x = view_call(x, SelectBackward0, dim, i % size)
    return x


def sliced(x: Any, dim: int, part: slice) -> Any:
    """A view of a part of x along `dim`. Raises ValueError for a step that is not positive."""
    start, stop, step = part.indices(x.shape[dim])
    if step <= 0:
        raise ValueError("step must be greater than zero")
    return view_call(x, SliceBackward0, dim, slice(start, max(start, stop), step))


def set_index(x: TensorState, key: Any, value: Any) -> None:
    """`x[key] = value`, in place: through a view, so that autograd sees a CopySlices, or by index arrays."""
    key = key if isinstance(key, tuple) else (key,)
    value = operand(value, x)
    if any(is_advanced(one) for one in key):
        call_(IndexPutBackward1(tuple(plain(one) for one in key)), x, value)
        return
    target = basic(x, key)
    if value.array.shape == target.array.shape:
        copy_(target, value)
    elif value.array.ndim == 0:
        fill_(target, value)
    else:
        ones = itertools.takewhile(lambda size: size == 1, value.array.shape)
        copy_(target, expand(view(value, value.array.shape[len(list(ones)) :]), target.array.shape))


def is_advanced(one: Any) -> bool:
    """Whether a part of a key picks elements one by one."""
    if isinstance(one, bool | np.bool_):
        return True
    if isinstance(one, TensorState):
        return one.array.ndim > 0 or one.array.dtype.kind == "b"
    return isinstance(one, list | np.ndarray)


def plain(one: Any) -> Any:
    """A part of a key as numpy wants it."""
    return one.array if isinstance(one, TensorState) else one
