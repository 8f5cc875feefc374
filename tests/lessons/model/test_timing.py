"""The minutes of a lesson, for those who plan a class."""

import pytest

from lessons import load_course
from lessons.model.timing import WORDS, minutes
from tests.support.lesson_folder import EXERCISE, HEADER, LESSON, SOLUTION, write_lesson

LONG = "word " * 10 * WORDS
QUESTIONS = '[[predict]]\nafter = 0\nask = "?"\nanswer = "next"\nbecause = "."\n' * 6
WRONG_ENGINE = '[wrong_engine]\nfault = "overwrite"\nprogram = "program.py"\nbecause = "."\n' + QUESTIONS


def lesson(folder, **changes):
    return next(iter(load_course(write_lesson(folder, **changes))))


@pytest.mark.parametrize(
    ("changes", "takes"),
    [
        ({}, 5),
        ({"lesson": LESSON + LONG}, 15),
        ({"lesson": HEADER.replace('much."\n', f'much."\n{QUESTIONS}') + "# Doubling\n\n## In PyTorch\n"}, 10),
        ({"exercise": "# " + LONG + "\n" + EXERCISE}, 15),
        ({"solution": SOLUTION + "a = 1\nb = 2\n" * 8}, 15),
        ({"lesson": HEADER.replace('much."\n', f'much."\n{WRONG_ENGINE}') + "# Doubling\n\n## In PyTorch\n"}, 10),
    ],
    ids=["small", "long text", "six questions", "long task", "many lines", "six questions and a wrong engine"],
)
def test_what_a_lesson_asks_for_takes_its_time(tmp_path, changes, takes):
    assert minutes(lesson(tmp_path, **changes)) == takes
