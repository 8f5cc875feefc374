"""Leaves that the program takes for leaves still, but has replaced by the result of an operation."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from microtape.recording.findings.finding import Finding, Severity
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import NodeRecord, Pass, Place, TensorRecord
from microtape.recording.model.source import expression, is_installed, targets, whole_lines


def replaced_leaves(program: Program) -> Iterator[Finding]:
    """One finding for each line that replaces leaves, such as `w = w - lr * w.grad`.

    An installed package that does so, such as one for meta-learning, looks after the new tensors itself.
    """
    told: set[Place] = set()
    for leaf in program.leaves:
        reached = (i for i, _ in program.steps_of(leaf.node) if program.recording.passes[i].kind == "backward")
        position = next(reached, None)
        if position is None:
            continue  # also if only `grad` has reached it, to which any tensor may be given
        first = program.recording.passes[position]
        found = _by_an_update(program, leaf, first) if leaf.name else _from_the_beginning(program, leaf)
        if found is not None and found.place is not None and found.place not in told and not is_installed(found.place):
            told.add(found.place)
            yield found


def _by_an_update(program: Program, leaf: TensorRecord, first: Pass) -> Finding | None:
    """The leaf was a leaf in the first pass that reached it."""
    function = first.place.function if first.place is not None else ""
    takes_a_name = {one for name in leaf.names for one in program.named_parts.get(name, ())}
    if leaf.id in program.updated:
        takes_a_name.clear()  # a list of other tensors, such as the fast weights of meta-learning
    rebinds: dict[int, bool] = {}  # by place: a loop comes by again and again
    for number in program.users(leaf.node, first.tape):
        at_place = program.place_numbers[number]
        if not rebinds.get(at_place, True) and number not in takes_a_name:
            continue
        node = program.node(number)
        if node.place is None or node.pass_ is not None or len(node.outputs) != 1:
            continue
        if at_place not in rebinds:
            rebinds[at_place] = node.place.function == function and _rebinds(program, node.place, leaf.name)
        if not node.in_place and (rebinds[at_place] or number in takes_a_name):
            return _finding(program, leaf, node.place, node, number)
    for border in program.borders_from.get(leaf.id, ()):
        place = border.place
        if place is None or border.tape < first.tape or border.in_place or border.kind == "detach":
            continue
        if _rebinds(program, place, leaf.name) and "grad" in expression(program.recording, place):
            return _finding(program, leaf, place, None, border.tape)
    return None


def _from_the_beginning(program: Program, leaf: TensorRecord) -> Finding | None:
    """A leaf without a name, of whose only result the program wants the gradient."""
    users = program.users(leaf.node)
    ref = program.node(users[0]).outputs[0] if len(users) == 1 and program.node(users[0]).outputs else None
    if ref is None:
        return None
    node, result = program.node(users[0]), program.recording.tensors[ref.tensor]
    if not result.name or node.place is None or result.retains_grad:
        return None
    is_wanted = program.wants_gradient_of(ref.tensor)
    if not is_wanted and ref.tensor in program.asked:
        return None
    if not is_wanted and "requires_grad" not in expression(program.recording, node.place):
        return None
    text = headline(
        f"{result.name} is no leaf: {at(node.place)} makes it the result of {node.op}, so its .grad stays None",
        f"{result.name} is no leaf: {at(node.place)} makes it the result of {node.op}",
    )
    lines = (
        f"requires_grad=True is set for a tensor that no variable keeps; {result.name} is computed from it.",
        "Backward fills .grad of leaves only.",
    )
    remedy = f"Compute first, then make it a leaf: {result.name} = (...).requires_grad_()."
    severity: Severity = "error" if is_wanted else "notice"
    return Finding("replaced", severity, text, lines, remedy, node.place, 0, None, node.id, result.id)


def _finding(program: Program, leaf: TensorRecord, place: Place, node: NodeRecord | None, later: int) -> Finding:
    position = program.pass_after(later)
    name = leaf.name
    text = headline(
        f"{name} is no leaf any more: {at(place)} makes it the result of {node.op}"
        if node is not None
        else f"{name} no longer requires grad: {at(place)} replaced it under no_grad",
        f"{name} is replaced at {at(place)}: its .grad stays None from there on",
    )
    a_new = "a new tensor, which is not a leaf" if node is not None else "a new tensor without requires_grad"
    lines = (
        f"`{whole_lines(program.recording, place)}` binds {name} to {a_new}.",
        "Backward fills .grad of leaves only, so that the next update has no gradient to use.",
    )
    remedy = f"Update it in place: `with no_grad(): {name} -= ...`."
    if "[" in name:
        remedy = "Update it in place, one leaf after the other: `with no_grad(): p -= ...`."
    return Finding(
        "replaced", "error", text, lines, remedy, place, position, None, node.id if node is not None else None, leaf.id
    )  # fmt: skip


def _rebinds(program: Program, place: Place, name: str) -> bool:
    """Whether the expression at the place is the whole right side of `name = ...`, and reads the name."""
    if targets(program.recording.sources.get(place.file, "")).get(place[1:5]) != name:
        return False
    try:
        tree = ast.parse(expression(program.recording, place), mode="eval")
    except (SyntaxError, ValueError):
        return False
    return any(ast.unparse(one) == name for one in ast.walk(tree) if isinstance(one, ast.Name | ast.Attribute))
