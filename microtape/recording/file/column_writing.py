"""Records as JSON columns, as `json_columns` describes them: of a tuple of records, or of columns that were loaded."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from microtape.recording.file.json_columns import LONGEST, NUMBERS, fields_of, is_small, is_text, without_none
from microtape.recording.file.json_records import ValueType
from microtape.recording.tables.columns import NONE, Chosen, Column, Groups, Mappings, Numbers, Records, Table, joined
from microtape.recording.tables.ids import IdMap

if TYPE_CHECKING:
    from microtape.recording.model.model import Value
    from microtape.recording.tables.columns import Integers

Numbering: TypeAlias = "Callable[[Sequence[Value | None]], list[int | None]]"


def column(kind: Any, items: Sequence[Any], numbers: Numbering) -> Any:
    """The JSON for `items`, all of one kind; `numbers` returns the numbers of arrays and summaries."""
    if isinstance(items, Table) and (whole := items.column) is not None:
        return _loaded(kind, whole, numbers)
    kind, optional = without_none(kind)
    if kind is ValueType:
        return numbers(items)
    if kind in NUMBERS:
        return list(items)
    if is_small(kind):
        place = dict.fromkeys(items)
        place.pop(None, None)
        place.update(zip(place, range(len(place)), strict=True))
        return {"at": list(map(place.get, items)), "of": _each(kind, list(place), numbers)}
    if optional:
        present = [one for one in items if one is not None]
        return {"count": [int(one is not None) for one in items], "of": _each(kind, present, numbers)}
    return _each(kind, items, numbers)


def _each(kind: Any, items: Sequence[Any], numbers: Numbering) -> Any:
    if is_text(kind):
        return [one if len(one) <= LONGEST else one[: LONGEST - 1] + "…" for one in items]
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"count": list(map(len, items)), "of": column(arguments[0], joined(items), numbers)}
    if origin is Mapping:
        pairs = [pair for item in items for pair in (item.pairs() if isinstance(item, IdMap) else sorted(item.items()))]
        return {
            "count": list(map(len, items)),
            "keys": column(arguments[0], [key for key, _ in pairs], numbers),
            "of": column(arguments[1], [one for _, one in pairs], numbers),
        }
    kinds = fields_of(kind)
    columns: Iterable[Any] = zip(*items, strict=True) if items else [()] * len(kinds)
    return {name: column(one, part, numbers) for (name, one), part in zip(kinds.items(), columns, strict=True)}


def _loaded(kind: Any, found: Column, numbers: Numbering) -> Any:
    """The JSON for a column that was loaded, of which no record is made."""
    kind, optional = without_none(kind)
    if isinstance(found, Chosen):
        at, used = _by_first_use(found.numbers.integers(slice(0, len(found))), len(found.of))
        if kind is ValueType:
            known = np.array([*numbers(found.of.pick(used)), NONE], np.int64)
            return known[np.maximum(at, -1)]
        is_same = isinstance(found.of, Records) and np.array_equal(used, np.arange(len(found.of)))
        of = _loaded(kind, found.of, numbers) if is_same else _each(kind, found.of.pick(used), numbers)
        return {"at": at, "of": of}
    if kind in NUMBERS:
        return found.integers(slice(0, len(found))) if isinstance(found, Numbers) else found.all()
    if isinstance(found, Groups):
        sizes, _ = found.inside(slice(0, len(found)))
        return {
            "count": sizes,
            "of": _loaded(kind if optional else typing.get_args(kind)[0], found.of, numbers),
        }
    if isinstance(found, Mappings) and found.ascend():
        sizes, _ = found.pairs.inside(slice(0, len(found)))
        keys, of = (
            _loaded(one, found.pairs.of.field(name), numbers)
            for name, one in zip("01", typing.get_args(kind), strict=True)
        )
        return {"count": sizes, "keys": keys, "of": of}
    if isinstance(found, Records):
        return {name: _loaded(one, found.field(name), numbers) for name, one in fields_of(kind).items()}
    return _each(kind, found.all(), numbers)


def _by_first_use(at: Integers, count: int) -> tuple[Integers, Integers]:
    """The numbers of some of so many items, NONE among them, as if these were numbered in order of their first use.

    Also which items these are, in that order.
    """
    first = np.full(count, len(at))
    there = np.flatnonzero(at != NONE)[::-1]
    first[at[there]] = there  # of several, the last one stays, which comes first
    used = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(at))]
    number = np.empty(count + 1, np.int64)
    number[used], number[-1] = np.arange(len(used)), NONE
    return number[np.maximum(at, -1)], used


def written(part: Any, encode: Callable[[Any], str]) -> str:
    """The text of what `column` returns, of which `encode` writes all that is no array."""
    if isinstance(part, np.ndarray):
        return _digits(part) or encode([None if one == NONE else one for one in part.tolist()])
    if isinstance(part, dict):
        return "{" + ",".join(f'"{name}":{written(part[name], encode)}' for name in sorted(part)) + "}"
    return encode(part)


def _digits(numbers: Integers) -> str:
    """The text of integers that are digits or NONE, as most columns have them; of others, an empty text."""
    is_none = numbers == NONE
    if not len(numbers) or not (((numbers >= 0) & (numbers <= 9)) | is_none).all():
        return ""
    symbols = np.full(2 * len(numbers) + 1, ord(","), np.uint8)
    symbols[0], symbols[-1] = b"[]"
    symbols[1::2] = np.where(is_none, ord("n"), numbers + ord("0"))
    return symbols.tobytes().decode().replace("n", "null")
