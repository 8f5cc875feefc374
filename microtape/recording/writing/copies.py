"""Read-only copies of arrays: the engine adds into its own in place, and users overwrite theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from microtape.recording.model.model import Value
from microtape.tape.tensor_state import TensorState


def copied(value: Any) -> Value | None:
    """A read-only copy of an array, or of a Tensor's array; None for None."""
    if value is None:
        return None
    return frozen(value.array if isinstance(value, TensorState) else value)


def same_elements(copy: Value, array: Any) -> bool:
    """Whether an array still is what was copied. NaN differs from itself, so that an array with NaN is copied again."""
    now = np.asarray(array)
    return isinstance(copy, np.ndarray) and copy.dtype == now.dtype and np.array_equal(copy, now)


def frozen(array: Any) -> Value:
    """A read-only copy of an array or a number."""
    copy: npt.NDArray[Any] = np.array(array)
    copy.setflags(write=False)
    return copy
