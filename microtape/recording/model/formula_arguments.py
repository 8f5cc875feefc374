"""A formula for the arguments of one call: its constants, its reduction, and the operands that were not given.

A class of nodes has one formula for all calls, as `z = x where x > 0, else a · x`. Few programs say what `a` is, since
it has a default, so a record has the formula with the number in its place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from microtape.recording.model.formatting import format_number

LETTERS = {
    "alpha": "α", "beta": "β", "delta": "δ", "lambd": "λ", "negative_slope": "a", "scale": "s", "threshold": "t",
    "value": "v", "exponent": "n", "base": "b", "self": "b", "weight": "w", "correction": "c", "p": "p", "ord": "p",
    "min": "l", "max": "h", "min_val": "l", "max_val": "h",
}  # fmt: skip
"""What formulas call an argument that is a number, by its name in torch; `self` is the base of a power."""
_USUAL = {"c": 1, "l": -math.inf, "h": math.inf}  # what None stands for
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_MEAN = re.compile("z = (-?)mean (?:of )?")
_OPERATORS = ("·", "/", "+", "-")


def constants_in(formula: str, arguments: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Those of a call's arguments that its formula mentions, each with its letter."""
    named = [(one, LETTERS[one]) for one in arguments if one in LETTERS]
    return tuple([(one, letter) for one, letter in named if _occurrences(letter).search(formula)])


def with_constants(formula: str, constants: Iterable[tuple[str, Any]]) -> str:
    """The formula with the values of a call in place of letters. A factor or divisor of 1 is left out.

    A letter stays if its value is no real number, such as one that is known only when a compiled program runs.
    """
    given = [(letter, _USUAL.get(letter) if value is None else value) for letter, value in constants]
    return _with_numbers(formula, tuple([(letter, +one) for letter, one in given if isinstance(one, int | float)]))


@lru_cache(1024)
def _with_numbers(formula: str, numbers: tuple[tuple[str, float], ...]) -> str:
    for letter, number in numbers:
        replaced = _of_order if "ᵖ" in formula else _replaced
        formula = replaced(formula, letter, number)
    return formula.replace("e^(x)", "eˣ")


def _replaced(formula: str, letter: str, number: float) -> str:
    if letter == "n" and number == 0:
        return "z = 1    ∂z/∂x = 0"
    if letter == "n":
        formula = formula.replace("xⁿ⁻¹", _power(number - 1)).replace("xⁿ", _power(number))
    if number == 1:
        formula = formula.replace(f"{letter} · ", "").replace(f" · {letter}", "").replace(f" / {letter}", "")
    if number == 0:
        formula = formula.replace(f"(N - {letter})", "N")
    return _occurrences(letter).sub(lambda match: _text(number, match), formula)


def _occurrences(letter: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z]){letter}(?![A-Za-z₀₁₂ᵢⱼ\u0302])")


def _text(number: float, place: re.Match[str]) -> str:
    """A number as it is written in a place of a formula."""
    return parenthesised(format_number(number).replace("inf", "∞"), place)


def parenthesised(number: str, place: re.Match[str]) -> str:
    """A number's text for a place of a formula: a negative number after an operator is in parentheses."""
    is_apart = number.startswith("-") and place.string[: place.start()].rstrip().endswith(_OPERATORS)
    return f"({number})" if is_apart else number


def _power(exponent: float) -> str:
    """x to a power."""
    if exponent == 1:
        return "x"
    text = format_number(exponent)
    if text.lstrip("-").isdigit():
        return "x" + text.translate(_RAISED)
    return f"x^({text})" if exponent < 0 else f"x^{text}"


def _of_order(formula: str, _letter: str, p: float) -> str:
    """The formula of a p-norm, written out for the usual orders."""
    if p == 1:
        formula = re.sub(r"\(Σ \|(.)\|ᵖ\)\^\(1/p\)", r"Σ |\1|", formula)
        return re.sub(r"(.) · \|.\|ᵖ⁻² / zᵖ⁻¹", r"sign \1", formula)
    if p == 2:
        formula = re.sub(r"\(Σ \|(.)\|ᵖ\)\^\(1/p\)", r"√(Σ |\1|²)", formula)
        return re.sub(r" · \|.\|ᵖ⁻² / zᵖ⁻¹", " / z", formula)
    return formula.replace("^(1/p)", f"^(1/p), p = {format_number(p)}".replace("inf", "∞"))


@lru_cache(1024)
def reduced(formula: str, reduction: str) -> str:
    """The formula of a loss, which is that of its mean, for `reduction`: "mean", "sum" or "none"."""
    result, gap, rest = formula.partition("    ")
    found = _MEAN.match(result)
    if reduction == "mean" or found is None:
        return formula
    summed = "Σ " if reduction == "sum" else ""
    result = f"z = {found[1]}{summed}{result[found.end() :].replace(', N = Σ weight', '')}"
    return result + gap + rest.replace(", / N", "").replace("(N · ", "(").replace(" / N", "")


def with_key(formula: str, dim: int, part: int | slice) -> str:
    """The formula of one row or of consecutive rows along a dimension, with the key: `x[:, 1:3]` for `x[i:j]`."""
    text = str(part) if isinstance(part, int) else _slice_text(part)
    key = f"[..., {text}]" if dim == -1 else f"[{':, ' * dim}{text}]"
    return formula if dim < -1 else formula.replace("[i]", key).replace("[i:j]", key)


def _slice_text(part: slice) -> str:
    ends = ["" if one is None else str(one) for one in (part.start or None, part.stop)]
    return ":".join(ends if part.step in (None, 1) else [*ends, str(part.step)])


def with_positive_weight(formula: str) -> str:
    """The formula of the binary cross-entropy of logits whose positive targets have a weight."""
    steepness = "(1 + (pos_weight - 1) · y)"
    formula = formula.replace("(σ(x) - y)", f"(1 - y - {steepness} · σ(-x))")
    formula = formula.replace("∂z/∂y = -x / N", "∂z/∂y = ((pos_weight - 1) · ln(1 + e⁻ˣ) - x) / N")
    return formula.replace("+ ln(", f"+ {steepness} · ln(")


@lru_cache(1024)
def without_operands(formula: str, absent: tuple[str, ...]) -> str:
    """The formula of a layer without a `bias` or a `weight`, which it calls b and w, or of a loss without a weight."""
    letters = {name[0] for name in absent}
    if not letters:
        return formula
    result, gap, rest = formula.partition("    ")
    rules = [rule for rule in rest.split(",  ") if not any(rule.startswith(f"∂{one} = ") for one in letters)]
    whole = result + gap + ",  ".join(rules)
    if "w" in letters:
        whole = whole.replace(", N = Σ weight", "").replace(" · weight", "").replace(" · w", "")
    return re.sub(r",? \+ b(?![a-z])", "", whole) if "b" in letters else whole
