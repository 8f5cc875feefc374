"""Moving in time, and the questions that come before a step."""

import pytest

from tests.support.recordings import handmade
from tests.tui.stepper.parts.fakes import FakeStepper
from tui.stepper.parts.movement import Movement


class FakeQuestions:
    """Asks so many questions, and notes the answers."""

    def __init__(self, count):
        self.left, self.heard = count, []

    def before_step(self, cursor):
        self.left -= 1
        return f"question {self.left}" if self.left >= 0 else None

    def answered(self, right):
        self.heard.append(right)


@pytest.fixture
def stepper():
    return FakeStepper(handmade.diamond())


def test_steps_on_and_back(stepper):
    movement = Movement(stepper)
    movement.move(1)
    movement.move(1)
    assert stepper.cursor.steps_done == 2
    movement.move(-1)
    assert stepper.cursor.steps_done == 1
    assert stepper.was_stopped


def test_to_either_end_and_to_a_node(stepper):
    movement = Movement(stepper)
    movement.end()
    assert stepper.cursor.position == stepper.cursor.timeline.last
    movement.home()
    assert stepper.cursor.steps_done == 0
    movement.go_to_node(3)
    assert stepper.cursor.node == 3
    movement.go_to_node(None)
    assert stepper.cursor.node == 3
    movement.go_to("x")
    assert stepper.cursor.node == 0


def test_going_to_one_of_several_nodes_says_which_and_again_goes_to_the_next(stepper):
    movement = Movement(stepper)
    for number in (1, 2, 1):
        movement.go_to("mul")
        assert stepper.notices[-1].startswith(f"mul: {number} of 2 nodes.")
    movement.go_to("y")
    assert len(stepper.notices) == 3


def test_inside_of_a_step_and_out_again(stepper):
    movement = Movement(stepper)
    movement.move_inside(1)
    assert stepper.cursor.part == 0
    movement.move_inside(-1)
    assert (stepper.cursor.part, stepper.cursor.steps_done) == (None, 0)


def test_every_question_is_answered_before_the_step(stepper):
    first, second = FakeQuestions(2), FakeQuestions(1)
    movement = Movement(stepper, (first, second))
    movement.move(1)
    for answer, left in ((True, 1), (None, 2), (False, 3)):
        assert stepper.cursor.steps_done == 0, left
        stepper.close_page(answer)
    assert stepper.cursor.steps_done == 1
    assert (first.heard, second.heard) == ([True, None], [False])
    assert stepper.app.notices_cleared


def test_stepping_back_asks_no_question(stepper):
    stepper.cursor = stepper.cursor.move(2)
    Movement(stepper, (FakeQuestions(1),)).move(-1)
    assert stepper.cursor.steps_done == 1
