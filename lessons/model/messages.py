"""The lesson that explains an error message. The header of a lesson lists pieces of the messages that it `explains`."""

from __future__ import annotations

import re

from lessons.model.lesson import Course, Lesson

SHORTEST = 4  # letters of a text that is looked up


def lessons_about(course: Course, text: str) -> list[Lesson]:
    """The lessons that explain an error message, or a part of one. Case, spaces and hyphens do not matter.

    A whole message, or a traceback, has one lesson: that of the longest piece in it. A part of a message, or some words
    of one, has all the lessons whose pieces contain it.

    Raises:
        LookupError: there is none; the message is for the user.
    """
    wanted = folded(text)
    pieces = [(folded(piece), lesson) for lesson in course for piece in lesson.explains]
    if len(wanted) < SHORTEST:
        raise LookupError("write a part of the error message: microtape learn about 'modified by an inplace'")
    if within := [(len(piece), -lesson.number, lesson) for piece, lesson in pieces if piece in wanted]:
        return [max(within)[2]]
    found = [lesson for piece, lesson in pieces if wanted in piece]
    found = found or [lesson for piece, lesson in pieces if set(wanted.split()) <= set(piece.split())]
    if not found:
        raise LookupError(f"no lesson explains {' '.join(text.split())!r}: `microtape learn list` shows them all")
    return list(dict.fromkeys(found))


def folded(text: str) -> str:
    """A message without what people type differently: case, spaces, hyphens, quotes."""
    plain = re.sub(r"[\"'`]", "", text.casefold())
    return " ".join(re.sub(r"\bin[- ]place\b", "inplace", plain).split())
