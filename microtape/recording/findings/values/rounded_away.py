"""Small constants that are to keep a number off 0 or 1, and that are lost in rounding."""

from __future__ import annotations

import numpy as np

from microtape.recording.findings.histories import SAME_NUMBERS
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.remedies import Advice
from microtape.recording.findings.wording import at
from microtape.recording.model.model import BorderRecord, NodeRecord, TensorRef

# For each dtype: what is below rounds to 0; what is as near to 1 rounds to 1; and a number that is safely kept.
_LIMITS = {
    "float16": (2.0**-25, 2.0**-12, "1e-3"),
    "bfloat16": (2.0**-134, 2.0**-9, "1e-2"),
    "float32": (2.0**-150, 2.0**-25, "1e-6"),
    "float64": (0.0, 2.0**-54, "1e-12"),
}
_WITH_DIVISOR = ("div", "true_divide")
_NEAR_ZERO = (*_WITH_DIVISOR, "log", "log2", "log10", "reciprocal", "sqrt", "rsqrt", "pow")
_NEAR_ONE = ("acos", "asin", "arccos", "arcsin", "atanh", "arctanh", "logit", "log1p")
_CLAMPS = ("clamp", "clip", "clamp_min", "clamp_max")
_DIFFERENCES = ("sub", "rsub")
_FARTHEST = 6  # nodes between the constant and the operation that it is to protect


def kept_number(dtype: str) -> str:
    """A small number that neither vanishes in a dtype, nor when it is added to 1: `1e-6`."""
    return _LIMITS.get(dtype, _LIMITS["float32"])[2]


def rounds_to_zero(number: float, dtype: str) -> bool:
    """Whether a number that is not 0 is 0 in a dtype."""
    return dtype in _LIMITS and 0 < abs(number) <= _LIMITS[dtype][0]


def rounded_away(program: Program, made: NodeRecord | BorderRecord) -> Advice | None:
    """For an operation that meets a 0, or a 1, which a constant was to keep off, but is lost in the dtype."""
    if not program.does_op(made, *_NEAR_ZERO, *_NEAR_ONE):
        return None
    refs = operand_refs(made)
    ref = refs[-1 if program.does_op(made, *_WITH_DIVISOR) else 0] if refs else None
    meets_one = program.does_op(made, *_NEAR_ONE)
    for _ in range(_FARTHEST):
        before = program.maker(ref) if ref is not None else None
        if ref is None or before is None:
            return None
        if program.does_op(before, "add", *_CLAMPS, *_DIFFERENCES):
            lost = _lost(program, before, ref, meets_one=meets_one)
            if lost is not None:
                return _advice(program, made, before, ref, lost)
            if program.does_op(before, "add"):
                return None
        meets_one |= program.does_op(before, *_DIFFERENCES)
        if not program.does_op(before, "neg", "abs", "sqrt", *_CLAMPS, *_DIFFERENCES, *SAME_NUMBERS):
            return None
        ref = next(iter(operand_refs(before)), None)
    return None


def _lost(program: Program, before: NodeRecord | BorderRecord, ref: TensorRef, *, meets_one: bool) -> float | None:
    """The constant of a sum or a clamp that is 0 or 1 in its dtype, if the result has just this number somewhere."""
    dtype, value = program.recording.tensors[ref.tensor].dtype, program.recording.value(ref)
    if dtype not in _LIMITS or not isinstance(value, np.ndarray):
        return None
    at_one = meets_one and program.does_op(before, *_CLAMPS) and bool((np.abs(value) == 1).any())
    for one in before.operands:
        number = program.number(one)
        if number is None:
            continue
        if rounds_to_zero(number, dtype) and not program.does_op(before, *_DIFFERENCES) and (value == 0).any():
            return number
        if 0 < 1 - abs(number) <= _LIMITS[dtype][1] and at_one:
            return number
        if 0 < number - 1 <= _LIMITS[dtype][1] and program.does_op(before, "rsub") and (value == 0).any():
            return number
    return None


def _advice(
    program: Program, made: NodeRecord | BorderRecord, before: NodeRecord | BorderRecord, ref: TensorRef, lost: float
) -> Advice:
    dtype, place = program.recording.tensors[ref.tensor].dtype, at(before.place)
    kept = kept_number(dtype)
    if abs(lost) < 0.5:
        said = f"{lost:.2g} is 0 in {dtype}"
        what = f"clamp(min={kept})" if program.does_op(before, *_CLAMPS) else f"+ {kept}"
        line = f"The {lost:.2g} at {place} is meant to keep a number off 0, but it is 0 itself in {dtype}."
        return Advice(said, (line,), f"Write a number there that {dtype} keeps, such as {what}, or compute in float32.")
    sign, off = ("-", 1 - abs(lost)) if abs(lost) < 1 else ("+", abs(lost) - 1)
    said = f"1 {sign} {off:.2g} is 1 in {dtype}"
    line = f"The {before.op.rstrip('_')} at {place} is meant to keep a number off 1, but {said}."
    if sign == "+":
        return Advice(said, (line,), f"Write a number there that {dtype} keeps, such as 1 + {kept}.")
    low = f"-1 + {kept}" if any((program.number(one) or 0.0) < 0 for one in before.operands) else kept
    remedy = f"Clamp to what {dtype} keeps: clamp({low}, 1 - {kept})."
    if program.does_op(made, "log", "log2", "log10", "logit", "log1p"):
        remedy = f"{remedy[:-1]}; for probabilities, logsigmoid or log_softmax of the scores needs no clamp."
    return Advice(said, (line,), remedy)
