"""Formulas with the numbers of a call."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microtape.nn import functional as F  # noqa: N812 - as users write it
from microtape.recording.model.arithmetic import evaluate
from microtape.recording.model.formula import parse_formula
from microtape.recording.model.formula_arguments import LETTERS, constants_in, with_constants
from microtape.tape.node import Node


def kinds():
    """The classes of nodes whose formulas have letters for constants."""
    assert F  # the operations of layers are classes, too
    found, waiting = {}, [Node]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        letters = constants_in(kind.formula, [name for name in LETTERS if hasattr(kind, name)])
        if kind.__module__.startswith("microtape.") and letters:
            found[kind.__name__, kind.formula] = letters
    return found


KINDS = kinds()


@pytest.mark.parametrize(("formula", "letters"), [(formula, letters) for (_, formula), letters in KINDS.items()])
@given(data=st.data())
def test_no_letter_is_left_whatever_the_numbers(formula, letters, data):
    numbers = st.integers(-3, 3) | st.floats(allow_nan=False) | st.booleans()
    values = [(letter, data.draw(numbers)) for _, letter in letters]
    filled = with_constants(formula, values)
    assert not constants_in(filled.replace(", p = ", "").replace("(1/p)", ""), [name for name, _ in letters]), filled
    assert len(parse_formula(filled).gradients) == len(parse_formula(formula).gradients)


@pytest.mark.parametrize("alpha", [1, 1.0, True])
def test_a_factor_of_one_is_left_out(alpha):
    formula = "Z = β · X + α · Y · W    ∂X = β · G,  ∂Y = α · G · Wᵀ"
    assert with_constants(formula, [("α", alpha), ("β", 2)]) == "Z = 2 · X + Y · W    ∂X = 2 · G,  ∂Y = G · Wᵀ"


def test_a_negative_number_is_in_parentheses_only_after_an_operator():
    assert with_constants("z = x - α · y    ∂z/∂y = -α", [("α", -2)]) == "z = x - (-2) · y    ∂z/∂y = -(-2)"
    assert with_constants("z = x within [l, h]", [("l", -2), ("h", None)]) == "z = x within [-2, ∞]"


def test_what_is_no_number_leaves_its_letter():
    assert with_constants("z = a · x", [("a", "symbolic")]) == "z = a · x"


@given(st.integers(-4, 4) | st.sampled_from([0.5, -0.5, 1.5, 2.25]), st.floats(0.5, 3))
def test_a_power_is_written_out_as_it_is_computed(exponent, x):
    rule = with_constants("z = xⁿ    ∂z/∂x = n · xⁿ⁻¹", [("n", exponent)])
    result, (gradient,) = parse_formula(rule).result.removeprefix("z = "), parse_formula(rule).gradients
    assert math.isclose(evaluate(result, {"x": x}), x**exponent)
    assert math.isclose(evaluate(gradient.text, {"x": x}), exponent * x ** (exponent - 1))
