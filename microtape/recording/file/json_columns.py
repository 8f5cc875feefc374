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
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import accumulate, chain, repeat
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from microtape.recording.file.json_records import Damaged, ValueType, check_integers, fields, shown

if TYPE_CHECKING:
    from microtape.recording.model.model import Value

_NUMBERS = (int, bool, float)
_SHARED = 256  # Python has one object for each integer up to this
_LONGEST = 100_000  # characters of a name, a formula or a message; longer ones are cut when they are written

Numbers: TypeAlias = "Callable[[Sequence[Value | None]], list[int | None]]"


def column(kind: Any, items: Sequence[Any], numbers: Numbers) -> Any:
    """The JSON for `items`, all of one kind; `numbers` returns the numbers of arrays and summaries."""
    kind, optional = _without_none(kind)
    if kind is ValueType:
        return numbers(items)
    if kind in _NUMBERS:
        return items
    if _is_small(kind):
        place = dict.fromkeys(items)
        place.pop(None, None)
        place.update(zip(place, range(len(place)), strict=True))
        return {"at": list(map(place.get, items)), "of": _each(kind, list(place), numbers)}
    if optional:
        present = [one for one in items if one is not None]
        return {"count": [int(one is not None) for one in items], "of": _each(kind, present, numbers)}
    return _each(kind, items, numbers)


def _each(kind: Any, items: Sequence[Any], numbers: Numbers) -> Any:
    if _is_text(kind):
        return [one if len(one) <= _LONGEST else one[: _LONGEST - 1] + "…" for one in items]
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"count": list(map(len, items)), "of": column(arguments[0], list(chain.from_iterable(items)), numbers)}
    if origin is Mapping:
        pairs = [pair for item in items for pair in sorted(item.items())]
        return {
            "count": list(map(len, items)),
            "keys": column(arguments[0], [key for key, _ in pairs], numbers),
            "of": column(arguments[1], [one for _, one in pairs], numbers),
        }
    kinds = _fields(kind)
    columns: Iterable[Any] = zip(*items, strict=True) if items else [()] * len(kinds)
    return {name: column(one, part, numbers) for (name, one), part in zip(kinds.items(), columns, strict=True)}


class ColumnReader:
    """Reads the columns of one recording, given its table of values.

    The same ids and positions occur again and again: keeping one object for each integer saves a tenth of a long
    recording's memory.
    """

    def __init__(self, values: Sequence[Value]) -> None:
        self._values = values
        self._integers: dict[int | None, int | None] = {}

    def read(self, kind: Any, stored: Any) -> list[Any]:
        """The items of a column. Raises Damaged for anything that `column` does not write."""
        kind, optional = _without_none(kind)
        if kind is ValueType:
            return _numbered(stored, self._values, optional)
        if kind in _NUMBERS:
            numbers = _list(stored, {kind, NoneType} if optional else {kind})
            if kind is float and not all(math.isfinite(one) for one in numbers if one is not None):
                raise Damaged("a number that is not finite")
            if kind is not int:
                return numbers
            present = [one for one in numbers if one is not None] if optional else numbers
            check_integers(present)
            if max(present, default=0) <= _SHARED:
                return numbers
            return list(map(self._integers.setdefault, numbers, numbers))
        if _is_small(kind):
            at, of = _parts(stored, "at", "of")
            return _numbered(at, self._read_each(kind, of), optional)
        if optional:
            count, of = _parts(stored, "count", "of")
            items = self._read_each(kind, of)
            return [one[0] if one else None for one in _divided(items, count, most=1)]
        return self._read_each(kind, stored)

    def _read_each(self, kind: Any, stored: Any) -> list[Any]:
        if _is_text(kind):
            texts = _list(stored, {str})
            if max(map(len, texts), default=0) > _LONGEST:
                raise Damaged(f"a text of more than {_LONGEST:,} characters")
            if kind is not str and not set(typing.get_args(kind)).issuperset(texts):
                raise Damaged(f"a word that is none of {', '.join(typing.get_args(kind))}")
            return texts
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is tuple and arguments[-1] is Ellipsis:
            count, of = _parts(stored, "count", "of")
            return _divided(self.read(arguments[0], of), count)
        if origin is Mapping:
            count, keys, of = _parts(stored, "count", "keys", "of")
            names, items = self.read(arguments[0], keys), self.read(arguments[1], of)
            if len(names) != len(items) or (arguments[0] is int and names and min(names) < 0):
                raise Damaged("a mapping with invalid keys")
            return list(map(dict, _divided(list(zip(names, items, strict=True)), count)))
        kinds = _fields(kind)
        parts = _parts(stored, *kinds)
        columns = [self.read(one, part) for one, part in zip(kinds.values(), parts, strict=True)]
        if len(set(map(len, columns))) > 1:
            raise Damaged(f"columns of different lengths for {getattr(kind, '__name__', 'a pair')}")
        rows = zip(*columns, strict=True)
        return list(rows) if origin is tuple else list(map(tuple.__new__, repeat(kind), rows))


def _numbered(at: Any, of: Sequence[Any], optional: bool) -> list[Any]:
    """The items that these indices stand for."""
    numbers = _list(at, {int, NoneType} if optional else {int})
    present = [one for one in numbers if one is not None] if optional else numbers
    if present and not 0 <= min(present) <= max(present) < len(of):
        raise Damaged("an index out of range")
    if len(present) == len(numbers):
        return list(map(of.__getitem__, numbers))
    return [None if one is None else of[one] for one in numbers]


def _divided(items: list[Any], count: Any, most: int | None = None) -> list[tuple[Any, ...]]:
    """The items in groups of these sizes."""
    sizes = _list(count, {int})
    if sum(sizes) != len(items) or (sizes and min(sizes) < 0) or (most is not None and sizes and max(sizes) > most):
        raise Damaged("lengths that do not add up")
    if not items:
        return [()] * len(sizes)
    if len(items) == len(sizes) and max(sizes) == 1:
        return list(zip(items, strict=True))
    every = tuple(items)
    ends = list(accumulate(sizes))
    return [every[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _list(stored: Any, types: set[type]) -> list[Any]:
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


def _fields(kind: Any) -> Mapping[str, Any]:
    """The names and kinds of a record's fields; the fields of a pair are named 0 and 1."""
    if typing.get_origin(kind) is tuple:
        return {str(i): one for i, one in enumerate(typing.get_args(kind))}
    return fields(kind)


@cache
def _without_none(kind: Any) -> tuple[Any, bool]:
    if typing.get_origin(kind) in (UnionType, typing.Union):
        (present,) = [one for one in typing.get_args(kind) if one is not NoneType]
        return present, True
    return kind, False


@cache
def _is_text(kind: Any) -> bool:
    return kind is str or typing.get_origin(kind) is Literal


@cache
def _is_small(kind: Any) -> bool:
    """Whether a kind is text, or a record of numbers, texts and small records."""
    kind, _ = _without_none(kind)
    if typing.get_origin(kind) not in (None, Literal) or kind is ValueType or kind is float:
        return False
    return _is_text(kind) or kind in _NUMBERS or all(map(_is_small, fields(kind).values()))
