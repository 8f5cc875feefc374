"""Records in columns: those of a recording so long that a tuple for each would fill the memory.

A column holds what one field is in all records. A `Table` looks like a tuple of records, and makes each when it is
asked for; `fields` reads whole columns, from tables and from tuples alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain, pairwise, repeat
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.int64]
    Places: TypeAlias = slice | Integers  # a slice has a start and a stop, and no step

LONG = 100_000
"""So many records are made only when they are asked for."""
NONE = -(2**63)
"""Stands for None among the integers of a column; no file may hold it."""
KINDS = (np.int8, np.int16, np.int32, np.int64)
BLOCK = 32  # records that are made together, for a view asks for neighbours
KEPT = 512  # blocks that a column keeps
TOGETHER = 4096  # records or integers that are made together for a loop over all
T = TypeVar("T")


class Column(ABC):
    """One field of many records, or the records themselves."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def pick(self, at: Places) -> list[Any]:
        """The items at these places."""

    def all(self) -> list[Any]:
        """Every item."""
        return self.pick(slice(0, len(self)))

    def field(self, name: str) -> Column:
        """The column of one field; the items are records, or None."""
        return Items([None if one is None else getattr(one, name) for one in self.all()])

    def integers(self, at: Places) -> Integers:
        """The integers or truth values at these places, with NONE for None."""
        return as_array(self.pick(at))


def as_array(integers: Sequence[int | None]) -> Integers:
    """These integers as an array, with NONE for None."""
    return np.array([NONE if one is None else one for one in integers] if None in integers else integers, np.int64)


