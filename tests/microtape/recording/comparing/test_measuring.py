"""How far two values are apart."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from microtape.recording.comparing.measuring import measure, worst
from microtape.recording.model.model import Summary, Value
from microtape.recording.model.summary import summarize
from tests.support.recordings.random_recordings import VALUES

NAN, INF = math.nan, math.inf


def array(*numbers: Any, dtype: str | None = None) -> Any:
    return np.array(numbers, dtype)


@given(VALUES)
def test_a_value_is_identical_to_its_copy(value: Value) -> None:
    copy = value if isinstance(value, Summary) else np.array(value)
    found = measure(value, copy)
    assert found.how == "unknown" or (found.identical and found.absolute == 0)


@given(VALUES)
def test_the_summary_of_an_array_agrees_with_the_array(value: Value) -> None:
    summary = value if isinstance(value, Summary) else summarize(value)
    assert measure(value, summary).absolute == measure(summary, value).absolute == 0


@pytest.mark.parametrize(
    ("x", "y", "absolute"),
    [
        (array(1.0, 2.0), array(1.0, 2.5), 0.5),
        (array(1.0, NAN), array(1.0, NAN), 0.0),
        (array(1.0, NAN), array(1.0, 2.0), INF),
        (array(INF), array(INF), 0.0),
        (array(INF, 1.0), array(-INF, 1.0), INF),
        (array(1e308), array(-1e308), INF),
        (array(1 + 1j), array(1 - 1j), 2.0),
        (array(complex(INF, 0)), array(complex(1, 0)), INF),
        (array(2**60, dtype="int64"), array(2**60 + 1, dtype="int64"), 1.0),
        (array(2**60, 1, dtype="int64"), array(2**60 + 1, 1, dtype="int64"), 1.0),
        (array(True, False, dtype="bool"), array(True, True, dtype="bool"), 1.0),
        (array(200, dtype="uint8"), array(100, dtype="uint8"), 100.0),
        (array(1.5, dtype="float32"), array(1.25), 0.25),
    ],
)
def test_the_largest_difference(x: Any, y: Any, absolute: float) -> None:
    with np.errstate(all="ignore"):
        assert measure(x, y).absolute == measure(y, x).absolute == absolute


def test_the_sign_of_zero_and_nothing_else_is_a_difference_of_bits_alone() -> None:
    zeros = measure(array(0.0, 1.0), array(-0.0, 1.0))
    assert (zeros.absolute, zeros.identical) == (0.0, False)
    assert worst(array(1.0, 0.0), array(1.0, -0.0)).element == (1,)
    assert not measure(array(0.0), array(-0.0)).identical
    assert measure(array(NAN, 1.0), -array(NAN, -1.0)).identical


def test_it_is_relative_to_the_largest_number_and_says_where() -> None:
    x, y = array([1e-9, 4.0], [2.0, 3.0]), array([2e-9, 4.0], [2.0, 3.5])
    found, at = measure(x, y), worst(x, y)
    assert (found.absolute, found.relative) == (0.5, 0.125)
    assert (at.element, at.a, at.b) == ((1, 1), 3.0, 3.5)


def test_other_shapes_cannot_be_measured() -> None:
    assert measure(array(1.0, 2.0), array(1.0, 2.0, 3.0)).how == "shape"
    assert measure(summarize(array(1.0, 2.0)), array(1.0, 2.0, 3.0)).how == "shape"


def test_summaries_show_a_permutation_by_their_thumbnails() -> None:
    x = np.arange(10_000.0).reshape(100, 100)
    found = measure(summarize(x), summarize(x[::-1]))
    assert found.how == "statistics"
    assert found.relative > 0.5
    assert worst(summarize(x), summarize(x[::-1])).statistic == "block mean"


def test_thumbnails_of_other_elements_are_not_compared() -> None:
    x = np.arange(10_000.0).reshape(100, 100)
    sampled = summarize(x)._replace(histogram=(4_096,), thumbnail=((0.0,),))
    assert measure(summarize(x), sampled).absolute == 0


def test_summaries_count_what_is_not_finite() -> None:
    found = worst(summarize(array(1.0, NAN)), summarize(array(1.0, 1.0)))
    assert (found.statistic, found.a, found.b) == ("NaN", 1, 0)
    found = worst(summarize(array(1.0, np.inf)), summarize(array(1.0, -np.inf)))
    assert (found.statistic, found.a, found.b) == ("-Inf", 0, 1)


def test_a_summary_without_statistics_is_unknown() -> None:
    empty = Summary((3,), "bfloat16", None, None, None, None, 0, 0, 0, (), ())
    assert measure(empty, array(1.0, 2.0, 3.0)).how == "unknown"
    assert measure(empty, empty).how == "unknown"
