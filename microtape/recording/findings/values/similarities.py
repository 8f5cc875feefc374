"""Contrastive losses whose similarities hold those of each example with itself, which no other can exceed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import SAME_NUMBERS, input_at, inputs
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import NodeRecord, Place

if TYPE_CHECKING:
    import numpy.typing as npt

_FEWEST = 4  # examples
_FARTHEST = 6  # nodes between the product and the loss
_SCALING = ("mul", "div", "add", "sub", "masked_fill", "where", "clone", "to_copy")
_PRODUCTS = ("matmul", "mm")
_NEARLY_ALL = 0.95  # of the rows
_ROUNDING = 1e-4  # of a similarity
_DIFFERENT = 1e-3  # between two losses


def similarities_with_itself(program: Program) -> Iterator[Finding]:
    """One finding for each cross entropy of z @ z.T, whose targets are other examples, with the diagonal left in."""
    told = set[Place]()
    for soft in program.doing("log_softmax"):
        shape = program.shape_of(soft) or ()
        if soft.place is None or soft.place in told or len(shape) != 2 or shape[0] != shape[1] or shape[0] < _FEWEST:
            continue
        told.add(soft.place)
        product, refs = _product_with_itself(program, soft), operand_refs(soft)
        value = program.recording.value(refs[0]) if refs and product is not None else None
        if product is None or not isinstance(value, np.ndarray) or value.shape != shape or value.dtype.kind != "f":
            continue
        scores: npt.NDArray[np.float64] = value.astype(np.float64)
        own = np.diagonal(scores)
        if not np.isfinite(scores).all() or not np.allclose(own, own[0], rtol=1e-3):  # vectors of one length
            continue
        if own[0] <= 0 or (own >= scores.max(axis=1) * (1 - _ROUNDING)).mean() < _NEARLY_ALL:
            continue
        if not _are_of_others(program, soft, scores):
            continue
        first = input_at(program, product, 0)
        name = program.name(first.id) if first is not None and not program.name(first.id).startswith("%") else "z"
        yield Finding(
            "target", "warning",
            headline(f"cross_entropy at {at(soft.place)} compares each row of {name} with itself, too",
                     f"cross_entropy at {at(soft.place)} compares each example with itself, too"),
            (f"Its scores are similarities of {len(scores)} rows with one another. In each row, the largest is that "
             f"with itself ({format_number(own.mean())}), which is not the target.",
             "An example cannot be more like another one than like itself, so the loss cannot come near 0."),
            "Hide the diagonal before the loss: scores.masked_fill(eye(len(scores)) > 0, float('-inf')).",
            soft.place, program.pass_after(soft.id), None, soft.id, program.tensor_of(soft),
            (("made", product.place),) if product.place is not None and product.place != soft.place else (),
        )  # fmt: skip


def _product_with_itself(program: Program, soft: NodeRecord) -> NodeRecord | None:
    """The product of a result with its own transpose that scores are computed of, perhaps scaled."""
    one = input_at(program, soft, 0)
    for _ in range(_FARTHEST):
        if one is None or program.does(one, *_PRODUCTS):
            break
        before = inputs(program, one) if program.does(one, *_SCALING, *SAME_NUMBERS) else []
        one = before[0] if len(before) == 1 else None
    if one is None or not program.does(one, *_PRODUCTS):
        return None
    left, right = input_at(program, one, 0), input_at(program, one, 1)
    is_own = left is not None and right is not None and program.does(right, "t", "transpose", "permute")
    return one if is_own and right is not None and input_at(program, right, 0) == left else None


def _are_of_others(program: Program, soft: NodeRecord, scores: npt.NDArray[np.float64]) -> bool:
    """Whether no target of a cross entropy is the example itself.

    Where the targets are not recorded, the mean loss tells: of the diagonal, it would be smaller.
    """
    for user in map(program.node, program.users(soft.id)):
        if not program.does(user, "nll_loss"):
            continue
        known = [program.recording.value(ref) for ref in operand_refs(user)]
        for value in known:
            if isinstance(value, np.ndarray) and value.dtype.kind == "i" and value.shape == (len(scores),):
                return bool((value != np.arange(len(scores))).all())
        loss = next(iter(program.results(user)), None)
        is_mean = not any(one.text.startswith(("reduction=", "weight=")) for one in user.operands)
        if is_mean and isinstance(loss, np.ndarray) and not loss.shape:
            top = scores.max(axis=1)
            own = np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top - np.diagonal(scores)
            return bool(loss > own.mean() + _DIFFERENT)
    return False