class Items(Column):
    """A list."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self._fields: dict[str, Column] = {}  # those that were asked for: each pass asks for the same ones

    def __len__(self) -> int:
        return len(self.items)

    def pick(self, at: Places) -> list[Any]:
        """See Column."""
        return self.items[at] if isinstance(at, slice) else list(map(self.items.__getitem__, at.tolist()))

    def all(self) -> list[Any]:
        """See Column."""
        return self.items

    def field(self, name: str) -> Column:
        """See Column."""
        known = self._fields.get(name)
        if known is None:
            items = [None if one is None else getattr(one, name) for one in self.items]
            are_integers = {int, NoneType}.issuperset(map(type, items))
            known = self._fields[name] = Numbers(as_array(items)) if are_integers else Items(items)
        return known


class Truths(Column):
    """Truth values."""

    def __init__(self, items: list[bool]) -> None:
        self._truths = np.array(items, bool)

    def __len__(self) -> int:
        return len(self._truths)

    def pick(self, at: Places) -> list[Any]:
        """See Column."""
        found: list[Any] = self._truths[at].tolist()
        return found

    def integers(self, at: Places) -> Integers:
        """See Column."""
        return self._truths[at].astype(np.int64)


class Numbers(Column):
    """Integers, or None, in the smallest type: its least integer stands for None."""

    def __init__(self, numbers: Integers) -> None:
        """`numbers` has NONE for None, and is overwritten."""
        is_none = numbers == NONE
        self.has_none = bool(is_none.any())
        present = numbers[~is_none] if self.has_none else numbers
        self.has_any = len(present) > 0
        self.low, self.high = int(present.min(initial=0)), int(present.max(initial=0))
        kind = next(one for one in KINDS if np.iinfo(one).min < self.low and self.high <= np.iinfo(one).max)
        self._none = int(np.iinfo(kind).min)
        numbers[is_none] = self._none
        self._numbers = numbers.astype(kind)

    def __len__(self) -> int:
        return len(self._numbers)

    def pick(self, at: Places) -> list[Any]:
        """See Column."""
        found: list[Any] = self._numbers[at].tolist()
        return [None if one == self._none else one for one in found] if self.has_none else found

    def integers(self, at: Places) -> Integers:
        """See Column."""
        found = self._numbers[at].astype(np.int64)
        if self.has_none:
            found[found == self._none] = NONE
        return found


class Chosen(Column):
    """Items that occur again and again: each is the number of one of the distinct items."""

    def __init__(self, numbers: Column, of: Column) -> None:
        self.numbers = numbers
        self.of = of

    def __len__(self) -> int:
        return len(self.numbers)

    def pick(self, at: Places) -> list[Any]:
        """See Column."""
        if isinstance(self.of, Items):
            items = self.of.items
            return [None if one is None else items[one] for one in self.numbers.pick(at)]
        numbers = self.numbers.integers(at)
        there = numbers != NONE
        if there.all():
            return self.of.pick(numbers)
        found = iter(self.of.pick(numbers[there]))
        return [next(found) if one else None for one in there.tolist()]

    def all(self) -> list[Any]:
        """See Column."""
        if len(self) < len(self.of):
            return super().all()
        items, numbers = self.of.all(), self.numbers.all()
        if None in numbers:
            return [None if one is None else items[one] for one in numbers]
        return list(map(items.__getitem__, numbers))

    def field(self, name: str) -> Column:
        """See Column."""
        return Chosen(self.numbers, self.of.field(name))

    def integers(self, at: Places) -> Integers:
        """See Column."""
        numbers = self.numbers.integers(at)
        if len(self.of) < len(numbers):
            every = np.append(self.of.integers(slice(0, len(self.of))), NONE)  # the last one is for None
            return every[np.maximum(numbers, -1)]
        found = np.full(len(numbers), NONE)
        found[numbers != NONE] = self.of.integers(numbers[numbers != NONE])
        return found


class Groups(Column):
    """Tuples: the items of all of them one after the other, and how many belong to each."""

    def __init__(self, sizes: Integers, of: Column) -> None:
        self._ends: npt.NDArray[Any] = np.zeros(len(sizes) + 1, np.int32 if len(of) < 2**31 else np.int64)
        np.cumsum(sizes, out=self._ends[1:])
        self.of = of

    def __len__(self) -> int:
        return len(self._ends) - 1

    def pick(self, at: Places) -> list[Any]:
        """See Column."""
        sizes, inside = self.inside(at)
        return divided(self.of.pick(inside), sizes.tolist()) if sizes.any() else [()] * len(sizes)

    def all(self) -> list[Any]:
        """See Column."""
        return divided(self.of.all(), np.diff(self._ends).tolist())

    def inside(self, at: Places) -> tuple[Integers, Places]:
        """The sizes of these tuples, and the places of their items."""
        if isinstance(at, slice):
            ends = self._ends[at.start : at.stop + 1].astype(np.int64)
            return np.diff(ends), slice(int(ends[0]), int(ends[-1]))
        starts: Integers = self._ends[at].astype(np.int64)
        sizes: Integers = self._ends[at + 1] - starts
        return sizes, np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())


class Optional(Groups):
    """Items or None: a tuple of one stands for an item, an empty one for None."""

    def pick(self, at: Places) -> list[Any]:
        """See Column."""
        return [one[0] if one else None for one in super().pick(at)]

    def all(self) -> list[Any]:
        """See Column."""
        return [one[0] if one else None for one in super().all()]


class Mappings(Column):
    """Mappings: the pairs of all of them one after the other."""

    def __init__(self, sizes: Integers, keys: Column, of: Column) -> None:
        self.pairs = Groups(sizes, Records(None, {"0": keys, "1": of}))

    def __len__(self) -> int:
        return len(self.pairs)

    def pick(self, at: Places) -> list[Any]:
        """See Column."""
        return list(map(dict, self.pairs.pick(at)))

    def all(self) -> list[Any]:
        """See Column."""
        return list(map(dict, self.pairs.all()))

    def ascend(self) -> bool:
        """Whether the keys are integers that ascend in each mapping."""
        keys = self.pairs.of.field("0")
        if not isinstance(keys, Numbers):
            return False
        sizes, _ = self.pairs.inside(slice(0, len(self)))
        numbers, mapping = keys.integers(slice(0, len(keys))), np.repeat(np.arange(len(sizes)), sizes)
        return bool(((numbers[1:] > numbers[:-1]) | (mapping[1:] > mapping[:-1])).all())


class Records(Column):
    """Records of one kind, or tuples of one length if `kind` is None."""

    def __init__(self, kind: type | None, columns: Mapping[str, Column]) -> None:
        self._kind = kind
        self._columns = columns
        self._block = lru_cache(KEPT)(self._made)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def pick(self, at: Places) -> list[Any]:
        """See Column."""
        return self._rows([one.pick(at) for one in self._columns.values()])

    def all(self) -> list[Any]:
        """See Column."""
        return self._rows([one.all() for one in self._columns.values()])

    def field(self, name: str) -> Column:
        """See Column."""
        return self._columns[name]

    def one(self, at: int) -> Any:
        """A single record."""
        return self._block(at // BLOCK)[at % BLOCK]

    def _made(self, block: int) -> list[Any]:
        return self.pick(slice(block * BLOCK, min((block + 1) * BLOCK, len(self))))

    def _rows(self, columns: list[list[Any]]) -> list[Any]:
        rows = zip(*columns, strict=True)
        return list(rows) if self._kind is None else list(map(tuple.__new__, repeat(self._kind), rows))


class Table(Sequence[T]):
    """Some of the records of a column, as a tuple would hold them. They are made when they are asked for."""

    def __init__(self, column: Column, at: range | Integers) -> None:
        self._column = column
        self._at = at

    @property
    def _places(self) -> Places:
        return slice(self._at.start, self._at.stop) if isinstance(self._at, range) else self._at

    @property
    def column(self) -> Column | None:
        """The column, if these are all of its records."""
        return self._column if isinstance(self._at, range) and self._at == range(len(self._column)) else None

    def __len__(self) -> int:
        return len(self._at)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Table[T]: ...
    def __getitem__(self, at: int | slice) -> T | Table[T]:
        if isinstance(at, slice):
            some = self._at[at]
            return Table(self._column, np.array(some) if isinstance(some, range) and some.step != 1 else some)
        found: T
        place = int(self._at[at])
        if isinstance(self._column, Records):
            found = self._column.one(place)
        else:
            (found,) = self._column.pick(slice(place, place + 1))
        return found

    def __iter__(self) -> Iterator[T]:
        for start in range(0, len(self), TOGETHER):
            yield from self._column.pick(self[start : start + TOGETHER]._places)

    def __contains__(self, item: object) -> bool:
        if isinstance(self._column, Numbers):
            return isinstance(item, int) and bool((self.integers() == item).any())
        return any(one == item for one in self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """The items, if they are integers, for numpy."""
        return self.integers().astype(dtype or np.int64, copy=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table | tuple):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Table of {len(self)} records>"

    def field(self, name: str) -> Table[Any]:
        """One field of each."""
        return Table(self._column.field(name), self._at)

    def integers(self) -> Integers:
        """The items, which are integers or truth values, with NONE for None."""
        return self._column.integers(self._places)

    def inside(self) -> tuple[Integers, Table[Any]]:
        """The sizes of the items, which are tuples, and all that is in them one after the other."""
        assert isinstance(self._column, Groups)
        sizes, inside = self._column.inside(self._places)
        return sizes, Table(self._column.of, range(inside.start, inside.stop) if isinstance(inside, slice) else inside)

    def numbers(self) -> Integers:
        """The numbers of the items, which are `Chosen`, with NONE for None."""
        assert isinstance(self._column, Chosen)
        return self._column.numbers.integers(self._places)

    def are(self, items: Sequence[T]) -> npt.NDArray[np.bool_]:
        """Which of the items, which are `Chosen`, are among these."""
        assert isinstance(self._column, Chosen)
        equal = np.array([*(one in items for one in self._column.of.all()), False])
        found: npt.NDArray[np.bool_] = equal[np.maximum(self.numbers(), -1)]
        return found

    def distinct(self) -> list[T]:
        """The items, which are `Chosen`, each once."""
        assert isinstance(self._column, Chosen)
        numbers = np.unique(self.numbers())
        return self._column.of.pick(numbers[numbers != NONE])

    def pick(self, at: Integers) -> Table[T]:
        """The records at these places."""
        return Table(self._column, at + self._at.start if isinstance(self._at, range) else self._at[at])


def joined(parts: Sequence[Sequence[T]]) -> Sequence[T]:
    """All that is in these, one after the other: a table, if they are the parts of one."""
    tables = [one for one in parts if isinstance(one, Table)]
    places = [one._at for one in tables if isinstance(one._at, range) and one._column is tables[0]._column]
    if places and len(places) == len(parts) and all(a.stop == b.start for a, b in pairwise(places)):
        return Table(tables[0]._column, range(places[0].start, places[-1].stop))
    return list(chain.from_iterable(parts))


def divided(items: Sequence[Any], sizes: Sequence[int]) -> list[tuple[Any, ...]]:
    """The items in groups of these sizes."""
    if not items:
        return [()] * len(sizes)
    if len(items) == len(sizes) and max(sizes) == 1:
        return list(zip(items, strict=True))
    every = tuple(items)
    return [every[start:end] for start, end in pairwise(accumulate(sizes, initial=0))]
