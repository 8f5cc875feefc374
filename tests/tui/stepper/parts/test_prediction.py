"""Predict mode by itself: one question at each visit of a moment, and the score."""

import pytest

from tests.support.recordings import handmade
from tests.tui.stepper.parts.fakes import FakeStepper
from tui.stepper.parts.prediction import Prediction


@pytest.fixture
def stepper():
    return FakeStepper(handmade.diamond())


def test_it_asks_only_while_it_is_on(stepper):
    prediction = Prediction(stepper)
    assert prediction.before_step(stepper.cursor) is None
    prediction.predict()
    assert stepper.cursor.hides_next
    assert prediction.before_step(stepper.cursor) is not None
    prediction.predict()
    assert not stepper.cursor.hides_next
    assert prediction.score is None


def test_a_moment_is_asked_about_once_at_each_visit(stepper):
    prediction = Prediction(stepper)
    prediction.predict()
    assert prediction.before_step(stepper.cursor) is not None
    assert prediction.before_step(stepper.cursor) is None
    stepper.cursor = stepper.cursor.move(1).move(-1)
    assert prediction.before_step(stepper.cursor) is not None


def test_answers_are_counted_and_skipped_questions_are_not(stepper):
    prediction = Prediction(stepper)
    prediction.predict()
    for answer in (True, False, None, True):
        prediction.answered(answer)
    assert prediction.score == (2, 3)
    prediction.predict()
    assert stepper.notices[-1] == "2 of 3 predictions were right."
