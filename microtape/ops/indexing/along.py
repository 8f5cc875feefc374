"""Shared by operations with an index tensor along one dimension."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from microtape.basics.dtypes import scalar_name
from microtape.ops.indexing.index import add_at
from microtape.ops.shared.arguments import dim_index, plain
from microtape.tape.operands import as_tensor
from microtape.tape.operation import Operation
from microtape.tape.tensor_state import TensorState


class AlongDim(Operation):
    """Common to operations with a dimension and an index tensor, which is saved."""

    __slots__ = ("dim", "index", "x_shape")
    row_major = True
    x_shape: tuple[int, ...]

    def __init__(self, dim: int, index: Any) -> None:
        super().__init__()
        self.dim, self.index = dim, index

    @property
    def pointwise(self) -> tuple[Any, ...]:
        """The key that picks for each element of the index the element of x at the same position except along `dim`."""
        index = plain(self.index)
        if not index.ndim:
            return (index,)
        key = grid(index.shape)
        key[self.dim] = index
        return tuple(key)

    @property
    def slices(self) -> tuple[Any, ...]:
        """The key that picks whole slices of x, one for each element of the index."""
        return (*(slice(None),) * self.dim, plain(self.index).reshape(-1))

    def changed(self, x: Any, change: Callable[[Any], None]) -> Any:
        """A copy of x, modified by `change`, which gets a scalar as a vector of one."""
        z = np.array(x)
        change(z if z.ndim else z.reshape(1))
        return z

    def added_up(self, g: Any, key: tuple[Any, ...]) -> Any:
        """Zeros of x's shape with g added at the key: the gradient, without the copy that an operation makes."""
        z = np.zeros(self.x_shape, g.dtype)
        add_at(z if z.ndim else z.reshape(1), key, g)
        return z

    def put(self, z: Any, key: tuple[Any, ...], y: Any) -> None:
        """`z[key] = y`."""
        z[key] = y


def grid(shape: tuple[int, ...]) -> list[Any]:
    """The indices of each dimension, along that dimension: np.ogrid in a quarter of the time."""
    return [np.arange(size).reshape((-1,) + (1,) * i) for i, size in zip(range(len(shape))[::-1], shape, strict=True)]


def _as_index(index: Any, x: Any) -> Any:
    """The index as an array or a Tensor, whichever x is."""
    return as_tensor(index, type(x)) if isinstance(x, TensorState) else np.asarray(index)


def checked(name: str, x: Any, dim: int, index: Any, y: Any = None) -> tuple[int, Any]:
    """`dim` and an index with one entry for each picked or written element. Raises RuntimeError if it does not fit."""
    dim, index = dim_index(dim, x.ndim), _as_index(index, x)
    if index.dtype.kind not in "iu":
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if index.ndim != x.ndim and x.ndim and math.prod(index.shape):
        whose = "input" if y is None else "self"
        raise RuntimeError(f"Index tensor must have the same number of dimensions as {whose} tensor")
    for i, (size, most) in enumerate(zip(index.shape, x.shape, strict=False)):
        if i != dim and size > most:
            raise RuntimeError(
                f"Size does not match at dimension {i} expected index {list(index.shape)} to be no larger than self "
                f"{list(x.shape)} apart from dimension {dim}"
            )
    if y is not None:
        if y.dtype != x.dtype:
            raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
        dim_index(dim, y.ndim)
        if index.ndim != y.ndim and math.prod(index.shape):
            raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
        if any([size > most for size, most in zip(index.shape, y.shape, strict=False)]):
            raise RuntimeError(
                f"Expected index {list(index.shape)} to be no larger than self {list(x.shape)} apart from dimension "
                f"{dim} and to be no larger size than src {list(y.shape)}"
            )
    outside = out_of_range(index, x.shape[dim] if x.ndim else 1)
    if outside is not None:
        raise RuntimeError(f"index {outside} is out of bounds for dimension {dim} with size {x.shape[dim]}")
    return dim, index


_OF_ONE_DTYPE = {
    "index_add_": "index_add_(): self ({}) and source ({}) must have the same scalar type",
    "index_copy_": "index_copy_(): self and source expected to have the same dtype, but got (self) {} and (source) {}",
}
"""The operations that do not promote their operands, and their messages."""
_Refusal: TypeAlias = tuple[type[Exception], str]
_NO_VECTOR: dict[str, _Refusal] = {
    "index_select": (IndexError, "index_select(): Index is supposed to be a vector"),
    "index_add_": (
        IndexError,
        "index_add_(): Index is supposed to be a vector, but got dim: {dims} with type: {dtype} and size: {size}",
    ),
    "index_copy_": (IndexError, "index_copy_(): Index should have dimension 1 or 0 (got {dims})"),
    "index_fill_": (RuntimeError, "Index has to be a vector/scalar"),
}
_NO_INDICES: dict[str, _Refusal] = {
    "index_select": (RuntimeError, "index_select(): Expected dtype int32 or int64 for index"),
    "index_add_": (RuntimeError, "index_add_(): Expected dtype int32/int64 for index but got: {dtype}"),
    "index_copy_": (RuntimeError, "index_copy_(): Expected a long tensor for index, but got {dtype}"),
    "index_fill_": (IndexError, "index_fill_(): Expected dtype int64 for index."),
}
_NO_COUNT: dict[str, _Refusal] = {
    "index_add_": (
        RuntimeError,
        "index_add_(): Number of indices ({count}) should be equal to source.size(dim): ({size}), for dim: {dim}",
    ),
    "index_copy_": (
        IndexError,
        "index_copy_(): Number of indices ({count}) should be equal to source.size(dim) ({size})",
    ),
}
"""What each operation raises for an index that is a matrix, that is not integers, or that is too long or too short."""


def checked_vector(name: str, x: Any, dim: int, index: Any, y: Any = None) -> tuple[int, Any]:
    """`dim` and an index with one entry for each slice. Raises IndexError or RuntimeError if it does not fit."""
    dim, index = dim_index(dim, x.ndim), _as_index(index, x)
    for refusals, is_wrong in ((_NO_VECTOR, index.ndim > 1), (_NO_INDICES, index.dtype.kind not in "iu")):
        if is_wrong:
            error, message = refusals[name]
            raise error(message.format(dims=index.ndim, dtype=scalar_name(index.dtype), size=list(index.shape)))
    if y is not None and x.dtype != y.dtype:
        raise RuntimeError(_OF_ONE_DTYPE[name].format(scalar_name(x.dtype), scalar_name(y.dtype)))
    count = math.prod(index.shape)
    shapes = [tuple(one.shape[:dim]) + tuple(one.shape[dim + 1 :]) for one in (x, x if y is None else y)]
    if x.ndim and y is not None and y.ndim and shapes[0] != shapes[1]:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(x.shape)} source.shape = {list(y.shape)}"
        )
    if y is not None and y.ndim and y.shape[dim] != count:
        error, message = _NO_COUNT[name]
        raise error(message.format(count=count, size=y.shape[dim], dim=dim))
    if out_of_range(index, x.shape[dim] if x.ndim else 1) is not None:
        raise IndexError("index out of range in self")
    return dim, index


def out_of_range(index: Any, size: int) -> int | None:
    """The first index that is negative or not below `size`, if any."""
    values = plain(index)
    if not values.size or (values.min() >= 0 and values.max() < size):
        return None
    return int(values[(values < 0) | (values >= size)].reshape(-1)[0])
