"""The parts of a recording's JSON, parsed one at a time, and only if they make no more objects than a recording's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from microtape.recording.file.json_records import Damaged

_MOST_LISTS = 100_000  # lists and objects in a part of any length,
_LIST = 6  # and one more for so many bytes: `[0,0],` is an array without a dimension
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)


class Parts:
    """The top-level members of the JSON, each parsed when it is asked for.

    `save` writes each member on a line of its own, so a large recording is never in memory both as JSON and as records.
    JSON that is laid out otherwise is parsed at once.
    """

    def __init__(self, text: bytes) -> None:
        self._texts: dict[str, bytes] = {}
        self._parsed: dict[str, Any] = {}
        parts = list(_lines(text))
        if len(parts) > 1 and all(re.fullmatch(rb'"\w+"', name) for name, _ in parts):
            self._texts = {name[1:-1].decode(): part for name, part in parts}
            return
        whole = _parse(text)
        self.update(whole if type(whole) is dict else {})

    def update(self, parts: Mapping[str, Any]) -> None:
        """Replace these parts."""
        self._parsed.update(parts)

    def get(self, name: str) -> Any:
        """A part; None if it is missing."""
        if name not in self._parsed and name in self._texts:
            self._parsed[name] = _parse(self._texts.pop(name))
        return self._parsed.get(name)

    def take(self, name: str) -> Any:
        """A part that is not needed afterwards: it is dropped here."""
        part = self.get(name)
        self._parsed.pop(name, None)
        return part


def _lines(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The name and the content of the member on each line; each content is copied once, for it may be large."""
    start, end = len(b"{") * text.startswith(b"{"), len(text) - len(b"}\n") * text.endswith(b"}\n")
    while start <= end:
        stop = text.find(b",\n", start, end)
        stop = end if stop < 0 else stop
        colon = text.find(b":", start, stop)
        colon = stop if colon < 0 else colon
        yield text[start:colon], text[colon + 1 : stop]
        start = stop + len(b",\n")


def _parse(text: bytes) -> Any:
    """What the text stands for.

    An empty list takes thirty times the memory of its text. Columns have few lists, however long they are, so a text of
    many lists is refused before it is parsed.
    """

    def refuse(constant: str) -> Any:
        raise Damaged(f"{constant} in its JSON")

    most = _MOST_LISTS + len(text) // _LIST
    if _lists(text) > most and _lists(_STRING.sub(b"", text)) > most:
        raise Damaged("more lists than any recording has")
    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, a number of 5,000 digits, 100,000 brackets
        raise Damaged("its JSON cannot be read") from error


def _lists(text: bytes) -> int:
    """How many lists and objects the text has, or more."""
    return text.count(b"[") + text.count(b"{")
