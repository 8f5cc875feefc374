"""A node's formula with the names of the program.

A formula is written for x, y and z. Programs have variables of these names, too, of which it would say something false.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

import numpy as np

from microtape.recording.model.formatting import format_number
from microtape.recording.model.formula import (
    fill_in,
    formula_of,
    has_operand_for_each_edge,
    parse_formula,
    symbols,
    used_symbols,
)
from microtape.recording.model.model import UNKNOWN, BackwardStep, NodeRecord, Operand, Recording, Value

_LONGEST = 20  # characters; a longer name, as of a part of a model, makes a rule hard to read
_TAKEN = ("g", "G", "n", "e")  # in a formula: the gradient that arrived, a number, and the base of exp
_MEANS = (
    "MeanBackward", "VarBackward", "StdBackward", "MseLossBackward0", "BinaryCrossEntropy", "HuberLoss", "SmoothL1Loss",
)  # fmt: skip
_NUMBER = re.compile(r"-?\d+(\.\d*)?(e[-+]?\d+)?|-?inf")


def is_letter(node: NodeRecord, name: str) -> bool:
    """Whether a name that a node has for a saved tensor is a letter of its formula, and no name of the program."""
    return node.kind == "operation" and len(name) == 1


def numbers_of(recording: Recording, node: NodeRecord) -> dict[str, str]:
    """What the formula calls n, a number among the operands, and N, over how many elements a mean is taken."""
    mentioned = used_symbols(node.formula)
    texts = [re.sub("^(value|decimals)=", "", one.text) for one in node.operands if one.ref is None]
    numbers = [_shortened(text) for text in texts if _NUMBER.fullmatch(text)]
    found = {}
    if "n" in mentioned and numbers:
        found["n"] = numbers[-1]  # those before it are dimensions, as in `x.index_fill(0, i, 7.0)`
    if "N" in mentioned and node.name.startswith(_MEANS) and (count := _count(recording, node)) is not None:
        found["N"] = count
    return found


def _count(recording: Recording, node: NodeRecord) -> str | None:
    """Over how many elements a mean is taken; None if that is not known."""
    operands = node.operands[: len(node.edges)]
    shapes = [recording.tensors[one.ref.tensor].shape for one in operands if one.ref is not None]
    if not shapes:
        return None  # inside of a call, before torch 2.5
    output = node.outputs[0] if node.outputs else None
    means = math.prod(recording.tensors[output.tensor].shape) if output is not None else 0
    try:
        return str(math.prod(np.broadcast_shapes(*shapes)) // means)
    except (ValueError, ZeroDivisionError):
        return None


def symbol_values(recording: Recording, node: NodeRecord, step: BackwardStep | None) -> dict[str, Value | None]:
    """The values of the formula's symbols: as unpacked by the step, else as computed."""
    operands = [one.ref for one in node.operands if one.ref is not None]
    found = {symbol: recording.value(ref) for symbol, ref in zip(symbols(node), operands, strict=False)}
    found |= {letter: np.asarray(float(text)) for letter, text in numbers_of(recording, node).items()}
    if node.outputs:
        found["z"] = found["Z"] = recording.value(node.outputs[0])
    for use in step.saved if step is not None else ():
        if node.kind != "function" or use.name not in found:  # a Function's variables have names of their own
            found[use.name] = use.value
    return found


def symbol_names(recording: Recording, node: NodeRecord, operand: Callable[[Operand], str]) -> Mapping[str, str]:
    """The names of the formula's symbols in the program: those of tensors only if all of them are clear.

    Args:
        recording: the recording of the node.
        node: the node.
        operand: the name of an operand that is a tensor. A node's number stands for a name that is long or ambiguous.
    """
    if node.kind == "accumulate":
        return {"x": recording.label(node.id)}
    numbers = numbers_of(recording, node)
    found: dict[str, str] = {}
    operands = [one for one in node.operands if one.ref is not None]
    for symbol, one in zip(symbols(node), operands, strict=False):
        name, made = operand(one), recording.tensors[one.ref.tensor].node if one.ref is not None else None
        found[symbol] = name if made is None or _is_clear(name) else f"%{made}"
    gradients = parse_formula(node.formula).gradients
    if has_operand_for_each_edge(node):
        every = zip(gradients, node.operands, strict=False)
        found |= {rule.symbol: _shortened(one.text) for rule, one in every if one.ref is None and _is_constant(one)}
    if found:  # what is not known is no letter either, which might be a name of the program
        unknown = [rule.symbol for rule, edge in zip(gradients, node.edges, strict=False) if edge.node is None]
        found = dict.fromkeys([*unknown, *{"n"} & used_symbols(node.formula)], UNKNOWN) | found
    if found and node.outputs:
        name = recording.label(node.id)  # of a tensor that is overwritten, an operand has the same one
        found["z"] = found["Z"] = name if _is_clear(name) and name not in found.values() else f"%{node.id}"
    return found | numbers


def _is_constant(operand: Operand) -> bool:
    return operand.text == UNKNOWN or _NUMBER.fullmatch(operand.text) is not None


def _shortened(text: str) -> str:
    """A number as formulas show it: `-1e9` for `-1000000000.0`."""
    is_whole = text.removeprefix("-").isdigit()
    return format_number(float(text)) if _NUMBER.fullmatch(text) and not is_whole else text


def _is_clear(name: str) -> bool:
    return len(name) <= _LONGEST and name not in _TAKEN


def named_formula(recording: Recording, node: NodeRecord, operand: Callable[[Operand], str]) -> str:
    """The formula for the operands that have a gradient: `z = %2 · %3    ∂z/∂%2 = %3`; see `symbol_names`."""
    return fill_in(formula_of(node), symbol_names(recording, node, operand))
