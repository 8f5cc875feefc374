"""What counts as a number that can be read before it is asked for."""

from dataclasses import replace

import pytest

from lessons.model.lesson import Prediction
from lessons.proving.given_away import stands_above
from tests.support.course import COURSE

LESSON = COURSE.lessons[0]


def where(prose, answer, *, ask="What arrives at `x`?", kind="gradient x", hint=""):
    return stands_above(replace(LESSON, prose=prose), Prediction(1, 0, ask, kind, "", hint), answer)


@pytest.mark.parametrize(
    ("prose", "answer"),
    [
        ("It sends 3 to x.", "3"),
        ("tensor(3., grad_fn=<AddBackward0>)", "3"),
        ("x ──▶ 3", "3"),
        ("It is -0.5 there.", "-0.5"),
        ("It is −4 there.", "-4"),
        ("tensor([ 6., 12.])", "[6, 12]"),
        ("a table of 2 × 3", "2×3"),
        ("two by two: 2 by 3", "2×3"),
        ("tensor([0.2500,    nan, 0.5000])", "[0.25, nan, 0.5]"),
        ("tensor([[4.],\n        [3.]])", "[[4], [3]]"),
    ],
)
def test_a_number_stands_in_a_text_an_output_or_a_picture(prose, answer):
    assert where(prose, answer) is not None


@pytest.mark.parametrize(
    ("prose", "answer"),
    [
        ("13 and 3.5 and x3 and 3e2", "3"),
        ("as in lesson 3, and in lessons 2, 3 and 8", "3"),
        ("6 arrives first, then 12", "[6, 12]"),
        ("[12, 6]", "[6, 12]"),
        ("0 everywhere", "0"),
        ("it is called total", "total"),
    ],
)
def test_what_is_no_such_number(prose, answer):
    assert where(prose, answer) is None


def test_the_question_and_its_hint_are_read_as_well():
    assert where("", "7", ask="7 arrives. What will it be?") is not None
    assert where("", "7", hint="Is it 7?") is not None


def test_which_row_is_next_is_no_number():
    assert where("%4 is next", "%4", kind="next") is None
