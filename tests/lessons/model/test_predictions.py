"""Predictions: the right answer comes from the recording."""

import pytest

import microtape as mt
from lessons.model.header import LessonError
from lessons.model.lesson import Prediction
from lessons.model.predictions import is_given_away, right_answer


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
     (2, "gradient y", "[1, 2]"), (1, "grad x", "[6, 12]"), (0, "grad y", "None"), (0, "shape x", "2"),
     (0, "shape z", "scalar"), (0, "changes", "x"), (0, "succeeds", "yes")],
)  # fmt: skip
def test_the_right_answer_is_read_from_the_recording(recording, after, answer, right):
    assert right_answer(recording, Prediction(1, after, "?", answer, "")) == right


@pytest.mark.parametrize(
    ("after", "answer", "given"),
    [(0, "gradient z", False), (1, "gradient y", False), (2, "gradient y", True), (2, "shape y", True),
     (2, "gradient x", False), (3, "gradient x", True), (3, "grad x", False), (3, "next", False)],
)  # fmt: skip
def test_a_gradient_is_given_away_if_the_stepper_already_shows_it(recording, after, answer, given):
    assert is_given_away(recording, Prediction(1, after, "?", answer, "")) is given


def test_a_later_pass_adds_its_own_gradient(recording):
    assert right_answer(recording, Prediction(2, 2, "?", "gradient x", "")) == "[3, 6]"
    assert right_answer(recording, Prediction(2, 2, "?", "grad x", "")) == "[9, 18]"


class TestPassesOfOtherKinds:
    def ask(self, program, answer, after=0, number=1):
        with mt.record() as recorder:
            program()
        return right_answer(recorder.recording, Prediction(number, after, "?", answer, ""))

    def two_leaves(self):
        x, y, aside = (mt.tensor([1.0, 2.0], requires_grad=True) for _ in range(3))
        unused = aside * 2
        ((x * y).sum() + unused.detach().sum()).backward()

    def test_whose_grad_changes(self):
        assert self.ask(self.two_leaves, "changes") == "x, y"
        assert self.ask(self.two_leaves, "changes", after=4) == "y"

    def test_a_leaf_that_no_backward_reaches_has_none(self):
        assert self.ask(self.two_leaves, "grad aside") == "None"

    def test_gradients_returned_by_grad_change_nothing(self):
        def program():
            x = mt.tensor(2.0, requires_grad=True)
            mt.autograd.grad(x * x, x)

        assert self.ask(program, "changes") == "none"

    def test_a_grad_that_was_there_before_the_pass(self):
        def program():
            x, y = (mt.tensor(2.0, requires_grad=True) for _ in range(2))
            (x * 3).backward()
            (y * 3).backward()

        assert self.ask(program, "grad x", number=2) == "3"

    def test_a_pass_that_fails(self):
        def program():
            x = mt.tensor([1.0, 2.0], requires_grad=True)
            y = x.exp()
            y += 1
            with pytest.raises(RuntimeError):
                y.sum().backward()

        assert self.ask(program, "succeeds") == "no"


class TestInsideOfAFunction:
    @pytest.fixture(scope="class")
    def scaled(self):
        class Scale(mt.autograd.Function):
            @staticmethod
            def forward(ctx, x, factor):
                ctx.factor = factor
                return x * factor

            @staticmethod
            def backward(ctx, grad_z):
                doubled = grad_z * 2
                doubled = doubled * 3
                return doubled * ctx.factor, None

        def halve(gradient):
            return gradient / 2

        x = mt.tensor([1.0, 2.0], requires_grad=True)
        with mt.record() as recorder:
            y = Scale.apply(x, 5.0)
            y.register_hook(halve)
            y.sum().backward()
            (Scale.apply(x, 7.0)).sum().backward()
        return recorder.recording

    @pytest.mark.parametrize(
        ("number", "answer", "right"),
        [(1, "inside halve gradient", "[1, 1]"), (1, "inside halve return", "[0.5, 0.5]"),
         (1, "inside Scale.backward grad_z", "[0.5, 0.5]"), (1, "inside Scale.backward doubled", "[3, 3]"),
         (1, "inside Scale.backward ctx.factor", "5.0"), (1, "inside Scale.backward return 1", "[15, 15]"),
         (1, "inside Scale.backward return 2", "None"), (2, "inside Scale.backward ctx.factor", "7.0")],
    )  # fmt: skip
    def test_a_variable_has_the_value_of_the_end_of_the_call(self, scaled, number, answer, right):
        assert right_answer(scaled, Prediction(number, 1, "?", answer, "")) == right

    @pytest.mark.parametrize(
        ("after", "answer", "message"),
        [(1, "inside Scale.backward tripled", "for tripled inside Scale.backward: there are .*grad_z, doubled, ret"),
         (1, "inside Scale.backward return", "for return inside"),
         (2, "inside halve return", "inside halve, and it is not called after step 2"),
         (0, "inside Scale.forward x", "inside Scale.forward, and it is not called after step 0")],
    )  # fmt: skip
    def test_what_is_not_there_is_the_lessons_fault(self, scaled, after, answer, message):
        with pytest.raises(LessonError, match=message):
            right_answer(scaled, Prediction(1, after, "?", answer, ""))


@pytest.mark.parametrize(
    ("number", "after", "answer", "message"),
    [
        (1, 9, "next", "what comes after step 9 of 4"),
        (1, 0, "gradient w", "for the gradient of w, and there is none"),
        (1, 0, "grad w", "for the grad of w, and there is no tensor of that name"),
        (3, 0, "next", "about pass 3 of 2"),
    ],
)
def test_a_question_without_an_answer_is_the_lessons_fault(recording, number, after, answer, message):
    with pytest.raises(LessonError, match=message):
        right_answer(recording, Prediction(number, after, "?", answer, ""))
