"""numpy's dtypes, which the engine computes in, and the promotion of mixed operands by torch's rules, not numpy's.

Note [Type promotion]
  Categories are ordered bool < integer < floating < complex. Operands have one of three ranks: tensors with dimensions,
  0-d tensors, and Python numbers, from high to low. An operand of a lower rank changes the dtype of the result only if
  its category is higher: `float32 tensor * 2.5` and `float32 tensor * 0-d float64 tensor` are both float32. A float
  that becomes complex keeps its precision.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

__all__ = ["set_default_dtype"]

DType = np.dtype[Any]

bool = np.dtype(np.bool_)
uint8 = np.dtype(np.uint8)
int8 = np.dtype(np.int8)
int16 = np.dtype(np.int16)
int32 = np.dtype(np.int32)
int64 = np.dtype(np.int64)
float16 = np.dtype(np.float16)
float32 = np.dtype(np.float32)
float64 = np.dtype(np.float64)
complex64 = np.dtype(np.complex64)
complex128 = np.dtype(np.complex128)

_CATEGORY = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
_default: DType = float32


def get_default_dtype() -> DType:
    """The dtype of tensors made from Python floats: float32 unless `set_default_dtype` has changed it."""
    return _default


def set_default_dtype(dtype: Any) -> None:
    """Set the dtype of tensors made from Python floats. Raises TypeError if it is not a floating dtype."""
    global _default
    dtype = np.dtype(dtype)
    if dtype.kind != "f":
        raise TypeError("only floating-point types are supported as the default type")
    _default = dtype


def is_differentiable(dtype: DType) -> Any:
    """Whether tensors of this dtype can require grad: floating and complex dtypes."""
    return dtype.kind in "fc"


def promote_types(a: DType, b: DType) -> DType:
    """The dtype that torch promotes both dtypes to: an integer never widens a float."""
    kinds = {a.kind, b.kind}
    if kinds & set("fc") and kinds & set("biu"):
        return a if a.kind in "fc" else b
    if kinds == {"f", "c"}:
        return np.promote_types(np.promote_types(a, b), complex64)
    return np.promote_types(a, b)


def of_number(value: Any) -> DType:
    """The dtype of a Python number."""
    if isinstance(value, (np.bool_, builtins.bool)):
        return bool
    if isinstance(value, builtins.int):
        return int64
    if isinstance(value, complex):
        return np.promote_types(_default, complex64)
    return _default


def ranks(array: np.ndarray[Any, Any]) -> tuple[DType | None, DType | None]:
    """The pair (dtype if the array has dimensions, dtype if it is 0-d); the other one is None."""
    return (array.dtype, None) if array.ndim else (None, array.dtype)


def result_type(dimensioned: DType | None, zero_dim: DType | None, number: DType | None = None) -> DType:
    """The dtype to compute in, from the promoted dtype of each rank; see Note [Type promotion]."""
    result = _dominate(dimensioned, _dominate(zero_dim, number))
    assert result is not None
    return result


def beside_number(array: np.ndarray[Any, Any], number: Any) -> DType:
    """The dtype to compute in with an array and a Python number."""
    dtype: DType = array.dtype
    if dtype.kind == "f" and not isinstance(number, complex):
        return dtype  # the usual case
    return result_type(*ranks(array), number=of_number(number))


def join(a: DType | None, b: DType | None) -> DType | None:
    """The promoted dtype of two operands of the same rank; None stands for a missing operand."""
    if a is None or b is None:
        return a if b is None else b
    return promote_types(a, b)


def _dominate(high: DType | None, low: DType | None) -> DType | None:
    """The promoted dtype of a higher and a lower rank: `low` counts only if its category is higher."""
    if high is None or low is None:
        return low if high is None else high
    if _CATEGORY[low.kind] <= _CATEGORY[high.kind]:
        return high
    return np.promote_types(high, complex64) if high.kind == "f" else promote_types(high, low)


_SCALAR_NAMES = {
    "bool": "Bool",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "float16": "Half",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}


_CPP_NAMES = {
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "int64": "long int",
    "float16": "c10::Half",
    "float32": "float",
    "float64": "double",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


def cpp_name(dtype: DType) -> str:
    """The dtype's name in C++, as some of torch's messages have it."""
    return _CPP_NAMES.get(dtype.name, dtype.name)


def scalar_name(dtype: DType) -> str:
    """The dtype's name in most of torch's messages: `Float` for float32."""
    return _SCALAR_NAMES.get(dtype.name, dtype.name.capitalize())
