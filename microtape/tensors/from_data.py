"""Numbers and nested sequences of numbers as arrays, in the dtype that torch would infer."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.basics import dtypes
from microtape.ops.shared.arguments import sizes
from microtape.tape.inference import mark_if_inference
from microtape.tape.operands import number_as, tell_made
from microtape.tape.tensor_state import TensorState, ensure_version, new_tensor


def as_numeric_array(data: Any, dtype: Any) -> Any:
    """`data` as an array, in `dtype` or in the dtype that torch would infer. Raises as `tensor` does."""
    if isinstance(data, TensorState):
        data = data.array
    if not isinstance(data, np.ndarray | np.generic):
        data = _tensors_as_arrays(data)
        dtype = _inferred_dtype(data) if dtype is None else dtype
    try:
        array = np.asarray(data)
    except ValueError:
        raise ValueError(_ragged_message(data)) from None
    except OverflowError:
        raise ValueError("Overflow when unpacking long long") from None
    if array.dtype.kind not in "biufc":
        if array.dtype.kind == "O" and array.size and isinstance(array.flat[0], int):
            raise ValueError("Overflow when unpacking long long")
        raise TypeError(f"new(): invalid data type '{type(array.flat[0]).__name__}'")
    if dtype is None:
        return array
    if np.dtype(dtype).kind in "iu" and array.size and not isinstance(data, np.ndarray | np.generic):
        _check_range(array, np.dtype(dtype))
    with np.errstate(over="ignore"):
        return array.astype(dtype, copy=False)


def _check_range(array: Any, dtype: Any) -> None:
    """Raise RuntimeError for numbers that an integer dtype cannot represent. Negative ints wrap around if unsigned."""
    try:
        for extreme in (array.min(), array.max()):
            number_as(extreme.item(), dtype)
    except RuntimeError:
        raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow") from None


def _tensors_as_arrays(data: Any) -> Any:
    """`data` with the tensors in it replaced by their arrays."""
    if isinstance(data, TensorState):
        return data.array
    if isinstance(data, list | tuple | range):
        return [_tensors_as_arrays(item) for item in data]
    return data


def _inferred_dtype(data: Any) -> Any:
    """The dtype that torch infers for nested sequences: numpy values keep theirs, Python floats get the default."""
    found: dict[Any, Any] = {}

    def visit(one: Any) -> None:
        if isinstance(one, list):
            for item in one:
                visit(item)
        elif type(one) not in found or isinstance(one, np.ndarray):
            found[type(one)] = one.dtype if isinstance(one, np.ndarray | np.generic) else _number_dtype(one)

    visit(data)
    dtype = None
    for one in found.values():
        dtype = one if dtype is None else dtypes.promote_types(dtype, one)
    return dtypes.get_default_dtype() if dtype is None else dtype


def _number_dtype(value: Any) -> Any:
    """The dtype of a Python number. Raises TypeError for a string, RuntimeError for any other value."""
    if isinstance(value, int | float | complex):
        return dtypes.of_number(value)
    if isinstance(value, str):
        raise TypeError("new(): invalid data type 'str'")
    raise RuntimeError(f"Could not infer dtype of {type(value).__name__}")


def _ragged_message(data: Any, dim: int = 0) -> str:
    """The error message for nested sequences of different lengths."""
    lengths = [len(item) if isinstance(item, list) else None for item in data]
    for length in lengths:
        if length != lengths[0]:
            return f"expected sequence of length {lengths[0]} at dim {dim + 1} (got {length})"
    return next((_ragged_message(item, dim + 1) for item in data if isinstance(item, list)), "ragged nested sequence")


def construct(cls: Any, given: tuple[Any, ...], dtype: Any) -> Any:
    """A leaf of class `cls`: `Tensor([1, 2])` from data, `Tensor(2, 3)` of a size (zeros), `Tensor(x)` with x's memory.

    Numbers are cast to `dtype`. Raises TypeError for a tensor of another dtype, and as `microtape.tensor` does.
    """
    data: Any = given[0] if len(given) == 1 else None
    if isinstance(data, TensorState):
        if data.array.dtype != dtype:
            raise TypeError(f"expected {dtypes.scalar_name(dtype)} (got {dtypes.scalar_name(data.array.dtype)})")
        shared = new_tensor(cls, data.array)
        shared.version = ensure_version(data)
        return tell_made(data, shared)
    if data is None or isinstance(data, int | np.integer) or hasattr(data, "numel"):  # a Size
        array = np.zeros(sizes(given) if given else 0, dtype)
    else:
        array = np.array(as_numeric_array(data, None)).astype(dtype)
    return tell_made(data, mark_if_inference(new_tensor(cls, array)))
