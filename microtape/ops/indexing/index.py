"""`x[...]`, read and written: basic indexing makes a chain of views, as in torch; index tensors and masks make copies.

Note [What a key becomes]
  Integers, slices, None and `...` are applied first, as one view each. For each remaining dimension there is an index
  tensor or None, and the index tensors pick elements: `x[0, :, i]` is `x[0][:, i]`. NB: numpy would treat the 0 as an
  index array.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.basics.dtypes import scalar_name
from microtape.ops.shape.casting import copy_, fill_
from microtape.ops.shape.reshaping import AliasBackward0, expand, unsqueeze, view
from microtape.ops.shape.subviews import SelectBackward0, SliceBackward0
from microtape.ops.shared.arguments import plain
from microtape.tape.in_place import call_
from microtape.tape.operands import as_operand, as_tensor, number_as
from microtape.tape.operation import Operation, call
from microtape.tape.tensor_state import TensorState, zeros_like
from microtape.tape.views import view_call

__all__ = [
    "index_put",
    "index_put_",
]


class IndexBackward0(Operation):
    """`key` has an array or a full slice for each dimension; `indices` is the first index tensor it was made from.

    `indices` is saved, so that backward notices if it is overwritten; the key itself holds copies.
    """

    __slots__ = ("indices", "key", "x_shape")
    row_major = True
    formula = "z = x[indices]    ∂x = g added up at the indices"

    def __init__(self, key: tuple[Any, ...], indices: TensorState | None = None) -> None:
        super().__init__()
        self.key, self.indices = key, indices

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        return picked(x, self.key)

    def grad_x(self, g: Any, indices: Any) -> Any:
        zeros = zeros_like(g, self.x_shape, g.dtype)
        if isinstance(g, TensorState):
            return call(IndexPutImplBackward0(self.key, None, accumulate=True), zeros, g)
        add_at(zeros, self.key, g)  # the same without the copy that an operation makes
        return zeros


class IndexPutBackward0(Operation):
    """`x[indices] = y`; the key and the indices are those of IndexBackward0."""

    __slots__ = ("accumulate", "indices", "key")
    operands = ("x", "y")
    op = "index_put"
    formula = "z = x with y at [indices]    ∂x = g, 0 at the indices,  ∂y = g[indices]"

    def __init__(self, key: tuple[Any, ...], indices: TensorState | None, accumulate: bool) -> None:
        super().__init__()
        self.key, self.indices, self.accumulate = key, indices, accumulate

    def forward(self, x: Any, y: Any) -> Any:
        shape = picked(x, self.key).shape
        z = x.copy()
        try:
            y = np.broadcast_to(y, shape)
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
        if self.accumulate:
            add_at(z, self.key, y)
        else:
            z[self.key] = y
        return z

    def grad_x(self, g: Any, indices: Any) -> Any:
        if self.accumulate:
            return g
        return call(IndexPutBackward0(self.key, None, False), g, zeros_like(g, (), g.dtype))

    def grad_y(self, g: Any, indices: Any) -> Any:
        return call(IndexBackward0(self.key), g)


class IndexPutImplBackward0(IndexPutBackward0):
    """The transpose of picking: an element that was picked twice gets the sum of both gradients."""

    __slots__ = ()
    op = "index_put"
    formula = "z = x with y added at [indices]    ∂x = g,  ∂y = g[indices]"


def _broadcast_shapes(found: re.Match[str]) -> str:
    """numpy's list of shapes, "(2,) (3,)", as torch writes it: "[2], [3]"."""
    shapes = re.findall(r"\(([\d,]*?),?\)", found[1])
    return "broadcast together with shapes " + ", ".join(f"[{shape.replace(',', ', ')}]" for shape in shapes)


def picked(x: Any, key: tuple[Any, ...]) -> Any:
    """`x[key]` for an array. Raises IndexError in torch's words."""
    try:
        if x.flags.c_contiguous and _whole_rows(key):
            return x.take(key[0], 0)  # in a quarter of the time
        return x[key]
    except IndexError as error:
        text = re.sub(r"broadcast together with shapes (.*) $", _broadcast_shapes, str(error)).replace(
            "arrays", "tensors"
        )
        text = text.replace(
            "cannot do a non-empty take from an empty axes.", "index 0 is out of bounds for axis 0 with size 0"
        )
        text = re.sub(r"index -?\d+ is (.*) axis \d+ with size 0", r"index is \1 dimension with size 0", text)
        raise IndexError(text.replace("for axis", "for dimension")) from None


def add_at(z: Any, key: tuple[Any, ...], y: Any) -> None:
    """`z[key] += y`, counting every repetition. numpy is fastest at this with flat indices."""
    if z.size and _whole_rows(key):
        _add_rows(z, key[0], y)
    else:
        places = places_of(key, z.shape)
        _add_flat(z, places, np.broadcast_to(y, places.shape))


