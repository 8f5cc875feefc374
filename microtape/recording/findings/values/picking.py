"""One number of each row was to be picked by its label: all labels pick from all rows, or labels are taken for rows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import input_at
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_shape
from microtape.recording.model.model import NodeRecord
from microtape.recording.model.source import expression, only_expression, text_of
from microtape.recording.tables.fields import are, picked

if TYPE_CHECKING:
    import numpy.typing as npt

_BY_ELEMENT = ("log", "neg", "mul", "div", "add", "sub", "rsub", "clamp", "clip")
_LOGARITHMS = ("log", "log_softmax")
_FARTHEST = 8  # nodes between the index and the sum or mean


def picked_by_all_labels(program: Program) -> Iterator[Finding]:
    """A finding for each `p[:, y]` of (N, C) probabilities and N labels, if a loss sums up all N·N logarithms.

    Labels that all differ may be a selection of columns.
    """
    told = set()
    nodes = program.recording.nodes
    for node in picked(nodes, np.flatnonzero(are(nodes, "op", "index"))):
        rows, columns = _sides(program, node)
        if rows < 2 or rows == columns or node.place in told or program.shape_of(node) != (rows, rows):
            continue
        labels, written = _index(program, node, "indices"), _written(expression(program.recording, node.place))
        if labels is None or written is None or labels.shape != (rows,) or len(np.unique(labels)) == rows:
            continue
        if not _is_summed_as_logarithms(program, node):
            continue
        told.add(node.place)
        table, by = written
        text = headline(
            f"{table}[:, {by}] at {at(node.place)} picks {format_shape((rows, rows))} numbers, not {rows}",
            f"An index at {at(node.place)} picks {format_shape((rows, rows))} numbers, not {rows}",
        )
        lines = (
            f"It takes, of each of the {rows} rows, the columns of all {rows} labels: {rows * rows:,} numbers.",
            "Their sum or mean is a loss that knows how often a label comes, but not to which row it belongs.",
        )
        remedy = f"Write {table}[range(len({by})), {by}], which takes one number of each row."
        yield Finding(
            "broadcast", "warning", text, lines, remedy, node.place, program.pass_after(node.id), None, node.id,
            program.tensor_of(node),
        )  # fmt: skip


def gathered_along_the_batch(program: Program) -> Iterator[Finding]:
    """A finding for each `q.gather(0, a)` of (N, C) values by N column numbers, given as a column.

    It reads nothing but the first C rows of the first column. An index that goes further is one of rows.
    """
    numbers: dict[Any, list[NodeRecord]] = {}
    nodes = program.recording.nodes
    for node in picked(nodes, np.flatnonzero(are(nodes, "op", "gather"))):
        rows, columns = _sides(program, node)
        if 1 < columns < rows and program.shape_of(node) == (rows, 1):
            numbers.setdefault(node.place, []).append(node)
    for place, found in numbers.items():
        indices = [_index(program, one, "index") for one in found]
        known = [one for one in indices if one is not None]
        columns = min(_sides(program, one)[1] for one in found)
        if place is None or not known or not all(_along_rows(one) for one in found):
            continue
        if max(int(one.max()) for one in known) >= columns or len(np.unique(known[0])) == len(known[0]):
            continue
        node = found[0]
        rows, columns = _sides(program, node)
        name = program.ref_name(operand_refs(node)[0])
        text = headline(
            f"gather at {at(place)} is along the {rows} rows: it reads no more than {columns} of them",
            f"gather at {at(place)} is along the rows, not the {columns} columns",
        )
        lines = (
            f"{name if not name.startswith('%') else 'Its input'} is {format_shape((rows, columns))}, and the index "
            f"has {rows} numbers below {columns}: it seems to name a column of each row.",
            f"Along dimension 0, it names rows: all {rows} results are of column 0, and of the first {columns} rows.",
        )
        yield Finding(
            "batch dimension", "warning", text, lines, f"Write {_along_columns(expression(program.recording, place))}.",
            place, program.pass_after(node.id), None, node.id, program.tensor_of(node),
        )  # fmt: skip


def _sides(program: Program, node: NodeRecord) -> tuple[int, int]:
    """The rows and columns of the matrix that a node picks from; zeros if it is none."""
    refs = operand_refs(node)
    shape = program.recording.tensors[refs[0].tensor].shape if refs else ()
    return (shape[0], shape[1]) if len(shape) == 2 else (0, 0)


def _index(program: Program, node: NodeRecord, name: str) -> npt.NDArray[Any] | None:
    """The integers that a node picks by, if they were recorded whole."""
    values = [program.recording.value(one.ref) for one in node.saved if one.name.startswith(name)]
    match values:
        case [np.ndarray() as found] if found.dtype.kind in "iu" and found.size:
            return found
    return None


def _written(text: str) -> tuple[str, str] | None:
    """`p` and `y` of `p[:, y]`."""
    match only_expression(text):
        case ast.Subscript(table, ast.Tuple([ast.Slice(None, None, None), ast.Name() | ast.Attribute() as by])):
            return text_of(table), text_of(by)
    return None


def _along_columns(text: str) -> str:
    """`gather(1, a)` for `q.gather(0, a)`."""
    match only_expression(text):
        case ast.Call(ast.Attribute(), [ast.Constant(0), index]):
            return f"gather(1, {text_of(index)})"
    return "gather(1, ...)"


def _is_summed_as_logarithms(program: Program, node: NodeRecord) -> bool:
    """Whether nothing else than a sum or mean of all logarithms is made of a node's numbers."""
    before = input_at(program, node, 0)
    are_logarithms = before is not None and program.does(before, *_LOGARITHMS)
    shape, reached, is_summed = program.shape_of(node) or (), [node], False
    for _ in range(_FARTHEST):
        users = [program.node(user) for one in reached for user in program.users(one.id)]
        sums = [one for one in users if program.does(one, "sum", "mean") and not program.shape_of(one)]
        reached = [one for one in users if one not in sums]
        is_summed |= bool(sums)
        are_logarithms |= any(program.does(one, "log") for one in reached)
        if not all(_keeps_apart(program, one, shape) for one in reached):
            return False
        if not reached:
            break
    return is_summed and are_logarithms and not reached


def _keeps_apart(program: Program, node: NodeRecord, shape: tuple[int, ...]) -> bool:
    """Whether a node computes with each number of a table by itself, and with nothing else than a number."""
    others = [program.recording.tensors[one.tensor].shape for one in operand_refs(node)]
    return program.does(node, *_BY_ELEMENT) and len([one for one in others if one]) == 1 and shape in others


def _along_rows(node: NodeRecord) -> bool:
    return any(one.ref is None and one.text in ("0", "dim=0") for one in node.operands)
