"""`x[...]`: basic indexing is a chain of views, as in torch; an index array picks copies."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np

from microtape.dtypes import scalar_name
from microtape.in_place import call_
from microtape.operation import Operation, call, constant
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
    __slots__ = ("indices", "key", "x_shape")
    formula = "z = x[indices]    ∂x = g added up at the indices"

    def __init__(self, key: tuple[Any, ...], indices: TensorState | None = None) -> None:
        super().__init__()
        self.key = key  # as numpy wants it
        self.indices = indices

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        return picked(x, self.key)

    def grad_x(self, g: Any, indices: Any) -> Any:
        return call(IndexAddBackward0(self.key, self.x_shape), g)


class IndexAddBackward0(Operation):
    """The transpose of picking: an element that was picked twice gets both gradients."""

    __slots__ = ("key", "shape_")
    formula = "z = 0 with x added at [indices]    ∂x = g[indices]"
    op = "index_put"

    def __init__(self, key: tuple[Any, ...], shape: tuple[int, ...]) -> None:
        super().__init__()
        self.key, self.shape_ = key, shape

    def name(self) -> str:
        return "IndexPutBackward0"

    def forward(self, x: Any) -> Any:
        z = np.zeros(self.shape_, x.dtype)
        np.add.at(z, self.key, x)
        return z

    def grad_x(self, g: Any) -> Any:
        return call(IndexBackward0(self.key), g)


class IndexPutBackward0(Operation):
    """`x[indices] = y`."""

    __slots__ = ("indices", "key")
    operands = ("x", "y")
    op = "index_put"
    formula = "z = x with y at [indices]    ∂x = g, 0 at the indices,  ∂y = g[indices]"

    def __init__(self, key: tuple[Any, ...], indices: TensorState | None = None) -> None:
        super().__init__()
        self.key = key
        self.indices = indices

    def forward(self, x: Any, y: Any) -> Any:
        shape = picked(x, self.key).shape
        z = x.copy()
        try:
            z[self.key] = y
        except ValueError:
            raise RuntimeError(
                f"shape mismatch: value tensor of shape {list(y.shape)} cannot be broadcast to indexing result of "
                f"shape {list(shape)}"
            ) from None
        if x.dtype != y.dtype:
            raise RuntimeError(
                "Index put requires the source and destination dtypes match, got "
                f"{scalar_name(x.dtype)} for the destination and {scalar_name(y.dtype)} for the source."
            )
        return z

    def grad_x(self, g: Any, indices: Any) -> Any:
        hidden = np.ones(g.shape, bool)
        hidden[self.key] = False
        return g * hidden

    def grad_y(self, g: Any, indices: Any) -> Any:
        return call(IndexBackward0(self.key), g)


def picked(x: Any, key: tuple[Any, ...]) -> Any:
    """`x[key]` for an array. Raises IndexError in torch's words."""
    try:
        return x[key]
    except IndexError as error:
        text = re.sub(r"index -?\d+ is (.*) axis \d+ with size 0", r"index is \1 dimension with size 0", str(error))
        raise IndexError(text.replace("for axis", "for dimension")) from None


def place(g: Any, key: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """Zeros of `shape` with `g` at `key`."""
    return call(PlaceBackward0(key, shape), g)


def index(x: TensorState, key: Any) -> Any:
    """`x[key]`: integers, slices, None and `...` give views; lists, arrays and masks give copies."""
    key = checked_key(x, key)
    if any(is_advanced(one) for one in key):
        return call(IndexBackward0(*split_key(x, key)), x)
    if len(key) == 1 and isinstance(key[0], slice):
        return sliced(x, 0, key[0])
    result = basic(x, key)
    return view_call(x, AliasBackward0) if result is x else result


def checked_key(x: TensorState, wanted: Any) -> tuple[Any, ...]:
    """The key as a tuple. Raises IndexError if it is for more dimensions than x has."""
    key: tuple[Any, ...] = wanted if isinstance(wanted, tuple) else (wanted,)
    ndim = x.array.ndim
    if sum([dims_of(one) for one in key]) <= ndim:
        return key
    if ndim == 0 and len(key) == 1 and isinstance(key[0], slice):
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if ndim == 0 and len(key) == 1 and not is_advanced(key[0]):
        if int(key[0]):
            raise IndexError(f"index {int(key[0])} is out of bounds for dimension 0 with size 0")
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number"
        )
    raise IndexError(f"too many indices for tensor of dimension {ndim}")


def split_key(x: TensorState, key: tuple[Any, ...]) -> tuple[tuple[Any, ...], TensorState]:
    """The key as numpy wants it, and its first index tensor, which is saved for backward; others are copied."""
    first = next(one for one in key if is_advanced(one))
    indices = first if isinstance(first, TensorState) else constant(first, type(x))
    return tuple([one.array.copy() if isinstance(one, TensorState) else one for one in key]), indices


def dims_of(one: Any) -> int:
    """How many dimensions a part of a key is for."""
    if one is None or one is ... or isinstance(one, bool | np.bool_):
        return 0
    value = np.asarray(plain(one)) if is_advanced(one) else None
    return value.ndim if value is not None and value.dtype.kind == "b" else 1


def basic(x: Any, key: tuple[Any, ...]) -> Any:
    """A view for each part of the key that does something."""
    dim = 0
    for one in key:
        if one is ...:
            dim += x.ndim - dim - len([k for k in key[key.index(...) + 1 :] if k is not None])
        elif one is None:
            x = unsqueeze(x, dim)
            dim += 1
        elif isinstance(one, slice):
            if not is_whole(one, x.shape[dim]):
                x = sliced(x, dim, one)
            dim += 1
        else:
            i, size = int(one), x.shape[dim]
            if not -size <= i < size:
                raise IndexError(f"index {i} is out of bounds for dimension {dim} with size {size}")
            x = view_call(x, SelectBackward0, dim, i % size)
    return x


def is_whole(part: slice, size: int) -> bool:
    """Whether a slice obviously takes everything."""
    return not part.start and (part.stop is None or part.stop >= size) and part.step in (None, 1)


def sliced(x: Any, dim: int, part: slice) -> Any:
    """A view of a part of x along `dim`. Raises ValueError for a step that is not positive."""
    start, stop, step = part.indices(x.shape[dim])
    if step <= 0:
        raise ValueError("step must be greater than zero")
    return view_call(x, SliceBackward0, dim, slice(start, max(start, stop), step))


def set_index(x: TensorState, key: Any, value: Any) -> None:
    """`x[key] = value`, in place: through a view, so that autograd sees a CopySlices, or by index arrays."""
    key = checked_key(x, key)
    value = operand(np.asarray(value, x.array.dtype) if isinstance(value, int | float | complex) else value, x)
    if any(is_advanced(one) for one in key):
        call_(IndexPutBackward0(*split_key(x, key)), x, without_leading_ones(value), sharing="none")
        return
    target = basic(x, key)
    if value.array.shape == target.array.shape:
        copy_(target, value)
    elif value.array.ndim == 0:
        fill_(target, value)
    else:
        value = view(value, leading_ones_cut(value.array.shape))
        copy_(target, value if value.array.shape == target.array.shape else expand(value, target.array.shape))


def without_leading_ones(x: TensorState) -> TensorState:
    """x, or a view of it without the dimensions of size 1 that stand in front."""
    shape = leading_ones_cut(x.array.shape)
    return x if shape == x.array.shape else view(x, shape)


def leading_ones_cut(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without the ones that it begins with."""
    count = len(list(itertools.takewhile(lambda size: size == 1, shape)))
    return shape[count:]


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
