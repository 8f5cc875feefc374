"""The memory of a tensor as an array of numpy's, read through its address: no operation of torch's runs."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import PYFUNCTYPE, c_char, c_ssize_t, c_void_p, py_object, pythonapi
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from microtape.recording.file.packing import DTYPES
from microtape.recording.pytorch.reading.modes import WithoutDispatch, WithoutFunctionModes

_Array = npt.NDArray[Any]
_torch: Any = torch  # the parts of torch that are not typed

bytes_at = PYFUNCTYPE(py_object, c_void_p, c_ssize_t)(("PyBytes_FromStringAndSize", pythonapi))
"""The bytes at an address; quicker than `string_at` of ctypes, which is a function of Python's."""

NUMPY = {getattr(torch, name): np.dtype(name) for name in DTYPES if hasattr(torch, name)}
"""numpy's dtypes, by torch's."""
BOOL = NUMPY[torch.bool]
QUICK = {one: dtype for one, dtype in NUMPY.items() if dtype is not BOOL and not one.is_complex}
"""Those whose elements lie in memory as they are, in a tensor that is not the negative of another one."""


class Layout(NamedTuple):
    """What the bytes of a tensor's memory stand for."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    is_expanded: bool  # along some dimension, the same elements are repeated
    is_conj: bool  # the memory has the conjugates of the elements
    is_neg: bool  # the memory has their negatives

    @property
    def name(self) -> str:
        """torch's name of the dtype."""
        return str(self.dtype).removeprefix("torch.")

    def decoded(self, raw: _Array) -> _Array:
        """The elements, from raw memory; those of a dtype that numpy lacks as float32 or complex64."""
        array = raw
        if self.dtype not in NUMPY:
            array = _widened(raw, self.dtype)
        elif self.dtype is torch.bool:  # memory that was never written to may hold more than 0 and 1
            array = np.not_equal(raw, 0)
        if self.is_conj:
            array = array.conj()
        if self.is_neg:
            array = np.negative(array)
        return np.broadcast_to(array, self.shape) if self.is_expanded else array  # an expanded one stays small


def layout_of(tensor: Any) -> Layout:
    """The layout of a strided tensor."""
    return Layout(tuple(tensor.shape), tensor.dtype, 0 in tensor.stride(), tensor.is_conj(), tensor.is_neg())


def raw_of(tensor: Any) -> _Array:
    """The tensor's own memory, each element once. Raises ValueError if the elements are not there."""
    strides = tensor.stride()
    shape = [side if stride else min(side, 1) for side, stride in zip(tensor.shape, strides, strict=True)]
    dtype = NUMPY.get(tensor.dtype)
    if dtype is None:
        dtype = np.dtype(f"V{tensor.element_size()}")
    elif dtype is BOOL:
        dtype = np.dtype(np.uint8)
    return memory_of(tensor, shape, strides, dtype)


def elements_of(tensor: Any) -> _Array:
    """The elements, in the tensor's own memory if numpy has its dtype. Raises ValueError if they are not there."""
    return layout_of(tensor).decoded(raw_of(tensor))


def is_lazy(tensor: Any) -> bool:
    """Whether the memory has the conjugates or the negatives of the elements."""
    return bool(tensor.is_conj() or tensor.is_neg())


def sample_of(tensor: Any, most: int) -> _Array | None:
    """A copy of about `most` evenly spaced elements, in the order of the memory; None if they cannot be read."""
    try:
        if not tensor.is_cpu:
            return None
        with WithoutFunctionModes():
            dtype, size = QUICK.get(tensor.dtype), tensor.nbytes
            if dtype is not None and size and tensor.is_contiguous() and not tensor.is_neg():
                if size <= most * dtype.itemsize:
                    return np.frombuffer(bytes_at(address_of(tensor, size), size), dtype)
                elements = memory_of(tensor, (size // dtype.itemsize,), (1,), dtype)
            else:
                elements = elements_of(tensor).ravel(order="K")
    except Exception:
        return None
    return np.array(elements[:: max(1, elements.size // most)])


def memory_of(tensor: Any, shape: Sequence[int], strides: Sequence[int], dtype: np.dtype[Any]) -> _Array:
    """The tensor's memory, not copied: its first elements along each dimension, as many as `shape` says."""
    if 0 in shape:
        return np.empty(shape, dtype)
    steps = [stride * dtype.itemsize for stride in strides]
    size = sum([(side - 1) * step for side, step in zip(shape, steps, strict=True)]) + dtype.itemsize
    elements: Any = (c_char * size).from_address(address_of(tensor, size))
    array: _Array = np.ndarray(shape, dtype, elements, strides=steps)
    array.setflags(write=False)
    return array


def address_of(tensor: Any, size: int) -> int:
    """Where the tensor's first element is. Raises ValueError if not all its bytes, of which there are `size`, exist."""
    address: int = tensor.data_ptr()
    end = tensor.storage_offset() * tensor.element_size() + size
    if (size and not address) or end > tensor.untyped_storage().nbytes():
        raise ValueError("a tensor without elements")
    return address


def _widened(raw: _Array, dtype: Any) -> _Array:
    """Elements of a dtype that numpy lacks, as float32 or complex64."""
    wide = torch.complex64 if dtype.is_complex else torch.float32
    with WithoutDispatch():
        bits = torch.from_numpy(np.array(raw, order="C").view(f"i{raw.itemsize}"))
        array: _Array = bits.view(dtype).to(wide).numpy()
    return array.reshape(raw.shape)
