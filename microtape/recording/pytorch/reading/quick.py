"""Copies of usual tensors: those of the processor, whose elements numpy reads as they lie in memory.

Most tensors are usual ones, and the program waits while each is copied. So nothing is asked twice here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from microtape.recording.pytorch.reading.memory import QUICK, bytes_at, memory_of

_Array = npt.NDArray[Any]
_STRIDED = torch.strided


def quick_dtype(tensor: Any) -> np.dtype[Any] | None:
    """numpy's dtype of a usual tensor; None for any other."""
    dtype = QUICK.get(tensor.dtype)
    if dtype is None or tensor.layout is not _STRIDED or not tensor.is_cpu or tensor.is_neg():
        return None
    return dtype


def quick_copy(tensor: Any, dtype: np.dtype[Any]) -> _Array | None:
    """A copy of a usual tensor; None if its elements are not there, or shown repeatedly.

    Raises RuntimeError for some tensors that have no memory of their own.
    """
    shape, steps = tensor.shape, None
    if not tensor.is_contiguous():
        strides = tensor.stride()
        if not is_dense(shape, strides):
            return frozen(np.array(memory_of(tensor, shape, strides, dtype))) if 0 not in strides else None
        steps = steps_of(strides, dtype)
    address, length = tensor.data_ptr(), tensor.nbytes
    if not address or tensor.storage_offset() * dtype.itemsize + length > tensor.untyped_storage().nbytes():
        return None
    return np.ndarray(tuple(shape), dtype, bytes_at(address, length), 0, steps)  # a `torch.Size` takes longer


def frozen(array: _Array) -> _Array:
    """The array, from now on read-only."""
    array.setflags(write=False)
    return array


@lru_cache(1024)
def is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether a tensor shows each element of a piece of memory once."""
    expected = 1
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


@lru_cache(1024)
def steps_of(strides: Sequence[int], dtype: np.dtype[Any]) -> tuple[int, ...]:
    """The strides in bytes."""
    return tuple([stride * dtype.itemsize for stride in strides])
