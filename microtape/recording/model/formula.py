"""A node's formula: its parts, the user's names for its symbols, and the numbers of a step.

Formulas are in mathematical notation: `z = x · y    ∂z/∂x = y,  ∂z/∂y = x`. A rule is shown with numbers only if it can
be evaluated as arithmetic *and* its result is the recorded number, so that nothing shown is a guess.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from microtape.recording.model.arithmetic import evaluate
from microtape.recording.model.formatting import format_number
from microtape.recording.model.formula_arguments import parenthesised
from microtape.recording.model.model import BackwardStep, NodeRecord, Value

GRADIENT = re.compile(r"∂(?:[zZ]/∂)?([A-Za-z]) = ")
SYMBOL = re.compile(r"(?<![A-Za-z'])([A-Za-z])(?![A-Za-z₀₁₂ᵢⱼ\u0302])")  # x̂ is not x
FACTOR = re.compile(r"(/ )?(\d)(?!e-?\d)([A-Za-z])(?![A-Za-z])")  # `2z`, which must not become `20` for z = 0
SUPERSCRIPT = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ˣʸᶻⁿ]*[ˣʸᶻⁿ][⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ˣʸᶻⁿ]*")
_BETWEEN_OPERANDS = re.compile(r" (\*\*|[-+*/@]) ")
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
LOWER = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ˣʸᶻⁿ", "0123456789-+xyzn")


@dataclass(frozen=True, slots=True)
class GradientRule:
    """The rule for one operand: its symbol, the right-hand side, and whether g is still to be multiplied in."""

    symbol: str
    text: str
    is_local: bool

    @property
    def whole(self) -> str:
        """The rule for the gradient that is sent: `g · y`."""
        if not self.is_local:
            return self.text
        if self.text in ("1", "-1"):
            return self.text.replace("1", "g")
        return f"g · ({self.text})" if re.search(r"[ -]", self.text) else f"g · {self.text}"


@dataclass(frozen=True, slots=True)
class ParsedFormula:
    """A formula in its parts: the result, and the rule for each operand that can have a gradient."""

    result: str
    gradients: tuple[GradientRule, ...]


@dataclass(frozen=True, slots=True)
class WorkedRule:
    """A rule for one of a node's gradients, `g · y`, and its numbers at one element if the rule is arithmetic."""

    text: str  # "g · y", with the user's names
    numbers: str  # "1 · 5"; empty if the rule is not arithmetic on single elements
    index: tuple[int, ...]  # which element of the gradient
    result: Any  # that element as recorded, or None


@lru_cache(maxsize=256)
def parse_formula(formula: str) -> ParsedFormula:
    """The parts of a formula."""
    found = list(GRADIENT.finditer(formula))
    if not found:
        return ParsedFormula(" ".join(formula.split()), ())
    ends = [*(match.start() for match in found[1:]), len(formula)]
    gradients = tuple(
        GradientRule(match[1], formula[match.end() : end].strip().rstrip(","), "/" in match[0])
        for match, end in zip(found, ends, strict=True)
    )
    return ParsedFormula(formula[: found[0].start()].strip(), gradients)


def formula_of(node: NodeRecord) -> str:
    """The node's formula, without the derivatives for operands that get no gradient, such as constants."""
    formula = node.formula
    found = list(GRADIENT.finditer(formula))
    if not found or len(found) != len(node.edges):
        return formula
    ends = [*(match.start() for match in found[1:]), len(formula)]
    parts = [formula[match.start() : end].strip().rstrip(",")
             for match, end, edge in zip(found, ends, node.edges, strict=True) if edge.node is not None]  # fmt: skip
    return formula[: found[0].start()] + ",  ".join(parts)


def fill_in(text: str, names: Mapping[str, str]) -> str:
    """Replace the symbols by names or numbers: `z = eˣ` becomes `y = e^scores`. An expression is put in parentheses."""

    def raised(match: re.Match[str]) -> str:
        exponent = match[0].translate(LOWER)
        return f"^({exponent})" if len(exponent) > 1 else f"^{exponent}"

    def apart(match: re.Match[str]) -> str:
        product = f"{match[2]}·{match[3]}"
        return f"{match[1]}({product})" if match[1] else product

    def named(match: re.Match[str]) -> str:
        name, (start, end) = names.get(match[1], match[0]), match.span()
        is_enclosed = match.string[:start].endswith("(") and match.string[end:].startswith(")")
        return f"({name})" if _is_sum_or_product(name) and not is_enclosed else parenthesised(name, match)

    if names:
        text = FACTOR.sub(apart, text)
    return SYMBOL.sub(named, SUPERSCRIPT.sub(raised, text))


def _is_sum_or_product(text: str) -> bool:
    while (outer := _IN_BRACKETS.sub("", text)) != text:
        text = outer
    return _BETWEEN_OPERANDS.search(text) is not None


def gradient_of(node: NodeRecord, output: int) -> GradientRule | None:
    """The rule for the gradient along one of the node's edges; None if the formula does not give it."""
    gradients = parse_formula(node.formula).gradients
    if node.kind in ("copy_slices", "error") or output >= len(gradients) or not _are_for_edges(gradients, node):
        return None
    return gradients[output]


