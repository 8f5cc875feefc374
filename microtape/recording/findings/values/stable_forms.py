"""What to compute instead, where the operations around a number that is not finite tell a form that stays finite."""

from __future__ import annotations

import math
import re

import numpy as np

from microtape.recording.findings.histories import SAME_NUMBERS, input_at, inputs
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.remedies import POWER_OF_ZERO, Advice
from microtape.recording.findings.values.rounded_away import kept_number
from microtape.recording.model.model import NodeRecord, Summary, TensorRef, Value

_LOGARITHM = ("log",)
_DETERMINANTS = ("det", "linalg_det")
_TOTALS = ("sum", "mean")
_FARTHEST = 6  # nodes between a logarithm and what it is taken of
_LARGE_MATRIX = 16  # rows: if its numbers are unknown, its determinant has probably just become too small
_LARGEST_MATRIX = 512  # of which the determinant is computed again
_DIMENSIONS = re.compile(r"(?:dim=)?(-?\d+|[(\[][-\d, ]+[)\]])")


def stable_form(program: Program, node: NodeRecord, *, in_backward: bool, how: str) -> Advice | None:
    """Advice for a logarithm, a determinant or a power that begins NaN or infinity; None for anything else."""
    if program.does(node, *_LOGARITHM):
        return _of_logarithm(program, node)
    if node.op == "logdet" and not in_backward:
        return _of_logdet(program, node)
    if program.does(node, "pow"):
        return _of_power(program, node, in_backward=in_backward, how=how)
    return None


def underflown_product(program: Program, node: NodeRecord) -> Advice | None:
    """Advice for a product of many numbers of which none is 0, while the product is."""
    if not program.does(node, "prod"):
        return None
    refs = operand_refs(node)
    given, results = program.recording.value(refs[0]) if refs else None, program.results(node)
    if not isinstance(given, np.ndarray) or not given.size or (given == 0).any():
        return None
    if not any(isinstance(one, np.ndarray) and (one == 0).any() for one in results):
        return None
    dim, name = _dimension(node), _name(program, refs[0], "p")
    count = given.size // max(1, int(np.prod(results[0].shape)))
    dtype = program.recording.tensors[refs[0].tensor].dtype
    line = f"{name} has no 0, but its product of {count} numbers is too small for {dtype}: it is 0."
    total = f"{_factor(name)}.log().sum({f'dim={dim}' if dim else ''})"
    remedy = f"Add up logarithms instead of multiplying: {total} is the logarithm of this product, and stays finite."
    return Advice(f"a product of {count} numbers is 0 in {dtype}", (line,), remedy)


def _of_logarithm(program: Program, node: NodeRecord) -> Advice | None:
    """What a logarithm is taken of, perhaps after a small number was added: a sum, a determinant, a product."""
    before = input_at(program, node, 0)
    for _ in range(_FARTHEST):
        if before is None or not program.does(before, "add", "clamp", "clamp_min", "abs", *SAME_NUMBERS):
            break
        if len(inputs(program, before)) != 1:
            return None
        before = inputs(program, before)[0]
    if before is None:
        return None
    if program.does(before, *_TOTALS):
        return _of_exponentials(program, before)
    if program.does(before, *_DETERMINANTS):
        return _of_determinant(program, before)
    return underflown_product(program, before)


def _of_exponentials(program: Program, total: NodeRecord) -> Advice | None:
    """Advice for the logarithm of Σ eᶻ, or of Σ w · eᶻ, whose exponentials have become 0."""
    summed = input_at(program, total, 0)
    weight: TensorRef | None = None
    if summed is not None and program.does(summed, "mul"):
        factors = [(ref, program.producer.get(ref)) for ref in operand_refs(summed)]
        powers = [ref for ref, one in factors if one is not None and program.does(program.node(one), "exp")]
        others = [ref for ref, _ in factors if ref not in powers]
        if len(powers) != 1 or len(others) != 1:
            return None
        weight, summed = others[0], program.node(program.producer[powers[0]])
        if not _has_no_zero(program.recording.value(weight)):
            return None  # a mask, say: a sum of nothing has no logarithm
    if summed is None or not program.does(summed, "exp"):
        return None
    if not any(isinstance(one, np.ndarray) and (one == 0).any() for one in program.results(summed)):
        return None
    z = _name(program, operand_refs(summed)[0], "z")
    w = _name(program, weight, "w") if weight is not None else ""
    dim = _dimension(total)
    inside = f"{_factor(w)}.log() + {z}" if w else z
    form = f"logsumexp({inside}, dim={dim})" if dim else f"logsumexp(({inside}).flatten(), dim=0)"
    less = " - log(n), of n numbers" if program.does(total, "mean") else ""
    what = f"Σ {w + ' · ' if w else ''}exp({z})"
    line = f"All exponentials of a sum are 0 there: {z} is too far below 0. Its logarithm itself would be finite."
    return Advice("", (line,), f"Write the logarithm of {what} as {form}{less}: it subtracts the largest number first.")


def _has_no_zero(value: Value | None) -> bool:
    return isinstance(value, np.ndarray) and bool((value != 0).all())


