"""Inside of a step: every moment of it, the rule with names and numbers, and a cursor that hides what is next."""

import math
from dataclasses import replace

import numpy as np
import pytest

import microtape as mt
from microtape.recording.model.arithmetic import evaluate
from microtape.recording.model.formatting import format_number
from microtape.recording.model.formula import fill_in, parse_formula
from microtape.tape.operation import Operation
from tests.support.recordings import handmade
from tests.tui.stepper.test_app import LARGE, SMALL, bar, row, sentence, shown, stepper
from tui.shell.spans import plain
from tui.time.cursor import StepCursor
from tui.words.pane_texts import PaneTexts
from tui.words.worked_rule import worked_rule


def node_pane(cursor):
    return [" ".join(plain(line).split()) for line in PaneTexts(cursor).node()]


async def test_shift_right_goes_through_a_step_moment_by_moment():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("right", "right", "shift+right")
        assert "Its input buffer hands over 5." in sentence(pilot.app)
        assert row(pilot.app, 2).startswith("▶")
        assert "kept" not in shown(pilot.app, "#node")
        await pilot.press("shift+right")
        assert "unpacks the values that forward kept: x = 2 and y = 3." in sentence(pilot.app)
        await pilot.press("shift+right")
        assert "applies its rule ∂%2/∂x = y, ∂%2/∂y = x and gets 15 and 10. Nothing is sent yet." in sentence(pilot.app)
        assert " 6 (1/2) " in row(pilot.app, 0)
        await pilot.press("shift+right")
        assert sentence(pilot.app) == ("x has 6 + 15 = 21: gradients add up. It has all its terms: it is ready.")
        assert " 21 " in row(pilot.app, 0)
        assert " 6 (1/2) " in row(pilot.app, 1)
        assert "not yet → y g · x = 5 · 2 = 10" in " ".join(shown(pilot.app, "#node").split())
        await pilot.press("shift+right", "shift+right")
        assert "freed" in shown(pilot.app, "#node")
        assert sentence(pilot.app).startswith("%2 mul received 5; its rule")


async def test_shift_left_is_the_same_way_back_and_the_arrows_leave_the_step():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("right", "L", "L", "H")
        assert "hands over 6" in sentence(pilot.app)
        await pilot.press("right")
        assert bar(pilot.app) == "step 2 of 5"
        assert "received 6; its rule" in sentence(pilot.app)
        await pilot.press("shift+left", "left")
        assert bar(pilot.app) == "step 1 of 5"
        assert "received 1; its rule" in sentence(pilot.app)


@pytest.mark.parametrize("recording", [handmade.diamond(), handmade.failing(), handmade.twice(), handmade.chain(40)])
def test_inside_steps_meet_every_whole_step_in_order_both_ways(recording):
    seen, cursor = [], StepCursor.open(recording).home()
    cursor = replace(cursor, position=0)
    while cursor.position < cursor.timeline.last or cursor.part is not None:
        cursor = cursor.move_inside(1)
        seen.append(cursor)
        if cursor.step:
            assert len(cursor.deliveries) <= len(cursor.step.deliveries)
    assert [c.position for c in seen if c.part is None] == list(range(1, cursor.timeline.last + 1))
    back = []
    while cursor.position or cursor.part is not None:
        back.append(cursor)
        cursor = cursor.move_inside(-1)
    assert back == seen[::-1]


def test_a_leaf_has_no_grad_until_it_has_accumulated():
    cursor = StepCursor.after(handmade.diamond(), 4)
    leaf = cursor.timeline.node(cursor.node).variable
    assert cursor.leaf(leaf).state == "complete"
    assert cursor.move_inside(-1).leaf(leaf).state == "waiting"
    assert cursor.move_inside(-1).leaf(leaf).grad is None


def test_the_formula_has_this_node_s_names_and_the_rule_its_numbers():
    x = mt.tensor(2.0, requires_grad=True)
    weight = mt.tensor(-3.0, requires_grad=True)
    out = (weight * x).tanh()
    pane = node_pane(StepCursor.after(mt.record(out.backward), 1))
    assert pane[0].startswith("%3 out test_inside.py:")
    assert pane[0].endswith(" (weight * x).tanh() TanhBackward0")
    slope = float(1 - np.tanh(np.float32(-6.0)) ** 2)
    assert f"sends → %2 mul g · (1 - out²) = 1 · (1 - (-1)²) = {format_number(slope)} ready" in pane


