"""Leaves that require grad and get none: cut off from the loss, or not used by it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from microtape.recording.findings.cuts import CUTS, REASONS, REMEDIES
from microtape.recording.findings.finding import Finding, Severity
from microtape.recording.findings.program import Program, at, headline, place_in
from microtape.recording.model.cut_history import cut_off
from microtape.recording.model.model import BorderRecord, Pass, Place, TensorRecord


def no_gradient(program: Program) -> Iterator[Finding]:
    """One finding for each leaf of the user's that no pass gave a gradient."""
    recording = program.recording
    passes = [(i, one) for i, one in enumerate(recording.passes) if one.kind == "backward" and not one.captures]
    complete = [(i, one) for i, one in passes if one.is_complete]
    if not complete:
        return
    reached = _reached(program)
    for leaf in program.leaves:
        if leaf.grad is None and leaf.name and leaf.id not in reached and not _is_asked_for(program, leaf):
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
    border = cut_off(recording, leaf.node, leaf.id, pass_.nodes) or _last_border(program, leaf)
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
    made = _made_at(program, leaf.name.partition("[")[0])
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
    if program.wants_gradient_of(leaf.id):
        return "error", program.missing_gradient_at
    return "notice", None


def _last_border(program: Program, leaf: TensorRecord) -> BorderRecord | None:
    """The border to which the results of a leaf lead, if the loss is computed from it in a way that was not seen."""
    computed = {leaf.node}
    for node in program.recording.nodes[leaf.node + 1 :] if leaf.node is not None else ():
        if any(edge.node in computed for edge in node.edges):
            computed.add(node.id)
    refs = {ref for one in computed if one is not None for ref in program.node(one).outputs}
    found = [
        border
        for border in program.recording.borders
        if not border.in_place
        and any(one.ref is not None and (one.ref in refs or one.ref.tensor == leaf.id) for one in border.operands)
    ]
    return found[0] if found else None


def _made_at(program: Program, name: str) -> Place | None:
    """The line that assigns to a variable, if there is only one."""
    found = [
        place_in(file, one)
        for file, tree in program.trees
        for one in ast.walk(tree)
        if isinstance(one, ast.Assign) and any(ast.unparse(target) == name for target in one.targets)
    ]
    return found[0] if len(found) == 1 else None
