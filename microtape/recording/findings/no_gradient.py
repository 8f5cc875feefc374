"""Leaves that require grad and get none: cut off from the loss, not used by it, or replaced by an update."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from microtape.recording.findings.cuts import CUTS, REASONS, REMEDIES
from microtape.recording.findings.finding import Finding, Severity
from microtape.recording.findings.program import Program, at, headline
from microtape.recording.model.cut_history import cut_off
from microtape.recording.model.model import Pass, Place, TensorRecord
from microtape.recording.model.source import source_lines


def no_gradient(program: Program) -> Iterator[Finding]:
    """One finding for each leaf of the user's that no pass gave a gradient, and for each leaf that was replaced."""
    recording = program.recording
    passes = [(i, one) for i, one in enumerate(recording.passes) if one.kind == "backward" and not one.captures]
    complete = [(i, one) for i, one in passes if one.is_complete]
    replaced = {one.tensor: one for one in _replaced(program)}
    yield from replaced.values()
    if not complete:
        return
    reached = _reached(program)
    for leaf in program.leaves:
        if leaf.grad is None and leaf.name and leaf.id not in reached and not _is_asked_for(program, leaf):
            if leaf.name in {recording.tensors[one].name for one in replaced if one is not None}:
                continue
            yield _of_leaf(program, leaf, *complete[-1])


def _reached(program: Program) -> set[int]:
    """The leaves that some pass gave a gradient."""
    found: set[int] = set()
    for pass_ in program.recording.passes:
        found.update(pass_.grads)
        for step in pass_.steps:
            leaf = program.node(step.node).variable
            if leaf is not None and step.grad_after is not None:
                found.add(leaf)
    return found


def _is_asked_for(program: Program, leaf: TensorRecord) -> bool:
    """Whether `grad()` or `backward(inputs=)` asked for its gradient: then .grad stays None, as it should."""
    return any(one.tensor == leaf.id for pass_ in program.recording.passes for one in pass_.captures)


def _of_leaf(program: Program, leaf: TensorRecord, position: int, pass_: Pass) -> Finding:
    recording = program.recording
    name, root = leaf.name, program.root_name(pass_)
    severity, consumer = _severity(program, leaf)
    others: list[tuple[str, Place]] = [] if consumer is None else [("used", consumer)]
    used = [f"{name}.grad is None where {at(consumer)} uses it."] if consumer is not None else [f"{name}.grad is None."]
    border = cut_off(recording, leaf.node, leaf.id, pass_.nodes)
    if border is not None:
        cut, where = CUTS[border.kind].format(op=border.op), at(border.place)
        what = program.expression(border.place)
        text = headline(
            f"{name} gets no gradient: {what if what and border.kind in _OPERATIONS else cut} at {where} cuts it off",
            f"{name} gets no gradient: {cut} at {where} cuts it off",
            f"{name} gets no gradient: it is cut off at {where}",
        )
        operand = next((program.operand_name(one) for one in border.operands if one.ref is not None), "the tensor")
        lines = [f"{what or border.op} at {where} {REASONS[border.kind]}.", *used]
        return Finding(
            "no gradient", severity, text, tuple(lines), REMEDIES[border.kind].format(op=border.op, name=operand),
            border.place or pass_.place, position, None, leaf.node, leaf.id, tuple(others),
        )  # fmt: skip
    if leaf.node is not None and leaf.node in program.steps[position]:
        text = headline(f"{name} gets no gradient: only undefined gradients (None) reached it")
        users = [program.node(one) for one in program.users.get(leaf.node, ()) if one in program.steps[position]]
        place = users[0].place if users else None
        lines = [
            f"{program.name(users[0].id)} at {at(place)} sent None." if users else "Every sender sent None.",
            *used,
        ]
        remedy = "Look at the backward that returns None for it."
        return Finding("no gradient", severity, text, tuple(lines), remedy, place, position, None, leaf.node, leaf.id)
    first = program.users.get(leaf.node, ()) if leaf.node is not None else ()
    place = next((program.node(one).place for one in first), None)
    made = _made_at(program, leaf.name)
    if place is not None:
        text = headline(
            f"{name} gets no gradient: {root} does not use what {at(place)} computes of it",
            f"{name} gets no gradient: {root} was not computed from it",
        )
        lines = [f"{program.name(first[0])} at {at(place)} uses {name}, but no result of it reaches {root}.", *used]
    else:
        place = made or pass_.place
        text = headline(f"{name} gets no gradient: no operation uses it ({at(place)})")
        lines = [f"{name} requires grad, but {root} was computed without it.", *used]
    remedy = f"Use it in the computation of {root}, or make it without requires_grad=True."
    return Finding(
        "no gradient", severity, text, tuple(lines), remedy, place, position, None, leaf.node, leaf.id, tuple(others)
    )


