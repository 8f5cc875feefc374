"""Undoing broadcasting: what was repeated on the way forward is summed on the way back."""

from __future__ import annotations

from typing import Any

import numpy as np


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """`g`, which has a shape that `shape` broadcasts to, summed down to `shape`. Takes arrays and Tensors."""
    lead = len(g.shape) - len(shape)
    repeated = tuple(i + lead for i, size in enumerate(shape) if size == 1 and g.shape[i + lead] != 1)
    dims = (*range(lead), *repeated)
    if isinstance(g, np.ndarray):
        return np.add.reduce(g, dims).reshape(shape)
    return g.sum(dims).reshape(shape)
