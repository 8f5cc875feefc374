"""The summary of an array against the formulas of its statistics, computed in float64 from all elements."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from microtape.recording.model import summary
from microtape.recording.model.model import Summary
from microtape.recording.model.summary import summarize

BINS = 16
DTYPES = ["?", "i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", ">f4"]
SINGLE = {"b1", "i1", "u1", "i2", "f2", "f4"}  # are summed in float32 if they are large


def numbers_of(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The elements in float64, of complex ones the magnitudes, and which of them are finite."""
    with np.errstate(all="ignore"):
        numbers = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
        finite = np.isfinite(numbers)
        numbers = np.abs(numbers) if array.dtype.kind == "c" else numbers
    return np.where(finite & np.isinf(numbers), np.finfo(np.float64).max, numbers), finite


def exact(array: np.ndarray) -> Summary:
    """The statistics and the histogram, and the mean of each block of the array."""
    numbers, finite = numbers_of(array)
    kept = numbers[finite]
    counts = {
        "shape": array.shape,
        "dtype": str(array.dtype),
        "zeros": int((array == 0).sum()),
        "nans": int(np.isnan(array).sum()),
        "infs": int((~finite & ~np.isnan(array)).sum()),
        "negative_infs": None if array.dtype.kind == "c" else int((array == -np.inf).sum()),
        "thumbnail": block_means(numbers, finite),
    }
    if not kept.size:
        return Summary(min=None, max=None, mean=None, std=None, histogram=(), **counts)
    low, high = float(kept.min()), float(kept.max())
    scale = max(abs(low), abs(high)) or 1.0
    scaled = kept / scale
    mean = math.fsum(scaled) / kept.size
    std = math.sqrt(math.fsum((scaled - mean) ** 2) / kept.size)
    histogram = (kept.size,)
    if low != high:
        position = (scaled - low / scale) / (high / scale - low / scale)
        bins = np.minimum((position * BINS).astype(int), BINS - 1)
        histogram = tuple(np.bincount(bins, minlength=BINS).tolist())
    return Summary(min=low, max=high, mean=mean * scale, std=std * scale, histogram=histogram, **counts)


def block_means(numbers: np.ndarray, finite: np.ndarray) -> Any:
    if not numbers.size:
        return ()
    width = numbers.shape[-1] if numbers.ndim else 1
    matrix, known = numbers.reshape(-1, width), finite.reshape(-1, width)
    rows, columns = (blocks(side, most) for side, most in zip(matrix.shape, (8, 16), strict=True))
    return tuple(
        tuple(block_mean(matrix[a:b, c:d], known[a:b, c:d]) for c, d in pairwise(columns)) for a, b in pairwise(rows)
    )


