"""Weights of attention that are normalised over another dimension than their sum runs along, or that see only ahead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import input_at, inputs, is_parameter
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_shape
from microtape.recording.model.model import NodeRecord, Place, Value

if TYPE_CHECKING:
    import numpy.typing as npt

_PRODUCTS = ("matmul", "bmm", "mm")
_SAME_ELEMENTS = (
    "mul", "div", "add", "sub", "neg", "masked_fill", "where", "clamp", "dropout", "native_dropout", "clone", "to_copy",
    "contiguous", "expand", "view", "unsafe_view", "reshape",
)  # fmt: skip
_FARTHEST = 8  # nodes between a softmax and the products before and after it
_FEWEST = 3  # positions from which on a triangle is no chance
_HIDDEN = -1e4  # what a mask adds, or fills in, at most


def attention(program: Program) -> Iterator[Finding]:
    """A finding for each softmax between two products, queries by keys and weights by values, that is mistaken.

    A program that hides what lies ahead in one place, and what came before in another, reads in both directions.
    """
    told, ahead, reads_forward = set[Place | None](), dict[Place | None, Finding](), False
    for node in program.doing("softmax"):
        shape = program.shape_of(node) or ()
        if len(shape) < 2 or node.place in told or not _is_of_scores(program, node):
            continue
        found = _over_another_dimension(program, node, shape)
        if found is not None:
            told.add(node.place)
            yield found
        elif shape[-2] == shape[-1] >= _FEWEST and dimension(program, node, len(shape)) == len(shape) - 1:
            hidden = _hidden(program, node, shape[-1])
            reads_forward |= _is_triangle(np.swapaxes(hidden, -1, -2)) if hidden is not None else False
            if hidden is not None and _is_triangle(hidden):
                ahead.setdefault(node.place, _of_what_lies_ahead(program, node, shape[-1]))
    yield from ahead.values() if not reads_forward else ()


def _is_of_scores(program: Program, node: NodeRecord) -> bool:
    """Whether the operand of a softmax is a product of two results, perhaps scaled and masked, not of a parameter."""
    rows = (program.shape_of(node) or ())[-2:]
    for _ in range(_FARTHEST):
        before = inputs(program, node)
        if program.does(node, *_PRODUCTS) and len(before) == 2:
            return not any(is_parameter(program, one) for one in before)
        if not before or (program.shape_of(before[0]) or ())[-2:] != rows:
            return False
        node = before[0]
        if not program.does(node, *_SAME_ELEMENTS, *_PRODUCTS):
            return False
    return False


def _over_another_dimension(program: Program, node: NodeRecord, shape: tuple[int, ...]) -> Finding | None:
    over, product = dimension(program, node, len(shape)), _weighted_sum(program, node, shape)
    if over is None or product is None or shape[over] < 2:
        return None
    by, summed = product
    if over == len(shape) + summed or shape[summed] < 2:
        return None
    text = headline(
        f"The weights of attention add up to 1 over dimension {over}, not {len(shape) + summed}: {at(node.place)}",
        f"Weights of attention add up to 1 over the wrong dimension: {at(node.place)}",
    )
    lines = (
        f"softmax is over dimension {over} of {format_shape(shape)}; {at(by.place)} sums along dimension "
        f"{len(shape) + summed}.",
        f"So the {shape[summed]} weights of a sum do not add up to 1"
        + (", and depend on other examples or heads." if over < len(shape) - 2 else "."),
    )
    remedy = f"Pass dim={summed} to softmax."
    others = (("used", by.place),) if by.place is not None else ()
    return Finding(
        "attention", "warning", text, lines, remedy, node.place, program.pass_after(node.id), None, node.id,
        program.tensor_of(node), others,
    )  # fmt: skip


def dimension(program: Program, node: NodeRecord, count: int) -> int | None:
    """The dimension that a softmax is over, as its call says it; else the only one along which its result adds up."""
    for one in node.operands:
        if one.ref is None and (said := re.fullmatch(r"(?:dim=)?(-?\d+)", one.text)):
            return int(said[1]) % count
    value = _result(program, node)
    if not isinstance(value, np.ndarray):
        return None
    ones = [i for i in range(count) if np.allclose(value.sum(axis=i, dtype=np.float64), 1, atol=1e-2)]
    return ones[0] if len(ones) == 1 else None


def _result(program: Program, node: NodeRecord) -> Value | None:
    ref = node.outputs[0] if node.outputs else None
    return program.recording.value(ref) if ref is not None else None


def _weighted_sum(program: Program, node: NodeRecord, shape: tuple[int, ...]) -> tuple[NodeRecord, int] | None:
    """The product of weights and values, with the dimension of the weights along which it sums: the last, or before."""
    last = -1  # which of the softmax's dimensions is the last one now
    for _ in range(_FARTHEST):
        users = [program.node(one) for one in program.users(node.id)]
        if len(users) != 1:
            return None  # which may divide the weights by a sum of theirs
        (user,) = users
        if program.does(user, *_PRODUCTS):
            left, right = input_at(program, user, 0), input_at(program, user, 1)
            if left is None or right is None or left.id == right.id:
                return None
            return user, last if left.id == node.id else -3 - last
        rows = (program.shape_of(user) or ())[-2:]
        if _is_transposed(program, user, len(shape)):
            last = -3 - last
        elif not program.does(user, *_SAME_ELEMENTS) or rows != (program.shape_of(node) or ())[-2:]:
            return None
        if len(inputs(program, user)) != 1:
            return None
        node = user
    return None


def _is_transposed(program: Program, node: NodeRecord, count: int) -> bool:
    """Whether a node changes the places of the last two of `count` dimensions."""
    dimensions = {int(text) % count for one in node.operands for text in re.findall(r"-?\d+", one.text)}
    return program.does(node, "t") or (
        program.does(node, "transpose") and dimensions in ({count - 2, count - 1}, set())
    )


def _of_what_lies_ahead(program: Program, node: NodeRecord, count: int) -> Finding:
    text = headline(f"The mask hides what came before, not what lies ahead: {at(node.place)}")
    lines = (
        f"Of {count} positions, the first one has a weight for each, the last one only for itself.",
        "A model that predicts what comes next can read the answer here, and nothing that came before it.",
    )
    remedy = "Fill in -inf above the diagonal: where ones.triu(diagonal=1) is 1."
    return Finding(
        "attention", "warning", text, lines, remedy, node.place, program.pass_after(node.id), None, node.id,
        program.tensor_of(node), (),
    )  # fmt: skip


def _hidden(program: Program, node: NodeRecord, count: int) -> npt.NDArray[Any] | None:
    """Which positions a softmax gives no weight: its result tells, else a constant mask of so many rows and columns."""
    value = _result(program, node)
    if isinstance(value, np.ndarray):
        return np.asarray(value == 0)
    before = input_at(program, node, 0)
    for _ in range(_FARTHEST):
        if before is None or program.does(before, *_PRODUCTS):
            break
        for ref in operand_refs(before):
            mask = program.recording.value(ref)
            if isinstance(mask, np.ndarray) and mask.shape[-2:] == (count, count):
                hidden = mask if mask.dtype == bool else np.asarray(mask, np.float64) < _HIDDEN
                return np.logical_not(hidden) if program.does(before, "where") else hidden
        before = input_at(program, before, 0)
    return None


def _is_triangle(hidden: npt.NDArray[Any]) -> bool:
    """Whether just the positions below the diagonal are hidden."""
    return bool((hidden == np.tri(hidden.shape[-1], k=-1, dtype=bool)).all())
