"""How finite numbers gave one that is not finite, at one element: for a headline, and as sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from microtape.recording.findings.program import Program, at, indexed, join
from microtape.recording.model.formatting import format_number
from microtape.recording.model.formula import (
    element,
    factor_text,
    fill_in,
    index_of_largest,
    index_text,
    parse_formula,
    symbols,
    work_out,
)
from microtape.recording.model.model import BackwardStep, NodeRecord, TensorRef, Value

_Array: TypeAlias = npt.NDArray[Any]
_Index: TypeAlias = tuple[int, ...]


def first_bad(value: _Array) -> _Index:
    """The index of a NaN, or else of an infinity."""
    return index_of_largest(np.where(np.isfinite(value), 0, value))


def how_in_forward(program: Program, node: NodeRecord, value: _Array) -> tuple[str, list[str]]:
    """The node's formula with its numbers, `ln 0 = -inf`, if it is arithmetic; and sentences."""
    index = first_bad(value)
    result = format_number(value[index])
    operands = _operands(program, node, value.shape, index)
    lines = [f"{indexed(program.name(node.id), index)} = {result}, where {join(operands)}."] if operands else []
    known = program.values(node)
    numbers = {symbol: element(known.get(symbol), value.shape, index) for symbol in symbols(node)}
    right = parse_formula(node.formula).result.partition(" = ")[2].split(" = ")[0]
    if not right or not numbers or any(number is None for number in numbers.values()):
        return "", lines or [_ranges(program, node, result)]
    filled = {name: factor_text(x) for name, x in numbers.items() if x is not None}
    if (exponent := known.get("n")) is not None:
        filled["n"] = format_number(exponent)
    worked = f"{fill_in(right, filled)} = {result}"
    return worked, [f"{worked}.", *lines, *_overflow(value, index, numbers.values())]


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


def how_of_leaf(program: Program, node: NodeRecord) -> tuple[str, list[str]]:
    """A leaf whose own value is not finite: for a headline, and as sentences."""
    name = program.name(node.id)
    updates = program.updated.get(node.variable if node.variable is not None else -1, ())
    if updates and (place := updates[-1].place) is not None:
        return f"{name} itself is not finite", [f"{name} was written to at {at(place)}."]
    return f"{name} itself is not finite", [f"{name} holds it before anything is computed."]


def how_of_input(program: Program, ref: TensorRef) -> tuple[str, list[str]]:
    """The same for an operand without history, such as the data."""
    name, value, border = program.ref_name(ref), program.recording.value(ref), program.borders.get(ref)
    index = first_bad(value) if isinstance(value, np.ndarray) else ()
    number = (
        f"{indexed(name, index)} is {format_number(value[index])}"
        if isinstance(value, np.ndarray)
        else f"{name} is not finite"
    )
    if border is not None and border.place is not None:
        return f"{name} is not finite", [f"{number}; it was computed without history at {at(border.place)}."]
    return f"{name} itself is not finite", [f"{number} before anything is computed of it."]


def _operands(program: Program, node: NodeRecord, shape: tuple[int, ...], index: _Index) -> list[str]:
    """`p[2] = 0`, for each operand of which one element gave this element of the result."""
    found = []
    for one in node.operands:
        given = program.recording.value(one.ref)
        number = element(given, shape, index)
        if given is not None and number is not None:
            name = program.operand_name(one)
            former = "the former " if name == program.name(node.id) else ""  # as in x = x.log()
            found.append(f"{former}{indexed(name, _index_in(given, index))} = {format_number(number)}")
    return found


def _index_in(value: Value, index: _Index) -> _Index:
    """The index of the element of an operand that broadcasting puts at `index` of the result."""
    last = index[len(index) - len(value.shape) :]
    return tuple(0 if size == 1 else i for size, i in zip(value.shape, last, strict=True))


def _ranges(program: Program, node: NodeRecord, result: str) -> str:
    """For an operation that mixes elements: the largest number of each operand."""
    found = []
    for one in node.operands:
        size = program.sizes(program.recording.value(one.ref)) if one.ref is not None else None
        if size is not None:
            found.append(f"the largest number of {program.operand_name(one)} is {format_number(size.largest)}")
    return f"{node.op} gives {result}: {join(found)}." if found else f"{node.op} gives {result}."


def _overflow(value: _Array, index: _Index, operands: Iterable[float | None]) -> list[str]:
    """A sentence for a result that is too large for its dtype."""
    if value.dtype.kind != "f" or not np.isinf(value[index]) or not all(operands):
        return []
    return [f"{value.dtype} holds numbers up to {float(np.finfo(value.dtype).max):.2g}."]
