"""The user's text at a place of the program."""

from __future__ import annotations

from microtape.recording.model.model import Place, Recording
from tui.time.cursor import StepCursor


def lines(recording: Recording, file: str) -> list[str]:
    """The file's lines as they were recorded, none where the file was not."""
    return recording.sources.get(file, "").splitlines()


def expression(recording: Recording, place: Place | None) -> str:
    """The sub-expression at a place, on one line; nothing where the source is not known."""
    if place is None:
        return ""
    text = lines(recording, place.file)[place.line - 1 : place.end_line]
    if not text:
        return ""
    text[-1] = text[-1][: place.end_column]
    text[0] = text[0][place.column :]
    return " ".join(part.strip() for part in text)


def place_of(cursor: StepCursor) -> Place | None:
    """Where a moment is in the program: its operation, or the call of backward."""
    pass_ = cursor.timeline.pass_
    if cursor.node is not None:
        return cursor.timeline.node(cursor.node).place
    if cursor.is_forward and cursor.next_node is not None:
        return cursor.timeline.node(cursor.next_node).place
    return pass_.place if pass_ is not None else None
