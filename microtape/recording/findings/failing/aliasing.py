"""Writes in place that change another variable, which the program uses later."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from microtape.recording.findings.finding import Finding, Severity
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import NodeRecord, Place, TensorRef
from microtape.recording.model.source import expression, targets, two_names, whole_lines
from microtape.recording.tables.fields import are, picked

_MOST_TRIES = 8  # of one line in a loop


def written_through_a_view(program: Program) -> Iterator[Finding]:
    """One finding for each line that writes into a tensor under one name, while another name of it is used later.

    A write into a view is a notice: programs fill buffers this way.
    """
    tried: dict[Place, int] = {}
    nodes = program.recording.nodes
    may_write = are(nodes, "kind", "copy_slices") | are(nodes, "op", "sub", "div")
    for node in picked(nodes, np.flatnonzero(may_write)):
        if node.kind == "copy_slices":
            look = _of_a_view
        elif node.op in ("sub", "div") and len(node.operands) == 2:
            look = _of_two_names
        else:
            continue
        if node.place is None or tried.get(node.place, 0) >= _MOST_TRIES:
            continue
        found = look(program, node)
        tried[node.place] = _MOST_TRIES if found is not None else tried.get(node.place, 0) + 1
        if found is not None:
            yield found


def _of_a_view(program: Program, node: NodeRecord) -> Finding | None:
    """`part = whole[0]; part *= 2`, where `whole` is used afterwards."""
    output = node.outputs[0] if node.outputs else None
    if output is None or node.place is None:
        return None
    whole = program.recording.tensors[output.tensor]
    target = _target(program, node.place)
    if not whole.name or not target or target in whole.names:
        return None
    view = _view_named(program, target, whole.id, node.id)
    later = _later_use(program, node, whole.id)
    if view is None or later is None or later.place is None:
        return None
    text = headline(
        f"{at(node.place)} writes into {target}, a view of {whole.name}: {later.place.at_line} uses {whole.name}",
        f"{at(node.place)} writes into {target}, a view of {whole.name}, which is used later",
        f"{at(node.place)} writes into a view of a tensor that is used later",
    )
    lines = (
        f"{expression(program.recording, view.place)} at {at(view.place)} shares the memory of {whole.name}.",
        f"The write at {at(node.place)} changes {whole.name} too, and {at(later.place)} uses what it changed.",
    )
    remedy = f"If {whole.name} should keep its numbers, write into a copy: {target} = {target}.clone()."
    return _finding(program, node, text, lines, remedy, later.place, "notice")


def _of_two_names(program: Program, node: NodeRecord) -> Finding | None:
    """`before = x; x += 1; x - before`: both names are the same memory, so that the difference is zero."""
    first, second = (one.ref for one in node.operands)
    names = two_names(expression(program.recording, node.place))
    if first is None or second is None or names is None:
        return None
    value, other = program.recording.value(first), program.recording.value(second)
    if not isinstance(value, np.ndarray) or not isinstance(other, np.ndarray) or not np.array_equal(value, other):
        return None
    write = _last_write(program, first, second, node.id)
    if write is None:
        return None
    one, before = names
    result = "0" if node.op == "sub" else "1"
    text = headline(
        f"{one} and {before} share their memory: the write at {at(write.place)} changes both",
        f"Two names share their memory: the write at {at(write.place)} changes both",
    )
    lines = (
        f"{one} and {before} are two names for the same numbers, so {expression(program.recording, node.place)} at "
        f"{at(node.place)} is {result} everywhere.",
    )
    remedy = f"Keep a copy: {before} = {one}.clone(), or compute a new tensor instead of writing in place."
    return _finding(program, write, text, lines, remedy, node.place, "warning")


def _last_write(program: Program, first: TensorRef, second: TensorRef, before: int) -> NodeRecord | None:
    """The last write in place to the tensor of which both are, or are views; None if they share no memory."""
    tensors = program.recording.tensors
    owners = {one.tensor if tensors[one.tensor].base is None else tensors[one.tensor].base for one in (first, second)}
    owner = owners.pop()
    if owners or owner is None:
        return None
    writes = [node for node in map(program.node, program.writers.get(owner, ())) if node.id < before]
    return writes[-1] if writes else None


def _finding(
    program: Program, node: NodeRecord, text: str, lines: tuple[str, ...], remedy: str, used: Place | None,
    severity: Severity,
) -> Finding:  # fmt: skip
    others = (("used", used),) if used is not None else ()
    return Finding(
        "written through a view", severity, text, lines, remedy, node.place, program.pass_after(node.id), None,
        node.id, program.tensor_of(node), others,
    )  # fmt: skip


def _target(program: Program, place: Place) -> str:
    """The variable that the line writes into: `x` in `x += 1`, `x[0] = 1` and `x[0].mul_(2)`."""
    try:
        body = ast.parse(whole_lines(program.recording, place)).body
    except (SyntaxError, ValueError):
        return ""
    match body:
        case [ast.AugAssign(target=target)]:
            found: ast.expr = target
        case [ast.Assign(targets=[ast.Subscript() as target])]:
            found = target
        case [ast.Expr(value=ast.Call(func=ast.Attribute(value=target)))]:
            found = target
        case _:
            return ""
    while isinstance(found, ast.Subscript):
        found = found.value
    return ast.unparse(found) if isinstance(found, ast.Name | ast.Attribute) else ""


def _view_named(program: Program, name: str, whole: int, before: int) -> NodeRecord | None:
    """The operation that made the view that the program calls so."""
    for number in reversed(program.view_makers.get(whole, ())):
        node = program.node(number)
        place = node.place
        if number < before and place and targets(program.recording.sources.get(place.file, "")).get(place[1:5]) == name:
            return node
    return None


def _later_use(program: Program, write: NodeRecord, whole: int) -> NodeRecord | None:
    """The first operation elsewhere that uses the whole tensor after the write.

    The views that there were before are made again of it where they are used, which is no use of the whole.
    """
    readers, views = program.readers.get(whole, ()), program.view_makers.get(whole, ())
    for reader in readers[bisect_right(readers, write.id) :]:
        node = program.node(reader)
        if not node.in_place and node.place != write.place and (reader not in views or _names(program, node, whole)):
            return node
    return None


def _names(program: Program, node: NodeRecord, tensor: int) -> bool:
    """Whether the line of an operation has a name of a tensor."""
    names = program.recording.tensors[tensor].names
    line = whole_lines(program.recording, node.place) if node.place is not None else ""
    return any(re.search(rf"(?<![\w.]){re.escape(one)}\b", line) for one in names)
