"""Read-only copies of arrays: the engine adds into its own in place, and users overwrite theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from microtape.recording.model.model import Value
from microtape.tape.tensor_state import TensorState

_BITS = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def copied(value: Any) -> Value | None:
    """A read-only copy of an array, or of a Tensor's array; None for None."""
    if value is None:
        return None
    return frozen(value.array if isinstance(value, TensorState) else value)


def same_elements(copy: Value, array: Any) -> bool:
    """Whether an array is to the bit what was copied, whatever its strides."""
    now = np.asarray(array)
    if not isinstance(copy, np.ndarray) or copy.dtype != now.dtype or copy.shape != now.shape:
        return False
    bits = _BITS.get(now.itemsize, now.dtype)  # two of complex128 are compared as numbers
    return bool((copy.view(bits) == now.view(bits)).all())


def frozen(array: Any) -> Value:
    """A read-only copy of an array or a number."""
    copy: npt.NDArray[Any] = np.array(array)
    copy.setflags(write=False)
    return copy