def test_of_an_array_the_largest_element_is_worked_out():
    a = mt.tensor([1.0, 5.0, -2.0], requires_grad=True)
    b = mt.tensor([10.0, 20.0, -90.0], requires_grad=True)
    recording = mt.record((a * b).sum().backward)
    pane = node_pane(StepCursor.after(recording, 2))
    assert "sends → a g · b = [10, 20, -90] ([2]: 1 · (-90) = -90) ready" in pane
    assert "→ b g · a = [1, 5, -2] ([1]: 1 · 5 = 5) ready" in pane


def test_of_matrices_the_shapes_are_shown():
    w = mt.ones(4, 3, requires_grad=True)
    h = mt.ones(2, 4, requires_grad=True)
    pane = node_pane(StepCursor.after(mt.record((h @ w).sum().backward), 2))
    assert pane[0].endswith(" h @ w MmBackward0")
    assert "sends → h G · wᵀ = (2×3) · (4×3)ᵀ = [[3, 3, 3, 3], [3, 3, 3, 3]] ready" in pane


def test_an_equation_is_shown_only_if_it_holds():
    """Where y was broadcast its gradient is a sum, which `g · x` at one element is not."""
    x = mt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = mt.tensor([5.0, 6.0], requires_grad=True)
    cursor = StepCursor.after(mt.record((x * y).sum().backward), 2)
    to_x, to_y = (worked_rule(cursor, cursor.step, output) for output in (0, 1))
    assert to_x.numbers == "1 · 6"
    assert to_y.text == "g · x"
    assert to_y.numbers == ""


def subclasses(kind):
    return [kind, *(below for one in kind.__subclasses__() for below in subclasses(one))]


@pytest.mark.parametrize(
    "kind", [one for one in subclasses(Operation) if vars(one).get("formula")], ids=lambda kind: kind.__name__
)
def test_every_built_in_formula_can_be_taken_apart(kind):
    rule = parse_formula(kind.formula)
    assert rule.result
    assert rule.gradients or "ᵢ" in kind.formula
    assert fill_in(kind.formula, {}).isprintable()


def test_a_factor_stays_apart_from_what_takes_the_place_of_its_symbol():
    assert fill_in("1 / 2z", {"z": "0"}) == "1 / (2·0)"
    assert fill_in("x · (1 - 2y)", {"x": "g", "y": "p"}) == "g · (1 - 2·p)"
    assert fill_in("1 / 2z", {}) == "1 / 2z"


def test_an_expression_in_a_formula_is_in_parentheses():
    assert fill_in("n · x^(n-1)", {"x": "1 - pt"}) == "n · (1 - pt)^(n-1)"
    assert fill_in("n · x^(n-1)", {"x": "f(1 - pt)"}) == "n · f(1 - pt)^(n-1)"
    assert fill_in("2 (x) y", {"x": "a + b", "y": "w[i + 1]"}) == "2 (a + b) w[i + 1]"


@pytest.mark.parametrize(
    ("text", "numbers", "result"),
    [
        ("g · (1 - z²)", {"g": 2.0, "z": 0.5}, 1.5),
        ("g · (1 / 2z)", {"g": 2.0, "z": 0.5}, 2.0),
        ("g · (1 where z > 0, else 0)", {"g": 2.0, "z": 0.5}, 2.0),
        ("g · eˣ⁻ᶻ", {"g": 1.0, "x": 2.0, "z": 2.0}, 1.0),
        ("log₁₀ x", {"x": 100.0}, 2.0),
        ("1 / (x · ln 10)", {"x": 1.0}, 1 / math.log(10)),
        ("arcosh x", {"x": 1.0}, 0.0),
        ("g at i, 0 elsewhere", {"g": 1.0}, None),
        ("__import__('os')", {}, None),
        ("g / x", {"g": 1.0, "x": 0.0}, float("inf")),
    ],
)
def test_formulas_are_read_as_arithmetic_where_they_are(text, numbers, result):
    assert evaluate(text, numbers) == result


async def test_a_stepper_that_hides_the_next_node_shows_it_nowhere():
    async with stepper(handmade.diamond(), hides_next=True).run_test(size=LARGE) as pilot:
        for _ in range(4):
            assert "▷" not in shown(pilot.app, "#tape")
            assert "Next" not in sentence(pilot.app)
            await pilot.press("right")
        await pilot.press("left")
        assert "ready    x and y" in shown(pilot.app, "#engine")
