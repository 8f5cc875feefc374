"""Formulas with many steps, over large arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microtape.tape.tensor_state import Array

PIECE = 1 << 15  # elements; what a formula makes of so many on the way fits into a processor's cache


def in_pieces(formula: Callable[..., Array], *arrays: Any) -> Any:
    """`formula(*arrays)`, of arrays of one shape, where it looks at each element by itself.

    A large array is taken in pieces: numpy spends most of its time on bringing what is too large for the cache to
    memory and back, and on asking for that memory.
    """
    first = arrays[0]
    count = first.size // PIECE
    if count < 2 or any([array.shape != first.shape for array in arrays]):
        return formula(*arrays)
    pieces = zip(*[np.array_split(array.ravel(), count) for array in arrays], strict=True)
    return np.concatenate([formula(*piece) for piece in pieces]).reshape(first.shape)
