"""Tensors made of all kinds of values: what torch takes has its dtype, shape and numbers, the rest its error."""

from __future__ import annotations

import array
import warnings
from collections import ChainMap, Counter, OrderedDict, UserList, UserString, deque, namedtuple
from collections.abc import Sequence
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest

import microtape
from tests.parity.observe import as_microtape

pytestmark = pytest.mark.parity


class Readings:
    """A length and items make a sequence."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return self.values[i]


class Longer(Readings):
    def __len__(self):
        return len(self.values) + 1


class Locked(Readings):
    def __getitem__(self, i):
        raise KeyError(i)


class Endless:
    def __getitem__(self, i):
        return float(i)


class Registered(Readings, Sequence):
    pass


class Iterable:
    def __iter__(self):
        return iter([1, 2])


class Weight:
    def __float__(self):
        return 1.5


class Place:
    def __index__(self):
        return 3


class Colour(Enum):
    RED = 1


class Level(IntEnum):
    LOW = 1


Point = namedtuple("Point", "x y")

MADE = {
    "deque": lambda mt: deque([1.0, 2.0]),
    "deque of deques": lambda mt: deque([deque([1, 2]), deque([3, 4])]),
    "deque of tensors": lambda mt: deque([mt.tensor(1.0), mt.tensor(2.0)]),
    "deque of arrays": lambda mt: deque([np.array([1, 2]), np.array([3.0, 4.0])]),
    "deque in a list": lambda mt: [deque([1, 2]), (3, 4)],
    "empty deque": lambda mt: deque(),
    "empty deques": lambda mt: [deque(), deque()],
    "ragged deque": lambda mt: deque([[1, 2], [3]]),
    "range": lambda mt: range(10, 0, -3),
    "ranges": lambda mt: [range(2), range(2, 4)],
    "array of floats": lambda mt: array.array("d", [1.0, 2.0]),
    "array of ints": lambda mt: array.array("h", [1, 2]),
    "array of letters": lambda mt: array.array("u", "ab"),
    "arrays": lambda mt: [array.array("d", [1.0, 2.0]), array.array("i", [1, 2])],
    "bytes": lambda mt: b"ab",
    "several bytes": lambda mt: [b"ab", b"cd"],
    "bytearray": lambda mt: bytearray(b"ab"),
    "memoryview": lambda mt: memoryview(array.array("d", [1.0, 2.0])),
    "memoryview of a matrix": lambda mt: memoryview(np.zeros((2, 3))),
    "UserList": lambda mt: UserList([UserList([1.0, 2.0]), UserList([3, 4])]),
    "UserString": lambda mt: UserString("ab"),
    "own sequence": lambda mt: Readings([Readings([1, 2]), Registered([3.0, 4.0])]),
    "own sequence in a list": lambda mt: [Readings([1, 2])],
    "own sequence of text": lambda mt: Readings("ab"),
    "too short": lambda mt: Longer([1, 2]),
    "locked": lambda mt: [Locked([1, 2])],
    "endless": lambda mt: Endless(),
    "iterable": lambda mt: Iterable(),
    "ParameterList": lambda mt: mt.nn.ParameterList([mt.ones(1)]),
    "ModuleList": lambda mt: mt.nn.ModuleList([mt.nn.Linear(1, 1)]),
    "parameters": lambda mt: mt.nn.Linear(1, 1).parameters(),
    "namedtuple": lambda mt: Point(1, 2.0),
    "shape": lambda mt: [mt.zeros(2, 3).shape],
    "dict": lambda mt: {0: 1.0},
    "dict in a list": lambda mt: [{"a": 1.0}],
    "OrderedDict": lambda mt: OrderedDict({0: 1.0}),
    "Counter": lambda mt: Counter("ab"),
    "ChainMap": lambda mt: ChainMap({0: 1.0}),
    "mappingproxy": lambda mt: MappingProxyType({0: 1.0}),
    "values of a dict": lambda mt: {0: 1.0}.values(),
    "set": lambda mt: {1, 2},
    "generator": lambda mt: (i for i in (1, 2)),
    "map": lambda mt: [map(float, (1, 2))],
    "text": lambda mt: "ab",
    "text in a list": lambda mt: ["ab"],
    "text after a number": lambda mt: [1.0, "a"],
    "None": lambda mt: None,
    "None after a number": lambda mt: [1.0, None],
    "Decimal": lambda mt: [Decimal("1.5")],
    "Fraction": lambda mt: [Fraction(1, 2)],
    "own float": lambda mt: [Weight()],
    "own index": lambda mt: [Place()],
    "enum": lambda mt: [Colour.RED],
    "IntEnum": lambda mt: [Level.LOW],
    "numpy's numbers": lambda mt: [np.float32(1), np.float16(2)],
    "numpy's numbers beside Python's": lambda mt: [np.int8(1), 2.5],
    "numpy's bool": lambda mt: [np.bool_(1)],
    "numpy's text": lambda mt: [np.str_("a")],
    "numpy's date": lambda mt: np.array(["2020-01-01"], "M8[D]"),
    "array of objects": lambda mt: np.array([1, None]),
    "array of text": lambda mt: np.array(["a"]),
    "array read backwards": lambda mt: np.arange(3)[::-1],
    "array read backwards in a list": lambda mt: [np.arange(3)[::-1]],
    "array of foreign bytes": lambda mt: np.array([1.0, 2.0], ">f8"),
    "long double": lambda mt: np.longdouble(1),
    "ragged arrays": lambda mt: [np.array([1, 2]), np.array([3])],
    "0-d arrays": lambda mt: [np.array(1.0), np.array(2.0)],
    "tensors of one element": lambda mt: [mt.tensor([1.0]), mt.tensor([2])],
    "tensors of two elements": lambda mt: [mt.tensor([1.0, 2.0]), mt.tensor([3.0, 4.0])],
    "tensors of two ints": lambda mt: [mt.tensor([1, 2]), mt.tensor([3, 4])],
    "parameters in a list": lambda mt: list(mt.nn.Linear(2, 1).parameters()),
    "tensor beside a list": lambda mt: [[1.0, 2.0], mt.tensor([3, 4])],
    "tensor that requires grad": lambda mt: [mt.tensor(1.0, requires_grad=True)],
    "complex tensor": lambda mt: [mt.tensor(1j)],
    "ragged": lambda mt: [[[1, 2]], [[3]]],
    "number after a list": lambda mt: [[1, 2], 3],
    "list after a number": lambda mt: [1, [2, 3]],
    "list after a complex number": lambda mt: [1j, [2]],
    "nothing and something": lambda mt: [[], [1]],
    "bool and float": lambda mt: [True, 2.5],
    "complex": lambda mt: [1j, 2],
    "not a number": lambda mt: [float("nan")],
    "large int": lambda mt: [2**70],
    "large int beside a float": lambda mt: [2**70, 1.5],
    "too large for a byte": lambda mt: [300, 1.5],
    "negative": lambda mt: [-1],
    "module": lambda mt: mt.nn.Linear(1, 1),
}
CALLS = {
    "tensor": lambda mt, data: mt.tensor(data),
    "float64": lambda mt, data: mt.tensor(data, dtype=mt.float64),
    "int32": lambda mt, data: mt.tensor(data, dtype=mt.int32),
    "uint8": lambda mt, data: mt.tensor(data, dtype=mt.uint8),
    "bool": lambda mt, data: mt.tensor(data, dtype=mt.bool),
    "as_tensor": lambda mt, data: mt.as_tensor(data),
    "Tensor": lambda mt, data: mt.Tensor(data),
    "LongTensor": lambda mt, data: mt.LongTensor(data),
    "new_tensor": lambda mt, data: mt.zeros(1).new_tensor(data),
}


@pytest.mark.parametrize("made", MADE)
def test_a_value_makes_the_tensor_that_torch_makes_of_it(made, torch):
    for name, call in CALLS.items():
        assert outcome(microtape, call, MADE[made]) == outcome(torch, call, MADE[made]), name


def outcome(mt, call, make):
    """The tensor's dtype and numbers, or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            z = call(mt, make(mt))
        except Exception as error:
            return type(error).__name__, as_microtape(str(error)).splitlines()[0]
    return str(z.dtype).rpartition(".")[2], tuple(z.shape), repr(z.tolist())


def test_a_backwards_array_does_not_share_its_memory(torch):
    for mt in (torch, microtape):
        with pytest.raises(ValueError, match="At least one stride in the given numpy array is negative"):
            mt.from_numpy(np.arange(3)[::-1])
