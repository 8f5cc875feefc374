"""The user's source text, as it was recorded."""

from __future__ import annotations

from microtape.recording.model.model import Place, Recording


def source_lines(recording: Recording, file: str) -> list[str]:
    """The lines of a file as it was recorded; none if it was not recorded."""
    return recording.sources.get(file, "").splitlines()


def expression(recording: Recording, place: Place | None) -> str:
    """The expression at a place, on one line; empty if its source was not recorded."""
    if place is None:
        return ""
    text = source_lines(recording, place.file)[place.line - 1 : place.end_line]
    if not text:
        return ""
    text[-1] = text[-1][: place.end_column]
    text[0] = text[0][place.column :]
    return " ".join(part.strip() for part in text)
