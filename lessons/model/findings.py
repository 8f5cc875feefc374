"""The lesson about what `diagnose` finds, and about an error. Reads the headers of our own course alone.

The header of a lesson lists the kinds of `findings` that it is about, and pieces of the messages that it `explains`.
The reader is imported when somebody asks: what is recorded is mostly right, and then nobody does.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lessons.model.header import Header


class LessonName(NamedTuple):
    """How a lesson is called."""

    number: int
    name: str  # for `microtape learn NAME`


def lesson_on(kind: str) -> LessonName | None:
    """The lesson about a kind of finding; None if there is none."""
    return next((name for name, header in _headers() if kind in header.findings), None)


def lesson_on_error(message: str) -> LessonName | None:
    """The lesson that explains an error message: that of the longest piece in it. None if there is none."""
    from lessons.model.messages import folded

    wanted = folded(message)
    found = [
        (len(piece), -name.number, name)
        for name, header in _headers()
        for piece in map(folded, header.explains)
        if piece in wanted
    ]
    return max(found)[2] if found else None


@cache
def _headers() -> tuple[tuple[LessonName, Header], ...]:
    return tuple(_read_headers())


def _read_headers() -> Iterator[tuple[LessonName, Header]]:
    from lessons.model.header import read_header
    from lessons.model.load import COURSE, lesson_files

    for number, path in enumerate(lesson_files(COURSE), 1):
        header, _ = read_header(path, path.read_text(encoding="utf-8"))
        yield LessonName(number, path.parent.name.partition("_")[2]), header
