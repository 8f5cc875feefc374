"""Sums into the rows of a tensor, by indices that repeat: of the rows for one index, a single one counts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import NodeRecord
from microtape.recording.model.source import is_installed, text_of, tree_of, whole_lines
from microtape.recording.tables.fields import are, picked

if TYPE_CHECKING:
    import numpy.typing as npt

_MOST_TRIES = 4  # of one line in a loop
_CLOSE = 1e-3  # rows that differ less may be the same, computed twice


class _Sum(NamedTuple):
    """The text of `out[i] += y`: `out`, the index or indices, and `y` with its sign."""

    written: str
    target: str
    indices: tuple[str, ...]
    added: str


def added_once(program: Program) -> Iterator[Finding]:
    """One finding for each line `out[i] += y` whose index repeats, with other rows of y for it.

    Python reads out[i], adds, and writes back: the rows for the same index overwrite one another. What is written
    without being added may be meant so: the last one counts.
    """
    nodes, tried = program.recording.nodes, dict[Any, int]()
    for node in picked(nodes, np.flatnonzero(are(nodes, "op", "index_put", "index_put_"))):
        tries = tried.get(node.place, 0)
        if node.kind != "operation" or node.place is None or tries >= _MOST_TRIES or is_installed(node.place):
            continue
        tried[node.place] = tries + 1
        found = _repeated(program, node)
        written = _written(whole_lines(program.recording, node.place)) if found is not None else None
        if found is not None and written is not None and len(written.indices) == found.shape[1]:
            tried[node.place] = _MOST_TRIES
            yield _finding(program, node, written, found)


def _repeated(program: Program, node: NodeRecord) -> npt.NDArray[Any] | None:
    """The indices of a write, a row for each, if some are the same and what is written there differs."""
    parts = [program.recording.value(one.ref) for one in node.saved if one.name.startswith("indices")]
    refs = operand_refs(node)
    values = program.recording.value(refs[1]) if len(refs) > 1 else None
    if not parts or not isinstance(values, np.ndarray) or values.ndim < 1 or values.dtype.kind == "c":
        return None
    known = [one for one in parts if isinstance(one, np.ndarray) and one.ndim == 1 and one.dtype.kind in "iu"]
    if len(known) < len(parts) or len({len(one) for one in known}) > 1 or len(known[0]) != len(values):
        return None
    indices = np.stack(known, axis=1)
    _, first, inverse = np.unique(indices, axis=0, return_index=True, return_inverse=True)
    if len(first) == len(indices):
        return None
    before = values[first[inverse.reshape(-1)]]  # the first row for the same index
    return None if np.allclose(values, before, rtol=_CLOSE, atol=1e-6, equal_nan=True) else indices


def _written(text: str) -> _Sum | None:
    """`out[i] += y`, `out[i] -= y` and `out[i] = out[i] + y`, with nothing but indices of leading dimensions."""
    tree = tree_of(text)
    match tree.body if tree is not None else []:
        case [ast.AugAssign(ast.Subscript(target, index), ast.Add() | ast.Sub() as op, added)]:
            pass
        case [ast.Assign([ast.Subscript(target, index) as to], ast.BinOp(left, ast.Add() | ast.Sub() as op, added))]:
            if text_of(left) != text_of(to):
                return None
        case _:
            return None
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    while parts and text_of(parts[-1]) == ":":
        parts = parts[:-1]
    if not parts or not all(isinstance(one, ast.Name | ast.Attribute | ast.Subscript | ast.Call) for one in parts):
        return None
    sign = "-" if isinstance(op, ast.Sub) else ""
    added_text = f"{sign}({text_of(added)})" if sign and isinstance(added, ast.BinOp) else f"{sign}{text_of(added)}"
    return _Sum(text, text_of(target), tuple(map(text_of, parts)), added_text)


def _finding(program: Program, node: NodeRecord, written: _Sum, indices: npt.NDArray[Any]) -> Finding:
    different, times = np.unique(indices, axis=0, return_counts=True)
    most = int(times.argmax())
    example = ", ".join(map(str, different[most].tolist()))
    kept, number, where = len(different), len(indices), at(node.place)
    names = ", ".join(written.indices)
    tuple_ = f"({names},)" if len(written.indices) == 1 else f"({names})"
    return Finding(
        "no effect", "warning",
        headline(f"{written.written} adds {kept} of {number} rows: indices repeat",
                 f"{written.target}[{names}] += … adds {kept} of {number} rows: indices repeat",
                 f"{where} adds {kept} of {number} rows: indices repeat"),
        (f"Of {number} indices in {names} at {where}, {kept} are different: {example} is there {times[most]} times.",
         f"All are read before any is written, so that of the rows for one index a single one counts: {kept} do, "
         f"{number - kept} do not. Backward sends gradients to all of them, as if none were."),
        f"Add up all rows: {written.target} = {written.target}.index_put({tuple_}, {written.added}, accumulate=True).",
        node.place, program.pass_after(node.id), None, node.id, program.tensor_of(node),
    )  # fmt: skip
