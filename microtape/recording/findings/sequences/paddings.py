"""Language models whose loss counts the padding: most of all, they learn to predict padding after padding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.sequences.questions import Question, argument, embeddings, questions
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import Place

_LEAST = 0.05  # of the targets


def counted_paddings(program: Program) -> Iterator[Finding]:
    """One finding for each loss that asks for what its own model's embedding takes for padding, where it reads padding.

    The padding right after a sequence may be how the model says that it ends.
    """
    told = set[Place | None]()
    for node in embeddings(program):
        padding = argument(node, "padding_idx")
        if padding is None or node.place in told:
            continue
        for asked in questions(program, node, through_attention=True):
            if asked.loss.place in told or asked.shift is None or _has_weight_of_zero(program, asked, padding):
                continue
            count = int(asked.counted.sum())
            paddings = int(
                (asked.counted & (asked.targets == padding) & (asked.tokens[asked.positions] == padding)).sum()
            )
            if paddings > _LEAST * count and program.shape_of(asked.loss) == ():  # else it may be masked afterwards
                told.update((node.place, asked.loss.place))
                yield _finding(program, asked, padding, f"{paddings:,} of the {count:,}")


def _has_weight_of_zero(program: Program, asked: Question, padding: int) -> bool:
    for one in asked.loss.saved:
        value = program.recording.value(one.ref) if one.name == "weight" else None
        if value is not None and not (isinstance(value, np.ndarray) and value.size > padding and value[padding]):
            return True
    return False


def _finding(program: Program, asked: Question, padding: int, share: str) -> Finding:
    embedding, loss = asked.embedding, asked.loss
    return Finding(
        "target", "warning",
        headline(f"The loss at {at(loss.place)} counts padding: {share} targets",
                 f"The loss at {at(loss.place)} counts padding"),
        (f"The embedding at {at(embedding.place)} has padding_idx={padding}. {share} targets are that token, where it "
         "is read, too.",
         "Each counts as much as a word: the model learns to predict padding, and the loss looks better than it is."),
        f"Pass ignore_index={padding} to the loss.",
        loss.place, program.pass_after(loss.id), None, loss.id, program.tensor_of(loss),
        (("read", embedding.place),) if embedding.place is not None and embedding.place != loss.place else (),
    )  # fmt: skip
