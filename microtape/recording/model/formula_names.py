"""A node's formula with the names of the program.

A formula is written for x, y and z. Programs have variables of these names, too, of which it would say something false.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from microtape.recording.model.formula import fill_in, formula_of, has_operand_for_each_edge, parse_formula, symbols
from microtape.recording.model.model import UNKNOWN, NodeRecord, Operand, Recording

_LONGEST = 20  # characters; a longer name, as of a part of a model, makes a rule hard to read
_TAKEN = ("g", "G", "n", "e")  # in a formula: the gradient that arrived, a number, and the base of exp
_NUMBER = re.compile(r"-?\d+(\.\d*)?(e[-+]?\d+)?")


def is_letter(node: NodeRecord, name: str) -> bool:
    """Whether a name that a node has for a saved tensor is a letter of its formula, and no name of the program."""
    return node.kind == "operation" and len(name) == 1


def constant_of(node: NodeRecord) -> str | None:
    """The constant that a formula calls n, such as an exponent."""
    for operand in node.operands:
        if operand.ref is None and symbols(node) and _NUMBER.fullmatch(operand.text):
            return operand.text
    return None


def symbol_names(recording: Recording, node: NodeRecord, operand: Callable[[Operand], str]) -> Mapping[str, str]:
    """The names of the formula's symbols in the program; empty if the symbols are unclear.

    Args:
        recording: the recording of the node.
        node: the node.
        operand: the name of an operand that is a tensor. A node's number stands for a name that is long or ambiguous.
    """
    if node.kind == "accumulate":
        return {"x": recording.label(node.id)}
    found: dict[str, str] = {}
    operands = [one for one in node.operands if one.ref is not None]
    if len(node.operands) > len(node.edges) and any(_is_mask(recording, one) for one in operands):
        return {}  # `where(mask, x, 0.0)`: the symbols are those of x and 0.0
    for symbol, one in zip(symbols(node), operands, strict=False):
        name, made = operand(one), recording.tensors[one.ref.tensor].node if one.ref is not None else None
        found[symbol] = name if made is None or _is_clear(name) else f"%{made}"
    if (number := constant_of(node)) is not None:
        found["n"] = number
    if has_operand_for_each_edge(node):
        every = zip(parse_formula(node.formula).gradients, node.operands, strict=True)
        found |= {rule.symbol: one.text for rule, one in every if one.ref is None and _is_constant(one)}
    if found and node.outputs:
        name = recording.label(node.id)  # of a tensor that is overwritten, an operand has the same one
        found["z"] = found["Z"] = name if _is_clear(name) and name not in found.values() else f"%{node.id}"
    return found


def _is_mask(recording: Recording, operand: Operand) -> bool:
    return operand.ref is not None and recording.tensors[operand.ref.tensor].dtype == "bool"


def _is_constant(operand: Operand) -> bool:
    return operand.text == UNKNOWN or _NUMBER.fullmatch(operand.text) is not None


def _is_clear(name: str) -> bool:
    return len(name) <= _LONGEST and name not in _TAKEN


def named_formula(recording: Recording, node: NodeRecord, operand: Callable[[Operand], str]) -> str:
    """The formula for the operands that have a gradient: `z = %2 · %3    ∂z/∂%2 = %3`; see `symbol_names`."""
    return fill_in(formula_of(node), symbol_names(recording, node, operand))
