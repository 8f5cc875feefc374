"""Reading arguments: dimensions, sizes, and values that may or may not be tensors."""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex, TypeGuard

import numpy as np

from microtape.tape.tensor_state import TensorState

_INTEGERS = (int, np.integer)


def plain(value: Any) -> Any:
    """The array of a tensor; anything else as it is."""
    return value.array if isinstance(value, TensorState) else value


def is_integer(value: Any) -> TypeGuard[SupportsIndex]:
    """Whether it is an integer or a tensor of no dimension, of whose dtype `operator.index` asks."""
    return isinstance(value, _INTEGERS) or (isinstance(value, TensorState) and not value.array.ndim)


def dim_index(dim: int, ndim: int) -> int:
    """`dim` counted from the front; a scalar counts as having one dimension.

    Raises IndexError if it is out of range, TypeError if it is not an int.
    """
    size = ndim or 1
    if type(dim) is not int:
        if not isinstance(dim, (*_INTEGERS, TensorState)):
            raise TypeError(f"argument 'dim' must be int, not {type(dim).__name__}")
        dim = operator.index(dim)
    if not -size <= dim < size:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-size}, {size - 1}], but got {dim})")
    return dim % size


def dim_tuple(dim: Any, ndim: int) -> tuple[int, ...] | None:
    """`dim`, one dimension or several, counted from the front. None, or an empty tuple, means all and gives None.

    Raises IndexError if one is out of range, RuntimeError if one occurs twice.
    """
    if dim is None:
        return None
    if isinstance(dim, int):
        one = dim_index(dim, ndim)
        return (one,) if ndim else ()
    dims = tuple(dim) if isinstance(dim, tuple | list) else (dim,)
    if not dims:
        return None
    counted = tuple([dim_index(one, ndim) for one in dims])
    if len(set(counted)) < len(counted):
        twice = next(one for one in counted if counted.count(one) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return counted if ndim else ()


def torch_style(
    dim: Any, keepdim: bool, axis: Any = None, keepdims: Any = None, out: None = None, **others: Any
) -> tuple[Any, bool]:
    """`dim` and `keepdim`, which may also be given by numpy's names, so that `np.sum(x)` works.

    Raises TypeError for an `out`, or any other argument.
    """
    refuse_out(out)
    if others:
        raise TypeError(f"got an unexpected keyword argument '{next(iter(others))}'")
    return (dim if axis is None else axis), (keepdim if keepdims is None else keepdims)


def refuse_out(out: None) -> None:
    """Raise TypeError for an `out` other than None, which numpy's functions pass to methods; see Note [Spellings]."""
    if out is not None:
        raise TypeError("a method takes no out=: call the function of that name, or write the result with copy_()")


def int_tuple(value: Any, count: int) -> tuple[int, ...]:
    """`value` for each of `count` dimensions: `f(2)` and `f((2, 2))` mean the same."""
    if is_integer(value):
        return (operator.index(value),) * count
    values = tuple(operator.index(one) for one in value)
    return values * count if len(values) == 1 else values


def sizes(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """`f(2, 3)` and `f((2, 3))` mean the same."""
    if len(shape) == 1 and not is_integer(shape[0]):
        shape = tuple(shape[0])
    return tuple(map(operator.index, shape))
