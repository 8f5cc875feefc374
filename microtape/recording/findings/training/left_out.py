"""Leaves that get gradients, but that an update leaves out while it changes others, and why."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.training.grad_fields import learned, told_addition
from microtape.recording.findings.training.steps import optimizer_at, replaced_later
from microtape.recording.findings.wording import at, headline, join
from microtape.recording.model.model import BackwardStep, Place, Recording
from microtape.recording.model.source import (
    assignments,
    expression,
    is_installed,
    only_assignment,
    place_in,
    text_of,
    tree_of,
)

_IN_A_CONTAINER = re.compile(r"((?:\w+(?:\[[^]]+\])?\.)+\w+)\[[^]]+\]")  # of a module: `model.layers[1].bias`


class _Cause(NamedTuple):
    """Why an optimiser does not have leaves: where, the headlines to choose from, an explanation, and what to do."""

    place: Place | None
    headlines: tuple[str, ...]
    line: str
    remedy: str


def left_out(program: Program, leaves: list[int], position: int, step: BackwardStep, update: Place) -> Finding:
    """A finding for leaves whose gradients the pass at `position` adds up, while the line of `update` changes others.

    A warning if the program shows why they are left out; else a notice, since it may be meant.
    """
    names = [program.tensor_name(leaf) for leaf in leaves]
    place = program.recording.passes[position].place
    lines = [told_addition(program, names[0], position, step), *_left_out_of(program, leaves, names, update)]
    cause = _in_a_container(program, names) or _plain_tensor(program, names) or _made_too_early(program, names, update)
    if cause is not None:
        text, lines, place = headline(*cause.headlines), [cause.line, *lines], cause.place or place
        remedy = cause.remedy
    else:
        text = headline(
            f"{join(names, 3)} {_get(names)} gradients, but {at(update)} updates only {_updated(program)}",
            f"{names[0]} gets gradients, but {at(update)} does not update it",
            f"A .grad is the sum of several passes: {at(place)} adds to it",
        )
        remedy = (
            f"If {names[0]} is to be learned, update it, too: give it to the optimiser. Else, it need not require grad."
        )
    return Finding(
        "accumulated", "notice" if cause is None else "warning", text, tuple(lines), remedy, place, position,
        step.index, step.node, leaves[0],
    )  # fmt: skip


def _updated(program: Program) -> str:
    """The names of the leaves that updates change by their gradients."""
    learning = learned(program.recording)
    updates = [one for one in program.recording.updates if one.tensor in learning]
    return join([program.tensor_name(one.tensor) for one in updates if one.change != 0 and one.place is not None], 3)


def _left_out_of(program: Program, leaves: list[int], names: list[str], update: Place) -> list[str]:
    lines = [f"The update at {at(update)} changes {_updated(program)}, and never {join(names, 3)}."]
    if written := program.updated.get(leaves[0]):
        lines.append(f"{at(written[0].place)} changes {names[0]}, without a gradient.")
    optimizer = optimizer_at(program.recording, update)
    if (made := only_assignment(program.recording, optimizer) if optimizer else None) is not None:
        lines.append(f"{optimizer}, made at {at(made)}, was not given {'it' if len(names) == 1 else 'them'}.")
    return lines


def _in_a_container(program: Program, names: list[str]) -> _Cause | None:
    """A list or dict of a module, where `parameters()` does not look."""
    hidden = next((found[1] for one in names if (found := _IN_A_CONTAINER.match(one))), "")
    if not hidden:
        return None
    headlines = (
        f"{join(names, 3)} {_get(names)} no update: {hidden} is a plain list or dict",
        f"{len(names)} leaves get gradients, but no update: {hidden} is a plain list or dict",
        f"Leaves get gradients, but no update: {hidden} is a plain list or dict",
    )
    line = f"parameters() does not look into {hidden}, a plain list or dict of the module."
    remedy = f"Make {hidden} an nn.ModuleList or nn.ModuleDict; of parameters, an nn.ParameterList."
    return _Cause(_container(program.recording, hidden), headlines, line, remedy)


def _plain_tensor(program: Program, names: list[str]) -> _Cause | None:
    """A plain tensor as an attribute of a module."""
    made = _made_as_plain_tensor(program, names[0])
    if made is None:
        return None
    attribute = expression(program.recording, made).partition("=")[0].strip()
    headlines = (
        f"{names[0]} gets gradients, but no update: {attribute} is no parameter",
        f"{names[0]} gets gradients, but is no parameter of its module",
    )
    line = f"parameters() does not give {names[0]}, which is a plain tensor of its module."
    return _Cause(made, headlines, line, f"Make it a parameter: {attribute} = nn.Parameter(...).")


def _made_too_early(program: Program, names: list[str], update: Place) -> _Cause | None:
    """An optimiser that was made before a part of the model was replaced."""
    late = replaced_later(program.recording, names[0], update)
    learned_before = (one for one in program.leaves if one.name == names[0] and one.id in program.updated)
    if late is None or next(learned_before, None) is not None:  # then the optimiser's step is stale
        return None
    headlines = (
        f"{join(names, 3)} {_get(names)} no update: the optimiser was made before {at(late)}",
        f"Leaves get gradients, but no update: the optimiser was made before {at(late)}",
    )
    line = f"{expression(program.recording, late)} replaces what the optimiser was made from."
    return _Cause(late, headlines, line, "Make the optimiser after the model is complete.")


def _container(recording: Recording, name: str) -> Place | None:
    """Where a module makes the list or dict that is called `model.layers`."""
    target = f"self.{name.rpartition('.')[2]}"
    for file in recording.sources:
        for one in assignments(recording, file):
            found = place_in(recording, file, one) if ast.unparse(one.targets[0]) == target else None
            if found is not None and not is_installed(found):
                return found
    return None


def _made_as_plain_tensor(program: Program, leaf: str) -> Place | None:
    """Where a module makes a leaf that is an attribute of it, `self.scale = ones(8, requires_grad=True)`."""
    made = program.made_at(leaf) if "." in leaf else None
    match tree_of(expression(program.recording, made)):
        case ast.Module([ast.Assign([ast.Attribute(ast.Name("self"), attribute)], ast.Call(function))]):
            is_leaf = attribute == leaf.rpartition(".")[2] and not text_of(function).endswith("Parameter")
            return made if is_leaf and not is_installed(made) else None
    return None


def _get(names: list[str]) -> str:
    return "gets" if len(names) == 1 else "get"
