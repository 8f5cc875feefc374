"""The arrays of a long recording, made when they are asked for: a million take 130 MB, and a view needs few."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from microtape.recording.file.json_records import Damaged
from microtape.recording.file.packing import MOST_DIMENSIONS, NOWHERE, SHARED, read_array
from microtape.recording.tables.columns import Column, Groups, Numbers

if TYPE_CHECKING:
    import numpy.typing as npt

    from microtape.recording.tables.columns import Integers, Places

    Array: TypeAlias = npt.NDArray[Any]

_EXACT = 2.0**53  # up to here, a product of floats is that of the integers


class StoredArrays(Column):
    """An array that was made stays, so that it is the same object wherever the recording refers to it."""

    def __init__(self, sizes: Integers, numbers: Integers, packs: list[Array]) -> None:
        """`numbers` are the rows of the table of values one after the other, of these sizes: pack, offset, shape.

        Raises Damaged if a row stands for no array that is stored.
        """
        if sizes.min() < 2 or sizes.max() > 2 + MOST_DIMENSIONS or numbers.min() < 0:
            raise Damaged(NOWHERE)
        begins = np.cumsum(sizes) - sizes
        pack, start, in_shape = numbers[begins], numbers[begins + 1], np.ones(len(numbers), bool)
        in_shape[begins] = in_shape[begins + 1] = False
        numbers[begins] = numbers[begins + 1] = 1
        self._pack, self._start = Numbers(pack), Numbers(start)
        self._shape = Groups(sizes - 2, Numbers(numbers[in_shape]))
        self._packs = packs
        self._made: list[Array | None] = [None] * len(sizes)
        self._making = Lock()  # a thread looks for findings while the stepper shows arrays
        elements = np.multiply.reduceat(numbers.astype(np.float64), begins)
        unusual = np.flatnonzero(~((elements > 0) & (elements < _EXACT)))
        self._make(unusual)  # which raises Damaged, unless they are empty
        elements[unusual] = 0
        stored = np.array([len(one) for one in packs] or [0])
        if pack.max() >= len(packs) or (start > stored[pack] - elements.astype(np.int64)).any():
            raise Damaged("an array outside of what is stored")
        if elements.sum() > stored.sum():
            raise Damaged(SHARED)

    def __len__(self) -> int:
        return len(self._made)

    def pick(self, at: Places) -> list[Any]:
        """See Column."""
        places, made = range(at.start, at.stop) if isinstance(at, slice) else at.tolist(), self._made
        missing = [i for i in places if made[i] is None]
        if missing:
            self._make(np.array(missing))
        return [made[i] for i in places]

    def _make(self, at: Integers) -> None:
        rows = zip(at.tolist(), self._pack.pick(at), self._start.pick(at), self._shape.pick(at), strict=True)
        with self._making:
            for number, pack, start, shape in rows:
                if self._made[number] is None:
                    self._made[number] = read_array(self._packs, pack, start, shape)
