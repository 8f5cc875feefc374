"""Writes in place that change another variable, which the program uses later."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program, at, headline
from microtape.recording.model.model import NodeRecord, Place
from microtape.recording.model.source import expression, targets


def written_through_a_view(program: Program) -> Iterator[Finding]:
    """One finding for each line that writes into a tensor under one name, while another name of it is used later."""
    told = set()
    for node in program.recording.nodes:
        if node.place is None or node.place in told:
            continue
        found = _of_a_view(program, node) if node.in_place else _of_two_names(program, node)
        if found is not None:
            told.add(node.place)
            yield found


def _of_a_view(program: Program, node: NodeRecord) -> Finding | None:
    """`part = whole[0]; part *= 2`, where `whole` is used afterwards."""
    output = node.outputs[0] if node.outputs else None
    if node.kind != "copy_slices" or output is None or node.place is None:
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
        f"{at(node.place)} writes into {target}, a view of {whole.name}: line {later.place.line} uses {whole.name}",
        f"{at(node.place)} writes into {target}, a view of {whole.name}, which is used later",
        f"{at(node.place)} writes into a view of a tensor that is used later",
    )
    lines = (
        f"{expression(program.recording, view.place)} at {at(view.place)} shares the memory of {whole.name}.",
        f"The write at {at(node.place)} therefore changes {whole.name} too, and {at(later.place)} uses the changed numbers.",
    )
    remedy = f"If {whole.name} should keep its numbers, write into a copy: {target} = {target}.clone(), or compute a new tensor."
    return _finding(program, node, text, lines, remedy, later.place)


def _of_two_names(program: Program, node: NodeRecord) -> Finding | None:
    """`before = x; x += 1; x - before`: both names are the same tensor, so that the difference is zero."""
    refs = [one.ref for one in node.operands]
    if node.op not in ("sub", "div") or len(refs) != 2 or refs[0] is None or refs[0] != refs[1] or not refs[0].version:
        return None
    names = _two_names(expression(program.recording, node.place))
    written = program.producer.get(refs[0])
    if names is None or written is None or not program.node(written).in_place:
        return None
    write = program.node(written)
    one, other = names
    result = "0" if node.op == "sub" else "1"
    text = headline(
        f"{one} and {other} are one tensor: the write at {at(write.place)} changes both",
        f"Two names are one tensor: the write at {at(write.place)} changes both",
    )
    lines = (
        f"{one} and {other} are two names for the same tensor, so {expression(program.recording, node.place)} at "
        f"{at(node.place)} is {result} everywhere.",
    )
    remedy = f"Keep a copy: {other} = {one}.clone(), or compute a new tensor instead of writing in place."
    return _finding(program, write, text, lines, remedy, node.place)


def _finding(
    program: Program, node: NodeRecord, text: str, lines: tuple[str, ...], remedy: str, used: Place | None
) -> Finding:
    others = (("used", used),) if used is not None else ()
    passes = [i for i in range(len(program.recording.passes)) if node.id in program.steps[i]]
    return Finding(
        "written through a view", "warning", text, lines, remedy, node.place, passes[0] if passes else None, None,
        node.id, program.tensor_of(node), others,
    )  # fmt: skip


def _target(program: Program, place: Place) -> str:
    """The variable that the line writes into: `x` in `x += 1`, `x[0] = 1` and `x[0].mul_(2)`."""
    lines = program.recording.sources.get(place.file, "").splitlines()[place.line - 1 : place.end_line]
    try:
        body = ast.parse("\n".join(lines).strip()).body
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
    for node in reversed(program.recording.nodes[:before]):
        ref = node.outputs[0] if node.outputs else None
        if ref is None or node.place is None or program.recording.tensors[ref.tensor].base != whole:
            continue
        if targets(program.recording.sources.get(node.place.file, "")).get(node.place[1:5]) == name:
            return node
    return None


def _later_use(program: Program, write: NodeRecord, whole: int) -> NodeRecord | None:
    """The first operation elsewhere that uses the whole tensor after the write."""
    for ref, readers in program.readers.items():
        if ref.tensor == whole:
            for reader in readers:
                node = program.node(reader)
                if reader > write.id and not node.in_place and node.place != write.place:
                    return node
    return None


def _two_names(text: str) -> tuple[str, str] | None:
    """The two variables of `a - b`."""
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None
    match tree:
        case ast.BinOp(left=ast.Name(id=left), right=ast.Name(id=right)) if left != right:
            return left, right
    return None
