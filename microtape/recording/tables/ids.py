"""Many ids, and integers that belong to them: a tuple or a dict of a million takes ten times the memory of arrays."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from microtape.recording.tables.columns import LONG, Numbers, Table
from microtape.recording.tables.fields import each

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.int64]


def small(numbers: Integers) -> npt.NDArray[Any]:
    """These integers to be kept: in four bytes each if they fit, and if so, what is computed from them must fit too."""
    fits = len(numbers) == 0 or -(2**31) <= numbers.min() <= numbers.max() < 2**31
    return numbers.astype(np.int32) if fits else numbers


def between(ascending: npt.NDArray[Any], low: int, high: int) -> slice:
    """Where the numbers from `low` up to, not including, `high` are in an array of ascending ones.

    NB: `np.searchsorted` would first turn all of an array of small integers into large ones.
    """
    numbers = ascending.data
    return slice(bisect_left(numbers, low), bisect_left(numbers, high))


def ids_of(ids: Integers, long: int = LONG) -> Sequence[int]:
    """These ids as a tuple or, if they are many, as a table."""
    return Table(Numbers(ids.copy()), range(len(ids))) if len(ids) >= long else tuple(ids.tolist())


def id_map(ids: Integers, values: Integers, long: int = LONG) -> Mapping[int, int]:
    """Maps each id to its value: a dict or, if the ids are many and ascend, an `IdMap`."""
    if len(ids) >= long and bool((ids[1:] > ids[:-1]).all()):
        return IdMap(ids, values)
    return dict(zip(ids.tolist(), values.tolist(), strict=True))


def ids_in(map: Mapping[int, int]) -> Integers:
    """The ids that are mapped."""
    return map.ids() if isinstance(map, IdMap) else np.array(list(map), np.int64)


class IdMap(Mapping[int, int]):
    """Looks like a dict from ascending ids to integers."""

    def __init__(self, ids: Integers, values: Integers) -> None:
        self._ids, self._values = small(ids).data, small(values).data  # quick to bisect

    def ids(self) -> Integers:
        """The ids."""
        return np.array(self._ids, np.int64)

    def __len__(self) -> int:
        return len(self._ids)

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Each id with its value; `items` looks each id up."""
        return zip(self, each(np.asarray(self._values)), strict=True)

    def __iter__(self) -> Iterator[int]:
        return each(np.asarray(self._ids))

    def __getitem__(self, id: int) -> int:
        at = bisect_left(self._ids, id)
        if at == len(self._ids) or self._ids[at] != id:
            raise KeyError(id)
        found: int = self._values[at]
        return found
