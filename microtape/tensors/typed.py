"""torch's older names for dtypes: `FloatTensor([1, 2])`, `set_default_tensor_type`."""

from __future__ import annotations

from typing import Any

from microtape.basics import dtypes
from microtape.tensors.from_data import construct
from microtape.tensors.tensor import Tensor
from microtape.tensors.type_names import dtype_of

__all__ = [
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "set_default_tensor_type",
]


class TensorType(type):
    """The type of `FloatTensor` and its like: calling one makes a Tensor, and its instances are those of the dtype."""

    dtype: Any

    def __call__(cls, *data: Any) -> Tensor:
        """As `Tensor(*data)`, in this dtype."""
        made: Tensor = construct(Tensor, data, cls.dtype)
        return made

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.array.dtype == cls.dtype


def _named(dtype: Any) -> Any:
    """The class of the tensors of this dtype."""
    name = f"{dtypes.scalar_name(dtype)}Tensor"
    doc = f"Tensors of dtype {dtype.name}: `{name}([1, 2])` makes one; a tensor of that dtype is an instance."
    return TensorType(name, (), {"dtype": dtype, "__module__": "microtape", "__doc__": doc})


HalfTensor, FloatTensor, DoubleTensor = _named(dtypes.float16), _named(dtypes.float32), _named(dtypes.float64)
ByteTensor, CharTensor, ShortTensor = _named(dtypes.uint8), _named(dtypes.int8), _named(dtypes.int16)
IntTensor, LongTensor, BoolTensor = _named(dtypes.int32), _named(dtypes.int64), _named(dtypes.bool)


def set_default_tensor_type(t: Any) -> None:
    """Set the default dtype to that of a type: `set_default_tensor_type(DoubleTensor)`, or its name."""
    dtypes.set_default_dtype(dtype_of(t))
