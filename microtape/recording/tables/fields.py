"""Whole fields of many records, as arrays: of a tuple of records, or of a `Table`, which has them already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from microtape.recording.tables.columns import NONE, TOGETHER, Table, as_array

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.int64]


def field(records: Sequence[Any], name: str) -> Sequence[Any]:
    """One field of each record; None for None."""
    if isinstance(records, Table):
        return records.field(name)
    try:
        return list(map(attrgetter(name), records))
    except AttributeError:
        return [None if one is None else getattr(one, name) for one in records]


def integers(records: Sequence[Any], name: str) -> Integers:
    """A field of integers, with NONE for None."""
    return as_integers(field(records, name))


def as_integers(numbers: Sequence[int | None]) -> Integers:
    """These integers as an array, with NONE for None."""
    if isinstance(numbers, Table):
        return numbers.integers()
    return as_array(numbers)


def truths(records: Sequence[Any], name: str) -> npt.NDArray[np.bool_]:
    """A field of truth values."""
    return integers(records, name).astype(bool)


def are(records: Sequence[Any], name: str, *words: str) -> npt.NDArray[np.bool_]:
    """Whether a field of words is one of these."""
    found = field(records, name)
    return found.are(words) if isinstance(found, Table) else np.array([one in words for one in found], bool)


def inside(records: Sequence[Any], name: str) -> tuple[Integers, Sequence[Any]]:
    """A field of tuples: their sizes, and all items one after the other."""
    found = field(records, name)
    if isinstance(found, Table):
        return found.inside()
    return np.array(list(map(len, found)), np.int64), list(chain.from_iterable(found))


def items(records: Sequence[Any], name: str) -> Sequence[Any]:
    """All that is in a field of tuples, one after the other."""
    found = field(records, name)
    return found.inside()[1] if isinstance(found, Table) else list(chain.from_iterable(found))


def present(records: Sequence[Any], name: str) -> Sequence[Any]:
    """A field of records that are seldom there: those that are not None."""
    found = field(records, name)
    return found.inside()[1] if isinstance(found, Table) else [one for one in found if one is not None]


def picked(records: Sequence[Any], at: Sequence[int] | Integers) -> Sequence[Any]:
    """The records at these places."""
    if len(at) == len(records) and isinstance(at, range):
        return records
    if isinstance(records, Table):
        return records.pick(np.asarray(at, np.int64))
    return [records[i] for i in (at.tolist() if isinstance(at, np.ndarray) else at)]


def are_there(items: Sequence[Any]) -> npt.NDArray[np.bool_]:
    """Whether each item is not None."""
    if isinstance(items, Table):
        found: npt.NDArray[np.bool_] = items.numbers() != NONE
        return found
    return np.array([one is not None for one in items], bool)


def distinct(items: Sequence[Any]) -> list[Any]:
    """The items, each once; in a file, equal arrays are one object."""
    if isinstance(items, Table):
        return items.distinct()
    return list({id(one): one for one in items}.values())


def numbered(items: Sequence[Any]) -> Sequence[int]:
    """A number for each item, the same for equal items of a file: comparing them takes longer."""
    return items.numbers().tolist() if isinstance(items, Table) else list(map(id, items))


def each(numbers: Integers) -> Iterator[int]:
    """The numbers as integers of Python, which are not all in memory at the same time."""
    parts = np.array_split(numbers, 1 + len(numbers) // TOGETHER)
    return chain.from_iterable(part.tolist() for part in parts)
