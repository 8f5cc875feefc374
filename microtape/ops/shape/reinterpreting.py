"""The same memory read as numbers of another dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.basics.dtypes import scalar_name
from microtape.tape.inference import mark_if_inference
from microtape.tape.tensor_state import TensorState, ensure_version, memory_owner, new_tensor
from microtape.tape.watch import watch


def names_dtype(one: Any) -> bool:
    """Whether this is a dtype: numpy's, or ours, which holds numpy's. Arrays and numbers of numpy hold one, too."""
    if isinstance(one, np.dtype | type):
        return True
    return isinstance(getattr(one, "dtype", None), np.dtype) and not isinstance(one, np.generic | np.ndarray)


def view_as_dtype(x: TensorState, dtype: Any) -> Any:
    """x's memory as numbers of that dtype: it shares x's version counter, and has no derivative.

    Numbers of another size change the size of the last dimension. Raises RuntimeError if that is impossible.
    """
    array, wanted = x.array, np.dtype(dtype)
    if wanted.itemsize != array.itemsize:
        _check(array, wanted)
    result = mark_if_inference(new_tensor(type(x), array.view(wanted)))
    result.version = ensure_version(x)
    if (watcher := watch.watcher) is not None:
        watcher.without_history("view", (x,), result)
    return result


def _check(array: Any, wanted: Any) -> None:
    """Raise RuntimeError if the last dimension cannot be read as numbers of the other size.

    Larger numbers have to be aligned within the whole memory, too. NB: the memory of an array of numpy's begins where
    numpy's does, not at the first element of `from_numpy`'s argument.
    """
    way = f"to view {scalar_name(array.dtype)} as {scalar_name(wanted)} (different element sizes)"
    if array.ndim == 0:
        raise RuntimeError(f"self.dim() cannot be 0 {way}")
    ratio = wanted.itemsize // array.itemsize
    if ratio and array.shape[-1] % ratio:
        raise RuntimeError(f"self.size(-1) must be divisible by {ratio} {way}, but got {array.shape[-1]}")
    if ratio and (offset := (_address(array) - _address(memory_owner(array))) // array.itemsize) % ratio:
        raise RuntimeError(f"self.storage_offset() must be divisible by {ratio} {way}, but got {offset}")
    *strides, stride = (one // array.itemsize for one in array.strides)
    if array.shape[-1] > 1 and stride != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 {way}, but got {stride}")
    for dim, one in enumerate(strides if ratio else ()):
        if one % ratio:
            raise RuntimeError(f"self.stride({dim}) must be divisible by {ratio} {way}, but got {one}")


def _address(array: Any) -> int:
    """Where the first element is."""
    address: int = array.__array_interface__["data"][0]
    return address