def places_of(key: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """The flat indices of the elements that a key picks from an array of that shape."""
    if len(key) < len(shape) or any([isinstance(one, slice) for one in key]):
        return np.arange(math.prod(shape)).reshape(shape)[key]
    places: Any = 0
    for one, size in zip(key, shape, strict=True):
        places = places * size + (one % size if np.min(one, initial=0) < 0 else one)
    return places


_SMALL = 1 << 16
"""Elements up to which flat indices are kept for the next call."""

_PAIRS = {"f": "F", "d": "D"}
"""Float dtypes, and the complex dtypes of the same pairs of numbers."""


def _add_rows(z: Any, rows: Any, y: Any) -> None:
    """`z[rows] += y`, counting every repetition; negative rows count from the end."""
    shape = rows.shape + z.shape[1:]
    if y.shape != shape:
        y = np.broadcast_to(y, shape)
    pair = _PAIRS.get(z.dtype.char) if z.ndim > 1 and z.shape[-1] % 2 == 0 and z.flags.c_contiguous else None
    if pair is not None:  # pairs are added in the time of one
        z, y = z.view(pair), np.ascontiguousarray(y).view(pair)
    width = z.size // len(z)
    if z.size <= _SMALL:
        places = _numbered(len(z), width).take(rows, 0)  # in a quarter of the time
    else:
        places = (rows * width)[..., None] + np.arange(width)
    _add_flat(z, places, y)


@functools.lru_cache(maxsize=8)
def _numbered(rows: int, width: int) -> Any:
    """The flat indices of the elements of a matrix."""
    return np.arange(rows * width).reshape(rows, width)


def _add_flat(z: Any, places: Any, y: Any) -> None:
    """Add each element of y to the element of z at its flat index."""
    flat = z.reshape(-1)
    np.add.at(flat, places.reshape(-1), y.reshape(-1))
    if not z.flags.c_contiguous:  # then `flat` is a copy
        z[...] = flat.reshape(z.shape)


def _whole_rows(key: tuple[Any, ...]) -> bool:
    """Whether the key picks along the first dimension alone: one array, followed by full slices."""
    return isinstance(key[0], np.ndarray) and all([isinstance(one, slice) for one in key[1:]])


def index(x: TensorState, key: Any) -> Any:
    """`x[key]`: integers, slices, None and `...` give views; lists, index tensors and masks give copies."""
    part, indices = _sliced(x, key, for_writing=False)
    if indices:
        return call(IndexBackward0(*_picking_key(part, indices)), part)
    return view_call(x, AliasBackward0) if part is x else part


def set_index(x: TensorState, key: Any, value: Any) -> None:
    """`x[key] = value`, in place: written through a view, which autograd records as CopySlices, or by index tensors."""
    part, indices = _sliced(x, key, for_writing=True)
    if isinstance(value, (int, float, complex)):
        value = _number_to_write(value, x.array.dtype)
    if not isinstance(value, (TensorState, np.ndarray, np.generic)):
        raise TypeError(f"can't assign a {type(value).__name__} to a microtape.{scalar_name(x.array.dtype)}Tensor")
    value = as_operand(value, x)
    if indices:
        call_(
            IndexPutBackward0(*_picking_key(part, indices), False), part, _without_leading_ones(value), sharing="none"
        )
    elif value.array.shape == part.array.shape:
        copy_(part, value)
    elif value.array.ndim == 0:
        fill_(part, value)
    else:
        value = view(value, _leading_ones_cut(value.array.shape))
        copy_(part, value if value.array.shape == part.array.shape else expand(value, part.array.shape))


def _number_to_write(number: Any, dtype: Any) -> Any:
    """A number as an array of the dtype. Raises RuntimeError if it is too large; NB: a half becomes infinite."""
    with np.errstate(over="ignore"):
        return number_as(number, np.float64 if dtype == np.float16 else dtype).astype(dtype)


def _without_leading_ones(x: TensorState) -> TensorState:
    """x, or a view of it without its leading dimensions of size 1."""
    shape = _leading_ones_cut(x.array.shape)
    return x if shape == x.array.shape else view(x, shape)


def _leading_ones_cut(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without its leading ones."""
    count = len(list(itertools.takewhile(lambda size: size == 1, shape)))
    return shape[count:]


def index_put(input: TensorState, indices: Sequence[Any | None], values: Any, accumulate: bool = False) -> Any:
    """`input` with `values` at the indices, one index tensor for each dimension; added there with `accumulate`."""
    return call(IndexPutBackward0(*_picking_key(input, indices), accumulate), input, as_operand(values, input))


def index_put_(x: TensorState, indices: Sequence[Any | None], values: Any, accumulate: bool = False) -> Any:
    """Write `values` at the indices, or add them there with `accumulate`."""
    node = IndexPutBackward0(*_picking_key(x, indices), accumulate)
    return call_(node, x, as_operand(values, x), sharing="none")


def _sliced(x: Any, key: Any, for_writing: bool) -> tuple[Any, list[Any]]:
    """x after basic indexing, and an index tensor or None for each of its dimensions; an empty list without tensors.

    `x[:]` makes a view of its own, except for writing. See Note [What a key becomes]. Raises IndexError or ValueError
    for a key that does not fit.
    """
    parts: tuple[Any, ...] = key if isinstance(key, tuple) else (key,)
    if sum([_consumed(one) for one in parts]) > x.array.ndim:
        raise _too_many(x.array.ndim, parts)
    indices: list[Any] = []
    picks = False
    for one in parts:
        dim = len(indices)
        if isinstance(one, slice):
            x = _slice_of(x, dim, one, always=len(parts) == 1 and not for_writing)
            indices.append(None)
        elif one is ...:
            indices += [None] * (
                x.array.ndim - dim - sum([_consumed(other) for other in parts[_position(parts) + 1 :]])
            )
        elif one is None:
            x = unsqueeze(x, dim)
            indices.append(None)
        elif _is_bool(one):
            x = unsqueeze(x, dim)
            indices.append(np.array([bool(one)]))
            picks = True
        elif _is_integer(one):
            i, size = int(one), x.array.shape[dim]
            if not -size <= i < size:
                raise IndexError(f"index {i} is out of bounds for dimension {dim} with size {size}")
            x = view_call(x, SelectBackward0, dim, i % size)
        else:
            indices += [one] + [None] * (_consumed(one) - 1)
            picks = True
    return x, indices if picks else []


def _too_many(ndim: int, parts: tuple[Any, ...]) -> IndexError:
    """The error for a key with too many dimensions."""
    if ndim == 0 and len(parts) == 1:
        if isinstance(parts[0], slice):
            return IndexError("slice() cannot be applied to a 0-dim tensor.")
        if _is_integer(parts[0]) and int(parts[0]):
            return IndexError(f"index {int(parts[0])} is out of bounds for dimension 0 with size 0")
        if _is_integer(parts[0]):
            return IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
                "convert "
                "a 0-dim tensor to a number"
            )
    return IndexError(f"too many indices for tensor of dimension {ndim}")


def _position(parts: tuple[Any, ...]) -> int:
    """The position of the `...`."""
    return next(i for i, one in enumerate(parts) if one is ...)


def _slice_of(x: Any, dim: int, part: slice, always: bool) -> Any:
    """A range of x along a dimension; x itself if that is obviously the whole range, unless `always`."""
    size = x.array.shape[dim]
    if not always and not part.start and (part.stop is None or part.stop >= size) and part.step in (None, 1):
        return x
    start, stop, step = part.indices(size)
    if step <= 0:
        raise ValueError("step must be greater than zero")
    return view_call(x, SliceBackward0, dim, slice(start, max(start, stop), step))


def _is_bool(one: Any) -> bool:
    """Whether a part of a key is True or False, which keep or drop everything."""
    if isinstance(one, TensorState):
        return one.array.ndim == 0 and one.array.dtype.kind == "b"
    return isinstance(one, (bool, np.bool_))


def _is_integer(one: Any) -> bool:
    """Whether a part of a key is a single integer."""
    if isinstance(one, TensorState):
        return one.array.ndim == 0 and one.array.dtype.kind in "iu"
    return isinstance(one, (int, np.integer))


def _consumed(one: Any) -> int:
    """How many dimensions a part of a key uses up. Raises IndexError if it cannot be part of a key."""
    if type(one) is slice or type(one) is int:  # the usual case
        return 1
    if isinstance(one, (TensorState, np.ndarray)):
        array = plain(one)
        return array.ndim if array.dtype.kind == "b" else 1
    if one is None or one is ... or _is_bool(one):
        return 0
    if isinstance(one, list):
        return np.ndim(one) if np.asarray(one).dtype.kind == "b" else 1
    if isinstance(one, (int, np.integer, slice, range)):
        return 1
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
        f"(got {type(one).__name__})"
    )


def _picking_key(x: TensorState, indices: Sequence[Any | None]) -> tuple[tuple[Any, ...], TensorState]:
    """An array or a full slice for each dimension, and the first of the indices as a tensor."""
    key: list[Any] = []
    first: Any = None
    skip = 0
    for one in indices:
        if skip:
            skip -= 1
        elif one is None:
            key.append(slice(None))
        else:
            first = one if first is None else first
            array = np.array(plain(one))
            if array.dtype.kind == "b":
                key += np.nonzero(_checked_mask(x, array, len(key)))
                skip = array.ndim - 1
            elif array.dtype.kind in "iu" or not array.size:
                key.append(array.astype(np.int64, copy=False))
            else:
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return tuple(key), first if isinstance(first, TensorState) else as_tensor(np.asarray(first), type(x))


def _checked_mask(x: TensorState, mask: Any, dim: int) -> Any:
    """The mask. Raises IndexError if it does not have the shape of x from `dim` on."""
    for i, size in enumerate(mask.shape):
        if size != x.array.shape[dim + i]:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {i} does not match the shape of the indexed "
                f"tensor {list(x.array.shape)} at index {dim + i}"
            )
    return mask
