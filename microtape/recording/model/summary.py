"""What is kept of an array that is too large to keep: its shape, its statistics, a histogram and a thumbnail."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from microtape.recording.model.model import Summary, Value

_BINS = 16
_THUMBNAIL_ROWS, _THUMBNAIL_COLUMNS = 8, 16

_Floats = npt.NDArray[np.float64]


def summarize(array: npt.NDArray[Any], *, pictures: bool = True) -> Summary:
    """Describe an array of any shape and any bool, integer, floating or complex dtype.

    Statistics, histogram and thumbnail cover the finite elements, computed in float64; they are None or empty if there
    are none. A bool counts as 0 or 1, a complex number by its absolute value: `min` and `max` of a complex array are
    its smallest and largest magnitudes. `std` is the population standard deviation (divided by n).

    Args:
        array: any shape, also 0-d and empty.
        pictures: also compute the histogram and the thumbnail; otherwise both are empty, which is enough for a line of
            text.
    """
    numbers, finite = _as_floats(array)
    kept = numbers.ravel() if finite.all() else numbers[finite]
    nans = int(np.count_nonzero(np.isnan(array)))
    low = high = mean = std = None
    if kept.size:
        low, high = float(kept.min()), float(kept.max())
        mean, std = _mean_and_std(kept, max(abs(low), abs(high)))
    return Summary(
        shape=array.shape,
        dtype=str(array.dtype),
        min=low,
        max=high,
        mean=mean,
        std=std,
        zeros=int(array.size - np.count_nonzero(array)),
        nans=nans,
        infs=int(array.size - kept.size - nans),
        histogram=_histogram(kept, low, high) if pictures and low is not None and high is not None else (),
        thumbnail=_thumbnail(numbers, finite) if pictures else (),
    )


def is_finite(value: Value | None) -> bool:
    """Whether a value has neither NaN nor infinity, as far as it was recorded."""
    if isinstance(value, Summary):
        return not (value.nans or value.infs)
    return value is None or value.dtype.kind not in "fc" or bool(np.isfinite(value).all())


def _as_floats(array: npt.NDArray[Any]) -> tuple[_Floats, npt.NDArray[np.bool_]]:
    """The elements as float64, and which are finite. A magnitude beyond float64 becomes the largest float64."""
    finite = np.isfinite(array)
    if array.dtype.kind == "c":
        with np.errstate(over="ignore", invalid="ignore"):
            magnitude = np.abs(array).astype(np.float64)
        return np.where(finite & np.isinf(magnitude), np.finfo(np.float64).max, magnitude), finite
    return array.astype(np.float64), finite


def _mean_and_std(numbers: _Floats, largest: float) -> tuple[float, float]:
    """The mean and standard deviation of finite numbers, without overflow: huge ones are scaled to at most 1 first."""
    scale = largest if largest > 1e150 else 1.0
    scaled = numbers / scale if scale != 1.0 else numbers
    mean = scaled.sum() / scaled.size  # what np.mean and np.std compute, in half of their time for small arrays
    deviations = scaled - mean
    return float(mean) * scale, math.sqrt((deviations * deviations).sum() / scaled.size) * scale


def _histogram(numbers: _Floats, low: float, high: float) -> tuple[int, ...]:
    """Counts in equal bins from `low` to `high`; a single bin if all numbers are the same."""
    if low == high:
        return (numbers.size,)
    scale = max(abs(low), abs(high))  # so that high - low cannot overflow
    position = (numbers / scale - low / scale) / (high / scale - low / scale)
    bins = np.minimum((position * _BINS).astype(np.int64), _BINS - 1)
    return tuple(np.bincount(bins, minlength=_BINS).tolist())


def _thumbnail(numbers: _Floats, finite: npt.NDArray[np.bool_]) -> tuple[tuple[float | None, ...], ...]:
    """Block means, to four digits, of the array as a matrix (leading dimensions stacked); None: no finite element."""
    if not numbers.size:
        return ()
    columns = numbers.shape[-1] if numbers.ndim else 1
    matrix = np.where(finite, numbers, 0.0).reshape(-1, columns)
    largest = float(np.abs(matrix).max())
    scale = largest if largest > 1e150 else 1.0  # so that no sum overflows
    totals = _block_sums(matrix / scale)
    counts = _block_sums(finite.reshape(-1, columns).astype(np.float64))
    means = np.divide(totals, counts, out=np.zeros_like(totals), where=counts > 0) * scale
    return tuple(
        tuple(_four_digits(mean) if count else None for mean, count in zip(*rows, strict=True))
        for rows in zip(means.tolist(), counts.tolist(), strict=True)
    )


def _four_digits(number: float) -> float:
    rounded = float(f"{number:.3e}")
    return rounded if math.isfinite(rounded) else number  # the largest numbers would round up to infinity


def _block_sums(matrix: _Floats) -> _Floats:
    for axis, most in enumerate((_THUMBNAIL_ROWS, _THUMBNAIL_COLUMNS)):
        side = matrix.shape[axis]
        blocks = min(side, most)
        starts = np.arange(blocks) * side // blocks
        matrix = np.add.reduceat(matrix, starts, axis=axis)
    return matrix
