"""Where an operand that has no history became NaN or infinite: in the data, or in a call that no node shows."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.values.bad_numbers import at_element, first_bad, in_ranges
from microtape.recording.findings.wording import at, indexed, join
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BorderRecord, NodeRecord, TensorRef
from microtape.recording.model.source import only_expression

_ARITHMETIC = ("add", "sub", "rsub", "mul", "div", "pow")


class Source(NamedTuple):
    """The first tensor that is not finite on the way to an operand.

    `maker` is what computed it, in a call that was given finite numbers only, as far as they are known; None for data,
    for a leaf, and for infinities that the program put there, such as a mask of -inf.
    """

    ref: TensorRef
    maker: NodeRecord | BorderRecord | None
    is_certain: bool  # whether all that the maker was given is known: what was overwritten is not


def source_of(program: Program, ref: TensorRef) -> Source:
    """Where an operand that is not finite became so, however many calls without history lie between."""
    way, before = {ref: None}, _bad_before(program, ref)
    while before is not None and before not in way:
        way[before] = None
        before = _bad_before(program, before)
    first = [*way][-1]
    if _is_meant(program, first):  # what has made NaN of it is to be told
        with_nan = [one for one in way if _has_nan(program, one)]
        if not with_nan:
            return Source(ref, None, is_certain=False)
        first = with_nan[-1]
    maker = program.maker(first)
    given = operand_refs(maker) if maker is not None else []
    return Source(first, maker, all(program.recording.value(one) is not None for one in given))


def _bad_before(program: Program, ref: TensorRef) -> TensorRef | None:
    """An operand that is not finite of what computed this: one with NaN, if there is any."""
    maker = program.maker(ref)
    refs = operand_refs(maker) if maker is not None else []
    bad = [one for one in refs if not np.isfinite(program.sizes.largest(program.recording.value(one)))]
    return next((one for one in bad if _has_nan(program, one)), bad[0] if bad else None)


def _has_nan(program: Program, ref: TensorRef) -> bool:
    return bool(np.isnan(program.sizes.largest(program.recording.value(ref))))


def _is_meant(program: Program, ref: TensorRef) -> bool:
    """Whether the program put this infinity there itself."""
    if _has_nan(program, ref):
        return False
    maker = program.maker(ref)
    return maker is None or any(one.ref is None and "inf" in one.text for one in maker.operands)


def how_without_history(program: Program, ref: TensorRef, border: BorderRecord) -> list[str]:
    """How a call without history has made numbers that are not finite of finite ones, as sentences."""
    name = program.recording.tensors[ref.tensor].name or program.expression(border.place) or program.ref_name(ref)
    value = program.recording.value(ref)
    if not isinstance(value, np.ndarray):
        return []
    index = first_bad(value)
    result = format_number(value[index])
    operands = _operands_by_name(program, border)
    elements = at_element(program, operands, value.shape, index, name)
    if len(elements) == len(operands) > 0:
        return [f"{indexed(name, index)} = {result}, where {join(elements)}."]
    return [in_ranges(program, border.op, result, operands)]


def _operands_by_name(program: Program, border: BorderRecord) -> dict[str, TensorRef]:
    """The tensors that a call was given, by their names, or as they are written there."""
    written = _written(program.expression(border.place), border)
    return {
        program.recording.tensors[one.ref.tensor].name or text or program.operand_name(one): one.ref
        for one, text in zip(border.operands, written, strict=True)
        if one.ref is not None
    }


def _written(text: str, border: BorderRecord) -> Sequence[str]:
    """How the operands are written, `x` for `x.std()`; empty texts, if the place is not that of this call alone."""
    op, number = border.op.rstrip("_"), len(border.operands)
    match only_expression(text):
        case ast.BinOp(left=left, right=right) if op in _ARITHMETIC:
            found = [left, right]
        case ast.Call(func=ast.Attribute(value=first, attr=name), args=arguments, keywords=[]) if name == op:
            found = [first, *arguments] if len(arguments) < number else arguments
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name == op:
            found = arguments
        case _:
            found = []
    return list(map(ast.unparse, found)) if len(found) == number else [""] * number


def how_of_input(program: Program, ref: TensorRef) -> tuple[str, list[str]]:
    """An operand without history that is not finite, such as the data: for a headline, and as sentences."""
    name, value, border = program.ref_name(ref), program.recording.value(ref), program.borders.get(ref)
    index = first_bad(value) if isinstance(value, np.ndarray) else ()
    number = (
        f"{indexed(name, index)} is {format_number(value[index])}"
        if isinstance(value, np.ndarray)
        else f"{name} is not finite"
    )
    if border is not None and border.place is not None:
        return f"{name} is not finite", [f"{number}; it was computed without history at {at(border.place)}."]
    made = program.made_at(name)
    where = f", and {name} is assigned at {at(made)}" if made is not None else ""
    return f"{name} itself is not finite", [f"{number} before anything is computed of it{where}."]
