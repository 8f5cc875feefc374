"""Broadcasting that nobody meant: (N, 1) with (N,) becomes N×N, and is reduced afterwards."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_shape
from microtape.recording.model.model import NodeRecord, Operand, TensorRef
from microtape.recording.tables.columns import NONE
from microtape.recording.tables.fields import are, as_integers, field, inside, integers, picked

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.int64]

_REDUCTIONS = ("sum", "mean", "nansum", "nanmean", "prod", "norm", "amax", "max", "var", "std", "logsumexp")
_BY_ELEMENT = (
    *("add", "sub", "rsub", "mul", "div", "true_divide", "pow", "fmod", "remainder", "addcmul", "addcdiv", "lerp"),
    *("maximum", "minimum", "fmax", "fmin", "clamp", "clamp_max", "clamp_min", "where", "atan2", "hypot", "copysign"),
    *("logaddexp", "logaddexp2", "xlogy", "kl_div"),
)  # not `linear`, say, whose product of a column and a row is a table, and has a vector added
_MEANT = ("unsqueeze", "view", "reshape", "index", "select", "expand", "t", "transpose", "permute", "slice", "newaxis")
_LOSSES = (
    *("binary_cross_entropy", "binary_cross_entropy_with_logits", "mse_loss", "l1_loss", "smooth_l1_loss"),
    *("huber_loss", "soft_margin_loss"),
)
_DIFFERENCES = ("sub", "rsub")  # of a prediction and its target; products with a vector make tables on purpose
_FLATTENING = ("view", "reshape")
_MOST_STEPS = 8  # between the broadcast and its reduction
_UNSEEN = "They are reduced afterwards, so that no error shows it."
_UNHARMED = "The mean of all sums of two is the sum of both means: only time and memory are lost."
_REMEDY = "Give both the same shape: .squeeze(1) on the column, or .unsqueeze(1) on the vector."


def unmeant_broadcasts(program: Program) -> Iterator[Finding]:
    """One finding for each line where a column met a vector of the same length, and the table was reduced."""
    told = set()
    for node in _makers_of_tables(program):
        if node.place is None or node.place.line in told or node.kind != "operation":
            continue
        if (loss := _loss_that_expands(program, node)) is not None:
            told.add(node.place.line)
            yield _in_a_loss(program, node, loss)
        if node.op.rstrip("_") not in _BY_ELEMENT:  # NB: a bilinear layer of PyTorch's ends with an AddBackward0
            continue
        shapes = _column_and_vector(program, node.op, node.operands, node.outputs[0] if node.outputs else None)
        if shapes is None or not _is_reduced(program, node.id):
            continue
        told.add(node.place.line)
        yield _finding(program, node, *shapes, is_unharmed=_is_unharmed(program, node))
    yield from _of_constants(program, told)


def _makers_of_tables(program: Program) -> Sequence[NodeRecord]:
    """The nodes of square results that have a column and a vector among their operands, or expand one."""
    nodes, tensors = program.recording.nodes, program.recording.tensors
    dimensions, sides = inside(tensors, "shape")
    height, width = _sides(dimensions, as_integers(sides))
    counts, operands = inside(nodes, "operands")
    user, used = np.repeat(np.arange(len(nodes)), counts), integers(field(operands, "ref"), "tensor")
    user, used = user[used != NONE], used[used != NONE]
    columns, vectors = user[(dimensions == 2)[used] & (width == 1)[used]], user[(dimensions == 1)[used]]
    is_met = are(nodes, "op", "expand")
    is_met[np.intersect1d(columns, vectors)] = True
    makers = integers(tensors, "node")[(dimensions == 2) & (height == width) & (height > 1)]
    makers = makers[makers != NONE]
    return picked(nodes, makers[is_met[makers]])


def _sides(dimensions: Integers, sides: Integers) -> tuple[Integers, Integers]:
    """The height and width of each matrix among tensors whose sides follow each other; 0 for the others."""
    starts = (np.cumsum(dimensions) - dimensions)[dimensions == 2]
    height, width = np.zeros((2, len(dimensions)), np.int64)
    height[dimensions == 2], width[dimensions == 2] = sides[starts], sides[starts + 1]
    return height, width


def _of_constants(program: Program, told: set[int]) -> Iterator[Finding]:
    """The same where neither has a history, such as a return minus a detached value, and a loss uses the table."""
    for border in program.recording.borders:
        if len(border.outputs) != 1 or border.op not in _BY_ELEMENT or border.place is None:
            continue
        users = program.readers.get(border.outputs[0].tensor, ())
        if border.place.line in told or not users:
            continue
        shapes = _column_and_vector(program, border.op, border.operands, border.outputs[0])
        if shapes is not None and any(_is_reduced(program, one) for one in users):
            told.add(border.place.line)
            yield _finding(program, program.node(users[0])._replace(place=border.place, op=border.op), *shapes)


def _loss_that_expands(program: Program, node: NodeRecord) -> NodeRecord | None:
    """The loss that repeats its prediction, since its target has another shape, if the node is that repetition."""
    users = [program.node(one) for one in program.users(node.id)]
    if node.op != "expand" or len(users) != 1 or "Loss" not in users[0].name or users[0].place != node.place:
        return None
    operand, output = node.operands[0].ref, node.outputs[0]
    if operand is None or output is None:
        return None
    before = program.recording.tensors[operand.tensor].shape
    size = program.recording.tensors[output.tensor].shape[0]
    return users[0] if before in ((size,), (size, 1)) else None


def _column_and_vector(
    program: Program, op: str, operands: Sequence[Operand], output: TensorRef | None
) -> tuple[Operand, Operand] | None:
    """The operands of shapes (N, 1) and (N,), if the result is N×N and no operation next to it made the column."""
    if output is None:
        return None
    shape = program.recording.tensors[output.tensor].shape
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 2:
        return None
    tensors = [one for one in operands if one.ref is not None]
    by_shape = {program.recording.tensors[one.ref.tensor].shape: one for one in tensors if one.ref is not None}
    column, vector = by_shape.get((shape[0], 1)), by_shape.get((shape[0],))
    if column is None or vector is None or _is_meant(program, column):
        return None
    is_batch = op in _DIFFERENCES and _is_part(program, vector)
    if _is_meant(program, vector) and not (
        is_batch or _is_flat(program, vector, column) or _is_of_losses(program, column)
    ):
        return None
    return column, vector


def _is_part(program: Program, vector: Operand) -> bool:
    """Whether a vector without a history is a part of a longer one, such as a batch of the targets, `y[i : i + 32]`."""
    assert vector.ref is not None
    if vector.ref in program.producer:
        return False
    tensors = program.recording.tensors
    base = tensors[vector.ref.tensor].base
    return base is not None and len(tensors[base].shape) == 1


def _is_of_losses(program: Program, column: Operand) -> bool:
    """Whether a loss that is not reduced has made the column: a number for each example, which needs no table."""
    assert column.ref is not None
    number = program.producer.get(column.ref)
    return number is not None and program.does(program.node(number), *_LOSSES)


def _is_meant(program: Program, operand: Operand) -> bool:
    """Whether the program gave the operand its shape on purpose, such as by `[:, None]`."""
    assert operand.ref is not None
    number = program.producer.get(operand.ref)
    if number is not None:
        return program.does(program.node(number), *_MEANT)
    if (border := program.borders.get(operand.ref)) is not None:
        return border.op in _MEANT
    return program.recording.tensors[operand.ref.tensor].base is not None


def _is_flat(program: Program, vector: Operand, column: Operand) -> bool:
    """Whether `reshape(-1)` or the like has made the vector, of something else than the column that it meets."""
    assert vector.ref is not None
    assert column.ref is not None
    number, border = program.producer.get(vector.ref), program.borders.get(vector.ref)
    maker = program.node(number) if number is not None else border
    if maker is not None:
        return maker.op in _FLATTENING and all(one.ref != column.ref for one in maker.operands)
    tensors, record = program.recording.tensors, program.recording.tensors[vector.ref.tensor]
    whole = tensors[record.base] if record.base is not None else None
    return whole is not None and whole.id != column.ref.tensor and math.prod(whole.shape) == math.prod(record.shape)


def _is_reduced(program: Program, number: int) -> bool:
    """Whether a few operations later the table is summed up, perhaps once it is detached."""
    reached = {number}
    for _ in range(_MOST_STEPS + 1):
        reached = {user for node in reached for user in (*program.users(node), *_users_once_detached(program, node))}
        if any(program.does(program.node(one), *_REDUCTIONS) or "Loss" in program.node(one).name for one in reached):
            return True
    return False


def _is_unharmed(program: Program, node: NodeRecord) -> bool:
    """Whether it is a sum or difference of which the program takes the mean, or a multiple of it, and nothing else."""
    if node.op.rstrip("_") not in ("add", "sub", "rsub"):
        return False
    for _ in range(_MOST_STEPS):
        users = program.users(node.id)
        if len(users) != 1:
            return False
        node = program.node(users[0])
        if program.does(node, "mean"):
            return node.outputs[0] is not None and program.recording.tensors[node.outputs[0].tensor].shape == ()
        shapes = [program.recording.tensors[ref.tensor].shape for ref in operand_refs(node)]
        is_multiple = program.does(node, "mul", "div", "neg") and len([one for one in shapes if one]) == 1
        if not is_multiple:
            return False
    return False


def _users_once_detached(program: Program, number: int) -> Iterator[int]:
    for ref in program.node(number).outputs:
        for border in program.borders_from.get(ref.tensor, ()) if ref is not None else ():
            if border.kind == "detach":
                yield from (user for one in border.outputs for user in program.readers.get(one.tensor, ()))


def _finding(
    program: Program, node: NodeRecord, column: Operand, vector: Operand, *, is_unharmed: bool = False
) -> Finding:
    assert vector.ref is not None
    size = program.recording.tensors[vector.ref.tensor].shape[0]
    first, second = program.operand_name(column), program.operand_name(vector)
    table = format_shape((size, size))
    what = program.expression(node.place) or node.op
    text = headline(
        f"{first} ({size}×1) and {second} ({size}) broadcast to {table} in {node.op} at {at(node.place)}",
        f"({size}×1) and ({size}) broadcast to {table} in {node.op} at {at(node.place)}",
    )
    lines = (
        f"{what} pairs every element of {first}, of shape ({size}, 1), with every element of {second}, of shape "
        f"({size},): {size * size:,} numbers instead of {size:,}.",
        _UNHARMED if is_unharmed else _UNSEEN,
    )
    remedy = f"Give both the same shape: {first}.squeeze(1), or {second}.unsqueeze(1) where both should be columns."
    if not first.isidentifier() or not second.isidentifier():
        remedy = _REMEDY
    return Finding(
        "broadcast", "notice" if is_unharmed else "warning", text, lines, remedy, node.place,
        program.pass_after(node.id), None, node.id, program.tensor_of(node),
    )  # fmt: skip


def _in_a_loss(program: Program, node: NodeRecord, loss: NodeRecord) -> Finding:
    operand, output = node.operands[0], node.outputs[0]
    assert operand.ref is not None
    assert output is not None
    table = program.recording.tensors[output.tensor].shape
    shape = program.recording.tensors[operand.ref.tensor].shape
    name, size = program.operand_name(operand), table[0]
    other = (size,) if len(shape) == 2 else (size, 1)
    text = headline(
        f"{loss.op} broadcasts {name} ({format_shape(shape)}) to {format_shape(table)} at {at(node.place)}, as its "
        "target has another shape",
        f"{loss.op} broadcasts {name} to {format_shape(table)} at {at(node.place)}: its target has another shape",
        f"{loss.op} broadcasts to {format_shape(table)} at {at(node.place)}: its target has another shape",
    )
    lines = (
        f"{program.expression(node.place) or loss.op} pairs every element of {name}, of shape {shape}, with every "
        f"element of the target, of shape {other}: {size * size:,} numbers instead of {size:,}.",
        _UNSEEN,
    )
    remedy = _REMEDY
    return Finding(
        "broadcast", "warning", text, lines, remedy, node.place, program.pass_after(node.id), None, node.id,
        program.tensor_of(node),
    )  # fmt: skip
