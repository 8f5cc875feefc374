"""Language models that can see what they are asked for: it is what they read, or attention hands it on from ahead.

A loss asks for a token at each position. If that is the token at this position, or one that attention hands on to it,
the model copies, and learns nothing of what comes next.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.sequences.ahead import Attention, attention_of, how_many_see_next
from microtape.recording.findings.sequences.rows import FUSED, Use, is_same_along, uses_of_rows
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import NodeRecord, Place
from microtape.recording.model.source import expression

if TYPE_CHECKING:
    import numpy.typing as npt

    from microtape.recording.findings.sequences.rows import Positions

_FEWEST = 8  # positions from which on equal tokens are no chance
_FEWEST_TOKENS = 3  # different ones
_MOST_TRIES = 4  # of one line in a loop


class _Question(NamedTuple):
    """A loss that asks for a token at each position of what an embedding has read."""

    embedding: NodeRecord
    start: Positions  # of the elements of the embedding
    tokens: npt.NDArray[Any]
    loss: NodeRecord
    positions: Positions  # for each row of scores, the token that it is computed from
    targets: npt.NDArray[Any]  # for each row of scores


def seen_answers(program: Program) -> Iterator[Finding]:
    """At most one finding for each line that embeds tokens.

    Only where a row of scores is computed from the embedding of its own token: past a bottleneck, copying is the task.
    """
    tries = dict[Place | None, int]()
    for node in program.doing("embedding"):
        if tries.get(node.place, 0) < _MOST_TRIES:
            tries[node.place] = tries.get(node.place, 0) + 1
            for found in _findings(program, node):
                tries[node.place] = _MOST_TRIES
                yield found
                break


def _findings(program: Program, node: NodeRecord) -> Iterator[Finding]:
    for asked in _questions(program, node, through_attention=False):
        if (found := _own_tokens(program, asked)) is not None:
            yield found
    for asked in _questions(program, node, through_attention=True):
        if (found := _next_tokens(program, asked)) is not None:
            yield found


def _questions(program: Program, node: NodeRecord, *, through_attention: bool) -> Iterator[_Question]:
    """The cross entropies of scores that come, row by row, from an embedding."""
    tokens, shape = _array(program, node, ("indices", "index")), program.shape_of(node) or ()
    if tokens is None or tokens.size < _FEWEST or shape[:-1] != tokens.shape:
        return
    start = np.broadcast_to(np.arange(tokens.size, dtype=np.int32).reshape((*tokens.shape, 1)), shape)
    for use in uses_of_rows(program, node, start, through_attention=through_attention):
        rows = _rows_of_loss(program, use)
        targets = _array(program, use.node, ("target",)) if rows is not None else None
        if rows is not None and targets is not None and targets.size == rows.size:
            yield _Question(node, start, tokens.reshape(-1), use.node, rows, targets.reshape(-1))


def _rows_of_loss(program: Program, use: Use) -> Positions | None:
    """The token of each row of scores, if a cross entropy uses them."""
    if use.edge or use.positions.ndim < 2 or not program.does(use.node, "nll_loss", "nll_loss2d"):
        return None
    return use.positions[:, 0].reshape(-1) if is_same_along(use.positions, 1) else None


def _array(program: Program, node: NodeRecord, names: tuple[str, ...]) -> npt.NDArray[Any] | None:
    """The whole numbers that a node has saved by one of these names, if they are known."""
    for one in node.saved:
        value = program.recording.value(one.ref) if one.name in names else None
        if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
            return value
    return None


def _are_same(read: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> bool:
    return len(read) >= _FEWEST and bool((read == wanted).all()) and len(np.unique(read)) >= _FEWEST_TOKENS


def _own_tokens(program: Program, asked: _Question) -> Finding | None:
    """A finding, if the targets are, position by position, the tokens that were embedded."""
    counted = asked.targets >= 0  # -100 leaves a position out
    if not _are_same(asked.tokens[asked.positions][counted], asked.targets[counted]):
        return None
    embedding, loss = asked.embedding, asked.loss
    refs = operand_refs(embedding)
    name = program.ref_name(refs[1]) if len(refs) > 1 else "%"
    read, rows = name if name.isidentifier() else "tokens", ":, " * (asked.start.ndim - 2)
    return Finding(
        "target", "warning",
        headline(f"cross_entropy at {at(loss.place)} asks for the tokens that the model reads",
                 f"{at(loss.place)} asks for the tokens that the model reads"),
        (f"Each of the {int(counted.sum()):,} targets is the token that is read at its own position, at "
         f"{at(embedding.place)}.",
         "The model can copy it: the loss falls towards 0, and nothing is learnt of what comes next."),
        f"Let each position predict the next token: read {read}[{rows}:-1], with the targets {read}[{rows}1:].",
        loss.place, program.pass_after(loss.id), None, loss.id, program.tensor_of(loss),
        (("read", embedding.place),) if embedding.place is not None and embedding.place != loss.place else (),
    )  # fmt: skip


def _next_tokens(program: Program, asked: _Question) -> Finding | None:
    """A finding, if the targets are the tokens that are read next, and attention hands them on."""
    for axis in reversed(range(asked.start.ndim - 1)):  # positions are the last dimension, or the first
        count, step = asked.start.shape[axis], math.prod(asked.start.shape[axis + 1 : -1])
        counted = (asked.targets >= 0) & (asked.positions // step % count < count - 1)
        positions = asked.positions[counted]
        if _are_same(asked.tokens[positions + step], asked.targets[counted]):
            return _seen_ahead(program, asked, step, count, np.isin(np.arange(asked.tokens.size), positions))
    return None


def _seen_ahead(
    program: Program, asked: _Question, step: int, count: int, counted: npt.NDArray[np.bool_]
) -> Finding | None:
    """A finding for the first attention in which most tokens that are counted have a weight for the next one.

    Args:
        program, asked: the question.
        step: from a token to the next one of the same sequence.
        count: how many tokens a sequence has.
        counted: which of all tokens are asked for the next one.
    """
    queries, found = set[int](), list[tuple[Attention, Use, int]]()
    for use in uses_of_rows(program, asked.embedding, asked.start, through_attention=True):
        if use.positions.ndim < 2 or not _has_steps(use.positions, step):
            continue
        if use.edge == 0:
            queries.add(use.node.id)
        if (attention := attention_of(program, use)) is not None:
            seeing = how_many_see_next(program, use, counted)
            if seeing > counted.sum() / 2:
                found.append((attention, use, seeing))
    for attention, use, seeing in sorted(found, key=lambda one: one[0].sum.id):
        after = uses_of_rows(program, attention.sum, use.positions, through_attention=True)
        leads_to_loss = any(one.node.id == asked.loss.id and _rows_of_loss(program, one) is not None for one in after)
        if attention.scores.id in queries and leads_to_loss:
            share = f"{seeing:,} of the {counted.sum():,}" if seeing < counted.sum() else f"all {seeing:,}"
            return _finding_ahead(program, asked, attention, share, count)
    return None


def _has_steps(positions: Positions, step: int) -> bool:
    """Whether each row is that of the next position."""
    rows = positions[..., 0]
    return rows.shape[-1] > 1 and bool((np.diff(rows, axis=-1) == step).all())


def _finding_ahead(program: Program, asked: _Question, attention: Attention, share: str, count: int) -> Finding:
    weights, loss = attention.weights, asked.loss
    text, others = expression(program.recording, weights.place), (("read", asked.embedding.place), ("used", loss.place))
    if "+ mask" in weights.formula or re.search(r"mask=(?!None)", text):
        remedy = "Let the mask hide what lies ahead, too: all that is above the diagonal."
    elif FUSED in text:
        remedy = "Pass is_causal=True."
    elif "softmax" in text or "soft_max" in text:
        remedy = "Fill in -inf above the diagonal of the scores before softmax: where ones.triu(diagonal=1) is 1."
    else:
        remedy = f"Give it a mask: nn.Transformer.generate_square_subsequent_mask({count})."
    return Finding(
        "attention", "warning",
        headline(f"Attention at {at(weights.place)} sees the very tokens that it is to predict",
                 f"{at(weights.place)} sees the very tokens that it is to predict"),
        (f"{at(loss.place)} asks each position for the token that is read next, and attention hands that token on to "
         f"{share} positions: no mask hides it.",
         "The model can copy it: the loss falls towards 0, and nothing is learnt of what comes next."),
        remedy, weights.place, program.pass_after(weights.id), None, weights.id, program.tensor_of(weights),
        tuple([(role, place) for role, place in others if place is not None]),
    )  # fmt: skip
