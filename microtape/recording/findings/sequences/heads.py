"""Heads that are made, or put together again, by a reshape without a transpose: the rows of an example are mixed."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import inputs
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_shape
from microtape.recording.model.formula import index_text
from microtape.recording.model.model import NodeRecord
from microtape.recording.model.source import text_of

RESHAPING = ("view", "reshape", "unsafe_view", "_unsafe_view", "reshape_alias")
_SAME_SHAPE = ("clone", "contiguous", "dropout", "native_dropout", "mul", "div")
_FARTHEST = 8  # nodes between a reshape and a product
_UNMOVED = "A reshape moves no number: to bring a dimension before another one takes a transpose."


def splits(whole: Sequence[int], parts: Sequence[int]) -> bool:
    """Whether the last dimension of one shape is split in another one, with the first part before the rows.

    (B, L, H·D) and (B, H, L, D), say. Where H is L, or one of them is 1, nothing can be told.
    """
    if len(parts) != len(whole) + 1 or len(whole) < 2 or list(whole[:-2]) != list(parts[:-3]):
        return False
    (length, features), (heads, rows, size) = whole[-2:], parts[-3:]
    return rows == length and heads * size == features and 1 < heads != length > 1 and size > 0


def heads_without_transpose(
    program: Program, node: NodeRecord, before: tuple[int, ...], after: tuple[int, ...], sizes: Sequence[ast.expr]
) -> Finding | None:
    """A warning, if a reshape makes the heads of a product, or joins heads or the last states of an RNN.

    A parameter has no rows before a reshape gives it some, nor has what a layer computes for all of them at once.
    """
    written, first = [text_of(one) for one in sizes], (0,) * (min(len(before), len(after)) - 2)
    if splits(after, before):
        if not (_is_stack(program, node, before) or _is_product(program, node)):
            return None
        made, meant = (*first, 0, before[-1]), (*first, 1, 0, 0)
        remedy = f".transpose({len(first)}, {len(first) + 1}).reshape({', '.join(written)})"
        return _finding(program, node, (before, after), (made, meant), remedy)
    if splits(before, after):
        made, meant = (*first, 1, 0, 0), (*first, 0, after[-1])
    elif _swaps_rows(before, after):
        first, made, meant = (0,), (0, 1, 0, 0), (0, 0, 1, 0)
    else:
        return None
    if len(written) != len(after) or not _goes_into_product(program, node) or _has_no_rows(program, node, after):
        return None
    heads, rows = len(first), len(first) + 1
    written[heads], written[rows] = written[rows], written[heads]
    remedy = f".{node.op}({', '.join(written)}).transpose({heads}, {rows})"
    return _finding(program, node, (before, after), (made, meant), remedy)


def _swaps_rows(before: Sequence[int], after: Sequence[int]) -> bool:
    """Whether the two middle ones of four sizes change places."""
    return len(before) == 4 and 1 < before[1] != before[2] > 1 and [before[i] for i in (0, 2, 1, 3)] == list(after)


def _goes_into_product(program: Program, node: NodeRecord) -> bool:
    """Whether a batched product of matrices gets the numbers, perhaps scaled or transposed."""
    reached = {node.id}
    for _ in range(_FARTHEST):
        users = [program.node(user) for one in reached for user in program.users(one)]
        if any(_is_batched_product(one) for one in users):
            return True
        moving = (*RESHAPING, *_SAME_SHAPE, "expand", "transpose", "permute", "unsqueeze")
        reached = {one.id for one in users if program.does(one, *moving)}
    return False


def _is_batched_product(node: NodeRecord) -> bool:
    return "bmm" in node.name.lower() or "ScaledDotProduct" in node.name


def _has_no_rows(program: Program, node: NodeRecord, after: tuple[int, ...]) -> bool:
    """Whether a reshape gets a parameter, all rows of an example as one, or what had the shape of its result."""
    while before := inputs(program, node):
        node = before[0]
        shape = program.shape_of(node) or ()
        if node.variable is not None or shape == after or (len(shape) == 2 and shape[0] == after[0]):
            return True
        if not program.does(node, *RESHAPING, "expand"):
            return False
    return False


def _is_product(program: Program, node: NodeRecord) -> bool:
    """Whether a reshape gets the result of a batched product."""
    for _ in range(_FARTHEST):
        before = inputs(program, node)
        if not before:
            return False
        node = before[0]
        if _is_batched_product(node):
            return True
        if not program.does(node, *RESHAPING, *_SAME_SHAPE):
            return False
    return False


def _is_stack(program: Program, node: NodeRecord, shape: tuple[int, ...]) -> bool:
    """Whether a reshape gets tensors that were stacked along a new first dimension, such as the states of an RNN."""
    before = inputs(program, node)
    if len(before) != 1 or "Stack" not in before[0].name or len(before[0].edges) != shape[0]:
        return False
    parts = operand_refs(before[0])[: shape[0]]  # in PyTorch's RNNs, the other operands follow
    return [program.recording.tensors[one.tensor].shape for one in parts] == [shape[1:]] * shape[0]


def _finding(
    program: Program,
    node: NodeRecord,
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    indices: tuple[tuple[int, ...], tuple[int, ...]],
    remedy: str,
) -> Finding:
    (before, after), (made, meant) = shapes, indices
    text = headline(
        f"{node.op} at {at(node.place)} makes {format_shape(after)} of {format_shape(before)} and mixes rows",
        f"{node.op} at {at(node.place)} mixes rows: it has no transpose",
        f"{node.op} without a transpose mixes rows",
    )
    source = tuple(map(int, np.unravel_index(np.ravel_multi_index(made, after), before)))
    lines = (
        _UNMOVED,
        f"{index_text(made)} of the result is {index_text(source)} of what came in, not {index_text(meant)}.",
    )
    return Finding(
        "reshape", "warning", text, lines, f"Write {remedy} instead.", node.place, program.pass_after(node.id), None,
        node.id, program.tensor_of(node),
    )  # fmt: skip
