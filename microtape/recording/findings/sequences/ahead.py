"""Attention in which positions have a weight for the position after them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from microtape.recording.findings.histories import input_at
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.sequences.attention import HIDDEN, SOFTMAX, is_triangle, product_of
from microtape.recording.findings.sequences.rows import FUSED, Use, is_of_values
from microtape.recording.model.model import NodeRecord, Value

if TYPE_CHECKING:
    import numpy.typing as npt

_FARTHEST = 8  # nodes between the weights and their sum
_NEARLY_ALL = 0.9  # of the positions are counted, where it is not known which of them see ahead


class Attention(NamedTuple):
    """Attention over the positions of a sequence."""

    weights: NodeRecord  # the softmax, or the whole where one call computes it
    scores: NodeRecord  # the product of queries and keys, or the whole
    sum: NodeRecord  # of the values, or the whole


def attention_of(program: Program, use: Use) -> Attention | None:
    """The attention that a result is the values of."""
    if not is_of_values(program, use.node, use.edge):
        return None
    if program.does(use.node, FUSED):
        return Attention(use.node, use.node, use.node)
    weights = input_at(program, use.node, 0)
    for _ in range(_FARTHEST):
        if weights is None or program.does(weights, *SOFTMAX):
            break
        weights = input_at(program, weights, 0)
    else:
        return None
    scores = product_of(program, weights) if weights is not None else None
    return Attention(weights, scores, use.node) if weights is not None and scores is not None else None


def how_many_see_next(program: Program, use: Use, counted: npt.NDArray[np.bool_]) -> int:
    """How many tokens have a weight for the next one; 0 if that is not known.

    Args:
        program: the program.
        use: of the values, whose rows are in the order of the tokens.
        counted: which tokens are counted.
    """
    fused = program.does(use.node, FUSED)
    sees_next = _allowed(program, use.node) if fused else _weighted(program, use.node, float(counted.mean()))
    tokens = use.positions[..., :-1, 0]
    if sees_next is None or sees_next.shape[-1:] != tokens.shape[-1:]:
        return 0
    try:
        return len(np.unique(tokens[np.broadcast_to(sees_next, tokens.shape) & counted[tokens]]))
    except ValueError:  # weights of another kind than one matrix for each example and head
        return 0


def _allowed(program: Program, node: NodeRecord) -> npt.NDArray[np.bool_] | None:
    """For each position but the last whether a fused attention lets it see the next one; None if that is not known."""
    queries = program.recording.tensors[operand_refs(node)[0].tensor].shape if operand_refs(node) else ()
    if "mask" not in node.formula:
        return np.ones(max(0, queries[-2] - 1), bool) if len(queries) > 1 else None
    for one in node.saved:
        value = program.recording.value(one.ref) if one.name in ("attn_mask", "attn_bias") else None
        if isinstance(value, np.ndarray) and value.ndim > 1:
            above: npt.NDArray[Any] = value.diagonal(1, -2, -1)
            return above if above.dtype == bool else np.asarray(above > HIDDEN)
    return None


def _weighted(program: Program, node: NodeRecord, counted: float) -> npt.NDArray[np.bool_] | None:
    """The same for a sum of values with weights, some of which are 0."""
    refs = operand_refs(node)
    value: Value | None = program.recording.value(refs[0]) if refs else None
    if value is None or len(value.shape) < 2 or value.shape[-1] < 2:
        return None
    if isinstance(value, np.ndarray):
        hidden = np.asarray(value == 0)
        return ~hidden.diagonal(1, -2, -1) if not is_triangle(hidden) else None  # which has a finding of its own
    count = value.shape[-1]
    above = np.prod(value.shape) * (count - 1) / (2 * count)  # so many weights are for later positions
    is_certain = value.min is not None and value.zeros < above / 2 and counted > _NEARLY_ALL * (count - 1) / count
    return np.ones(count - 1, bool) if is_certain else None
