"""The lesson about what `diagnose` finds. The header of a lesson lists the kinds of `findings` that it is about."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple


class LessonName(NamedTuple):
    """How a lesson is called."""

    number: int
    name: str  # for `microtape learn NAME`


def lesson_on(kind: str) -> LessonName | None:
    """The lesson about a kind of finding; None if there is none. Reads the headers of our own course alone."""
    return _by_kind().get(kind)


@cache
def _by_kind() -> Mapping[str, LessonName]:
    from lessons.model.header import read_header  # what is recorded is mostly right, and then nobody asks
    from lessons.model.load import COURSE, lesson_files

    found: dict[str, LessonName] = {}
    for number, path in enumerate(lesson_files(COURSE), 1):
        header, _ = read_header(path, path.read_text(encoding="utf-8"))
        name = LessonName(number, path.parent.name.partition("_")[2])
        found |= dict.fromkeys(header.findings, name)
    return found
