"""Numbers and nested sequences of numbers as arrays, in the dtype that torch would infer."""

from __future__ import annotations

import warnings
from array import array
from functools import reduce
from types import MappingProxyType
from typing import Any

import numpy as np

from microtape.basics import dtypes
from microtape.basics.call_site import user_stacklevel
from microtape.ops.shared.arguments import sizes
from microtape.tape.inference import mark_if_inference
from microtape.tape.operands import number_as, tell_made
from microtape.tape.tensor_state import TensorState, ensure_version, new_tensor, requires_grad

_NUMBERS = frozenset((float, int, bool, complex))
_NO_SEQUENCES = (TensorState, np.generic, dict, MappingProxyType)
_COMPLEX = (complex, np.complexfloating)
_TRUTHS = (int, float, complex, np.bool_)
_MOST_DIMS = 128
_IMMUTABLE = 1 << 8  # in `__flags__`: a type that is written in C


def as_numeric_array(data: Any, dtype: Any) -> Any:
    """`data` as an array, in `dtype` or in the dtype that torch would infer. Raises as `tensor` does.

    As in torch, the shape is that of the first elements, the dtype that of all, and last come the numbers: what is
    wrong with `data` is told by the first of the three that fails.
    """
    if isinstance(data, TensorState):
        data = data.array
    if isinstance(data, np.ndarray):
        kept = checked_array(data).dtype
        with np.errstate(over="ignore"):
            return data.astype(kept if dtype is None else dtype, copy=False)
    if isinstance(data, str | bytes):
        raise TypeError(f"new(): invalid data type '{_type_name(data)}'")
    shape = _shape(data)
    dtype = np.dtype(_inferred_dtype(data) if dtype is None else dtype)
    numbers: list[Any] = []
    if 0 not in shape:
        _collect(numbers, data, shape)
    return _as_array(numbers, dtype).reshape(shape)


def _is_sequence(value: Any) -> bool:
    """Whether Python counts this as a sequence: all that has items, but mappings that are built in."""
    kind = type(value)
    if kind in _NUMBERS or (issubclass(kind, _NO_SEQUENCES) and not issubclass(kind, str)):
        return False
    return any(["__getitem__" in vars(one) for one in kind.__mro__])


def _shape(data: Any) -> list[int]:
    """The lengths of the sequence, of its first element, of that one's first element, and so on."""
    lengths: list[int] = []
    while _is_sequence(data):
        lengths.append(len(data))
        if len(lengths) > _MOST_DIMS:  # the first element of a text is a text
            raise ValueError(f"too many dimensions '{_type_name(data)}'")
        if not lengths[-1]:
            break
        try:
            data = data[0]
        except Exception as error:
            raise ValueError(f"could not determine the shape of object type '{_type_name(data)}'") from error
    return lengths


def _inferred_dtype(data: Any) -> Any:
    """The dtype of all elements together: numpy values and tensors keep theirs, Python floats get the default."""
    found: set[Any] = set()
    _add_dtypes(found, data)
    return reduce(dtypes.promote_types, found)


def _add_dtypes(found: set[Any], data: Any) -> None:
    """Add the dtypes of the elements. Raises TypeError for text, RuntimeError for what is no number."""
    if isinstance(data, TensorState):
        found.add(data.array.dtype)
    elif isinstance(data, np.ndarray | np.generic) and not isinstance(data, str | bytes):
        found.add(_supported(data))
    elif isinstance(data, int | float | complex):
        found.add(dtypes.of_number(data))
    elif isinstance(data, str | bytes):
        raise TypeError(f"new(): invalid data type '{_type_name(data)}'")
    elif not _is_sequence(data):
        raise RuntimeError(f"Could not infer dtype of {_type_name(data)}")
    elif not len(data):
        found.add(dtypes.get_default_dtype())
    else:
        items = data if isinstance(data, list | tuple | range) else [data[i] for i in range(len(data))]
        kinds = set(map(type, items))
        if kinds <= _NUMBERS:  # many numbers: a look at each of them would take long
            found.update([dtypes.of_number(kind()) for kind in kinds])
        else:
            for one in items:
                _add_dtypes(found, one)


