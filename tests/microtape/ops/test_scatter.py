"""Adding up at indices, beside `np.add.at`, which is right and slow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microtape.ops.indexing.index import add_at

SHAPES = [(5,), (4, 6), (4, 3), (3, 2, 4), (6, 1), (2, 0)]


@given(
    st.sampled_from(SHAPES),
    st.sampled_from(["f2", "f4", "f8", "c8", "i8"]),
    st.lists(st.integers(-2, 1), max_size=7),
    st.booleans(),
    st.booleans(),
)
def test_every_repetition_of_a_row_counts(shape, dtype, rows, whole, transposed):
    z = np.zeros(shape[::-1], dtype).T if transposed else np.zeros(shape, dtype)
    index = np.array(rows, np.int64)
    key = (index, *(slice(None),) * (len(shape) - 1)) if whole else (index,)
    y = np.arange(index.size * int(np.prod(shape[1:]))).reshape(index.shape + shape[1:]).astype(dtype)
    expected = z.copy()
    np.add.at(expected, key, y)
    add_at(z, key, y)
    np.testing.assert_array_equal(z, expected)


@given(st.lists(st.tuples(st.integers(-3, 2), st.integers(-4, 3)), min_size=1, max_size=9))
def test_every_repetition_of_an_element_counts(places):
    z, key = np.zeros((3, 4), np.float32), tuple(np.array(places).T)
    expected = z.copy()
    np.add.at(expected, key, 1)
    add_at(z, key, np.ones((), np.float32))
    np.testing.assert_array_equal(z, expected)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_no_number_stays_in_its_place(value):
    z = np.zeros((2, 2), np.float32)
    add_at(z, (np.array([0, 0]),), np.array([[value, 1], [1, 1]], np.float32))
    np.testing.assert_array_equal(z, [[value, 2], [0, 0]])
