"""`x.type()`: the names that torch had for dtypes before it had dtypes, such as "torch.FloatTensor"."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.basics import dtypes
from microtape.basics.devices import NO_OTHER
from microtape.ops.shape.casting import cast
from microtape.tape.tensor_state import TensorState

_DTYPES = {
    f"{dtypes.scalar_name(dtype)}Tensor": dtype
    for dtype in map(np.dtype, ("f2", "f4", "f8", "u1", "i1", "i2", "i4", "i8", "?", "c8", "c16"))
}


def type_of(x: TensorState, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of x's type, such as "microtape.FloatTensor"; with a dtype, class or name, x in that dtype.

    Raises ValueError for an unknown name, RuntimeError for a type on another device.
    """
    if dtype is None:
        return f"microtape.{dtypes.scalar_name(x.array.dtype)}Tensor"
    return cast(x, dtype_of(dtype))


def dtype_of(kind: Any) -> Any:
    """The dtype that a class, a name or a dtype means. Raises as `type_of` does."""
    if not isinstance(kind, str):
        return getattr(kind, "dtype", kind)
    space, _, name = kind.rpartition(".")
    if space.endswith(".cuda"):
        raise RuntimeError(f"{NO_OTHER}, got '{kind}'")
    if space not in ("torch", "microtape") or name not in _DTYPES:
        raise ValueError(f"invalid type: '{kind}'")
    return _DTYPES[name]
