"""Operands: numbers and arrays beside a tensor become tensors, and two arrays are promoted to one dtype."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from microtape.basics import dtypes
from microtape.tape.tensor_state import NUMBER, Array, TensorState, new_tensor
from microtape.tape.watch import watch

_T = TypeVar("_T", bound=TensorState)

NUMBERS = (int, float, complex)  # bool is an int
ARRAYS = (np.ndarray, np.generic)


def as_tensor(value: Any, like: type[_T]) -> _T:
    """`value` itself if it is a tensor, otherwise a tensor without history around it."""
    return value if isinstance(value, like) else _constant(value, like)


def _constant(value: Any, like: type[_T], dtype: Any = None) -> _T:
    """A tensor without history around an array or number. Raises TypeError for anything else."""
    if isinstance(value, TensorState):
        return value  # type: ignore[return-value]  # a sibling class of tensor
    if not isinstance(value, NUMBERS):
        if not isinstance(value, ARRAYS):
            raise TypeError(f"expected a Tensor, a number or an array, not {type(value).__name__}")
        return tell_made(value, new_tensor(like, np.asarray(value, dtype)))
    number = new_tensor(like, np.asarray(value, dtypes.of_number(value) if dtype is None else dtype))
    number.meta = NUMBER
    return tell_made(value, number)


def tell_made(value: Any, tensor: _T) -> _T:
    """Tell the observer, if there is one, that `tensor` was made of `value`. Returns the tensor."""
    if (watcher := watch.watcher) is not None:
        watcher.tensor_made(value, tensor)
    return tensor


def as_operand(value: Any, other: TensorState, method: str = "") -> TensorState:
    """`value` as a tensor operand beside `other`; it may be a tensor, a number or an array.

    Raises TypeError for anything else; the message names the `method` of `other`, if there is one.
    """
    operand = value if isinstance(value, TensorState) else number_operand(value, other)
    if operand is NotImplemented:
        if method:
            raise TypeError(f"{method}(): argument 'other' (position 1) must be Tensor, not {type(value).__name__}")
        raise TypeError(f"expected a Tensor, a number or an array beside a Tensor, not {type(value).__name__}")
    return operand


def number_operand(value: Any, other: TensorState) -> Any:
    """A number or array as a tensor beside `other`; a number gets the promoted dtype. Otherwise NotImplemented."""
    if isinstance(value, NUMBERS):
        number = new_tensor(type(other), as_element(value, dtypes.beside_number(other.array, value)))
        number.meta = NUMBER
        return number if watch.watcher is None else tell_made(value, number)
    if isinstance(value, ARRAYS) and value.dtype.kind in "biufc":
        return tell_made(value, new_tensor(type(other), np.asarray(value)))
    return NotImplemented


_FITS_ALL = 32_000
"""A number below this, and above its negative, fits all dtypes but those of one byte."""


def as_element(value: Any, dtype: Any) -> Array:
    """A number as a 0-d array. A number too large for its dtype wraps around or becomes infinite, as in torch."""
    try:
        if -_FITS_ALL < value < _FITS_ALL:
            return np.asarray(value, dtype)
    except (OverflowError, TypeError):  # it does not fit one byte; it is complex
        pass
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(dtype)


_CPP_NAMES = {"int32": "int", "float32": "float", "float64": "double", "complex64": "c10::complex<float>"}


def number_as(value: Any, dtype: Any) -> Array:
    """A Python number as a 0-d array of this dtype. A negative int wraps around in an unsigned dtype, as in torch.

    Raises RuntimeError for a number that the dtype cannot represent, such as 300 or -0.5 for uint8.
    """
    dtype = np.dtype(dtype)
    if type(value) is float and dtype.kind == "f" and -_FITS_ALL < value < _FITS_ALL:
        return np.asarray(value, dtype)  # the usual case
    fits = True
    if isinstance(value, complex) and dtype.kind in "iuf":
        fits, value = not value.imag, value.real
    if dtype.kind in "iu":
        lowest, highest = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        if isinstance(value, int) and not lowest:
            lowest = -highest
        fits = fits and bool(lowest <= value <= highest)  # not if it is NaN
    elif dtype.kind in "fc":
        fits = fits and (abs(value) < _FITS_ALL or not np.isfinite(value) or abs(value) <= float(np.finfo(dtype).max))
    if not fits:
        name = _CPP_NAMES.get(dtype.name, f"{dtype.name}_t" if dtype.kind in "iu" else "c10::Half")
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")
    return np.asarray(value).astype(dtype)


def promoted(a: Array, b: Array) -> tuple[Array, Array]:
    """Both arrays in the dtype that torch would compute in; see Note [Type promotion]."""
    if a.dtype == b.dtype:
        return a, b
    (dim_a, zero_a), (dim_b, zero_b) = dtypes.ranks(a), dtypes.ranks(b)
    dtype = dtypes.result_type(dtypes.join(dim_a, dim_b), dtypes.join(zero_a, zero_b))
    with np.errstate(over="ignore"):  # a 0-d tensor's number may become infinite
        return a.astype(dtype, copy=False), b.astype(dtype, copy=False)
