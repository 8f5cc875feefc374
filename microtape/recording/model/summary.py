"""What is kept of an array that is too large to keep: its shape, its statistics, a histogram and a thumbnail."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from microtape.recording.model.model import Summary, Value
from microtape.recording.model.thumbnail import Thumbnail, thumbnail

_EXACT = 1 << 14  # elements; a larger array is summed in its own dtype, and its histogram made of a sample
_BLOCK = 1 << 17  # elements that stay in the processor's cache while they are measured
_ROW = 1 << 12  # numbers that are added in their own dtype
_TINY = 1e-30  # squares of float32 below it lose digits
_CANCELLED = 0.05  # a variance that is a smaller part of the mean square has lost digits
_REPEATED = 16  # of a dimension that repeats the same elements, a thumbnail is made of so many
_BINS = 16
SAMPLED = 1024  # elements of a large array, of which its histogram is made
_LARGE = 1e150

# Where the elements of a sample are: in equal parts of the array, at irregular places, so that no period of it shows.
_PLACES = (np.arange(SAMPLED) + np.arange(SAMPLED) * math.sqrt(1.25) % 1) / SAMPLED

_Numbers = npt.NDArray[np.floating[Any]]  # float32 or float64
_Floats = npt.NDArray[np.float64]


def summarize(array: npt.NDArray[Any], *, pictures: bool = True) -> Summary:
    """Describe an array of any shape and any bool, integer, floating or complex dtype.

    Statistics, histogram and thumbnail cover the finite elements; they are None or empty if there are none. A bool
    counts as 0 or 1, a complex number by its absolute value: `min` and `max` of a complex array are its smallest and
    largest magnitudes. `std` is the population standard deviation (divided by n).

    Of up to 16,384 elements, statistics are computed in float64. Of more, numbers of at most 32 bits are summed in
    float32: `mean` and `std` are then off by at most 1e-5 of the root mean square. The counts of their histogram are
    estimated from 1,024 elements; their sum is exact, as are the minimum, the maximum and all other counts.

    Args:
        array: any shape, also 0-d and empty.
        pictures: also compute the histogram and the thumbnail; otherwise both are empty, which is enough for a line of
            text.
    """
    expanded = [one == 0 for one in array.strides]  # along such a dimension, the same elements are repeated
    once = array[tuple([slice(1) if again else slice(None) for again in expanded])] if any(expanded) else array
    repeats = array.size // once.size if once.size else 1
    with np.errstate(all="ignore"):
        numbers = _as_numbers(once)
        about = _measured(numbers.ravel("K"))  # in the order of memory
        histogram: tuple[int, ...] = ()
        means: Thumbnail = ()
        if pictures and about.min is not None and about.max is not None:
            histogram = _histogram(about.finite, about.min, about.max, about.known * repeats)
        if pictures:
            shown = np.broadcast_to(numbers, shown_repeats(array.shape, expanded)) if repeats > 1 else numbers
            means = thumbnail(shown, finite=about.known == once.size, quick=shown.size > _EXACT)
    return Summary(
        shape=array.shape,
        dtype=str(array.dtype),
        min=about.min,
        max=about.max,
        mean=about.mean,
        std=about.std,
        zeros=about.zeros * repeats,
        nans=about.nans * repeats,
        infs=(once.size - about.known - about.nans) * repeats,
        histogram=histogram,
        thumbnail=means,
        negative_infs=None if array.dtype.kind == "c" else about.negative_infs * repeats,
    )


def shown_repeats(shape: Sequence[int], expanded: Sequence[bool]) -> list[int]:
    """The shape of which a thumbnail is made: of a dimension that repeats the same elements, not all."""
    return [min(side, _REPEATED) if again else side for side, again in zip(shape, expanded, strict=True)]


@functools.lru_cache(256)
def sample_places(count: int) -> npt.NDArray[np.intp]:
    """Which of so many numbers the sample of a histogram has, in the order of memory."""
    return (_PLACES * count).astype(np.intp)


def from_parts(
    shape: tuple[int, ...],
    dtype: str,
    statistics: Sequence[float],
    sample: _Floats,
    repeats: int,
    means: Thumbnail,
) -> Summary:
    """The summary of an array that was measured elsewhere.

    Args:
        shape, dtype: of the array.
        statistics: minimum, maximum, mean / scale, std / scale, the counts of zeros, of NaN, of -inf and of finite
            numbers, and the scale.
        sample: numbers of the array, some of which may be NaN or infinite.
        repeats: how often the array has each number that was measured.
        means: the thumbnail.
    """
    low, high, mean, std, *counts, scale = statistics
    zeros, nans, negative, count = (int(one) * repeats for one in counts)
    infs = math.prod(shape) - nans - count
    signed = None if dtype.startswith("complex") else negative
    about = Summary(shape, dtype, None, None, None, None, zeros, nans, infs, (), means, signed)
    if not count:
        return about
    finite = sample[np.isfinite(sample)]
    histogram = _histogram([finite if finite.size else np.array([low, high])], low, high, count)
    mean, std = (low, 0.0) if low == high else (mean * scale, std * scale)
    return about._replace(min=low, max=high, mean=mean, std=std, histogram=histogram)


def reshaped(summary: Summary, array: npt.NDArray[Any]) -> Summary:
    """The summary of an array that shows the elements of `summary` in another shape, which only a picture notices."""
    numbers = _as_numbers(array)
    with np.errstate(all="ignore"):
        means = thumbnail(numbers, finite=not (summary.nans or summary.infs), quick=numbers.size > _EXACT)
    return summary._replace(shape=array.shape, thumbnail=means)


def is_unread(about: Summary) -> bool:
    """Whether nothing is known of the elements: an array of finite ones has a minimum, and others are counted."""
    return about.min is None and not (about.nans or about.infs) and math.prod(about.shape) > 0


def is_finite(value: Value | None) -> bool:
    """Whether a value has neither NaN nor infinity, as far as it was recorded."""
    if isinstance(value, Summary):
        return not (value.nans or value.infs)
    return value is None or value.dtype.kind not in "fc" or bool(np.isfinite(value).all())


def has_nan(value: Value | None) -> bool:
    """Whether a value contains a NaN, as far as it was recorded."""
    if isinstance(value, Summary):
        return value.nans > 0
    return value is not None and value.dtype.kind in "fc" and bool(np.isnan(value).any())


def is_zero(value: Value | None) -> bool:
    """Whether all elements of a value are known to be zeros."""
    if isinstance(value, Summary):
        return value.min == value.max == 0 and is_finite(value)
    return value is not None and not bool(np.any(value))


class _Measured(NamedTuple):
    """What is known of numbers after one look at them. `finite` are the finite ones, in blocks; `known` is how many."""

    min: float | None
    max: float | None
    mean: float | None
    std: float | None
    zeros: int
    nans: int
    negative_infs: int
    known: int
    finite: list[_Numbers]


def _as_numbers(array: npt.NDArray[Any]) -> _Numbers:
    """The elements as float32 or float64, without loss. A magnitude beyond float64 becomes the largest float64."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "c":
        sizes = np.abs(array.astype(np.complex128, copy=False))
        sizes = np.where(np.isinf(sizes) & np.isfinite(array), np.finfo(np.float64).max, sizes)
        return np.where(np.isnan(array), np.nan, sizes)  # also where the real part is infinite, the imaginary one NaN
    small = size <= (4 if kind == "f" else 2)
    numbers: _Numbers = array.astype(np.float32 if small else np.float64, copy=False)
    return numbers


