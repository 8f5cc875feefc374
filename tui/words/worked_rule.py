"""The rule of a step, with the names and numbers of its recording."""

from __future__ import annotations

from collections.abc import Mapping

from microtape.recording.model.formatting import format_shape
from microtape.recording.model.formula import WorkedRule, fill_in, gradient_of, work_out
from microtape.recording.model.formula_names import named_formula, symbol_names, symbol_values
from microtape.recording.model.model import BackwardStep, NodeRecord, Value
from tui.time.cursor import StepCursor
from tui.time.row_texts import RowTexts


def _symbol_names(cursor: StepCursor, node: NodeRecord) -> Mapping[str, str]:
    """The user's names for the formula's symbols; empty if the symbols are unclear."""
    return symbol_names(cursor.recording, node, RowTexts.of(cursor.timeline).operand)


def rule_text(cursor: StepCursor, node: NodeRecord) -> str:
    """The node's rule with the user's names: `%2 = x · y   ∂%2/∂x = y`; empty if it has none."""
    whole = named_formula(cursor.recording, node, RowTexts.of(cursor.timeline).operand)
    return "   ".join(part for part in whole.split("  ") if part)


def filled_formula(cursor: StepCursor, node: NodeRecord) -> str:
    """The node's formula with the user's names: `z = product · total`, or `x · y`; empty if it has none."""
    known = _symbol_names(cursor, node)
    if not known.keys() & {"z", "Z"}:
        return ""  # the operands' names are unclear
    result = node.formula.partition("    ")[0].strip()
    filled = fill_in(result, known)
    if filled == result:
        return ""
    name, _, computed = filled.partition(" = ")
    return computed if name.startswith("%") else filled  # without `%4 =`: the node's number is shown elsewhere


def formula_symbols(cursor: StepCursor, node: NodeRecord) -> Mapping[str, tuple[str, Value | None]]:
    """The symbols of the node's formula, each with the user's name for it and its value."""
    values = symbol_values(cursor.recording, node, None)
    return {symbol: (name, values.get(symbol)) for symbol, name in _symbol_names(cursor, node).items()}


def derivatives(cursor: StepCursor, step: BackwardStep) -> str:
    """The rules for the gradients that a step sent, with the user's names: `∂z/∂%2 = %3, ∂z/∂%3 = %2`; or empty."""
    node = cursor.timeline.node(step.node)
    names, found = _symbol_names(cursor, node), []
    for one in step.deliveries:
        rule = gradient_of(node, one.output)
        if rule is None:
            return " ".join(node.formula.partition("  ")[2].split())
        if one.term is not None:
            below = names.get(rule.symbol, rule.symbol)
            of = f"∂{names.get('z', 'z')}/∂{below}" if rule.is_local else f"∂{below}"
            found.append(f"{of} = {fill_in(rule.text, names)}")
    return ", ".join(dict.fromkeys(found))


def worked_rule(
    cursor: StepCursor, step: BackwardStep, output: int, index: tuple[int, ...] | None = None
) -> WorkedRule | None:
    """The rule for one gradient of a step with names and numbers; see `formula.work_out`."""
    node = cursor.timeline.node(step.node)
    gradient = gradient_of(node, output)
    if gradient is None:
        return None
    known = symbol_values(cursor.recording, node, step)
    found = work_out(node, step, output, _symbol_names(cursor, node), known.get, index)
    if found is None or found.numbers or "G" not in gradient.text:
        return found
    # For a matrix product, show the shapes.
    shapes = {symbol: value.shape for symbol, value in known.items() if value is not None}
    if step.grad_outputs and step.grad_outputs[0] is not None:
        shapes["G"] = step.grad_outputs[0].shape
    written = {symbol: f"({format_shape(shape)})" for symbol, shape in shapes.items() if len(shape) == 2}
    return WorkedRule(found.text, fill_in(gradient.text, written), (), None)
