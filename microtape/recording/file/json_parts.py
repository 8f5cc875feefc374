"""The parts of a recording's JSON, parsed one at a time, and only if they make no more objects than a recording's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from microtape.recording.file.json_records import Damaged
from microtape.recording.tables.columns import LONG, NONE

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.int64]

_MOST_LISTS = 100_000  # lists and objects in a part of any length,
_LARGEST = 2**63 - 1  # for which numpy takes all that are larger
_UNREADABLE = "its JSON cannot be read"
_LIST = 6  # and one more for so many bytes: `[0,0],` is an array without a dimension
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)


def integers(count: int) -> re.Pattern[bytes]:
    """A list of so many integers or more, or of null among them."""
    return re.compile(rb"\[[-0-9,nul]{%d,}\]" % (2 * count - 1))


_INTEGERS = integers(LONG)
_MANY_ROWS = LONG


class Parts:
    """The top-level members of the JSON, each parsed when it is asked for.

    `save` writes each member on a line of its own. JSON that is laid out otherwise is parsed at once.
    """

    def __init__(self, text: bytes | bytearray) -> None:
        self._text = memoryview(text)
        self._parsed: dict[str, Any] = {}
        parts = list(_lines(text))
        names = [bytes(text[start:colon]) for start, colon, _ in parts]
        is_laid_out = len(parts) > 1 and all(re.fullmatch(rb'"\w+"', name) for name in names)
        self._places: dict[str, tuple[int, int]] = {}  # of the content of each member
        if is_laid_out:
            self._places = {
                name[1:-1].decode(): (colon + 1, end) for name, (_, colon, end) in zip(names, parts, strict=True)
            }
            return
        whole = _parse(bytes(text))
        self.update(whole if type(whole) is dict else {})

    def update(self, parts: Mapping[str, Any]) -> None:
        """Replace these parts."""
        self._parsed.update(parts)

    def get(self, name: str) -> Any:
        """A part; None if it is missing."""
        if name not in self._parsed and name in self._places:
            start, end = self._places.pop(name)
            self._parsed[name] = _parse(bytes(self._text[start:end]))
        return self._parsed.get(name)

    def take(self, name: str) -> Any:
        """A part that is not needed afterwards: it is dropped here."""
        part = self.get(name)
        self._parsed.pop(name, None)
        return part

    def take_columns(self, name: str) -> Any:
        """The same, with arrays for the long lists of integers in it; null is NONE there."""
        if name in self._places:
            self._parsed[name] = _parse_columns(self._text, *self._places.pop(name))
        return self.take(name)

    def take_rows(self, name: str) -> Any:
        """A part that is a list of lists. If it is long, with nothing but integers, `(their sizes, all integers)`."""
        if name in self._places:
            start, end = self._places[name]
            rows = _parse_rows(bytes(self._text[start:end]))
            if rows is not None:
                del self._places[name]
                return rows
        return self.take(name)


def _lines(text: bytes | bytearray) -> Iterator[tuple[int, int, int]]:
    """Where the member on each line begins, where its colon is, and where it ends."""
    start, end = len(b"{") * text.startswith(b"{"), len(text) - len(b"}\n") * text.endswith(b"}\n")
    while start <= end:
        stop = text.find(b",\n", start, end)
        stop = end if stop < 0 else stop
        colon = text.find(b":", start, stop)
        yield start, stop if colon < 0 else colon, stop
        start = stop + len(b",\n")


def _parse(text: bytes, length: int | None = None, arrays: Iterator[Integers] | None = None) -> Any:
    """What the text stands for; `arrays` stand for the NaN in it, instead of which it had `length` bytes.

    An empty list takes thirty times the memory of its text. Columns have few lists, however long they are, so a text of
    many lists is refused before it is parsed.
    """

    def stand_in(constant: str) -> Any:
        array = next(arrays, None) if arrays is not None and constant == "NaN" else None
        if array is None:
            raise Damaged(f"{constant} in its JSON")
        return array

    most = _MOST_LISTS + (length or len(text)) // _LIST
    if _lists(text) > most and _lists(_STRING.sub(b"", text)) > most:
        raise Damaged("more lists than any recording has")
    try:
        return json.loads(text, parse_constant=stand_in)
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, a number of 5,000 digits, 100,000 brackets
        raise Damaged(_UNREADABLE) from error


def _parse_columns(text: memoryview, start: int, end: int) -> Any:
    """What a part of the text stands for, with an array for each long list of integers.

    Numpy reads integers five times as quickly as `json`, and makes no object for each.
    """
    found = [one.span() for one in _INTEGERS.finditer(text, start, end)]
    arrays = [_array(bytes(text[first + 1 : last - 1])) for first, last in found]
    starts, ends = [start, *(last for _, last in found)], [*(first for first, _ in found), end]
    rest = b"NaN".join([text[first:last] for first, last in zip(starts, ends, strict=True)])
    coming = iter(arrays)
    part = _parse(rest, end - start, coming)
    return part if next(coming, None) is None else _parse(bytes(text[start:end]))  # a list was in a string


def _parse_rows(text: bytes) -> tuple[Integers, Integers] | None:
    """The sizes of the lists and what is in them, if they are many, and lists of integers that are not negative."""
    if text.count(b"],[") < _MANY_ROWS or text.translate(None, b"0123456789,[]"):
        return None
    flat = text[2:-2].replace(b"],[", b",-1,")
    if text[:2] != b"[[" or text[-2:] != b"]]" or b"[" in flat or b"]" in flat:
        return None
    numbers = _array(flat)
    is_end = numbers == -1
    ends = np.append(np.flatnonzero(is_end), len(numbers))
    return np.diff(ends, prepend=-1) - 1, numbers[~is_end]


def _array(text: bytes) -> Integers:
    """The integers of a list, with NONE for null."""
    nulls, count = text.count(b"null"), text.count(b",") + 1
    if len(text) - nulls * len("ull") == 2 * count - 1:
        return _digits(text.replace(b"null", b"n"))
    none = NONE if b"-" in text else -1  # which is as quickly read as it is short
    try:
        found = np.fromstring(text.replace(b"null", b"%d" % none) if nulls else text, np.int64, sep=",")
    except ValueError as error:
        raise Damaged(_UNREADABLE) from error
    is_none = found == none
    if len(found) != count or found.max() == _LARGEST or (none == NONE and np.count_nonzero(is_none) != nulls):
        raise Damaged("a number out of range")
    if nulls and none != NONE:
        found[is_none] = NONE
    return found


def _digits(text: bytes) -> Integers:
    """The integers of a list in which each is a single digit, with `n` for null."""
    symbols = np.frombuffer(text, np.uint8)
    found, is_none = symbols[::2].astype(np.int64) - ord("0"), symbols[::2] == ord("n")
    found[is_none] = NONE
    if (symbols[1::2] != ord(",")).any() or (((found < 0) | (found > 9)) & ~is_none).any():
        raise Damaged(_UNREADABLE)
    return found


def _lists(text: bytes) -> int:
    """How many lists and objects the text has, or more."""
    return text.count(b"[") + text.count(b"{")