def _measured(numbers: _Numbers) -> _Measured:
    """The statistics of one-dimensional numbers, block by block."""
    zeros = nans = negative = count = 0
    low, high, total, squares = math.inf, -math.inf, 0.0, 0.0
    finite = []
    quick = numbers.size > _EXACT
    for start in range(0, numbers.size, _BLOCK):
        block = numbers[start : start + _BLOCK]
        least, most = float(block.min()), float(block.max())
        if not (math.isfinite(least) and math.isfinite(most)):
            nans += int(np.count_nonzero(np.isnan(block)))
            negative += int(np.count_nonzero(block == -np.inf))
            block = block[np.isfinite(block)]
            if not block.size:
                continue
            least, most = float(block.min()), float(block.max())
        low, high, count = min(low, least), max(high, most), count + block.size
        if least <= 0 <= most:
            zeros += int(np.count_nonzero(block == 0))
        finite.append(block)
        if quick:
            sums = _sums(block)
            total, squares = total + sums[0], squares + sums[1]
    if not count:
        return _Measured(None, None, None, None, 0, nans, negative, 0, [])
    mean, square = total / count, squares / count
    variance = square - mean * mean
    if low == high:
        mean, std = low, 0.0
    elif quick and _TINY < square < math.inf and variance > _CANCELLED * square:
        std = math.sqrt(variance)
    else:
        mean, std = _mean_and_std(finite, count, max(abs(low), abs(high)))
    return _Measured(low, high, mean, std, zeros, nans, negative, count, finite)


