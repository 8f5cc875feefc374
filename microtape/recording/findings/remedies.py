"""What to do about a finding, in a sentence or two."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from microtape.recording.model.model import BorderRecord, NodeRecord, Place, Recording
from microtape.recording.model.source import loop_around, whole_lines

UPDATE_LATER = "Update it after the last backward that goes through this graph, or compute the graph anew afterwards."
UNUSED = "Pass allow_unused=True if that is meant; else look for the place where the input left the graph."
WRITE_ELSEWHERE = "Compute a new tensor there instead of writing into this one, or write into a .clone() of it."
POWER_OF_ZERO = re.compile(r"(?<![\d.e+-])0[\^⁻⁰¹²³⁴⁵⁶⁷⁸⁹]")  # not of 10
_ROOTS = ("sqrt", "rsqrt", "norm", "linalg_norm", "linalg_vector_norm", "vector_norm", "std", "hypot", "dist", "cdist")
_DECOMPOSITIONS = ("linalg_eigh", "linalg_eig", "linalg_svd", "svd", "eigh", "eig")
_DEVIATIONS = ("std", "var", "std_mean", "var_mean")
_EXPONENTIALS = ("exp", "exp2", "expm1", "sinh", "cosh")
_LOGARITHMS = ("log", "log2", "log10", "log1p", "logit", "xlogy", "logaddexp")
_OF_POSITIVE_NUMBERS = ("sqrt", "rsqrt", "log", "log2", "log10")
_FILLING = ("masked_fill", "where", "index_fill", "fill", "masked_scatter")
_PRODUCTS_OF_MANY = ("mul", "prod", "cumprod", "pow", "square")
_LINEAR = (
    "matmul", "mm", "bmm", "addmm", "linear", "dot", "mv", "einsum", "conv1d", "conv2d", "convolution", "add", "sub",
    "sum", "mean", "cumsum", "mse_loss", "norm", "var",
)  # fmt: skip
_DIVISIONS = ("div", "true_divide", "reciprocal", "tan", "digamma")


class Advice(NamedTuple):
    """What the operations around a culprit tell: a part of a headline, which may be empty, sentences, and a remedy."""

    said: str
    lines: tuple[str, ...]
    remedy: str


def against_not_finite(
    made: NodeRecord | BorderRecord,
    *,
    in_backward: bool,
    how: str,
    is_nan: bool,
    later: bool,
    of_data: bool = False,
    along: str = "",
    dtype: str = "",
) -> str:
    """What to do where NaN or infinity begins. `along`: a softmax goes along this dimension, but was meant for rows."""
    op = made.op.rstrip("_")
    if isinstance(made, NodeRecord) and made.variable is not None:
        return "Look at how it was made: at the data that was read, or at the update that wrote to it."
    if of_data:
        return "Look at how it was made, such as at the data that was read."
    if made.kind == "function":
        return f"Look at the {'backward' if in_backward else 'forward'} of {op} for the numbers that are named here."
    if how.endswith((" is empty", "no target counts")):
        return "Leave such a batch out, or divide a sum by at least 1: there is nothing to take the mean of."
    if how.endswith("no alignment fits"):
        return "Leave such examples out, shrink the input less, or pass zero_infinity=True, which makes their loss 0."
    if in_backward and "0 ·" in how:
        instead = f"{op}(where(ok, x, 1))"
        if op in _ROOTS:
            instead = f"{op}(x + eps), or {instead}"
        elif op in ("div", "true_divide"):
            instead = "a / where(ok, b, 1)"
        return (
            "An operation that masks the result does not help: 0 · inf is NaN. Replace the input before the operation, "
            f"such as {instead}."
        )
    if along:
        return f"Pass dim=-1 to {op}: along {along}, all scores are -inf there, while no row has only -inf."
    if "softmax" in op and "-inf" in how:
        return "Every score of that row is -inf: leave at least one of them, or replace what comes out for such rows."
    if "softmax" in op:
        return "A row of scores that are all -inf has no softmax, nor has a row with inf: give each row a finite score."
    if op in _DECOMPOSITIONS and in_backward:
        return (
            "Where two eigenvalues or singular values are equal, the vectors have no derivative: use the values alone "
            "(eigvalsh, svdvals), or add a little noise to the matrix."
        )
    if op in _DEVIATIONS and not in_backward:
        return f"The {op} of a single number is 0/0: take it over a longer dimension, or pass correction=0."
    if op in _OF_POSITIVE_NUMBERS and is_nan and not in_backward:
        return (
            f"The input is negative, where {op} has no real value: find out why, or make it positive, such as by "
            "softplus, exp or clamp(min=eps)."
        )
    if op == "kl_div" and is_nan and not in_backward:
        return "The target is negative, so it is no probability: pass log_target=True if it holds logarithms."
    if op in _ROOTS:
        return f"Keep the input away from 0: {op}(x + eps), or clamp x to a small number first."
    if op in _LOGARITHMS:
        return (
            f"Keep the input above 0: {op}(x + eps) or {op}(x.clamp(min=eps)); for probabilities use log_softmax or "
            "logsigmoid of the scores."
        )
    if op in _DIVISIONS:
        return "Keep the divisor away from 0: add a small number to it, or clamp it."
    if op in _EXPONENTIALS:
        return "Subtract the largest number first, or use the stable form: softmax, log_softmax, logsumexp, softplus."
    if op in ("acos", "asin", "arccos", "arcsin", "atanh", "acosh"):
        return "Clamp the input to a little less than the ends of the domain, such as x.clamp(-1 + eps, 1 - eps)."
    infinities = how.rpartition(" = ")[0].count("inf")  # those that came in
    if op in ("sub", "add", "mul", "rsub") and infinities:
        if infinities > 1:
            return "Two infinities meet here. Keep the larger operand finite, such as by subtracting its maximum."
        return "One operand is infinite. Look at where it was made, or keep it finite, such as by .clamp()."
    if op == "pow" and (POWER_OF_ZERO.match(how) or how.startswith(("(-", "0 ·"))):
        return (
            "A power of 0, or of a negative number, has no finite value or derivative there: add a small number first."
        )
    if later:
        return "The numbers grew from pass to pass: lower the learning rate, clip the gradients, or scale the input."
    if op in _FILLING:
        return "The infinity put here reaches the loss: put a large finite number there, or leave it out of the loss."
    if dtype in ("float16", "bfloat16"):
        return (
            f"Compute this in float32, as {op}(x.float(), ...) or under autocast does, or scale the numbers down first."
        )
    if op in _PRODUCTS_OF_MANY:
        return "Add up logarithms instead of multiplying, or scale the operands down before this operation."
    if op in _LINEAR:
        return "Scale the operands down before it: normalise what comes in, or start from smaller weights."
    return f"Look at what comes into {op}: it has no finite value for these numbers."


def write_elsewhere(recording: Recording, place: Place) -> str:
    """What to do about a line that overwrites what backward needs."""
    if rewritten := out_of_place(recording, place):
        return f"Write `{rewritten}` there: it makes a new tensor and leaves the saved one as it was."
    try:
        body = ast.parse(whole_lines(recording, place)).body
    except (SyntaxError, ValueError):
        body = []
    match body:
        case [ast.Assign(targets=[ast.Subscript()])] if loop_around(recording.sources.get(place.file, ""), place.line):
            return "Collect the parts in a list, and make one tensor of them at the end: stack(parts), or cat(parts)."
        case [ast.Assign() | ast.Return() | ast.Expr()] if "inplace=True" in "".join(recording.sources.values()):
            return "What is called there writes in place: make it with inplace=False, or give it a .clone()."
    return WRITE_ELSEWHERE


def out_of_place(recording: Recording, place: Place) -> str:
    """The in-place line, rewritten out of place: `y += 1` as `y = y + 1`, `y.add_(1)` as `y = y.add(1)`; or empty."""
    try:
        body = ast.parse(whole_lines(recording, place)).body
    except (SyntaxError, ValueError):
        return ""
    match body:
        case [ast.AugAssign(target=ast.Name() as target, op=op, value=value)]:
            left = ast.Name(target.id, ast.Load())
            return f"{target.id} = {ast.unparse(ast.BinOp(left, op, value))}"
        case [ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) as call)]:
            if attr.endswith("_") and not attr.endswith("__"):
                call.func = ast.Attribute(ast.Name(name, ast.Load()), attr.removesuffix("_"), ast.Load())
                return f"{name} = {ast.unparse(call)}"
    return ""
