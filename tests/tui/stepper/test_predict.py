"""Predict mode: a question before each step, read from the recording, and a score."""

import re

import pytest
from textual.widgets import Input

import microtape as mt
from tests.support.recordings import handmade
from tests.tui.stepper.test_app import LARGE, bar, sentence, shown, stepper
from tui.stepper.predict_screen import PredictScreen, Question, question_about
from tui.time.cursor import StepCursor


def every_question(recording):
    cursor = StepCursor.open(recording).home()
    if cursor.is_forward:
        cursor = cursor.to_moment(len(cursor.timeline.forward))
    while cursor.next_node is not None:
        yield question_about(cursor)
        cursor = cursor.move(1)


def test_questions_about_order_and_numbers_take_turns_and_accept_their_own_answers():
    for recording in (handmade.diamond(), handmade.twice(), handmade.chain(4), handmade.failing()):
        for question in every_question(recording):
            if question is not None:
                assert question.accepts(question.right)
                assert all(question.accepts(also) for also in question.also)
                assert not question.accepts("")
    assert {question.kind for question in every_question(handmade.diamond())} == {"order", "number"}
    assert {question.kind for question in every_question(handmade.chain(4))} >= {"shape", "number"}


def test_a_question_about_a_number_gives_the_rule_and_all_numbers_that_the_rule_needs():
    x, y = mt.tensor(2.0, requires_grad=True), mt.tensor(3.0, requires_grad=True)
    w = mt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    z = (y * x) / (x - y) + (w @ w).tanh().sum() ** 2
    recording = mt.record(z.backward)
    asked = [one for one in every_question(recording) if one is not None and "What does it send" in one.ask]
    assert ("rule  %2 = y · x   ∂%2/∂y = x,   ∂%2/∂x = y", "here  y = 3, x = 2") in [one.given for one in asked]
    for question in asked:
        rule, *here = question.given
        _, *rules = re.split(r"∂[%\w]+/∂[%\w]+ = ", rule)
        for name in {name for each in rules for name in re.findall(r"%\d+|[xyzw]", each)}:
            assert any(re.search(rf"(?<![%\w]){name} = ", line) for line in here), (rule, here)


def test_a_number_that_only_a_function_or_a_hook_knows_is_not_asked_for():
    class Double(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = mt.tensor(2.0, requires_grad=True)
    hooked = x * 3
    hooked.grad_fn.register_hook(lambda given, came: (given[0] * 7, None))
    recording = mt.record(Double.apply(hooked).backward)
    questions = [one for one in every_question(recording) if one is not None]
    assert not [one for one in questions if "What does it send" in one.ask]
    assert questions


@pytest.mark.parametrize("answer", ["24×3", "24x3", "(24, 3)", "[24,3]", "24, 3"])
def test_a_shape_may_be_written_in_any_way(answer):
    assert Question("", "24×3", "", "shape").accepts(answer)


@pytest.mark.parametrize("answer", ["3×24", "72", "scalar", "", "24 3 1"])
def test_another_shape_is_not_right(answer):
    assert not Question("", "24×3", "", "shape").accepts(answer)


async def test_p_asks_before_it_shows_and_keeps_a_score():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        assert "The first step" in sentence(pilot.app)
        await pilot.press("P")
        assert "The first step" not in sentence(pilot.app), "what comes next is not given away"
        await pilot.press("right")
        assert isinstance(pilot.app.screen, PredictScreen)
        await pilot.press("enter")
        assert "It is" in shown(pilot.app, "#verdict")
        await pilot.press("enter")
        assert bar(pilot.app) == "step 1 of 5"
        assert "of 1 right" in shown(pilot.app, "Heading")


async def test_right_answers_count_and_skipped_ones_do_not():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("P", "right", "escape")
        assert bar(pilot.app) == "step 1 of 5"
        assert "predict   " in shown(pilot.app, "Heading")
        right = question_about(pilot.app.screen.cursor).right
        await pilot.press("right", *right, "enter", "enter")
        assert "predict: 1 of 1 right" in shown(pilot.app, "Heading")
        right = question_about(pilot.app.screen.cursor).right
        await pilot.press("right", "n", "o", "enter")
        assert right not in shown(pilot.app, "#verdict"), "the answer is not told after the first guess"
        await pilot.press("n", "o", "enter")
        assert f"Not quite: {right}." in shown(pilot.app, "#verdict")
        await pilot.press("enter")
        assert "predict: 1 of 2 right" in shown(pilot.app, "Heading")


async def test_a_wrong_guess_gets_a_hint_and_a_second_try():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("P", "right")
        question = pilot.app.screen._question
        await pilot.press(*"777", "enter")
        assert shown(pilot.app, "#verdict").startswith("Not quite. ")
        assert question.hint_after("777") in shown(pilot.app, "#verdict").replace("\n", " ")
        assert pilot.app.screen.query_one(Input).value == ""
        await pilot.press(*question.right, "enter")
        assert shown(pilot.app, "#verdict").startswith(f"Right: {question.right}.")
        await pilot.press("enter")
        assert "predict: 1 of 1 right" in shown(pilot.app, "Heading")


async def test_who_gives_up_after_a_wrong_guess_is_told_the_answer():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("P", "right")
        question = pilot.app.screen._question
        await pilot.press("7", "enter", "enter")
        assert shown(pilot.app, "#verdict").startswith(f"It is: {question.right}.")
        await pilot.press("enter", "right", "7", "enter", "escape")
        assert "predict: 0 of 2 right" in shown(pilot.app, "Heading"), "a guess that was given counts"


def test_no_hint_tells_the_answer():
    for recording in (handmade.diamond(), handmade.twice(), handmade.chain(4)):
        for question in every_question(recording):
            if question is not None and question.kind != "order":
                assert question.hint
                hint = re.sub(r"`[^`]*`", "", question.hint)  # `%3 add` is a name
                assert not re.search(rf"(?<![\w.]){re.escape(question.right)}(?![\w.])", hint)


async def test_once_answered_it_takes_no_more_typing_and_right_goes_on():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("P", "right", "7", "enter", "7", "enter", "8", "9")
        assert pilot.app.screen.query_one(Input).value == "7"
        await pilot.press("right")
        assert bar(pilot.app) == "step 1 of 5"
        await pilot.press("right", "7", "enter", "7", "enter", "escape")
        assert bar(pilot.app) == "step 2 of 5"
        assert "of 2 right" in shown(pilot.app, "Heading"), "an answer that was given counts"


async def test_back_asks_no_question_and_p_stops_predicting():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("right", "right", "P", "left")
        assert bar(pilot.app) == "step 1 of 5"
        await pilot.press("P", "right")
        assert bar(pilot.app) == "step 2 of 5"
        assert "predict" not in shown(pilot.app, "Heading")
