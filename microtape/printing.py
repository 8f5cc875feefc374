"""How a tensor prints: as torch does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from microtape import dtypes
from microtape.errors import AutogradError
from microtape.tensor_state import requires_grad

if TYPE_CHECKING:
    from microtape.tensor import Tensor


def represent(tensor: Tensor) -> str:
    """`tensor([1., 2.], requires_grad=True)`; the dtype only where it is not the default."""
    prefix = "tensor("
    with np.printoptions(precision=4, threshold=1000, edgeitems=3, linewidth=80 - len(prefix), suppress=False):
        body = np.array2string(tensor.array, separator=", ", prefix=prefix, formatter=None)
    if not tensor.array.ndim:
        body = body if tensor.array.dtype.kind != "f" else format_scalar(float(tensor.array))
    usual = (dtypes.get_default_dtype(), dtypes.int64, dtypes.bool)
    parts = [body]
    if tensor.array.dtype not in usual:
        parts.append(f"dtype=microtape.{tensor.array.dtype.name}")
    try:
        node = tensor.grad_fn
    except AutogradError:
        parts.append("grad_fn=<Invalid>")
    else:
        if node is not None:
            parts.append(f"grad_fn=<{node.name().rpartition('::')[2]}>")
        elif requires_grad(tensor):
            parts.append("requires_grad=True")
    return prefix + ", ".join(parts) + ")"


def format_scalar(value: float) -> str:
    """A 0-d float with four decimals, or none where they are all zero."""
    if not np.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e8:
        return f"{value:.0f}."
    return f"{value:.4f}" if 1e-4 <= abs(value) < 1e8 else f"{value:.4e}"