def blocks(side: int, most: int) -> list[int]:
    count = min(side, most)
    return [i * side // count for i in range(count + 1)]


def block_mean(block: np.ndarray, known: np.ndarray) -> float | None:
    kept = block[known]
    if not kept.size:
        return None
    scale = float(np.abs(kept).max()) or 1.0  # the sum of the largest numbers overflows
    return math.fsum(kept / scale) / kept.size * scale


def assert_describes(about: Summary, array: np.ndarray, tolerance: float, *, sampled: bool = False) -> None:
    """Counts and ends are exact; the rest within `tolerance` of the root mean square, the thumbnail to four digits.

    NB: numpy gives the magnitude of a complex number up to its last bit, in which layouts differ.
    """
    told = exact(array)
    names = ("shape", "dtype", "zeros", "nans", "infs", "negative_infs")
    assert [getattr(about, name) for name in names] == [getattr(told, name) for name in names]
    last_bit = 2 * float(np.finfo(array.dtype).eps) if array.dtype.kind == "c" else 0.0
    assert (about.min, about.max) == (
        pytest.approx(told.min, rel=last_bit, abs=0),
        pytest.approx(told.max, rel=last_bit, abs=0),
    )
    assert sum(about.histogram) == array.size - told.nans - told.infs
    assert [len(row) for row in about.thumbnail] == [len(row) for row in told.thumbnail]
    if told.min is None or told.max is None or told.mean is None or told.std is None:
        assert (about.mean, about.std, about.histogram) == (None, None, ())
        assert about.thumbnail == told.thumbnail
        return
    largest = max(abs(told.min), abs(told.max)) or 1.0
    size = math.hypot(told.mean / largest, told.std / largest)
    assert about.mean is not None
    assert about.std is not None
    assert abs(about.mean / largest - told.mean / largest) <= tolerance * size
    assert abs(about.std / largest - told.std / largest) <= tolerance * size
    if not sampled:
        assert_counts(about.histogram, array, told.min, told.max)
    for mine, cell in zip(sum(about.thumbnail, ()), sum(told.thumbnail, ()), strict=True):
        assert (mine is None) == (cell is None)
        if mine is not None and cell is not None:  # to four digits
            assert abs(mine / largest - cell / largest) <= 6e-4 * abs(cell / largest) + tolerance


def assert_counts(histogram: tuple[int, ...], array: np.ndarray, low: float, high: float) -> None:
    """An element is in the bin in which it is, by fractions; if its place is rounded, it may be across an edge."""
    numbers, finite = numbers_of(array)
    if low == high:
        assert histogram == (int(finite.sum()),)
        return
    span = Fraction(high) - Fraction(low)
    places = [(Fraction(one) - Fraction(low)) * BINS / span for one in numbers[finite].tolist()]
    is_rounded = array.dtype.kind not in "biu" or array.dtype.itemsize > 4
    rounding = is_rounded * BINS * 2.0**-50 * float(1 + max(abs(Fraction(low)), abs(Fraction(high))) / span)
    for edge, below in enumerate(accumulate(histogram[:-1]), 1):
        assert sum(one < edge - rounding for one in places) <= below <= sum(one < edge + rounding for one in places)


def tolerance_of(array: np.ndarray) -> float:
    return 1e-5 if array.dtype.str[1:] in SINGLE else 1e-12


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    """Arrays of any dtype and any elements, also transposed, sliced, reversed and expanded ones."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    shape = draw(npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=9))
    array = draw(npst.arrays(dtype, shape))
    if draw(st.booleans()) and array.ndim:
        array = array.transpose(draw(st.permutations(range(array.ndim))))
    if draw(st.booleans()) and array.ndim:
        array = array[..., :: draw(st.sampled_from([-1, 2]))]
    if draw(st.booleans()):
        array = np.broadcast_to(array, (draw(st.integers(1, 4)), *array.shape))
    if draw(st.booleans()):
        array = np.broadcast_to(array[..., None], (*array.shape, draw(st.integers(1, 4))))
    return array


@example(np.full((3, 3, 1, 3), 1.7976931348623157e308j))
@example(np.array([103, 0, 206], np.uint8))
@given(arrays())
def test_a_summary_has_the_statistics_of_all_elements(array: np.ndarray) -> None:
    assert_describes(summarize(array), array, 1e-12)


@given(st.integers(-1000, 1000), st.integers(1, 100_000), st.lists(st.integers(0, BINS), max_size=9))
def test_an_integer_at_an_edge_is_in_the_bin_above(low: int, width: int, edges: list[int]) -> None:
    array = np.array([low + edge * width for edge in (0, BINS, *edges)], np.int32)
    assert_describes(summarize(array), array, 1e-12)


@given(arrays())
def test_a_large_array_is_measured_in_blocks_of_its_own_dtype(array: np.ndarray) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summary, "_EXACT", 5)
        patch.setattr(summary, "_BLOCK", 16)
        patch.setattr(summary, "_ROW", 4)
        about = summarize(array)
    assert_describes(about, array, tolerance_of(array), sampled=True)


NORMAL = np.random.default_rng(0).standard_normal(200_000)
RELU = np.maximum(NORMAL, 0)
SHAPES = {
    "vector": (200_000,),
    "square": (400, 500),
    "narrow": (50_000, 4),
    "wide": (4, 50_000),
    "four": (10, 40, 20, 25),
}


def with_some(*specials: float) -> np.ndarray:
    array = NORMAL.copy()
    array[1000 : 1000 + len(specials)] = specials
    return array


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("order", ["C", "F", "permuted", "strided"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_large_array_of_any_layout(shape: tuple[int, ...], order: str, dtype: type) -> None:
    array = RELU.astype(dtype).reshape(shape)
    if order == "F":
        array = np.asfortranarray(array)
    elif order == "permuted":
        array = np.moveaxis(array, 0, -1)
    elif order == "strided":
        array = np.repeat(array, 2, axis=-1)[..., ::2]
    assert_describes(summarize(array), array, tolerance_of(array), sampled=True)


@pytest.mark.parametrize(
    "numbers",
    [
        NORMAL + 5,
        NORMAL * 1e-3 + 1,
        NORMAL * 1e-7 - 1,
        NORMAL * 1e-30,
        NORMAL * 1e-42,
        NORMAL * 1e30,
        NORMAL * 1e37,
        np.abs(NORMAL) * 3e37,
        np.where(NORMAL > 4, 3e38, 1e-20),
        np.where(NORMAL > 0, 3.4e38, -3.4e38),
        np.full(200_000, 0.1),
        np.zeros(200_000),
        np.copysign(0.0, NORMAL),
        with_some(np.nan),
        with_some(np.inf, -np.inf, np.nan, -0.0, 0.0),
        np.full(200_000, np.nan),
        np.where(np.arange(200_000) == 150_000, 2.0, np.nan),
        np.where(np.arange(200_000) < 100_000, np.inf, NORMAL),
        np.where(NORMAL > 0, NORMAL * 3e37, np.inf),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_a_large_array_of_special_numbers(numbers: np.ndarray, dtype: type) -> None:
    array = numbers.astype(dtype).reshape(500, 400)
    assert_describes(summarize(array), array, tolerance_of(array), sampled=True)


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int16, np.int64, np.uint64, np.float16])
def test_a_large_array_of_other_dtypes(dtype: type) -> None:
    array = (np.maximum(NORMAL, -1) * 20 + 20).astype(dtype).reshape(400, 500)
    assert_describes(summarize(array), array, tolerance_of(array), sampled=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("axis", "side"), [(0, 400), (1, 1000), (2, 160), (0, 10**9)])
def test_the_thumbnail_of_a_large_expanded_array_shows_what_is_repeated(dtype: type, axis: int, side: int) -> None:
    once = NORMAL[:960].astype(dtype).reshape(40, 24)
    expanded = np.broadcast_to(np.expand_dims(once, axis), (*once.shape[:axis], side, *once.shape[axis:]))
    about, few = summarize(expanded), exact(np.repeat(np.expand_dims(once, axis), 16, axis))
    assert (about.shape, about.min, about.max) == (expanded.shape, few.min, few.max)
    assert (about.mean, about.std) == (pytest.approx(few.mean), pytest.approx(few.std))
    assert sum(about.histogram) == expanded.size
    for mine, cell in zip(sum(about.thumbnail, ()), sum(few.thumbnail, ()), strict=True):
        assert mine == pytest.approx(cell, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("period", [2, 64, 256, 1000])
def test_the_histogram_of_a_large_array_is_near_its_counts(period: int) -> None:
    array = np.where(np.arange(1 << 20) % period < period // 2, RELU[np.arange(1 << 20) % 200_000], -1).astype(
        np.float32
    )
    estimated, counted = np.array(summarize(array).histogram), np.array(exact(array).histogram)
    assert estimated.sum() == counted.sum() == array.size
    assert np.abs(estimated - counted).max() < 0.03 * array.size


def test_a_single_outlier_of_a_large_array_shows_in_the_histogram() -> None:
    array = NORMAL.astype(np.float32)
    array[77_777] = 1e6
    histogram = summarize(array).histogram
    assert (histogram[0], histogram[-1], sum(histogram)) == (array.size - 1, 1, array.size)


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e200, 1e307])
@pytest.mark.parametrize("count", [9, 200_000])
def test_squares_neither_overflow_nor_vanish(size: float, count: int) -> None:
    array = NORMAL[:count] * size
    assert_describes(summarize(array), array, 1e-12, sampled=count > summary._EXACT)


def test_a_complex_number_with_nan_and_infinity_counts_as_nan() -> None:
    about = summarize(np.array([complex(np.inf, np.nan), complex(np.nan, -np.inf), complex(np.inf, 1), 2]))
    assert (about.nans, about.infs, about.min, about.max) == (2, 1, 2, 2)
