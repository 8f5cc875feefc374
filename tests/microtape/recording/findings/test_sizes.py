"""Sizes of arrays that are measured together equal those of each array alone."""

from __future__ import annotations

import math

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
from microtape.recording import record
from microtape.recording.findings.sizes import Size, Sizes
from microtape.recording.model import measure
from microtape.recording.model.model import Summary
from microtape.recording.model.summary import is_unread, summarize

NUMBERS = st.floats(width=32) | st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-38, 3e38])
ARRAYS = hnp.arrays(np.float32, hnp.array_shapes(min_dims=0, max_side=4), elements=NUMBERS)


def expected(array: np.ndarray) -> Size:
    """By the definition, in float64."""
    wide = np.abs(array.astype(np.float64))
    if not np.isfinite(wide).all():
        return Size(math.nan if np.isnan(wide).any() else math.inf, math.nan)
    return Size(float(wide.max()), float(np.sqrt((wide**2).mean())))


@given(st.lists(ARRAYS, min_size=1, max_size=6), st.integers(1, 30))
def test_arrays_are_measured_as_if_each_were_alone(arrays: list[np.ndarray], together: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "_TOGETHER", together)
        found = [size for some in measure.portions(arrays) for size in zip(*measure.measured(some), strict=True)]
    assert len(found) == len(arrays)
    for (largest, rms), array in zip(found, arrays, strict=True):
        size = expected(array)
        np.testing.assert_equal(float(largest), size.largest)
        if size.is_finite:
            np.testing.assert_allclose(rms, size.rms, rtol=1e-12)


@given(ARRAYS)
def test_a_summary_has_about_the_size_of_its_array(array: np.ndarray) -> None:
    sizes = Sizes(record(lambda: None))
    exact, told = sizes(array), sizes(summarize(array))
    assert exact is not None
    assert told is not None
    np.testing.assert_equal(told.largest, exact.largest)
    if exact.is_finite:
        np.testing.assert_allclose(told.rms, exact.rms, rtol=1e-6, atol=1e-12)


def test_a_summary_in_a_dtype_of_pytorch_has_a_size() -> None:
    about = summarize(np.array([3.0, -4.0]))
    sizes = Sizes(record(lambda: None))
    assert sizes(about._replace(dtype="bfloat16")) == sizes(about)
    assert sizes(about._replace(dtype="int32")) is None


def test_integers_masks_and_empty_arrays_have_no_size() -> None:
    sizes = Sizes(record(lambda: None))
    assert [sizes(np.zeros(3, kind)) for kind in (np.int64, np.bool_)] == [None, None]
    assert sizes(np.zeros((0, 3))) is None
    assert sizes(None) is None
    assert sizes.largest(np.zeros((0, 3))) == 0


@pytest.mark.parametrize("at", [0.0, 2.0])
def test_one_look_tells_whether_the_results_are_finite(at: float) -> None:
    x = mt.tensor(at, requires_grad=True)
    assert Sizes(record(x.log().backward)).results_are_finite is (at > 0)


def test_of_what_could_not_be_read_nobody_knows_that_it_is_zero() -> None:
    sizes = Sizes(record(mt.tensor(1.0, requires_grad=True).exp().backward))
    zeros = summarize(np.zeros((3, 4), np.float32))
    unread = zeros._replace(min=None, max=None, mean=None, std=None, zeros=0)
    assert is_unread(unread)
    assert not sizes.is_zero(unread)
    for known in (zeros, summarize(np.zeros((0, 4), np.float32)), np.zeros(3, np.float32), None):
        assert sizes.is_zero(known)
        assert not isinstance(known, Summary) or not is_unread(known)
    assert not sizes.is_zero(np.ones(3, np.float32))
