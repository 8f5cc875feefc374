"""The user's source text: lines, expressions, and the place of a moment in the program."""

from __future__ import annotations

from functools import lru_cache

from microtape.recording.model.model import Place, Recording
from tui.time.cursor import StepCursor


def source_lines(recording: Recording, file: str) -> list[str]:
    """The lines of a file as it was recorded; none if it was not recorded."""
    return list(_lines(recording.sources.get(file, "")))


@lru_cache(8)
def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.splitlines())


def expression(recording: Recording, place: Place | None) -> str:
    """The expression at a place, on one line; empty if its source was not recorded."""
    if place is None:
        return ""
    text = list(_lines(recording.sources.get(place.file, ""))[place.line - 1 : place.end_line])
    if not text:
        return ""
    text[-1] = text[-1][: place.end_column]
    text[0] = text[0][place.column :]
    return " ".join(part.strip() for part in text)


def place_of(cursor: StepCursor) -> Place | None:
    """The place of a moment in the program: that of its operation, or the call of backward."""
    pass_ = cursor.timeline.pass_
    if cursor.node is not None:
        return cursor.timeline.node(cursor.node).place
    if cursor.is_forward and cursor.next_node is not None:
        return cursor.timeline.node(cursor.next_node).place
    return pass_.place if pass_ is not None else None
