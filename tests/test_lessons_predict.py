"""Predictions: the right answer comes from the recording, and is recognised however it is written."""

import pytest

import microtape as mt
from lessons.load import LessonError
from lessons.model import Prediction
from lessons.predict import is_right, right_answer


@pytest.fixture(scope="module")
def recording():
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    with mt.record() as recorder:
        y = x * 3
        z = (y * x).sum()
        z.backward()
        (x * y.detach()).sum().backward()
    return recorder.recording


@pytest.mark.parametrize(
    ("after", "answer", "right"),
    [(0, "next", "z"), (1, "next", "%2"), (2, "next", "y"), (3, "next", "x"), (0, "gradient x", "[6, 12]"),
     (2, "gradient y", "[1, 2]"), (1, "grad x", "[6, 12]")],
)  # fmt: skip
def test_the_right_answer_is_read_from_the_recording(recording, after, answer, right):
    assert right_answer(recording, Prediction(1, after, "?", answer, "")) == right


def test_a_later_pass_brings_a_gradient_of_its_own_and_adds_it(recording):
    assert right_answer(recording, Prediction(2, 2, "?", "gradient x", "")) == "[3, 6]"
    assert right_answer(recording, Prediction(2, 2, "?", "grad x", "")) == "[9, 18]"


@pytest.mark.parametrize(
    ("number", "after", "answer", "message"),
    [
        (1, 9, "next", "what comes after step 9 of 4"),
        (1, 0, "gradient w", "for the gradient of w, and there is none"),
        (1, 0, "grad y", "for the grad of y, and there is none"),
        (3, 0, "next", "about pass 3 of 2"),
    ],
)
def test_a_question_without_an_answer_is_the_lessons_fault(recording, number, after, answer, message):
    with pytest.raises(LessonError, match=message):
        right_answer(recording, Prediction(number, after, "?", answer, ""))


@pytest.mark.parametrize(
    ("answer", "right"),
    [("z", "z"), (" Z ", "z"), ("`z`", "z"), ("%2", "%2"), ("2", "%2"), ("6", "6"), ("6.0", "6"), ("6.00001", "6"),
     ("0.54", "0.5403"), ("[6,12]", "[6, 12]"), ("6 12", "[6, 12]"), ("-3", "-3")],
)  # fmt: skip
def test_right(answer, right):
    assert is_right(answer, right)


@pytest.mark.parametrize(
    ("answer", "right"),
    [("y", "z"), ("", "z"), ("", "6"), ("5.8", "6"), ("-6", "6"), ("6", "[6, 12]"), ("6 12 18", "[6, 12]"),
     ("six", "6"), ("0.1", "0"), ("nan", "6")],
)  # fmt: skip
def test_wrong(answer, right):
    assert not is_right(answer, right)
