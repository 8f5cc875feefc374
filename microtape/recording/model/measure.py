"""Measures many arrays together: a recording has tens of thousands, and most are small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_TOGETHER = 1 << 16  # elements that are measured in one call


def portions(arrays: list[npt.NDArray[Any]]) -> Iterator[list[npt.NDArray[Any]]]:
    """The arrays that are not empty, in groups of few enough elements, so that measuring them takes little memory."""
    arrays = [one for one in arrays if one.size]
    start = elements = 0
    for end, one in enumerate(arrays, 1):
        elements += one.size
        if elements >= _TOGETHER:
            yield arrays[start:end]
            start, elements = end, 0
    if start < len(arrays):
        yield arrays[start:]


def measured(arrays: Sequence[npt.NDArray[Any]]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The largest absolute values and the root mean squares of arrays of one dtype."""
    sizes = np.array([one.size for one in arrays])
    starts = np.cumsum(sizes) - sizes
    with np.errstate(all="ignore"):
        magnitudes = np.abs(np.concatenate(arrays, axis=None)).astype(np.float64, copy=False)
        largest = np.maximum.reduceat(magnitudes, starts)
        scale = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)  # so that no square under- or overflows
        np.divide(magnitudes, np.repeat(scale, sizes), out=magnitudes)
        squares = np.add.reduceat(np.square(magnitudes, out=magnitudes), starts)
        rms = np.sqrt(squares / sizes) * scale
    return largest, rms
