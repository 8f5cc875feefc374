"""Many ids are arrays that are used like tuples and dicts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microtape.recording.tables.ids import IdMap, between, id_map, ids_in, ids_of, small

NUMBERS = st.lists(st.integers(-(2**62), 2**62)).map(lambda numbers: np.array(numbers, np.int64))
MAPPINGS = st.dictionaries(st.integers(0, 2**40), st.integers(-(2**40), 2**40)).map(
    lambda found: dict(sorted(found.items()))
)


def as_map(found: dict[int, int]) -> IdMap:
    return IdMap(np.array(list(found), np.int64), np.array(list(found.values()), np.int64))


@given(NUMBERS)
def test_many_ids_are_used_like_a_tuple(numbers):
    ids, expected = ids_of(numbers, long=0), ids_of(numbers)
    assert isinstance(expected, tuple)
    assert ids == expected
    assert list(ids) == list(expected)
    assert ids[1:3] == expected[1:3]
    assert all(number in ids for number in expected)
    assert "a word" not in ids
    assert np.array(ids).tolist() == list(expected)


@given(MAPPINGS)
def test_a_map_of_many_ids_is_used_like_a_dict(expected):
    found = as_map(expected)
    assert found == expected
    assert list(found) == list(expected)
    assert list(found.pairs()) == list(expected.items())
    assert ids_in(found).tolist() == ids_in(expected).tolist()
    assert -1 not in found
    with pytest.raises(KeyError):
        found[-1]


def test_ids_that_do_not_ascend_are_kept_in_a_dict():
    assert id_map(np.array([2, 1]), np.array([5, 6]), long=0) == {2: 5, 1: 6}
    assert id_map(np.array([1, 1]), np.array([5, 6]), long=0) == {1: 6}


@given(NUMBERS)
def test_small_integers_stay_the_same(numbers):
    assert small(numbers).tolist() == numbers.tolist()


@given(st.lists(st.integers(0, 20)), st.integers(-1, 21), st.integers(-1, 21))
def test_numbers_between_two_are_found(numbers, low, high):
    low, high = min(low, high), max(low, high)
    ascending = small(np.array(sorted(numbers), np.int64))
    assert ascending[between(ascending, low, high)].tolist() == [one for one in sorted(numbers) if low <= one < high]