_OPERATIONS = ("detach", "copied", "not differentiable")


def _severity(program: Program, leaf: TensorRecord) -> tuple[Severity, Place | None]:
    """An error if the program consumes the gradient: if it updates the leaf, or fails because .grad is None."""
    updates = program.updated.get(leaf.id, ())
    if updates:
        return "error", updates[0].place
    error = program.recording.error
    place = dict(error.places).get("raised") if error is not None else None
    if error is not None and place is not None and "NoneType" in error.message and _mentions_grad(program, place):
        return "error", place
    return "notice", None


def _mentions_grad(program: Program, place: Place) -> bool:
    lines = source_lines(program.recording, place.file)[place.line - 1 : place.end_line]
    return ".grad" in " ".join(lines) or "grad" in " ".join(lines)


def _replaced(program: Program) -> Iterator[Finding]:
    """Leaves that an update such as `w = w - lr * w.grad` replaced by the result of an operation."""
    seen = set()
    for leaf in program.leaves:
        if not leaf.name or leaf.name in seen or (leaf.id not in program.updated and leaf.node is None):
            continue
        found = _successor(program, leaf)
        if found is None:
            continue
        seen.add(leaf.name)
        place, result, later = found
        error = program.recording.error
        failed = error is not None and dict(error.places).get("raised") is not None
        position = max((i for i, one in enumerate(program.recording.passes) if one.tape <= later), default=None)
        name = leaf.name
        text = headline(
            f"{name} is no leaf any more: {at(place)} makes it the result of {program.node(result).op}"
            if result is not None
            else f"{name} no longer requires grad: {at(place)} replaced it under no_grad",
            f"{name} is replaced at {at(place)}: its .grad stays None from there on",
        )
        source = _line_at(program, place)
        lines = (
            f"{source} binds {name} to a new tensor, which is not a leaf." if result is not None
            else f"{source} binds {name} to a new tensor without requires_grad.",
            "Backward fills .grad of leaves only, so that the next update has no gradient to use.",
        )  # fmt: skip
        remedy = f"Update it in place: `with no_grad(): {name} -= ...`."
        yield Finding(
            "replaced", "error" if failed or result is not None else "warning", text, lines, remedy, place, position,
            None, result, leaf.id,
        )  # fmt: skip


def _successor(program: Program, leaf: TensorRecord) -> tuple[Place, int | None, int] | None:
    """The assignment that replaced a leaf: its place, its node if it was recorded, how long the tape was then."""
    recording = program.recording
    first = next((one for one in recording.passes if leaf.node is not None and leaf.node in one.nodes), None)
    if first is None:
        return None
    for node in recording.nodes[first.tape :]:
        if node.place is None or node.pass_ is not None or node.in_place or len(node.outputs) != 1:
            continue
        if leaf.node in [edge.node for edge in node.edges] and _rebinds(program, node.place, leaf.name):
            return node.place, node.id, node.id
    for border in recording.borders:
        if border.place is None or border.tape < first.tape or border.in_place or border.kind == "detach":
            continue
        if any(one.ref is not None and one.ref.tensor == leaf.id for one in border.operands) and _rebinds(
            program, border.place, leaf.name
        ):
            return border.place, None, border.tape
    return None


def _rebinds(program: Program, place: Place, name: str) -> bool:
    """Whether the line is `name = ...` with `.grad` in it: an update that makes a new tensor."""
    try:
        tree = ast.parse(_line_at(program, place))
    except (SyntaxError, ValueError):
        return False
    match tree.body:
        case [ast.Assign(targets=[target], value=value)]:
            attributes = {one.attr for one in ast.walk(value) if isinstance(one, ast.Attribute)}
            return ast.unparse(target) == name and "grad" in attributes
    return False


def _line_at(program: Program, place: Place) -> str:
    return "\n".join(source_lines(program.recording, place.file)[place.line - 1 : place.end_line]).strip()


def _made_at(program: Program, name: str) -> Place | None:
    """The line that assigns to a variable, if there is only one."""
    found = []
    for file in program.recording.sources:
        try:
            tree = ast.parse(program.recording.sources[file])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for one in ast.walk(tree):
            if isinstance(one, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in one.targets):
                found.append(
                    Place(file, one.lineno, one.end_lineno or one.lineno, one.col_offset, one.end_col_offset or 0, "")
                )
    return found[0] if len(found) == 1 else None