def _of_determinant(program: Program, node: NodeRecord) -> Advice | None:
    """Advice for the logarithm of a determinant that has become 0, or is negative."""
    refs = operand_refs(node)
    name = _name(program, refs[0], "x") if refs else "x"
    value = program.recording.value(refs[0]) if refs else None
    instead = f"Write logdet({name}), or slogdet({name})[1]: the determinant itself is not computed."
    if isinstance(value, Summary) and value.shape[-1] >= _LARGE_MATRIX:
        line = f"The determinant of a matrix of {value.shape[-1]} rows easily gets too small, or too large."
        return Advice("", (line,), instead)
    found = _determinant(value)
    if found is None:
        return None
    sign, logarithm = found
    if sign < 0:
        return Advice("", (f"The determinant of {name} is negative.",), _of_its_size(name))
    if sign == 0 or not np.isfinite(logarithm):
        return Advice("", (f"The determinant of {name} is 0: a column is made of the others.",), _not_singular(name))
    line = f"The determinant of {name} is about e^{logarithm:.4g}, too small or too large for its dtype."
    return Advice("", (line,), instead)


def _of_logdet(program: Program, node: NodeRecord) -> Advice | None:
    refs = operand_refs(node)
    before = inputs(program, node)
    if before and "slogdet" in before[0].op:  # of which PyTorch makes it
        refs = operand_refs(before[0])
    found = _determinant(program.recording.value(refs[0])) if refs else None
    if found is None:
        return None
    name = _name(program, refs[0], "x")
    if found[0] < 0:
        said = "the determinant is negative"
        return Advice(said, (f"The determinant of {name} is negative, so it has no logarithm.",), _of_its_size(name))
    if found[0] == 0:
        return Advice("the determinant is 0", (f"The determinant of {name} is 0.",), _not_singular(name))
    return None


def _of_its_size(name: str) -> str:
    return f"For ln |det|, as in a flow, write slogdet({name})[1]. A covariance must have a positive determinant."


def _not_singular(name: str) -> str:
    return f"Add a small number to its diagonal: {name} + 1e-4 * eye(n), or leave out what is there twice."


def _determinant(value: Value | None) -> tuple[float, float] | None:
    """The sign and the logarithm of a determinant: of several, of the smallest one."""
    if not isinstance(value, np.ndarray) or value.ndim < 2 or value.shape[-1] != value.shape[-2]:
        return None
    if not value.size or value.shape[-1] > _LARGEST_MATRIX or not np.isfinite(value).all() or value.dtype.kind != "f":
        return None
    signs, logarithms = np.linalg.slogdet(value.astype(np.float64).reshape(-1, *value.shape[-2:]))
    least = int(np.argmin(signs * np.exp(np.clip(logarithms, -700, 700))))
    return float(signs[least]), float(logarithms[least])


def _of_power(program: Program, node: NodeRecord, *, in_backward: bool, how: str) -> Advice | None:
    """Advice for a power of a negative number with a broken exponent, or for the derivative of one at 0."""
    refs = operand_refs(node)
    base = program.recording.value(refs[0]) if refs else None
    if base is None or node.operands[0].ref is None:
        return None
    name, number = _name(program, refs[0], "x"), kept_number(program.recording.tensors[refs[0].tensor].dtype)
    is_negative, exponent = _lowest(base) < 0, program.operand_name(node.operands[-1])
    exponent = "n" if exponent.startswith("%") or len(node.operands) < 2 else exponent
    clamped = f"{_factor(name)}.clamp(min={number})"
    if (is_negative and in_backward and not POWER_OF_ZERO.search(how)) or how.startswith("(-"):
        return Advice(
            "", ("A power of a negative number has a real value only for a whole exponent, and no slope by it.",),
            f"Clamp it to above 0 first: {clamped}; or take the power of {_factor(name)}.abs(), and put the sign back.",
        )  # fmt: skip
    if POWER_OF_ZERO.search(how) or (in_backward and _lowest(base) == 0):
        above = clamped if is_negative else f"({name} + {number})"
        why = "The slope of a power below 1 is infinite at 0." if in_backward else "A power below 0 is infinite at 0."
        return Advice("", (why,), f"Keep it above 0, such as by {above} ** {_factor(exponent)}.")
    return None


def _lowest(value: Value) -> float:
    if isinstance(value, Summary):
        return value.min if value.min is not None else math.nan
    return float(np.min(np.asarray(value, np.float64), initial=math.inf))


def _name(program: Program, ref: TensorRef, otherwise: str) -> str:
    name = program.written.get(ref) or program.ref_name(ref)  # the text can be typed; of a model's part, no name can
    return otherwise if name.startswith(("%", "a tensor", "a part of")) or re.search(r"\.\d", name) else name


def _factor(name: str) -> str:
    """A name as it stands before a dot or an operator: an expression in parentheses."""
    return name if re.fullmatch(r"[\w.]+(?:[(\[][^()\[\]]*[)\]])?", name) else f"({name})"


def _dimension(node: NodeRecord) -> str:
    """The dimension of a sum or a product, as the program gives it; empty if it goes over all."""
    return next((found[1] for one in node.operands if (found := _DIMENSIONS.fullmatch(one.text))), "")
