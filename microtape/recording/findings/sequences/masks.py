"""Masks that fill in about 0 before a softmax, which leaves what they are to hide a weight of exp(0)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import SAME_NUMBERS, inputs
from microtape.recording.findings.program import Program
from microtape.recording.findings.sequences.attention import dimension
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import NodeRecord, Place
from microtape.recording.model.source import is_installed

if TYPE_CHECKING:
    import numpy.typing as npt

_FILLING = ("masked_fill", "where", "index_put")
_SCALING = ("mul", "div")
_FARTHEST = 4  # nodes between the mask and the softmax, and after it
_NEAR_ZERO = 1.0
_HIDDEN = -1e4  # what another mask has filled in, at most
_LEAST_WEIGHT = 0.01  # all that is hidden together, for a mean row
_LOOKED_AT = 3  # of one line


class _Mask(NamedTuple):
    """A mask before a softmax."""

    node: NodeRecord  # that fills in
    filled: float
    hidden: npt.NDArray[np.bool_]  # where


def masks_of_zeros(program: Program) -> Iterator[Finding]:
    """One finding for each softmax whose operand was masked with a number such as 0 or 1e-9 instead of -inf."""
    seen = Counter[Place | None]()
    for node in program.doing("softmax") if program.doing(*_FILLING) else ():
        filling = _filling(program, node) if seen[node.place] < _LOOKED_AT else None
        if filling is None or is_installed(filling.place):
            continue
        seen[node.place] += 1
        mask = _mask(program, filling)
        weight = _hidden_weight(program, node, mask.hidden) if mask is not None else 0.0
        if mask is not None and weight > _LEAST_WEIGHT and not _is_masked_later(program, node, mask.hidden):
            seen[node.place] = _LOOKED_AT
            yield _finding(program, node, mask, weight)


def _filling(program: Program, node: NodeRecord) -> NodeRecord | None:
    """The node that fills numbers into the operand of a softmax, which may be scaled in between."""
    for _ in range(_FARTHEST):
        before = inputs(program, node)
        if len(before) != 1:
            return None
        (node,) = before
        if program.does(node, *_FILLING):
            return node if len(inputs(program, node)) == 1 else None
        if not program.does(node, *_SCALING):
            return None
    return None


def _mask(program: Program, node: NodeRecord) -> _Mask | None:
    """What a node hides, if it fills one number near 0 into scores that another mask has not been at."""
    before = [one.ref for one in node.operands if one.ref is not None and one.ref in program.producer]
    scores = program.recording.value(before[0]) if len(before) == 1 else None
    filled = next(iter(program.results(node)), None)
    if not isinstance(scores, np.ndarray) or not isinstance(filled, np.ndarray) or scores.shape != filled.shape:
        return None
    hidden = np.asarray(scores != filled)
    numbers, others = filled[hidden], scores[~hidden]
    if not numbers.size or not others.size or (numbers != numbers[0]).any() or not abs(numbers[0]) <= _NEAR_ZERO:
        return None
    if not np.isfinite(scores).all() or scores.min() <= _HIDDEN or _is_of_the_scores(scores[hidden], others):
        return None
    return _Mask(node, float(numbers[0]), hidden)


def _is_of_the_scores(hidden: npt.NDArray[Any], others: npt.NDArray[Any]) -> bool:
    """Whether the scores themselves tell what is filled: all that are lower, or nearer to 0, as in a threshold."""
    return bool(hidden.max() <= others.min() or np.abs(hidden).max() <= np.abs(others).min())


def _hidden_weight(program: Program, node: NodeRecord, hidden: npt.NDArray[np.bool_]) -> float:
    """The mean weight that a softmax gives to all that is hidden in a row, over the rows with something not hidden.

    0 if there is no such row, or if the rows differ in nothing: a score that is 0 in all of them may be what the others
    are relative to.
    """
    weights = next(iter(program.results(node)), None)
    over = dimension(program, node, hidden.ndim)
    if not isinstance(weights, np.ndarray) or weights.shape != hidden.shape or over is None:
        return 0.0
    rows, masks = (np.moveaxis(one, over, -1).reshape(-1, one.shape[over]) for one in (weights, hidden))
    is_partly = masks.any(1) & ~masks.all(1)
    if not is_partly.any() or ((masks.sum(1) == 1).all() and (masks == masks[0]).all()):
        return 0.0
    return float(np.where(masks, rows, 0)[is_partly].sum(1, dtype=np.float64).mean())


def _is_masked_later(program: Program, node: NodeRecord, hidden: npt.NDArray[np.bool_]) -> bool:
    """Whether something after the softmax makes the weights 0 that were hidden, to divide by their sum, say."""
    waiting = [(node, 0)]
    for one, steps in waiting:  # it grows on the way
        for user in map(program.node, program.users(one.id)):
            value = next(iter(program.results(user)), None)
            if not isinstance(value, np.ndarray) or value.shape != hidden.shape:
                continue
            if (value[hidden] == 0).all():
                return True
            if steps < _FARTHEST and program.does(user, *_SCALING, *SAME_NUMBERS):
                waiting.append((user, steps + 1))
    return False


def _finding(program: Program, node: NodeRecord, mask: _Mask, weight: float) -> Finding:
    number, place = format_number(mask.filled), mask.node.place
    left = next(np.asarray(one)[~mask.hidden] for one in program.results(mask.node))
    power = f"exp({number}) is {'about ' if mask.filled else ''}{format_number(np.exp(mask.filled), 3)}"
    text = headline(
        f"A mask of {number} hides nothing from softmax, which needs -inf: {at(place)}",
        f"A mask of {number} hides nothing from softmax: {at(place)}",
    )
    lines = (
        f"{power}: softmax at {at(node.place)} gives what is hidden a weight, too: {weight:.0%} of a row, on average.",
        f"The scores that are left go from {format_number(left.min(), 3)} to {format_number(left.max(), 3)}.",
    )
    remedy = 'Fill in float("-inf") there, or -1e9 if a row may have nothing else.'
    others = (("used", node.place),) if node.place is not None and node.place != place else ()
    return Finding(
        "attention", "warning", text, lines, remedy, place, program.pass_after(node.id), None, mask.node.id,
        program.tensor_of(mask.node), others,
    )  # fmt: skip
