"""Answers as learners of different styles write them, without a look at the solution: each is judged rightly.

`answers/LESSON_right.txt` and `answers/LESSON_wrong.txt` hold one answer below each line of ===: the piece of the
exercise that the learner writes. What stands above the first such line belongs to every answer. A lesson may have
several such files, `LESSON.SOMETHING_right.txt`.
"""

import functools
import re
from pathlib import Path

import pytest

from lessons.checking.expected import Expected
from lessons.checking.observe import SECONDS
from lessons.checking.verdict import check
from lessons.model.growing import pieces, with_pieces
from tests.support.course import COURSE
from tests.support.shared_process import shared_process

ANSWERS = Path(__file__).parent / "answers"
SHORT = 3.0  # seconds for an answer that is wrong: one of them would never end, and has failed then in any case


def answers():
    for path in sorted(ANSWERS.glob("*.txt")):
        names, _, kind = path.stem.rpartition("_")
        lesson = names.partition(".")[0]
        shared, *parts = re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for part in parts:
            name, _, text = part.partition("\n")
            text = f"class Tape:\n{text}" if text.startswith("    def ") else text
            yield pytest.param(lesson, f"{shared}{text}", kind == "right", id=f"{lesson}-{kind}-{name}")


def file_of(exercise, text):
    """The learner's file. Their Tensor replaces the whole of the one that the exercise only names."""
    lines = exercise.path.read_text(encoding="utf-8").splitlines()
    if "class Tensor" in text:
        unwritten = pieces("\n".join(lines))["Tensor"]
        del lines[unwritten.start : unwritten.end]
    return with_pieces("\n".join(lines), text)


@functools.cache
def expected(lesson):
    """What is expected of a lesson's answers: its solution and its known wrong answers run once for all of them."""
    with Expected(COURSE.named(lesson).exercise) as found:
        assert found.outcomes
        found.run_mistakes()
    return found


@pytest.fixture(scope="module")
def process():
    """The answers of a lesson run in one process, unless one of them ends it."""
    with shared_process() as process:
        yield process


@pytest.mark.sampled(20)
@pytest.mark.parametrize(("lesson", "text", "right"), answers())
def test_it_is_judged_rightly(lesson, text, right, tmp_path, process):
    exercise = COURSE.named(lesson).exercise
    file = tmp_path / "mine.py"
    file.write_text(file_of(exercise, text), encoding="utf-8")
    seconds = SECONDS if right else SHORT
    assert check(exercise, file, seconds=seconds, expected=expected(lesson), process=process(lesson)).passed is right
