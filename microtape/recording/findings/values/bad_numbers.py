"""How finite numbers gave one that is not finite, at one element: for a headline, and as sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.wording import at, indexed, join
from microtape.recording.model.arithmetic import evaluate
from microtape.recording.model.formatting import format_number
from microtape.recording.model.formula import (
    agrees,
    element,
    factor_text,
    fill_in,
    index_of_largest,
    index_text,
    parse_formula,
    symbols,
    work_out,
)
from microtape.recording.model.model import BackwardStep, NodeRecord, Operand, TensorRef, Value

_Array: TypeAlias = npt.NDArray[Any]
_Index: TypeAlias = tuple[int, ...]


def first_bad(value: _Array) -> _Index:
    """The index of a NaN, or else of an infinity."""
    return index_of_largest(np.where(np.isfinite(value), 0, value))


def how_in_forward(program: Program, node: NodeRecord, value: _Array) -> tuple[str, list[str]]:
    """The node's formula with its numbers, `ln 0 = -inf`, if it is arithmetic and gives this; and sentences."""
    index = first_bad(value)
    result = format_number(value[index])
    if _mixes(program, node, value.shape, index):
        return "", [
            _ranges(program, node, result),
            *(_overflow(value, index) or _too_large(program, node, value.dtype)),
        ]
    name = program.name(node.id)
    named = {program.operand_name(one): one.ref for one in node.operands if one.ref is not None}
    operands = at_element(program, named, value.shape, index, name)
    lines = [f"{indexed(name, index)} = {result}, where {join(operands)}."] if operands else []
    known = program.values(node)
    numbers = {symbol: element(known.get(symbol), value.shape, index) for symbol in symbols(node)}
    given = {symbol: number for symbol, number in numbers.items() if number is not None}
    right = parse_formula(node.formula).result.partition(" = ")[2].split(" = ")[0]
    if not right or not given or len(given) < len(numbers) or not _gives(program, node, right, given, value, index):
        return "", lines or [_ranges(program, node, result)]
    filled = {name: factor_text(x) for name, x in given.items()}
    if (exponent := known.get("n")) is not None:
        filled["n"] = format_number(exponent)
    worked = f"{fill_in(right, filled)} = {result}"
    return worked, [f"{worked}.", *lines, *(_overflow(value, index) if all(given.values()) else [])]


def _gives(
    program: Program, node: NodeRecord, right: str, given: Mapping[str, float], value: _Array, index: _Index
) -> bool:
    """Whether the right side of the formula gives the recorded number; one with Σ, if all of the sum must be 0."""
    if "Σ e" in right:
        scores = [program.recording.value(ref) for ref in operand_refs(node)]
        return -np.inf in given.values() and not any([isinstance(one, np.ndarray) and np.inf in one for one in scores])
    exponent = program.values(node).get("n")
    number = {"n": float(exponent)} if isinstance(exponent, np.ndarray) and exponent.size == 1 else {}
    computed = evaluate(right, {**given, **number})
    if computed is None:
        return False
    with np.errstate(all="ignore"):
        return agrees(float(np.asarray(computed).astype(value.dtype)), float(value[index]), value.dtype)


def _mixes(program: Program, node: NodeRecord, shape: tuple[int, ...], index: _Index) -> bool:
    """Whether an element of the result is known to be made of many elements of an operand."""
    result = parse_formula(node.formula).result
    if re.search(r"[A-MO-Z∗⊗]", result):  # matrices are capitals, but for N, a count
        return True
    values = [program.recording.value(ref) for ref in operand_refs(node)]
    return any(isinstance(one, np.ndarray) and element(one, shape, index) is None for one in values)


def how_in_backward(program: Program, step: BackwardStep, value: _Array) -> tuple[str, list[str]]:
    """The rule of a gradient that the step sent, with its numbers, if it is arithmetic; and sentences."""
    node, index = program.node(step.node), first_bad(value)
    result = format_number(value[index])
    came = element(step.grad_outputs[0] if step.grad_outputs else None, value.shape, index)
    sent = next((one for one in step.deliveries if one.term is value), None)
    if sent is not None:
        tensors = [one for one in node.operands if one.ref is not None]
        names = dict(zip(symbols(node), map(program.operand_name, tensors), strict=False))
        found = work_out(node, step, sent.output, names, program.values(node, step).get, index)
        if found is not None and found.numbers:
            formula, to = f"{found.numbers} = {result}", indexed(program.name(sent.node), index)
            into = f"{format_number(came)} came in, " if came is not None else ""
            rule = f"In backward, the rule of {node.op}, {found.text}, gives {formula}:"
            return formula, [rule, f"{into}{result} goes to {to}."]
    if came is None:
        return "", [f"What came in was finite, {result} went out."]
    return "", [f"{format_number(came)} came in, {result} went out at {index_text(index) or 'its number'}."]


