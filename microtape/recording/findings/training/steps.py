"""What the source says of updates: the steps of optimisers, writes by hand, and parameters that are replaced later."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from microtape.recording.findings.program import Program
from microtape.recording.model.model import Place, Recording, UpdateRecord
from microtape.recording.model.source import (
    assignments,
    expression,
    function_around,
    is_installed,
    only_assignment,
    only_expression,
    place_in,
    text_of,
    tree_of,
)

_INDEX = re.compile(r"\[(\w+)\]")


def written_at(program: Program, update: UpdateRecord) -> Place | None:
    """The line of an update; of one that gave a leaf other memory, `w.data = ...`, as far as the source tells.

    Of several such lines, it is the first one behind the backward before it, in the same function.
    """
    recording = program.recording
    if update.place is not None:
        return update.place
    every = list(_given_memory(recording))
    names = recording.tensors[update.tensor].names
    found = [place for name, place in every if name in names]
    found = found or [place for _, place in every if "grad" in expression(recording, place)]  # of a loop's variable
    position = program.positions.get(update.passes - 1)
    backward = recording.passes[position].place if position is not None else None
    if len(found) > 1 and backward is not None:
        text = recording.sources.get(backward.file, "")
        near = [one for one in found if one.file == backward.file and one.line > backward.line]
        found = [one for one in near if function_around(text, one.line) is function_around(text, backward.line)][:1]
    return found[0] if len(found) == 1 else None


def _given_memory(recording: Recording) -> Iterator[tuple[str, Place]]:
    """The assignments to the `.data` of a variable, each with the variable."""
    for file in recording.sources:
        for one in assignments(recording, file):
            match one.targets:
                case [ast.Attribute(owner, "data")]:
                    place = place_in(recording, file, one)
                    if not is_installed(place):
                        yield ast.unparse(owner), place


def optimizer_at(recording: Recording, place: Place | None) -> str:
    """The optimiser of a step: `sgd` for `sgd.step()`, and for `scaler.step(sgd)`; empty for other lines."""
    if (scaled := scaled_step(recording, place)) is not None:
        return scaled[1]
    optimizer, is_called, _ = expression(recording, place).partition(".step(")
    return optimizer if is_called else ""


def scaled_step(recording: Recording, place: Place | None) -> tuple[str, str] | None:
    """The scaler and the optimiser of `scaler.step(sgd)`; None for other lines."""
    match only_expression(expression(recording, place)):
        case ast.Call(func=ast.Attribute(value=owner, attr="step"), args=args, keywords=keywords):
            given = [*args, *[one.value for one in keywords if one.arg == "optimizer"]]
            if given and is_scaler(recording, ast.unparse(owner)):
                return ast.unparse(owner), ast.unparse(given[0])
    return None


def is_scaler(recording: Recording, name: str) -> bool:
    """Whether a variable holds a GradScaler, as far as its name, or the line that makes it, tells."""
    made = only_assignment(recording, name)
    return "scaler" in name.lower() or (made is not None and "Scaler(" in expression(recording, made))


def replaced_later(recording: Recording, leaf: str, step: Place | None) -> Place | None:
    """Where a leaf, or a module around it, such as `model.head`, is replaced after the optimiser of a step was made."""
    optimizer = optimizer_at(recording, step)
    made = only_assignment(recording, optimizer) if optimizer else None
    tree = tree_of(recording.sources.get(made.file, "")) if made is not None else None
    if made is None or tree is None:
        return None
    later = (one for one in ast.walk(tree) if isinstance(one, ast.Assign | ast.Expr) and one.lineno > made.end_line)
    path = leaf.split(".")
    if only_assignment(recording, path[0]) is None:
        path = ["", *path]  # it has no variable in front, as in a program with one model
    found = next((one for one in sorted(later, key=lambda one: one.lineno) if _replaces(one, path)), None)
    return place_in(recording, made.file, found) if found is not None else None


def _replaces(statement: ast.Assign | ast.Expr, leaf: list[str]) -> bool:
    """Whether a statement gives a module another parameter or another part, and the leaf is of it."""
    match statement:
        case ast.Assign([target], ast.Call()):
            path = _path(target)
            return len(path) > 1 and path[0] != "self" and _is_around(path, leaf) is not None
        case ast.Expr(ast.Call(ast.Attribute(owner, "load_state_dict"), keywords=keywords)):
            assigns = any(one.arg == "assign" and text_of(one.value) == "True" for one in keywords)
            return assigns and _is_around(_path(owner), leaf) is not None
        case ast.Expr(ast.Call(args=[module, *_])):  # such as `weight_norm(model[0])`
            rest = _is_around(_path(module), leaf)
            return rest is not None and rest[:1] == ["parametrizations"]
    return False


def _path(expression: ast.expr) -> list[str]:
    """`model`, `0` and `weight` of `model[0].weight`."""
    return _INDEX.sub(r".\1", text_of(expression)).split(".")


def _is_around(path: list[str], leaf: list[str]) -> list[str] | None:
    """What follows in the path of a leaf after that of a module; None if it is another module."""
    is_same = path[0] == leaf[0] or not leaf[0] or len(path) > 1
    return leaf[len(path) :] if is_same and leaf[1 : len(path)] == path[1:] else None
