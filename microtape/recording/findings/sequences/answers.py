"""Language models that can see what they are asked for: it is what they read, or attention hands it on from ahead.

A loss asks for a token at each position. If that is the token at this position, or one that attention hands on to it,
the model copies, and learns nothing of what comes next.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.sequences.ahead import Attention, attention_of, how_many_see_next
from microtape.recording.findings.sequences.questions import Question, Shift, embeddings, questions, rows_of_loss
from microtape.recording.findings.sequences.rows import FUSED, Use, uses_of_rows
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import NodeRecord, Place
from microtape.recording.model.source import expression, only_expression

if TYPE_CHECKING:
    from microtape.recording.findings.sequences.rows import Positions


def seen_answers(program: Program) -> Iterator[Finding]:
    """At most one finding for each line that embeds tokens."""
    told = set[Place | None]()
    for node in embeddings(program):
        found = next(_findings(program, node), None) if node.place not in told else None
        if found is not None:
            told.add(node.place)
            yield found


def _findings(program: Program, node: NodeRecord) -> Iterator[Finding]:
    for asked in questions(program, node, through_attention=False):
        if asked.asks_for_own:
            yield _own_tokens(program, asked)
    for asked in questions(program, node, through_attention=True):
        if (shift := asked.shift) is not None and (found := _seen_ahead(program, asked, shift)) is not None:
            yield found


def _own_tokens(program: Program, asked: Question) -> Finding:
    """The targets are, position by position, the tokens that were embedded."""
    embedding, loss = asked.embedding, asked.loss
    refs = operand_refs(embedding)
    name = program.ref_name(refs[1]) if len(refs) > 1 else "%"
    read, rows = name if name.isidentifier() else "tokens", ":, " * (asked.start.ndim - 2)
    return Finding(
        "target", "warning",
        headline(f"cross_entropy at {at(loss.place)} asks for the tokens that the model reads",
                 f"{at(loss.place)} asks for the tokens that the model reads"),
        (f"Each of the {int(asked.counted.sum()):,} targets is the token that is read at its own position, at "
         f"{at(embedding.place)}.",
         "The model can copy it: the loss falls towards 0, and nothing is learnt of what comes next."),
        f"Let each position predict the next token: read {read}[{rows}:-1], with the targets {read}[{rows}1:].",
        loss.place, program.pass_after(loss.id), None, loss.id, program.tensor_of(loss),
        (("read", embedding.place),) if embedding.place is not None and embedding.place != loss.place else (),
    )  # fmt: skip


def _seen_ahead(program: Program, asked: Question, shift: Shift) -> Finding | None:
    """A finding for the first attention in which most tokens that are counted have a weight for the next one."""
    counted = shift.counted
    queries, found = set[int](), list[tuple[Attention, Use, int]]()
    for use in uses_of_rows(program, asked.embedding, asked.start, through_attention=True):
        if use.positions.ndim < 2 or not _has_steps(use.positions, shift.step):
            continue
        if use.edge == 0:
            queries.add(use.node.id)
        if (attention := attention_of(program, use)) is not None:
            seeing = how_many_see_next(program, use, counted)
            if seeing > counted.sum() / 2:
                found.append((attention, use, seeing))
    for attention, use, seeing in sorted(found, key=lambda one: one[0].sum.id):
        after = uses_of_rows(program, attention.sum, use.positions, through_attention=True)
        leads_to_loss = any(one.node.id == asked.loss.id and rows_of_loss(program, one) is not None for one in after)
        if attention.scores.id in queries and leads_to_loss:
            share = f"{seeing:,} of the {counted.sum():,}" if seeing < counted.sum() else f"all {seeing:,}"
            return _finding_ahead(program, asked, attention, share, shift.length)
    return None


def _has_steps(positions: Positions, step: int) -> bool:
    """Whether each row is that of the next position."""
    rows = positions[..., 0]
    return rows.shape[-1] > 1 and bool((np.diff(rows, axis=-1) == step).all())


def _finding_ahead(program: Program, asked: Question, attention: Attention, share: str, length: int) -> Finding:
    weights, loss = attention.weights, asked.loss
    text, others = expression(program.recording, weights.place), (("read", asked.embedding.place), ("used", loss.place))
    if _has_mask(text):
        remedy = "Let the mask hide what lies ahead: all that is above the diagonal."
        if FUSED in text:
            remedy += " In a bool mask, True stands for what may be seen."
    elif FUSED in text:
        remedy = "Pass is_causal=True."
    elif "softmax" in text or "soft_max" in text:
        remedy = "Fill in -inf above the diagonal of the scores before softmax: where ones.triu(diagonal=1) is 1."
    else:
        remedy = f"Give it a mask: nn.Transformer.generate_square_subsequent_mask({length})."
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


def _has_mask(text: str) -> bool:
    """Whether a call of attention is given a mask."""
    match only_expression(text):
        case ast.Call(args=given, keywords=named):
            masks = [one.value for one in named if one.arg is not None and one.arg.endswith("mask")]
            masks += given[3:4] if FUSED in text else []
            return any(not isinstance(one, ast.Constant) for one in masks)
    return False
