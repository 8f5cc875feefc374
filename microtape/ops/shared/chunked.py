"""Formulas with many steps, over large arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microtape.tape.tensor_state import Array

_CHUNK = 1 << 15  # elements; the intermediate results of a formula for so many fit into a processor's cache


def in_chunks(formula: Callable[..., Array], *arrays: Any) -> Any:
    """`formula(*arrays)` for an elementwise formula of arrays of one shape.

    Large arrays are processed in chunks: numpy would spend most of its time allocating intermediate results and moving
    them between memory and cache.
    """
    first = arrays[0]
    count = first.size // _CHUNK
    if count < 2 or any([array.shape != first.shape for array in arrays]):
        return formula(*arrays)
    chunks = zip(*[np.array_split(array.ravel(), count) for array in arrays], strict=True)
    return np.concatenate([formula(*chunk) for chunk in chunks]).reshape(first.shape)
