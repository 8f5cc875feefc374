"""Solutions piece by piece."""

import pytest

from lessons.model.load import load_course
from lessons.model.solution_pieces import solution_note, solution_pieces
from tests.support.course import COURSE
from tests.support.lesson_folder import write_lesson

EXERCISE = """\
def double(x):
    y = x
    raise NotImplementedError


class Counter:
    @staticmethod
    def count(items):
        raise NotImplementedError
"""
SOLUTION = """\
# Doubling: one way to write it.
#
# Adding is enough,
# for now.


def double(x):
    y = x
    for _ in range(1):
        y += x
    return y


class Counter:
    @staticmethod
    def count(items):
        n = 0
        if items:
            n = len(items)
        return n
"""


@pytest.fixture
def exercise(tmp_path):
    write_lesson(tmp_path, exercise=EXERCISE, solution=SOLUTION)
    return load_course(tmp_path).lessons[0].exercise


def test_each_piece_shows_one_more_statement_and_a_place_for_the_rest(exercise):
    first, second, *_ = solution_pieces(exercise)
    assert first == "def double(x):\n    y = x\n    for _ in range(1):\n        y += x\n    ..."
    assert second == "def double(x):\n    y = x\n    for _ in range(1):\n        y += x\n    return y"


def test_a_method_is_shown_with_its_class(exercise):
    *_, first, second, third = solution_pieces(exercise)
    head = "class Counter:\n    @staticmethod\n    def count(items):\n        n = 0\n"
    assert first == f"{head}        ..."
    assert second == f"{head}        if items:\n            n = len(items)\n        ..."
    assert third == f"{head}        if items:\n            n = len(items)\n        return n"


def test_the_note_is_the_comment_below_the_first_line(exercise):
    assert solution_note(exercise) == "Adding is enough, for now."


@pytest.mark.parametrize("lesson", COURSE, ids=lambda lesson: lesson.name)
def test_every_solution_has_a_note_and_no_piece_is_empty(lesson):
    found = solution_pieces(lesson.exercise)
    assert solution_note(lesson.exercise)
    assert found
    assert len(set(found)) == len(found)
