"""Text in pieces of one style each, wrapped into rows: what panes draw. Cheaper by far than to lay out rich text anew
at every step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from rich.cells import cell_len, chop_cells

WORD = re.compile(r"\S+\s*|\s+")


class Piece(NamedTuple):
    """A piece of text and its style, as Textual writes styles: `bold $text-accent on $panel`."""

    text: str
    style: str = ""


Text: TypeAlias = tuple[Piece, ...]


def plain(text: Text) -> str:
    """The text without its looks."""
    return "".join(piece.text for piece in text)


def wrap(text: Text, width: int, hanging: int = 0) -> list[Text]:
    """The text in rows of at most `width` cells, broken between words; the rows after the first are indented."""
    whole = plain(text)
    if cell_len(whole) <= width:
        return [text]
    rows: list[Text] = []
    for start, end in _breaks(whole, width, max(width - hanging, 1)):
        row = tuple(_cut(text, start, end))
        rows.append((Piece(" " * hanging), *row) if rows and hanging else row)
    return rows


def _breaks(whole: str, width: int, rest: int) -> Iterator[tuple[int, int]]:
    """Where the rows begin and end: the first has room for `width` cells, the others for `rest`."""
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


def _cut(text: Text, start: int, end: int) -> Iterator[Piece]:
    at = 0
    for piece in text:
        cut = piece.text[max(start - at, 0) : max(end - at, 0)]
        if cut:
            yield Piece(cut, piece.style)
        at += len(piece.text)


def restyled(text: Text, start: int, end: int, style: str) -> Text:
    """The text with a style added to its characters from `start` to `end`."""
    marked = (Piece(piece.text, f"{piece.style} {style}".strip()) for piece in _cut(text, start, end))
    return (*_cut(text, 0, start), *marked, *_cut(text, end, len(plain(text))))


def joined(parts: Iterable[Piece]) -> Text:
    """The pieces that say anything."""
    return tuple(part for part in parts if part.text)
