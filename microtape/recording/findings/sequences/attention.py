"""Weights of attention that are mistaken.

They are normalised over another dimension than their sum runs along, or see only ahead, or pick one value each from the
start, since the scores are not scaled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import input_at, inputs, is_parameter
from microtape.recording.findings.program import Program, operand_refs, whole_numbers
from microtape.recording.findings.sequences.rows import PRODUCTS
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_number, format_shape
from microtape.recording.model.model import NodeRecord, Place, Value

if TYPE_CHECKING:
    import numpy.typing as npt

_SAME_ELEMENTS = (
    "mul", "div", "add", "sub", "neg", "masked_fill", "where", "clamp", "dropout", "native_dropout", "clone", "to_copy",
    "contiguous", "expand", "view", "unsafe_view", "reshape",
)  # fmt: skip
_FARTHEST = 8  # nodes between a softmax and the products before and after it
_FEWEST = 3  # positions from which on a triangle is no chance
SOFTMAX = ("softmax", "safe_softmax")
HIDDEN = -1e4  # what a mask adds, or fills in, at most
_FEWEST_FEATURES = 16  # of a query, from which on unscaled products are large
_ALONE = 0.99  # a weight beside which the others of its row count for nothing
_SHARED = 0.5  # the largest weight of a row, at most, of scores that are scaled


def attention(program: Program) -> Iterator[Finding]:
    """A finding for each softmax between two products, queries by keys and weights by values, that is mistaken.

    A program that hides what lies ahead in one place, and what came before in another, reads in both directions.
    """
    told, ahead, reads_forward = set[Place | None](), dict[Place | None, Finding](), False
    started = set[Place | None]()
    for node in program.doing(*SOFTMAX):
        shape = program.shape_of(node) or ()
        if len(shape) < 2 or node.place in told or not _is_of_scores(program, node):
            continue
        found = _over_another_dimension(program, node, shape)
        if found is None and node.place not in started:  # later, weights may have learned to be so sure
            started.add(node.place)
            found = _saturated(program, node, shape)
        if found is not None:
            told.add(node.place)
            yield found
        elif shape[-2] == shape[-1] >= _FEWEST and dimension(program, node, len(shape)) == len(shape) - 1:
            hidden = _hidden(program, node, shape[-1])
            reads_forward |= is_triangle(np.swapaxes(hidden, -1, -2)) if hidden is not None else False
            if hidden is not None and is_triangle(hidden):
                ahead.setdefault(node.place, _of_what_lies_ahead(program, node, shape[-1]))
    yield from ahead.values() if not reads_forward else ()


def _is_of_scores(program: Program, node: NodeRecord) -> bool:
    """Whether the operand of a softmax is a product of two results, perhaps scaled and masked, not of a parameter."""
    product = product_of(program, node)
    return product is not None and not any(is_parameter(program, one) for one in inputs(program, product))


def product_of(program: Program, node: NodeRecord) -> NodeRecord | None:
    """The product that a softmax is computed of, perhaps scaled and masked."""
    rows = (program.shape_of(node) or ())[-2:]
    for _ in range(_FARTHEST):
        before = inputs(program, node)
        if program.does(node, *PRODUCTS) and len(before) == 2:
            return node
        if not before or (program.shape_of(before[0]) or ())[-2:] != rows:
            return None
        node = before[0]
        if not program.does(node, *_SAME_ELEMENTS, *PRODUCTS):
            return None
    return None


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
        if program.does(user, *PRODUCTS):
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


def _saturated(program: Program, node: NodeRecord, shape: tuple[int, ...]) -> Finding | None:
    """A softmax that picks one value for most rows from the start, and would not if the products were scaled."""
    product, position = product_of(program, node), program.pass_after(node.id)
    keys = input_at(program, product, 1) if product is not None else None
    features = (program.shape_of(keys) or (0, 0))[-2] if keys is not None else 0
    if product is None or features < _FEWEST_FEATURES or dimension(program, node, len(shape)) != len(shape) - 1:
        return None
    given = program.recording.value(operand_refs(node)[0]) if operand_refs(node) else None
    made = next(iter(program.results(product)), None)
    if position != 0 or not isinstance(given, np.ndarray) or not isinstance(made, np.ndarray):
        return None
    if made.size != given.size or _weighted_sum(program, node, shape) is None or not np.isfinite(made).all():
        return None
    scores: npt.NDArray[np.float64] = given.astype(np.float64)
    raw: npt.NDArray[np.float64] = made.astype(np.float64).reshape(scores.shape)
    hidden = np.asarray(scores < HIDDEN)
    factors = {f" times √{features}": features**0.5, f" times {features}": features, "": 1.0}
    said = [text for text, factor in factors.items() if np.allclose(scores[~hidden], factor * raw[~hidden], rtol=1e-2)]
    rows = (~hidden).sum(axis=-1) >= _FEWEST
    if rows.sum() < _FEWEST or not said:  # another factor is a temperature, which the program means
        return None
    most = _largest_weights(scores, hidden)[rows]
    scaled = _largest_weights(raw / np.sqrt(features), hidden)[rows]
    if (most >= _ALONE).mean() <= 0.5 or np.median(scaled) > _SHARED:
        return None
    return Finding(
        "attention", "warning",
        headline(f"Attention at {at(node.place)} is one-sided: its scores are not divided by √{features}"),
        (f"In {int((most >= _ALONE).sum()):,} of {most.size:,} rows, one weight is above {_ALONE} in the first pass: "
         "next to no gradient passes through softmax.",
         f"The scores are products of {features} features{said[0]}, up to {format_number(scores[~hidden].max())}. "
         f"Divided by √{features}, the products would give a row a largest weight of "
         f"{format_number(float(np.median(scaled)), 2)} (median)."),
        f"Divide the product by {format_number(features**0.5)}: q @ k.transpose(-2, -1) / math.sqrt({features}).",
        node.place, position, None, node.id, program.tensor_of(node),
        (("made", product.place),) if product.place is not None and product.place != node.place else (),
    )  # fmt: skip


def _largest_weights(scores: npt.NDArray[Any], hidden: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The largest result of softmax in each row."""
    seen = np.where(hidden, -np.inf, scores)
    return np.asarray(1 / np.exp(seen - seen.max(axis=-1, keepdims=True)).sum(axis=-1))


def _is_transposed(program: Program, node: NodeRecord, count: int) -> bool:
    """Whether a node changes the places of the last two of `count` dimensions."""
    dimensions = {one % count for one in whole_numbers(node)}
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
        if before is None or program.does(before, *PRODUCTS):
            break
        for ref in operand_refs(before):
            mask = program.recording.value(ref)
            if isinstance(mask, np.ndarray) and mask.shape[-2:] == (count, count):
                hidden = mask if mask.dtype == bool else np.asarray(mask, np.float64) < HIDDEN
                return np.logical_not(hidden) if program.does(before, "where") else hidden
        before = input_at(program, before, 0)
    return None


def is_triangle(hidden: npt.NDArray[Any]) -> bool:
    """Whether just the positions below the diagonal are hidden."""
    return bool((hidden == np.tri(hidden.shape[-1], k=-1, dtype=bool)).all())