def _sums(block: _Numbers) -> tuple[float, float]:
    """The sum of the numbers and of their squares: each row of a few thousand in their dtype, the rows in float64."""
    even = block.size // _ROW * _ROW
    rows = block[:even].reshape(-1, _ROW)
    total = float(np.add.reduce(rows @ _ones(_ROW, block.dtype), dtype=np.float64))
    squares = float(np.add.reduce(np.vecdot(rows, rows), dtype=np.float64))
    if even < block.size:
        rest = block[even:].astype(np.float64)
        total, squares = total + float(rest.sum()), squares + float(rest.dot(rest))
    return total, squares


@functools.lru_cache
def _ones(count: int, dtype: npt.DTypeLike) -> _Numbers:
    return np.ones(count, dtype)


def _mean_and_std(blocks: list[_Numbers], count: int, largest: float) -> tuple[float, float]:
    """The mean and standard deviation in float64; the numbers are scaled if their squares would over- or underflow."""
    scale = 1.0 if 1e-100 < largest < 1e150 else largest
    mean = sum([float(_scaled(block, scale).sum()) for block in blocks]) / count
    squares = 0.0
    for block in blocks:
        deviations = _scaled(block, scale) - mean
        squares += float((deviations * deviations).sum())
    return mean * scale, math.sqrt(squares / count) * scale


def _scaled(block: _Numbers, scale: float) -> _Floats:
    numbers = block.astype(np.float64, copy=False)
    return numbers / scale if scale != 1.0 else numbers


def _histogram(finite: list[_Numbers], low: float, high: float, total: int) -> tuple[int, ...]:
    """Counts in equal bins from `low` to `high`, `total` in all; a single bin if all numbers are the same."""
    if low == high:
        return (total,)
    count = sum([block.size for block in finite])
    sample = _sample(finite, count) if count > _EXACT else np.concatenate(finite).astype(np.float64, copy=False)
    if max(-low, high) > _LARGE or high - low < 1 / _LARGE:  # a difference could overflow, or a bin's width underflow
        scale = max(abs(low), abs(high))
        sample, low, high = sample / scale, low / scale, high / scale
    width = (high - low) / _BINS
    bins = ((sample - low) / width).astype(np.intp)  # times an inverse would round: 103 of 0 to 206 is in the ninth bin
    counts = np.bincount(bins, minlength=_BINS + 1).tolist()
    last = counts.pop()
    counts[-1] += last  # the largest numbers belong to the last bin
    if sample.size == total:
        return tuple(counts)
    upto = [one * total // sample.size for one in accumulate(counts)]
    shares = [one - before for one, before in zip(upto, [0, *upto], strict=False)]
    for end in (0, -1):  # where the smallest and the largest number are, whether they were in the sample or not
        if not shares[end]:
            shares[shares.index(max(shares))] -= 1
            shares[end] = 1
    return tuple(shares)


def _sample(blocks: list[_Numbers], count: int) -> _Floats:
    places = sample_places(count)
    if len(blocks) == 1:
        return blocks[0][places].astype(np.float64)
    ends = np.cumsum([block.size for block in blocks])
    cuts = [0, *np.searchsorted(places, ends)]
    taken = [
        block[places[first:last] - (end - block.size)]
        for block, end, first, last in zip(blocks, ends, cuts, cuts[1:], strict=False)
    ]
    return np.concatenate(taken).astype(np.float64)
