"""The results of learners' code: as plain data, compared, and in words."""

import json
import math
from collections import defaultdict

import numpy as np
import pytest

import microtape as mt
from lessons.checking.plain_data import difference, plain, words


class Evil(list):
    """A list whose methods lie or fail."""

    def __iter__(self):
        raise RuntimeError

    def __len__(self):
        raise RuntimeError

    __eq__ = __hash__ = __bool__ = __repr__ = __iter__


def around_itself():
    loop = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        (3, "3"),
        (2.5, "2.5"),
        (np.float32(0.1), "0.1"),
        (np.bool_(True), "True"),
        ("x", "'x'"),
        ([1, ("x",), ()], "[1, ('x',), ()]"),
        ({"x": 1.0, 2: [3]}, "{'x': 1, 2: [3]}"),
        (defaultdict(float, x=1.0), "{'x': 1}"),
        (np.array([1.0, 2.0]), "array [1, 2]"),
        (np.array(3), "array 3"),
        (np.zeros((2, 0)), "array of shape 2×0 [[], []]"),
        (np.array([[1, 2]]), "array of shape 1×2 [[1, 2]]"),
        (np.array([None, None]), "array of 2 elements of type object"),
        (mt.tensor([1.0, 2.0], requires_grad=True), "tensor [1, 2]"),
        (mt.tensor(6.0), "tensor 6"),
        (mt.nn.Parameter(mt.tensor([1.0, 2.0])), "tensor [1, 2]"),
        (mt.Size([2, 3]), "(2, 3)"),
        (object(), "a object"),
        (Evil([1, 2]), "[1, 2]"),
        (math.nan, "nan"),
    ],
)
def test_a_value_in_words(value, text):
    assert words(json.loads(json.dumps(plain(value)))) == text


@pytest.mark.parametrize("value", [around_itself(), 10**400, [0] * 100_000, np.zeros(100_000), np.array([object()])])
def test_endless_and_huge_values_become_small(value):
    assert len(json.dumps(plain(value))) < 200


@pytest.mark.parametrize(
    ("did", "expected"),
    [
        (1, 1.0),
        (0.1 + 0.2, 0.3),
        (float(np.float32(0.1)), 0.1),
        ([1, 2], (1, 2)),
        ([], ()),
        (math.nan, math.nan),
        ({"x": 1}, {"x": 1.0}),
        ({"x": 1, "y": 2}, {"y": 2, "x": 1}),
        (np.array([1, 2]), np.array([1.0, 2.0])),
        (mt.tensor(1.0), mt.tensor(1.0, requires_grad=True)),
    ],
)
def test_what_counts_as_equal(did, expected):
    assert difference(plain(did), plain(expected)) is None


@pytest.mark.parametrize(
    ("did", "expected", "where"),
    [
        (1, 2, ("", "1", "2")),
        (True, 1, ("", "True", "1")),
        (None, 0, ("", "None", "0")),
        (1, "1", ("", "1", "'1'")),
        (1.00123456, 1.0023, ("", "1.00123", "1.0023")),
        (1e9, 1000200000, ("", "1e9", "1000200000")),
        ([1, 2], [1, 3], ("", "[1, 2]", "[1, 3]")),
        ([[1, 2], [3, 4]], [[1, 2], [3, 5]], ("[1]", "[3, 4]", "[3, 5]")),
        ({"x": [1]}, {"x": [2]}, ("x", "[1]", "[2]")),
        ({"of": {"x": 1}}, {"of": {"x": 2}}, ("of['x']", "1", "2")),
        ({"z = x @ y": [[1], [2]]}, {"z = x @ y": [[1], [3]]}, ("z = x @ y at [1]", "[2]", "[3]")),
        ({"z = x @ y": np.ones((4, 4))}, {"z = x @ y": np.eye(4)}, ("z = x @ y at [0, 1]", "1", "0")),
        ({"x": 1}, {"x": 1, "y": 2}, ("y", "nothing", "2")),
        ({"x": 1, "y": 2}, {"x": 1}, ("y", "2", "nothing")),
        ({"of": {}}, {"of": {"y": 2}}, ("of['y']", "nothing", "2")),
        (list(range(100)), [*range(99), 0], ("[99]", "99", "0")),
        (np.array([1.0, 2.0]), np.array([1.0, 3.0]), ("", "array [1, 2]", "array [1, 3]")),
        (np.arange(100.0), np.arange(100.0) * (np.arange(100) != 7), ("[7]", "7", "0")),
        (np.ones((4, 4)), np.eye(4), ("[0, 1]", "1", "0")),
        (np.array([1.0]), np.array([[1.0]]), ("", "array [1]", "array of shape 1×1 [[1]]")),
        (mt.tensor(6.0), 6.0, ("", "tensor 6", "6")),
        ([1], np.array([1]), ("", "[1]", "array [1]")),
        (np.array([1.0]), mt.tensor([1.0]), ("", "array [1]", "tensor [1]")),
    ],
)
def test_the_first_difference_of_two_values(did, expected, where):
    assert difference(plain(did), plain(expected)) == where
