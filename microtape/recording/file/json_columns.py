"""Many records of one kind as JSON columns, read without trusting the file.

Columns are written and read several times as fast as one list for each record. Thirty thousand records become the list
of their first fields, the list of their second fields, and so on. The annotation of a field in `model.py` says how it
is stored:

    int, bool, float        the numbers themselves; floats are finite
    an array or a summary   its number in the table of values
    text, small records     `{"at": indices, "of": the distinct items}`
    other records           `{"<field>": column, ...}`
    tuple[X, ...]           `{"count": lengths, "of": the column of all items one after the other}`
    Mapping                 the same, with `keys`

null stands for None. An optional record that is not small is stored as a tuple of one or none. Nothing with a length of
its own is stored by index, so that a small file cannot describe a large recording.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate, pairwise
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from microtape.recording.file.json_records import Damaged, ValueType, check_integers, defaults, fields, shown
from microtape.recording.tables.columns import (
    LONG,
    NONE,
    Chosen,
    Column,
    Groups,
    Items,
    Mappings,
    Numbers,
    Optional,
    Records,
    Table,
    Truths,
)
from microtape.recording.tables.ids import id_map, ids_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.int64]

NUMBERS = (int, bool, float)
_FEWEST = 8  # items of a tuple on average, for tables instead of tuples: one takes longer to read than a few items
_SHARED = 256  # Python has one object for each integer up to this
LONGEST = 100_000  # characters of a name, a formula or a message; longer ones are cut when they are written


class ColumnReader:
    """Reads the columns of one recording, given its table of values.

    The same ids and positions occur again and again: keeping one object for each integer saves a tenth of the memory of
    records that are made at once.
    """

    def __init__(self, values: Column, long: int = LONG) -> None:
        self._values = values
        self._long = long
        self._integers: dict[int | None, int | None] = {}

    def read(self, kind: Any, stored: Any) -> Sequence[Any]:
        """The items of a column, which are made later if they are many records.

        Raises Damaged for anything that `column` does not write.
        """
        is_long = self._is_long(stored)
        found = self._column(kind, stored, is_long)
        return Table(found, range(len(found))) if is_long else tuple(found.all())

    def _is_long(self, stored: Any) -> bool:
        """Whether these are the columns of so many records that each is made when it is asked for."""
        return _length(stored) >= self._long

    def _column(self, kind: Any, stored: Any, is_long: bool) -> Column:
        kind, optional = without_none(kind)
        if kind is ValueType:
            return _chosen(stored, self._values, optional, is_long)
        if kind in NUMBERS:
            return self._numbers(kind, stored, optional, is_long)
        if is_small(kind):
            at, of = _parts(stored, "at", "of")
            items = self._each(kind, of, is_long=True) if is_long and self._is_long(of) else Items(self._all(kind, of))
            return _chosen(at, items, optional, is_long)
        if optional:
            count, of = _parts(stored, "count", "of")
            items = self._each(kind, of, is_long)
            return Optional(_sizes(count, items, most=1), items)
        return self._each(kind, stored, is_long)

    def _all(self, kind: Any, stored: Any) -> list[Any]:
        return self._each(kind, stored, is_long=False).all()

    def _numbers(self, kind: type, stored: Any, optional: bool, is_long: bool) -> Column:
        if kind is int and is_long:
            return _long_numbers(stored, optional)
        numbers = _list(stored, {kind, NoneType} if optional else {kind})
        if kind is float and not all(math.isfinite(one) for one in numbers if one is not None):
            raise Damaged("a number that is not finite")
        if kind is not int:
            return Truths(numbers) if is_long and kind is bool and not optional else Items(numbers)
        present = [one for one in numbers if one is not None] if optional else numbers
        check_integers(present)
        if max(present, default=0) <= _SHARED:
            return Items(numbers)
        return Items(list(map(self._integers.setdefault, numbers, numbers)))

    def _each(self, kind: Any, stored: Any, is_long: bool) -> Column:
        if is_text(kind):
            return Items(_texts(kind, stored))
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is tuple and arguments[-1] is Ellipsis:
            return self._tuples(arguments[0], stored, is_long)
        if origin is Mapping:
            count, keys, of = _parts(stored, "count", "keys", "of")
            begins = not is_long and arguments == (int, int) and self._is_long(keys)
            is_long = is_long or begins
            names, items = self._column(arguments[0], keys, is_long), self._column(arguments[1], of, is_long)
            if len(names) != len(items) or (arguments[0] is int and _lowest(names) < 0):
                raise Damaged("a mapping with invalid keys")
            sizes = _sizes(count, items)
            return self._id_maps(sizes, names, items) if begins else Mappings(sizes, names, items)
        kinds, missing = fields_of(kind), defaults(kind)
        if type(stored) is dict:
            missing = {name: one for name, one in missing.items() if name not in stored}
        there = [name for name in kinds if name not in missing]
        parts = _parts(stored, *there)
        columns = {name: self._column(kinds[name], part, is_long) for name, part in zip(there, parts, strict=True)}
        lengths = set(map(len, columns.values()))
        if len(lengths) > 1:
            raise Damaged(f"columns of different lengths for {getattr(kind, '__name__', 'a pair')}")
        columns |= {name: Items([one] * max(lengths)) for name, one in missing.items()}
        return Records(None if origin is tuple else kind, {name: columns[name] for name in kinds})

    def _tuples(self, kind: Any, stored: Any, is_long: bool) -> Column:
        """Tuples of any length, each of which may be a table by itself: the steps of a pass."""
        count, of = _parts(stored, "count", "of")
        is_plain = kind is not int and is_small(kind)
        begins = not is_long and not is_plain and self._is_long(of) and _length(of) >= _FEWEST * _length(count)
        items = self._column(kind, of, is_long or begins)
        sizes = _sizes(count, items)
        if not begins:
            return Groups(sizes, items)
        if kind is int:
            return Items([ids_of(items.integers(at), self._long) for at in _slices(sizes)])
        return Items([Table(items, range(at.start, at.stop)) for at in _slices(sizes)])

    def _id_maps(self, sizes: Integers, keys: Column, of: Column) -> Column:
        """Mappings of ids to integers, each of which may be long by itself: the dependencies of a pass."""
        return Items([id_map(keys.integers(at), of.integers(at), self._long) for at in _slices(sizes)])


def _chosen(stored: Any, of: Column, optional: bool, is_long: bool) -> Column:
    """The items that these numbers stand for."""
    if is_long:
        found = _long_numbers(stored, optional)
        low, high, are_there = found.low, found.high, found.has_any
    else:
        numbers = _list(stored, {int, NoneType} if optional else {int})
        present = [one for one in numbers if one is not None] if optional else numbers
        low, high, are_there = min(present, default=0), max(present, default=0), len(present) > 0
    if are_there and not 0 <= low <= high < len(of):
        raise Damaged("an index out of range")
    return Chosen(found if is_long else Items(numbers), of)


def _length(stored: Any) -> int:
    """How many records or numbers these columns hold, as far as can be told before they are read."""
    fields = stored.values() if type(stored) is dict else ()
    columns = [stored, *(one.get("at") if type(one) is dict else one for one in fields)]
    return max((len(one) for one in columns if isinstance(one, list | np.ndarray)), default=0)


def _lowest(numbers: Column) -> int:
    return numbers.low if isinstance(numbers, Numbers) else min(numbers.all(), default=0)


def _long_numbers(stored: Any, optional: bool) -> Numbers:
    """Many integers, read as an array or as a list."""
    if not isinstance(stored, np.ndarray):
        numbers = _list(stored, {int, NoneType} if optional else {int})
        check_integers([one for one in numbers if one is not None])
        stored = np.array([NONE if one is None else one for one in numbers], np.int64)
    found = Numbers(stored)
    if found.has_none and not optional:
        raise Damaged("null where there should be int")
    return found


def _sizes(stored: Any, items: Column, most: int | None = None) -> Integers:
    """How many of the items belong to each tuple."""
    sizes = stored if isinstance(stored, np.ndarray) else np.array(_list(stored, {int}), object)
    low, high = sizes.min(initial=0), sizes.max(initial=0)
    if low < 0 or high > (len(items) if most is None else most) or sizes.sum() != len(items):
        raise Damaged("lengths that do not add up")
    return sizes.astype(np.int64)


def _slices(sizes: Integers) -> list[slice]:
    """The places of the items of each tuple."""
    return [slice(start, end) for start, end in pairwise(accumulate(sizes.tolist(), initial=0))]


def _texts(kind: Any, stored: Any) -> list[str]:
    texts = _list(stored, {str})
    if max(map(len, texts), default=0) > LONGEST:
        raise Damaged(f"a text of more than {LONGEST:,} characters")
    if kind is not str and not set(typing.get_args(kind)).issuperset(texts):
        raise Damaged(f"a word that is none of {', '.join(typing.get_args(kind))}")
    return texts


def _list(stored: Any, types: set[type]) -> list[Any]:
    if isinstance(stored, np.ndarray):
        stored = [None if one == NONE else one for one in stored.tolist()]
    if type(stored) is not list:
        raise Damaged(f"{shown(stored)} where there should be a list")
    if not types.issuperset(map(type, stored)):
        wrong = next(one for one in stored if type(one) not in types)
        raise Damaged(f"{shown(wrong)} where there should be {' or '.join(sorted(one.__name__ for one in types))}")
    return stored


def _parts(stored: Any, *names: str) -> list[Any]:
    if type(stored) is not dict or len(stored) != len(names) or not stored.keys() >= set(names):
        raise Damaged(f"{shown(stored)} where there should be {', '.join(names)}"[:200])
    return [stored.pop(name) for name in names]  # removed, to hold only one copy


def fields_of(kind: Any) -> Mapping[str, Any]:
    """The names and kinds of a record's fields; the fields of a pair are named 0 and 1."""
    if typing.get_origin(kind) is tuple:
        return {str(i): one for i, one in enumerate(typing.get_args(kind))}
    return fields(kind)


@cache
def without_none(kind: Any) -> tuple[Any, bool]:
    """A kind without None, and whether None was among it."""
    if typing.get_origin(kind) in (UnionType, typing.Union):
        (present,) = [one for one in typing.get_args(kind) if one is not NoneType]
        return present, True
    return kind, False


@cache
def is_text(kind: Any) -> bool:
    """Whether a kind is text, or one of some words."""
    return kind is str or typing.get_origin(kind) is Literal


@cache
def is_small(kind: Any) -> bool:
    """Whether a kind is text, or a record of numbers, texts and small records."""
    kind, _ = without_none(kind)
    if typing.get_origin(kind) not in (None, Literal) or kind is ValueType or kind is float:
        return False
    return is_text(kind) or kind in NUMBERS or all(map(is_small, fields(kind).values()))
