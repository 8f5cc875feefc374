"""Which token a loss asks for at each position of what a model of language reads."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from microtape.recording.findings.program import Program
from microtape.recording.findings.sequences.rows import Use, is_same_along, uses_of_rows
from microtape.recording.model.model import NodeRecord, Place

if TYPE_CHECKING:
    import numpy.typing as npt

    from microtape.recording.findings.sequences.rows import Positions

_FEWEST = 8  # positions from which on equal tokens are no chance
_FEWEST_TOKENS = 3  # different ones
_MOST_TRIES = 4  # of one line in a loop


class Shift(NamedTuple):
    """How the tokens that are asked for follow those that are read."""

    step: int  # from a token to the next one of the same sequence
    length: int  # of a sequence
    counted: npt.NDArray[np.bool_]  # for each token, whether it is asked for the next one


class Question(NamedTuple):
    """A loss that asks for a token at each position of what an embedding has read."""

    embedding: NodeRecord
    start: Positions  # of the elements of the embedding
    tokens: npt.NDArray[Any]
    loss: NodeRecord
    positions: Positions  # for each row of scores, the token that it is computed from
    targets: npt.NDArray[Any]  # for each row of scores

    @property
    def counted(self) -> npt.NDArray[np.bool_]:
        """Which of the targets count: -100, or the `ignore_index` of the call, leaves a position out."""
        counts = self.targets >= 0
        ignored = argument(self.loss, "ignore_index")
        return counts if ignored is None else counts & (self.targets != ignored)

    @property
    def asks_for_own(self) -> bool:
        """Whether the targets are, position by position, the tokens that are read."""
        counted = self.counted
        return _are_same(self.tokens[self.positions][counted], self.targets[counted])

    @property
    def shift(self) -> Shift | None:
        """How the targets follow the tokens, if they are those that are read next."""
        for axis in reversed(range(self.start.ndim - 1)):  # positions are the last dimension, or the first
            length, step = self.start.shape[axis], math.prod(self.start.shape[axis + 1 : -1])
            counted = self.counted & (self.positions // step % length < length - 1)
            positions = self.positions[counted]
            if _are_same(self.tokens[positions + step], self.targets[counted]):
                return Shift(step, length, np.isin(np.arange(self.tokens.size), positions))
        return None


def embeddings(program: Program) -> Iterator[NodeRecord]:
    """What looks up tokens; of a line that does it in a loop, the first few times."""
    tries = dict[Place | None, int]()
    for node in program.doing("embedding"):
        tries[node.place] = tries.get(node.place, 0) + 1
        if tries[node.place] <= _MOST_TRIES:
            yield node


def questions(program: Program, node: NodeRecord, *, through_attention: bool) -> Iterator[Question]:
    """The cross entropies of scores that come, row by row, from an embedding.

    Only where a row of scores is computed from the embedding of its own token: past a bottleneck, copying is the task.
    """
    tokens, shape = _array(program, node, ("indices", "index")), program.shape_of(node) or ()
    if tokens is None or tokens.size < _FEWEST or shape[:-1] != tokens.shape or not shape[-1]:
        return
    start = np.broadcast_to(np.arange(tokens.size, dtype=np.int32).reshape((*tokens.shape, 1)), shape)
    for use in uses_of_rows(program, node, start, through_attention=through_attention):
        rows = rows_of_loss(program, use)
        targets = _array(program, use.node, ("target",)) if rows is not None else None
        if rows is not None and targets is not None and targets.size == rows.size:
            yield Question(node, start, tokens.reshape(-1), use.node, rows, targets.reshape(-1))


def rows_of_loss(program: Program, use: Use) -> Positions | None:
    """The token of each row of scores, if a cross entropy uses them."""
    if use.edge or use.positions.ndim < 2 or not program.does(use.node, "nll_loss", "nll_loss2d"):
        return None
    return use.positions[:, 0].reshape(-1) if is_same_along(use.positions, 1) else None


def argument(node: NodeRecord, name: str) -> int | None:
    """A whole number among the arguments of a call, by its name."""
    said = (re.fullmatch(rf"{name}=(-?\d+)", one.text) for one in node.operands if one.ref is None)
    return next((int(one[1]) for one in said if one is not None), None)


def _array(program: Program, node: NodeRecord, names: tuple[str, ...]) -> npt.NDArray[Any] | None:
    """The whole numbers that a node has saved by one of these names, if they are known."""
    for one in node.saved:
        value = program.recording.value(one.ref) if one.name in names else None
        if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
            return value
    return None


def _are_same(read: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> bool:
    return len(read) >= _FEWEST and bool((read == wanted).all()) and len(np.unique(read)) >= _FEWEST_TOKENS
