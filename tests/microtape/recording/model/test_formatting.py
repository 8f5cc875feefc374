"""How numbers, shapes and arrays are written on one line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from microtape.recording.model.formatting import (
    digits_of_sum,
    format_argument,
    format_number,
    format_shape,
    format_value,
)
from microtape.recording.model.summary import summarize

KINDS = npst.boolean_dtypes() | npst.integer_dtypes() | npst.floating_dtypes(sizes=(16, 32, 64))
ARRAYS = npst.arrays(KINDS | npst.complex_number_dtypes(), npst.array_shapes(min_dims=0, max_dims=3, min_side=0))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.73194, "0.7319"),
        (3.0, "3"),
        (-3, "-3"),
        (0.1 + 0.2, "0.3"),
        (9.99999, "10"),
        (12345.67, "12346"),
        (999999.9, "1e6"),
        (0.00012345, "0.0001234"),
        (0.000012345, "1.234e-5"),
        (1.7e308, "1.7e308"),
        (5e-324, "4.941e-324"),
        (0.0, "0"),
        (-0.0, "-0"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (2**63 - 1, "9223372036854775807"),
        (True, "True"),
        (1 + 2j, "1+2j"),
        (1.5 - 0.25j, "1.5-0.25j"),
        (np.float16(0.1), "0.09998"),
        (np.float32(0.1), "0.1"),
        (np.array(2.5), "2.5"),
    ],
)
def test_a_number_is_short(number: object, text: str) -> None:
    assert format_number(number) == text


@given(st.floats(-1e307, 1e307), st.integers(1, 9))
def test_a_number_is_right_to_its_digits(number: float, digits: int) -> None:
    assert float(format_number(number, digits)) == pytest.approx(number, rel=0.51 * 10 ** (1 - digits), abs=0)


@pytest.mark.parametrize(
    ("shape", "text", "ascii"),
    [((32, 4), "32×4", "32x4"), ((8,), "8", "8"), ((), "scalar", "scalar"), ((0, 3), "0×3", "0x3")],
)
def test_a_shape(shape: tuple[int, ...], text: str, ascii: str) -> None:
    assert format_shape(shape) == text
    assert format_shape(shape, ascii=True) == ascii


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (np.array(0.0), "0"),
        (np.array([1, 2.5, -3]), "[1, 2.5, -3]"),
        (np.array([[1, 2], [3, 4]]), "[[1, 2], [3, 4]]"),
        (np.array([np.nan, np.inf, 1]), "[nan, inf, 1]"),
        (np.array([True, False]), "[True, False]"),
        (np.array([1 + 2j]), "[1+2j]"),
        (np.zeros((0, 3)), "[]"),
        (np.zeros(100), "all 0"),
        (np.full(100, np.nan), "all NaN"),
        (np.arange(100), "49.5 ± 28.87 [0, 99] 1 zero"),
        (np.r_[np.arange(98.0), np.nan, np.inf], "48.5 ± 28.29 [0, 97] 1 zero 1 NaN 1 +Inf"),
        (np.arange(100) > 6, "93 of 100 True"),
        (np.full(100, 3 + 4j), "|z| 5 ± 0 [5, 5]"),
    ],
)
def test_a_value(value: np.ndarray | None, text: str) -> None:
    assert format_value(value, 60) == text


@given(a=st.floats(-1e6, 1e6), b=st.floats(-1e6, 1e6), dtype=st.sampled_from([np.float32, np.float64]))
def test_a_sum_differs_from_its_terms_unless_it_is_one_of_them(a: float, b: float, dtype: type) -> None:
    before, term = np.array(a, dtype), np.array(b, dtype)
    total = np.array(before + term)
    text = format_number(total, digits := digits_of_sum(total, before, term))
    assert all(format_number(one, digits) != text for one in (before, term) if one != total)
    assert digits == 4 or format_number(total) in (format_number(before), format_number(term))


def test_a_sum_of_arrays_or_with_nothing_has_the_usual_digits() -> None:
    assert digits_of_sum(np.array([1.0004]), np.array([1.0]), np.array([0.0004])) == 4
    assert digits_of_sum(None, np.array(1.0), None) == 4
    assert digits_of_sum(np.array(1.0004), None, np.array(1.0)) == 5
    assert digits_of_sum(np.array(np.nan), np.array(np.nan), np.array(1.0)) == 4


def test_nothing_is_not_zero() -> None:
    assert format_value(None, 10) != format_value(np.array(0.0), 10)


def test_a_narrow_line_keeps_what_matters_most() -> None:
    array = np.r_[np.arange(-49.0, 50.0), np.nan]
    assert [format_value(array, width) for width in (45, 27, 15, 8, 3, 1)] == [
        "0 ± 28.58 [-49, 49] 1 zero 1 NaN",
        "0 ± 28.58 [-49, 49] 1 NaN",
        "0 ± 29 1 NaN",
        "1 NaN",
        "NaN",
        "…",
    ]


def test_a_description_in_a_narrow_column_loses_its_spaces_before_it_is_lost() -> None:
    array = np.tile([-0.00163, 0.00157], 50)
    assert [format_value(array, width) for width in (14, 13, 12, 11, 10, 8, 7)] == [
        "-3e-5 ± 0.0016", "-3e-5 ± 0.002", "-3e-5±0.002", "-3e-5±0.002", "~0±0.002", "~0±0.002", "…",
    ]  # fmt: skip
    assert format_value(array, 11, ascii=True) == "~0+-0.002"
    assert format_value(array + 1, 7) == "1±0.002"


@given(st.floats(-1e9, 1e9), st.floats(1e-30, 1e9))
def test_a_description_is_never_lost_in_a_column_of_usual_width(mean: float, spread: float) -> None:
    assert format_value(mean + np.tile([-spread, spread], 50), 14) != "…"


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        ([np.inf], "0 ± 0 1 +Inf"),
        ([-np.inf], "0 ± 0 1 -Inf"),
        ([np.inf, -np.inf, -np.inf], "0 ± 0 1 +Inf 2 -Inf"),
        ([np.nan, -np.inf], "0 ± 0 1 NaN 1 -Inf"),
    ],
)
def test_infinity_has_its_sign_where_it_is_known(bad: list[float], text: str) -> None:
    array = np.r_[np.zeros(100), bad]
    assert format_value(array, len(text)) == text
    assert format_value(summarize(array), len(text)) == text
    unsigned = format_value(summarize(array)._replace(negative_infs=None), 80)
    assert "+Inf" not in unsigned
    assert "-Inf" not in unsigned


def test_infinity_loses_its_sign_before_its_count() -> None:
    array = np.r_[np.zeros(100), np.full(20, -np.inf)]
    assert [format_value(array, width) for width in (7, 6, 3)] == ["20 -Inf", "20 Inf", "Inf"]
    assert format_value(np.full((90, 2), -np.inf), 20) == "all -Inf"
    assert format_value(np.full((90, 2), complex(0, -np.inf)), 20) == "all Inf"


def test_a_number_that_does_not_fit_loses_digits_but_is_never_cut() -> None:
    assert [format_value(np.array(123456789), width) for width in (9, 8, 7, 3, 2)] == [
        "123456789",
        "1.235e8",
        "1.235e8",
        "1e8",
        "…",
    ]


@given(ARRAYS, st.integers(-1, 80), st.booleans())
def test_a_value_fits_its_width_on_one_line(array: np.ndarray, width: int, ascii: bool) -> None:
    for value in (array, summarize(array)):
        text = format_value(value, width, ascii=ascii)
        assert len(text) <= max(width, 0)
        assert text.isprintable()
        assert text == format_value(value, width, ascii=ascii)
        assert not ascii or text.isascii()
        assert text or width <= 0


@given(npst.arrays(st.sampled_from([np.float16, np.float32, np.float64]), npst.array_shapes(max_side=12)))
def test_a_summary_counts_every_element(array: np.ndarray) -> None:
    about = summarize(array)
    finite = array[np.isfinite(array)].astype(np.float64)
    assert about.shape == array.shape
    assert (about.nans, about.infs) == (np.isnan(array).sum(), np.isinf(array).sum())
    assert about.zeros == (array == 0).sum()
    assert sum(about.histogram) == finite.size
    if finite.size == 0:
        assert (about.min, about.max, about.mean, about.std) == (None, None, None, None)
        return
    assert (about.min, about.max) == (finite.min(), finite.max())
    assert about.mean is not None
    assert about.min <= about.mean * (1 + 1e-9) or about.mean == pytest.approx(about.min)
    assert about.std is not None
    assert 0 <= about.std < np.inf
    slack = 1e-3 * max(abs(about.min), abs(about.max))
    cells = [mean for row in about.thumbnail for mean in row if mean is not None]
    assert about.min - slack <= min(cells) <= max(cells) <= about.max + slack


def test_a_summary_of_numbers_near_the_largest_does_not_overflow() -> None:
    about = summarize(np.array([1.7e308, -1.7e308, 1.7e308, -1.7e308] * 20))
    assert (about.mean, about.std) == (0, pytest.approx(1.7e308))
    assert about.histogram == (40, *[0] * 14, 40)


def test_a_thumbnail_shows_where_things_are() -> None:
    array = np.zeros((80, 160))
    array[10:20, 150:160] = 7.0
    array[70:80, 0:10] = np.nan
    thumbnail = summarize(array).thumbnail
    assert (len(thumbnail), len(thumbnail[0])) == (8, 16)
    assert thumbnail[1][15] == 7.0
    assert thumbnail[7][0] is None
    assert sum(cell == 0 for row in thumbnail for cell in row) == 8 * 16 - 2


def test_a_summary_of_complex_numbers_is_about_their_size() -> None:
    about = summarize(np.array([3 + 4j, 0, 6 + 8j, complex(np.nan, 1), complex(1, np.inf)]))
    assert (about.min, about.max, about.mean) == (0, 10, 5)
    assert (about.zeros, about.nans, about.infs) == (1, 1, 1)


def test_a_summary_of_bools_and_of_nothing() -> None:
    assert summarize(np.array([True, False, True, True])).mean == 0.75
    empty = summarize(np.zeros((0, 4), np.int64))
    assert (empty.shape, empty.min, empty.histogram, empty.thumbnail) == ((0, 4), None, (), ())


def test_the_text_of_an_array_follows_its_numbers_unless_nobody_can_write_to_it() -> None:
    array = np.array([1.0, 2.0])
    assert format_value(array, 20) == "[1, 2]"
    array[0] = 5.0
    assert format_value(array, 20) == "[5, 2]"
    array.flags.writeable = False
    assert [format_value(array, width) for width in (20, 5, 20)] == ["[5, 2]", "[5, …", "[5, 2]"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [("2.8284271247461903", "2.828"), ("alpha=1.6732632423543772", "alpha=1.673"), ("-1.23456789e-12", "-1.235e-12"),
     ("0.25", "0.25"), ("1000000", "1000000"), ("(0.123456789, 2)", "(0.1235, 2)")],
)  # fmt: skip
def test_a_long_number_among_the_arguments_is_shortened(text: str, shown: str) -> None:
    assert format_argument(text) == shown