def _are_for_edges(gradients: Sequence[GradientRule], node: NodeRecord) -> bool:
    """Whether there is a rule for each edge; edges of operands that were not given, at the end, lead nowhere."""
    rest = node.edges[len(gradients) :]
    return len(gradients) <= len(node.edges) and all(edge.node is None for edge in rest)


def symbols(node: NodeRecord) -> tuple[str, ...]:
    """The formula's symbols for the node's first tensor operands, in order; empty if they are unclear."""
    gradients = parse_formula(node.formula).gradients
    operands = [one for one in node.operands if one.ref is not None]
    if has_operand_for_each_edge(node):
        every = zip(gradients, node.operands, strict=False)
        return tuple(rule.symbol for rule, one in every if one.ref is not None)
    if node.kind in ("copy_slices", "error") or len(operands) > len(gradients) or not _are_for_edges(gradients, node):
        return ()
    if any(edge.node is not None for edge in node.edges[len(operands) :]):
        return ()
    return tuple(one.symbol for one in gradients[: len(operands)])


def has_operand_for_each_edge(node: NodeRecord) -> bool:
    """Whether the first operands stand in the order of the formula's symbols, constants among them.

    Others may follow that have no derivative: masks, indices, weights of a loss.
    """
    if node.kind in ("copy_slices", "error") or len(node.operands) < len(node.edges):
        return False
    pairs = zip(node.operands, node.edges, strict=False)
    is_each = all(one.ref is not None or edge.node is None for one, edge in pairs)
    return is_each and _are_for_edges(parse_formula(node.formula).gradients, node)


def work_out(
    node: NodeRecord,
    step: BackwardStep,
    output: int,
    names: Mapping[str, str],
    values: Callable[[str], Value | None],
    index: tuple[int, ...] | None = None,
) -> WorkedRule | None:
    """Work out the rule for one of the node's gradients, with names and the numbers of one element.

    Args:
        node: the node, which has run.
        step: its step.
        output: the index of the gradient.
        names: symbol -> name.
        values: symbol -> value, None if it is not known.
        index: an element of the gradient; by default the largest, because a zero explains little.
    """
    gradient = gradient_of(node, output)
    if gradient is None:
        return None
    term = next((one.term for one in step.deliveries if one.output == output), None)
    text = fill_in(gradient.whole, names)
    if not isinstance(term, np.ndarray) or not term.size or term.dtype.kind not in "f":
        return WorkedRule(text, "", (), None)
    index = tuple(index) if index is not None and has_element(term, index) else index_of_largest(term)
    result = term[index].item()
    numbers = {}
    for symbol in used_symbols(gradient.whole) - {letter for letter in "nN" if values(letter) is None}:
        value = step.grad_outputs[0] if symbol in "gG" and step.grad_outputs else values(symbol)
        numbers[symbol] = element(value, term.shape, index)
    known = {symbol: number for symbol, number in numbers.items() if number is not None}
    if len(known) < len(numbers) or not agrees(evaluate(gradient.whole, known), result, term.dtype):
        return WorkedRule(text, "", index, result)
    write = format_number if gradient.whole in known else factor_text
    return WorkedRule(text, fill_in(gradient.whole, {symbol: write(x) for symbol, x in known.items()}), index, result)


@lru_cache(maxsize=256)
def used_symbols(rule: str) -> frozenset[str]:
    """The symbols in a rule that stand for numbers; e is a number itself."""
    return frozenset(SYMBOL.findall(fill_in(rule, {}))) - {"e"}


def index_of_largest(array: npt.NDArray[Any]) -> tuple[int, ...]:
    """The index of the element farthest from zero, or of a NaN if there is one."""
    at = int(np.abs(array).argmax())  # argmax treats NaN as the largest
    return tuple(int(i) for i in np.unravel_index(at, array.shape))


def has_element(value: npt.NDArray[Any], index: Sequence[int] | None) -> bool:
    """Whether there is an element at `index`. A wrong engine may have sent a gradient of another shape."""
    if index is None or len(index) != value.ndim:
        return False
    return all(0 <= i < size for i, size in zip(index, value.shape, strict=True))


def element(value: Value | None, shape: tuple[int, ...], index: tuple[int, ...]) -> float | None:
    """The element of `value` that broadcasting to `shape` puts at `index`."""
    if not isinstance(value, np.ndarray) or value.ndim > len(shape) or value.dtype.kind not in "fiub":
        return None
    sizes = zip(value.shape, shape[len(shape) - value.ndim :], index[len(shape) - value.ndim :], strict=True)
    at = []
    for size, wanted, i in sizes:
        if size not in (1, wanted):
            return None
        at.append(0 if size == 1 else i)
    return float(value[tuple(at)])


def index_text(index: tuple[int, ...]) -> str:
    """`[3, 1]`; empty for a scalar."""
    return f"[{', '.join(map(str, index))}]" if index else ""


def factor_text(x: float) -> str:
    """A number as a factor: a negative one is in parentheses."""
    text = format_number(x)
    return f"({text})" if text.startswith("-") else text


def agrees(computed: float | None, recorded: float, dtype: Any) -> bool:
    """Whether a number that was computed from a formula is the one that was recorded, but for rounding."""
    if computed is None:
        return False
    if math.isnan(recorded) or math.isinf(recorded):
        return computed == recorded or (math.isnan(computed) and math.isnan(recorded))
    return math.isclose(computed, recorded, rel_tol=1e4 * float(np.finfo(dtype).eps), abs_tol=1e-30)
