"""Whether the number that a prediction asks for can be read in the lesson's text, an output, a picture, or a question.

Who has read a number a moment before does not predict it. So the program that is stepped through has other numbers than
the text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from lessons.model.lesson import Lesson, Prediction

_NUMBER = re.compile(r"(?<![\w.])[-−]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?(?![\w])|\bnan\b|\binf\b")
_LESSONS = re.compile(r"lessons? \d+(?:, \d+)*(?: and \d+)?")  # a number of a lesson is not a number of its program
_BETWEEN = re.compile(r"[\s,;×x()\[\]|]*(?:by|and)?[\s,;×x()\[\]|]*")  # what may separate the numbers of an answer


def stands_above(lesson: Lesson, prediction: Prediction, answer: str) -> str | None:
    """Where the numbers of an answer stand, as a piece of text around them; None if nowhere, or if there are none.

    An answer of several numbers stands where they follow one another. A single zero counts as none: it is the answer
    "nothing", and not a number that could be read.
    """
    return stands_in((_LESSONS.sub("", lesson.prose), prediction.ask, prediction.hint), prediction, answer)


def stands_in(texts: Iterable[str], prediction: Prediction, answer: str) -> str | None:
    """Where the numbers of an answer stand in one of these texts."""
    wanted = [number for number, _, _ in _numbers(answer)]
    if wanted in ([], ["0"]) or prediction.answer in ("next", "changes", "succeeds"):
        return None
    for text in texts:
        for found in _runs(text, len(wanted)):
            if [number for number, _, _ in found] == wanted:
                return " ".join(text[max(found[0][1] - 20, 0) : found[-1][2] + 20].split())
    return None


def _runs(text: str, length: int) -> Iterator[list[tuple[str, int, int]]]:
    """Every row of that many numbers that follow one another."""
    numbers = list(_numbers(text))
    for start in range(len(numbers) - length + 1):
        run = numbers[start : start + length]
        gaps = [text[one[2] : other[1]] for one, other in itertools.pairwise(run)]
        if all(_BETWEEN.fullmatch(gap) for gap in gaps):
            yield run


def _numbers(text: str) -> Iterator[tuple[str, int, int]]:
    """The numbers in a text, written in one way, and where each begins and ends."""
    for found in _NUMBER.finditer(text):
        value = float(found[0].replace("−", "-"))
        yield f"{value:.4g}", found.start(), found.end()
