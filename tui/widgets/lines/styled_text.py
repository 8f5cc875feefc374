"""Lines of styled text and their wrapping into rows, for panes that draw their own lines.

This is far cheaper than laying out Rich or Textual text at every step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from rich.cells import cell_len, chop_cells

WORD = re.compile(r"\S+\s*|\s+")


class TextSegment(NamedTuple):
    """A piece of text in one style, in Textual's notation: `bold $text-accent on $panel`."""

    text: str
    style: str = ""


StyledLine: TypeAlias = tuple[TextSegment, ...]


def plain(text: StyledLine) -> str:
    """The text without its styles."""
    return "".join(segment.text for segment in text)


def wrap(text: StyledLine, width: int, hanging: int = 0) -> list[StyledLine]:
    """The text in rows of at most `width` cells, broken between words; the rows after the first are indented."""
    whole = plain(text)
    if cell_len(whole) <= width:
        return [text]
    rows: list[StyledLine] = []
    for start, end in _breaks(whole, width, width - hanging):
        row = tuple(_cut(text, start, end))
        rows.append((TextSegment(" " * hanging), *row) if rows and hanging else row)
    return rows


def _breaks(whole: str, width: int, rest: int) -> Iterator[tuple[int, int]]:
    """The start and end of each row: the first has room for `width` cells, the others for `rest`."""
    width, rest = max(width, 2), max(rest, 2)  # a character may take two cells
    start, used, room = 0, 0, width
    for match in WORD.finditer(whole):
        begin, word = match.start(), match[0].rstrip()
        if used and used + cell_len(word) > room:
            yield start, len(whole[:begin].rstrip())
            start, used, room = begin, 0, rest
        used += cell_len(match[0])
        while used > room and cell_len(word) > room:  # too long for any row: cut anywhere
            chunk = chop_cells(word, room)[0]
            yield start, start + len(chunk)
            start, word, room = start + len(chunk), word[len(chunk) :], rest
            used = cell_len(whole[start : match.end()])
    yield start, len(whole.rstrip())


def _cut(text: StyledLine, start: int, end: int) -> Iterator[TextSegment]:
    at = 0
    for segment in text:
        cut = segment.text[max(start - at, 0) : max(end - at, 0)]
        if cut:
            yield TextSegment(cut, segment.style)
        at += len(segment.text)


def restyled(text: StyledLine, start: int, end: int, style: str) -> StyledLine:
    """The text with a style added to its characters from `start` to `end`."""
    marked = (TextSegment(segment.text, f"{segment.style} {style}".strip()) for segment in _cut(text, start, end))
    return (*_cut(text, 0, start), *marked, *_cut(text, end, len(plain(text))))


def joined(segments: Iterable[TextSegment]) -> StyledLine:
    """The line without its empty segments."""
    return tuple(segment for segment in segments if segment.text)