def _supported(value: Any) -> Any:
    """The dtype of numpy's value. Raises TypeError for one that torch does not have, ValueError for a foreign order."""
    dtype = value.dtype
    if dtype.kind not in "biufc" or dtype.itemsize > 8 * (1 + (dtype.kind == "c")):
        raise TypeError(
            f"can't convert np.ndarray of type {dtype.type.__module__}.{dtype.type.__name__}. The only supported types "
            "are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, "
            "uint8, and bool."
        )
    if not dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
            "currently not supported."
        )
    return dtype


def checked_array(array: Any) -> Any:
    """The array itself. Raises TypeError for a dtype, ValueError for an order in memory that torch does not have."""
    if any([stride < 0 for stride in array.strides]):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) "
        )
    _supported(array)
    return array


def _collect(numbers: list[Any], data: Any, shape: list[int], dim: int = 0) -> None:
    """Append the elements in row-major order. Raises TypeError or ValueError where the sequences are ragged."""
    if dim == len(shape):
        numbers.append(data)
        return
    items = data.array.tolist() if isinstance(data, TensorState) else data
    if not isinstance(items, list | tuple):
        try:
            items = list(items)
        except TypeError:
            raise TypeError("not a sequence") from None
    if len(items) != shape[dim]:
        raise ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got {len(items)})")
    if dim + 1 == len(shape):
        numbers.extend(items)
        return
    for one in items:
        _collect(numbers, one, shape, dim + 1)


def _as_array(numbers: list[Any], dtype: Any) -> Any:
    """A 1-d array of numbers. Raises TypeError for what is none, ValueError or RuntimeError for one that is too large.

    Python's own arrays take what can be made a float or an int, and refuse the rest in the words that torch passes on.
    """
    kinds = set(map(type, numbers))
    if any([issubclass(kind, TensorState) for kind in kinds]):
        numbers = [_element(one, dtype) if isinstance(one, TensorState) else one for one in numbers]
    if dtype.kind == "c":
        numbers = [one if isinstance(one, _COMPLEX) else array("d", (one,))[0] for one in numbers]
        return np.array(numbers, dtype)
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.frombuffer(array("d", numbers)).astype(dtype, copy=False)
    if dtype.kind == "b":
        numbers = [bool(one) if isinstance(one, _TRUTHS) else one for one in numbers]
    elif any([issubclass(kind, float) for kind in kinds]):
        numbers = [int(_fitting(float(one), dtype)) if isinstance(one, float) else one for one in numbers]
    try:
        found = np.frombuffer(array("q", numbers), np.int64)
    except OverflowError:
        raise ValueError("Overflow when unpacking long long") from None
    for extreme in (found.min(), found.max()) if found.size and dtype.kind != "b" else ():
        _fitting(int(extreme), dtype)
    return found.astype(dtype, copy=False)


def _element(x: TensorState, dtype: Any) -> Any:
    """The number in a tensor of one element. Raises ValueError or TypeError for another tensor, as its `float` does."""
    if dtype.kind in "fc":
        check_conversion(x)
    elif x.array.size != 1 or x.array.dtype.kind not in "biu":
        raise TypeError("only integer tensors of a single element can be converted to an index")
    number = x.array.item()
    return number_as(number, dtypes.float64).item() if dtype.kind == "f" else number


def check_conversion(x: TensorState) -> None:
    """Whether a tensor can be a Python number: ValueError unless it has one element, a warning if it requires grad."""
    if x.array.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    if requires_grad(x):
        warnings.warn(
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
            "Consider using tensor.detach() first.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )


def _fitting(number: float, dtype: Any) -> Any:
    """The number in an integer dtype, where a negative int may wrap around. Raises RuntimeError if it does not fit."""
    try:
        return number_as(number, dtype)
    except RuntimeError:
        raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow") from None


def _type_name(value: Any) -> str:
    """The name of a value's type as C sees it: with its module if it is written in C and not built in."""
    kind = type(value)
    named_alone = not kind.__flags__ & _IMMUTABLE or kind.__module__ == "builtins"
    return kind.__name__ if named_alone else f"{kind.__module__}.{kind.__name__}"


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
    is_size = len(given) > 1 or isinstance(data, int | np.integer) or hasattr(data, "numel")
    if not given or (is_size and not isinstance(data, bool)):
        array = np.zeros(sizes(given) if given else 0, dtype)
    elif _is_sequence(data):
        array = np.array(as_numeric_array(data, dtype))
    else:
        raise TypeError(f"new(): data must be a sequence (got {_type_name(data)})")
    return tell_made(data, mark_if_inference(new_tensor(cls, array)))
