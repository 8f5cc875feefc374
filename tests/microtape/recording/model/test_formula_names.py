"""Formulas with the names of the program, whose x and y are others than the formula's."""

import microtape as mt
from microtape.recording.model.formula_names import named_formula
from tests.support.recordings import handmade
from tui.time.cursor import StepCursor
from tui.words.worked_rule import rule_text


def rules(backward):
    cursor = StepCursor.open(mt.record(backward))
    return [rule_text(cursor, node) for node in cursor.recording.nodes]


def test_a_rule_speaks_of_the_tensors_of_the_program():
    x, y = mt.tensor(2.0, requires_grad=True), mt.tensor(3.0, requires_grad=True)
    z = (y * x) * (x + y)
    assert rules(z.backward) == [
        "y.grad += g",
        "x.grad += g",
        "%2 = y · x   ∂%2/∂y = x,   ∂%2/∂x = y",
        "%3 = x + y   ∂%3/∂x = 1,   ∂%3/∂y = 1",
        "z = %2 · %3   ∂z/∂%2 = %3,   ∂z/∂%3 = %2",
    ]


def test_what_is_overwritten_and_what_overwrites_it_have_different_names():
    w = mt.tensor([2.0, 3.0], requires_grad=True)
    y = w * 2
    y *= w
    (rule,) = [one for one in rules(y.sum().backward) if "· w" in one]
    assert rule == "%2 = y · w   ∂%2/∂y = w,   ∂%2/∂w = y"


def test_a_constant_is_told_and_one_that_is_unknown_is_no_y():
    x = mt.tensor([2.0, 3.0], requires_grad=True)
    y = x - 4.0
    before = mt.record(y.sum().backward)
    assert named_formula(before, before.nodes[1], lambda operand: "x") == "y = x - constant    ∂y/∂x = 1"


def test_a_negative_constant_is_in_parentheses_only_after_an_operator():
    x = mt.tensor([2.0, 3.0], requires_grad=True)
    with mt.record() as recorder:
        y = (x - -4.0) * -2.0
        y.sum().backward()
    cursor = StepCursor.open(recorder.recording)
    difference, product = [rule_text(cursor, node) for node in cursor.recording.nodes[1:3]]
    assert difference == "%1 = x - (-4)   ∂%1/∂x = 1"
    assert product == "y = %1 · (-2)   ∂y/∂%1 = -2"


def test_a_long_name_and_one_that_a_formula_has_itself_are_told_by_number():
    a_name_that_takes_much_room = mt.tensor(2.0, requires_grad=True)
    g = mt.tensor(3.0, requires_grad=True)
    out = a_name_that_takes_much_room * g
    *_, rule = rules(out.backward)
    assert rule == "out = %0 · %1   ∂out/∂%0 = %1,   ∂out/∂%1 = %0"


def test_a_formula_whose_letters_are_unclear_stays():
    recording = handmade.diamond()
    unclear = recording.nodes[2]._replace(formula="z = x    ∂x = G")
    assert named_formula(recording, unclear, lambda one: "w") == "z = x    ∂x = G"
