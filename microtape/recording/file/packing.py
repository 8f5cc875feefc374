"""Packs arrays into a file and unpacks them: one flat `.npy` member for each dtype, every array a slice of it.

Records refer to a value by its number in a table. Its entry there is `[pack, offset, *shape]` for an array, with the
offset counted in elements, or the fields of a `Summary` for an array over the budget. The `.npy` header is written here
rather than by numpy, whose padding changed between versions: so equal recordings give equal bytes, and the reader
compares the header instead of parsing one that may be hostile.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain, compress
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from microtape.errors import RecordingError
from microtape.recording.file.json_records import Damaged, Reader, reader
from microtape.recording.model.dtypes import kind_of
from microtape.recording.model.model import Summary, Value
from microtape.recording.model.summary import summarize
from microtape.recording.tables.columns import Column

_KINDS = {"bool": (), "uint": (8, 16, 32, 64), "int": (8, 16, 32, 64), "float": (16, 32, 64), "complex": (64, 128)}
_NAMES = [f"{kind}{bits}" for kind, sizes in _KINDS.items() for bits in sizes or ("",)]
DTYPES = {name: np.dtype(name).newbyteorder("<") for name in _NAMES}
_NAME_OF = {np.dtype(name).newbyteorder(order): name for name in _NAMES for order in ("<", ">")}
_HEADER = 128  # bytes before the data of a member
MOST_DIMENSIONS = 64  # as numpy and torch have
NOWHERE = "an array that is stored nowhere"
SHARED = "arrays that share what is stored"  # a small file would describe a large recording
_FINEST = 64  # bins of a histogram, rows and columns of a thumbnail
_ALWAYS_KEPT = 64  # elements; for so few, a summary would take more room than the array
_WHOLE_NUMBERS = 16  # times as many of them are kept: tokens and classes, whose statistics tell nothing, and pack well

_Array: TypeAlias = npt.NDArray[Any]


class _Packed(NamedTuple):
    dtype: str
    shape: tuple[int, ...]
    data: bytes


class Packer:
    """Collects the arrays of a recording while it is being written.

    Args:
        element_budget: an array with more elements is stored as a summary; of whole numbers, 16 times as many.
        total_budget: bytes of array data in all; beyond that, the largest arrays become summaries first.
    """

    def __init__(self, element_budget: int, total_budget: int) -> None:
        self.element_budget = element_budget
        self.total_budget = total_budget
        self.values: list[_Packed | Summary] = []
        self.notes: list[str] = []
        self._by_identity: dict[int, int] = {}
        self._by_content: dict[_Packed, int] = {}
        self._over_budget: dict[int, int] = {}  # the summaries of arrays with too many elements -> the budget for all
        self._whole: set[int] = set()  # stored whatever the budgets say

    def numbers(self, values: Sequence[Value | None]) -> list[int | None]:
        """The numbers of these values in the table; equal arrays within the budget share one."""
        known = self._by_identity
        for value in values:
            if value is not None and id(value) not in known:
                known[id(value)] = self._new(value)
        return [None if value is None else known[id(value)] for value in values]

    def _new(self, value: Value) -> int:
        if isinstance(value, Summary):
            self.values.append(value)
            return len(self.values) - 1
        dtype = _NAME_OF.get(value.dtype)
        if dtype is None:
            raise RecordingError(f"an array of dtype {value.dtype} cannot be saved; known are {', '.join(DTYPES)}")
        needed = -(-value.size // _WHOLE_NUMBERS) if value.dtype.kind in "iu" else value.size
        if needed > self.element_budget:
            self._over_budget[len(self.values)] = needed
            self.values.append(summarize(value))
            return len(self.values) - 1
        packed = _packed(dtype, value)
        number = self._by_content.setdefault(packed, len(self.values))
        if number == len(self.values):
            self.values.append(packed)
        return number

    @property
    def hides_bad_numbers(self) -> bool:
        """Whether an array over the budget, of which only a summary is stored, has NaN or infinity."""
        summaries = [self.values[number] for number in self._over_budget]
        return any([one.nans or one.infs for one in summaries if isinstance(one, Summary)])

    def keep_whole(self, values: Iterable[Value | None]) -> None:
        """Store these whole, although they are over the budget; as many as the total budget has room for."""
        room = self.total_budget
        for value in values:
            number = self._by_identity.get(id(value), -1)
            if isinstance(value, np.ndarray) and number in self._over_budget and value.nbytes <= room:
                room -= value.nbytes
                self.values[number] = _packed(_NAME_OF[value.dtype], value)
                del self._over_budget[number]
                self._whole.add(number)

    def finish(self) -> tuple[list[list[Any]], dict[str, bytes]]:
        """The table of values, and the flat data of each dtype in it."""
        if self._over_budget:
            self.notes.append(
                f"{_arrays(len(self._over_budget))} of more than {self.element_budget:,} elements saved as a summary"
                f" (element_budget={max(self._over_budget.values())} keeps all)"
            )
        self._keep_to_total()
        dtypes = sorted({value.dtype for value in self.values if isinstance(value, _Packed)})
        chunks: dict[str, list[bytes]] = {dtype: [] for dtype in dtypes}
        used = dict.fromkeys(dtypes, 0)
        number_of = {dtype: number for number, dtype in enumerate(dtypes)}
        rows: list[list[Any]] = []
        for value in self.values:
            if isinstance(value, Summary):
                rows.append(list(value))
                continue
            rows.append([number_of[value.dtype], used[value.dtype], *value.shape])
            used[value.dtype] += math.prod(value.shape)
            chunks[value.dtype].append(value.data)
        return rows, {dtype: b"".join(chunks[dtype]) for dtype in dtypes}

    def _keep_to_total(self) -> None:
        total = sum(len(value.data) for value in self.values if isinstance(value, _Packed))
        excess, dropped = total - self.total_budget, 0
        if excess <= 0:
            return
        stored = [(number, one) for number, one in enumerate(self.values) if isinstance(one, _Packed)]
        sizes = [(-len(one.data), number) for number, one in stored if number not in self._whole]
        for size, number in sorted(sizes):
            value = self.values[number]
            if excess <= 0 or not isinstance(value, _Packed) or math.prod(value.shape) <= _ALWAYS_KEPT:
                break
            array: _Array = np.frombuffer(value.data, DTYPES[value.dtype]).reshape(value.shape)
            self.values[number] = summarize(array)
            excess, dropped = excess + size, dropped + 1
        if dropped:
            self.notes.append(
                f"{_arrays(dropped)} saved as a summary to stay within {self.total_budget:,} bytes of array data"
                f" (total_budget={total} keeps all)"
            )


def _packed(dtype: str, array: _Array) -> _Packed:
    stored = DTYPES[dtype]
    return _Packed(dtype, array.shape, (array if array.dtype == stored else array.astype(stored)).tobytes())


def name_of(dtype: np.dtype[Any]) -> str | None:
    """The name of a dtype that files can hold; None for another one."""
    return _NAME_OF.get(dtype)


def npy_header(dtype: str, count: int) -> bytes:
    """The header of a one-dimensional `.npy` file of `count` elements: always 128 bytes."""
    text = f"{{'descr': '{DTYPES[dtype].str}', 'fortran_order': False, 'shape': ({count},), }}"
    return b"\x93NUMPY\x01\x00" + (_HEADER - 10).to_bytes(2, "little") + text.ljust(_HEADER - 11).encode() + b"\n"


def unpack_npy(dtype: str, data: bytes | bytearray) -> _Array:
    """The elements of a member written with `npy_header`, read-only. Raises Damaged for any other bytes."""
    count, rest = divmod(len(data) - _HEADER, DTYPES[dtype].itemsize)
    if rest or count < 0 or not data.startswith(npy_header(dtype, count)):
        raise Damaged(f"its {dtype} arrays do not begin or end as they should")
    array: _Array = np.frombuffer(data, DTYPES[dtype], count, _HEADER)
    array.flags.writeable = False
    if dtype == "bool" and array.view(np.uint8).max(initial=0) > 1:
        raise Damaged("a bool that is neither 0 nor 1")
    return array


def read_values(rows: Any, packs: list[_Array]) -> list[Value]:
    """The table of values. Raises Damaged if an entry is neither a stored array nor a summary."""
    if type(rows) is not list:
        raise Damaged("no table of values")
    is_array = [type(row) is list and len(row) > 0 and type(row[0]) is int for row in rows]
    numbers = list(chain.from_iterable(compress(rows, is_array)))
    if not {int}.issuperset(map(type, numbers)) or not 0 <= min(numbers, default=0) <= max(numbers, default=0) < 2**63:
        raise Damaged(NOWHERE)
    if min(map(len, compress(rows, is_array)), default=2) < 2:
        raise Damaged(NOWHERE)
    values = [
        read_array(packs, row[0], row[1], row[2:]) if array else _summary(row)
        for row, array in zip(rows, is_array, strict=True)
    ]
    if sum([one.size for one in values if not isinstance(one, Summary)]) > sum([pack.size for pack in packs]):
        raise Damaged(SHARED)
    return values


def value_reader(table: Column) -> Reader:
    """A reader of the entry that stands for a value: its number, or in formats 1 and 2 the fields of a Summary."""

    def value(item: Any) -> Value:
        if type(item) is list:
            return _summary(item)
        if type(item) is not int or not 0 <= item < len(table):
            raise Damaged("a value that is not stored")
        (found,) = table.pick(slice(item, item + 1))
        return cast("Value", found)

    return value


def read_array(packs: Sequence[_Array], pack: int, start: int, shape: Sequence[int]) -> _Array:
    """The array of this shape at an offset in a pack; no number is negative. Raises Damaged if it is not stored."""
    if len(shape) > MOST_DIMENSIONS:
        raise Damaged(NOWHERE)
    end = start + math.prod(shape)
    if pack >= len(packs) or end > packs[pack].size:
        raise Damaged("an array outside of what is stored")
    found: _Array = packs[pack][start:end]
    try:
        return found if len(shape) == 1 else found.reshape(shape)
    except ValueError as error:  # no elements, but dimensions whose product numpy cannot compute
        raise Damaged("an array of impossible shape") from error
    return found


def _summary(row: Any) -> Summary:
    made: Summary = _read_summary(row)
    positive, negative = made.infs - (made.negative_infs or 0), made.negative_infs or 0
    counts = (*made.shape, made.zeros, made.nans, positive, negative, *made.histogram)
    if kind_of(made.dtype) == "V" or min(counts) < 0 or max(counts) >= 2**63 or len(made.shape) > MOST_DIMENSIONS:
        raise Damaged("a summary that describes no array")
    if max(len(made.histogram), len(made.thumbnail), *map(len, made.thumbnail)) > _FINEST:
        raise Damaged("a summary with more detail than any")
    return made


def _no_value(item: Any) -> Any:
    raise Damaged("a value inside a summary")


_read_summary = reader(Summary, _no_value)


def _arrays(count: int) -> str:
    return f"{count:,} array{'s' if count > 1 else ''}"