def how_of_nothing(program: Program, node: NodeRecord, value: Value | None) -> tuple[str, list[str]] | None:
    """The same for a mean of no numbers, or a loss of no alignment; None for anything else."""
    if not isinstance(value, np.ndarray):
        return None
    if node.name.startswith("CtcLoss") and (value == np.inf).any():
        needed = "ctc_loss needs a step of the input for each label of the target, and one more between equal labels."
        return "no alignment fits", [f"{needed} Here, an input is too short for its target: its loss is inf."]
    if not np.isnan(value).any():
        return None
    for one in node.operands:
        if one.ref is not None and 0 in program.recording.tensors[one.ref.tensor].shape:
            name = program.operand_name(one)
            name = "its input" if name.startswith("%") else name
            return f"{name} is empty", [f"{node.op} of no numbers is nan."]
    if node.name.startswith("NllLoss"):
        return "no target counts", ["Each target is ignored, or its class has the weight 0: the mean is 0 / 0."]
    return None


def how_of_leaf(program: Program, node: NodeRecord) -> tuple[str, list[str]]:
    """A leaf whose own value is not finite: for a headline, and as sentences."""
    name = program.name(node.id)
    updates = program.updated.get(node.variable if node.variable is not None else -1, ())
    if updates and (place := updates[-1].place) is not None:
        return f"{name} itself is not finite", [f"{name} was written to at {at(place)}."]
    return f"{name} itself is not finite", [f"{name} holds it before anything is computed."]


def at_element(
    program: Program, operands: Mapping[str, TensorRef], shape: tuple[int, ...], index: _Index, result: str
) -> list[str]:
    """`p[2] = 0`, for each operand, given by name, of which one element gave this one of the result, named too."""
    found = []
    for name, ref in operands.items():
        given = program.recording.value(ref)
        number = element(given, shape, index)
        if given is not None and number is not None:
            former = "the former " if name == result else ""  # as in x = x.log()
            found.append(f"{former}{indexed(name, _index_in(given, index))} = {format_number(number)}")
    return found


def _index_in(value: Value, index: _Index) -> _Index:
    """The index of the element of an operand that broadcasting puts at `index` of the result."""
    last = index[len(index) - len(value.shape) :]
    return tuple(0 if size == 1 else i for size, i in zip(value.shape, last, strict=True))


def _ranges(program: Program, node: NodeRecord, result: str) -> str:
    """For an operation that mixes elements: the largest number of each operand."""
    named = {_input_name(program, node, one): one.ref for one in node.operands if one.ref is not None}
    return in_ranges(program, node.op, result, named)


def in_ranges(program: Program, op: str, result: str, operands: Mapping[str, TensorRef]) -> str:
    """`sum gives inf: the largest number of x is 3e+38.`, for operands by name."""
    found = []
    for name, ref in operands.items():
        size = program.sizes(program.recording.value(ref))
        if size is not None:
            found.append(f"the largest number of {name} is {format_number(size.largest)}")
    return f"{op} gives {result}: {join(found)}." if found else f"{op} gives {result}."


def _input_name(program: Program, node: NodeRecord, operand: Operand) -> str:
    """The name of an operand; within a call such as `model(x)`, that of the leaf it is made of, or "its input"."""
    producer = program.producer.get(operand.ref) if operand.ref is not None else None
    if producer is None or program.node(producer).place != node.place:
        return program.operand_name(operand)
    leaves = [one.node for one in program.node(producer).edges if one.node is not None]
    if len(leaves) == 1 and program.node(leaves[0]).variable is not None:
        return program.name(leaves[0])
    return "its input"


def _overflow(value: _Array, index: _Index) -> list[str]:
    """A sentence for a result that is too large for its dtype."""
    if value.dtype.kind != "f" or not np.isinf(value[index]):
        return []
    return [f"{value.dtype} holds numbers up to {float(np.finfo(value.dtype).max):.2g}."]


def _too_large(program: Program, node: NodeRecord, dtype: Any) -> list[str]:
    """A sentence for operands that the result's dtype cannot hold, to which autocast, say, has converted them."""
    sizes = [program.sizes(program.recording.value(ref)) for ref in operand_refs(node)]
    most = float(np.finfo(dtype).max) if dtype.kind == "f" else np.inf
    if all(one is None or not one.largest > most for one in sizes):
        return []
    return [f"{dtype} holds numbers up to {most:.2g}: what is larger became inf."]
