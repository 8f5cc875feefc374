"""Gradients that are never reset, so that each update repeats earlier ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from microtape.recording.findings.finding import Finding, Severity
from microtape.recording.findings.program import Program
from microtape.recording.findings.training.grad_fields import (
    is_left,
    is_used,
    kept_by,
    learned,
    told_sum,
    updates_between,
)
from microtape.recording.findings.training.idle import left_alone
from microtape.recording.findings.training.steps import optimizer_at, written_at
from microtape.recording.findings.training.twice_given import twice_given
from microtape.recording.findings.wording import at, headline, join
from microtape.recording.model.model import BackwardStep, Place, Recording, UpdateRecord
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


def never_reset(program: Program) -> Iterator[Finding]:
    """One finding for all leaves whose .grad a later pass added to, without a reset in between.

    It is an error if the program updates the leaf between the two passes and uses the sum afterwards. For a leaf that
    is never updated, or not by its gradient, it may be deliberate. Three kinds of sums are right: of several losses or
    batches before one update; a sum that is reset before anything uses it, as of a critic through which the gradients
    of a generator go; and that of a leaf that the program asks `grad` about, which requires grad only for that.
    """
    updated: list[tuple[int, int, BackwardStep, UpdateRecord, Place | None]] = []  # of each leaf, the first one
    summed: list[tuple[int, int, BackwardStep]] = []
    learning, is_kept = learned(program.recording), kept_by(program)
    for leaf, way in program.accumulations.items():
        for number, ((earlier, _), (position, step)) in enumerate(pairwise(way), 1):
            if not is_left(program, way, number, is_kept):
                continue
            updates = updates_between(program, leaf, earlier, position)
            if leaf in learning and updates:
                used = is_used(program, leaf, islice(way, number, None), is_kept)
                if used or (used is None and _are_alike(program, earlier, position)):
                    learns = _first_of_round(program, leaf, [one for one, _ in islice(way, number)], position)
                    updated.append((leaf, position, step, updates[-1], learns))
                    break
            elif leaf not in learning | program.asked and program.sizes.largest(step.grad_before) > 0:
                summed.append((leaf, position, step))
                break
    if (updated and left_alone(program)) or any(twice_given(program)):  # another optimiser steps in its place
        return
    updated.sort(key=lambda one: (one[1], one[2].index))
    summed.sort(key=lambda one: (one[1], one[2].index))
    if updated:
        leaf, position, step, update, learns = updated[0]
        again = [one for one in updated if one[1] == position]
        yield _never_reset(program, [one[0] for one in again], position, step, update, learns)
    elif summed:
        leaf, position, step = summed[0]
        found = _added_up(program, [one[0] for one in summed if one[1] == position], position, step)
        if found.severity != "notice" or not left_alone(program):  # an optimiser has them, and never steps
            yield found


def _are_alike(program: Program, earlier: int, later: int) -> bool:
    """Whether two passes come from one line and reach the same leaves: those of a generator reach its critic, too."""
    one, other = program.recording.passes[earlier], program.recording.passes[later]
    if one.place != other.place:
        return False
    return {step.node for step in program.leaf_steps(one)} == {step.node for step in program.leaf_steps(other)}


def _first_of_round(program: Program, leaf: int, before: Sequence[int], position: int) -> Place | None:
    """The line of the first pass since the last update whose gradients the next one uses, but for those of this pass.

    `before` are the positions of the passes that gave the leaf a gradient before this one.
    """
    passes, first = program.recording.passes, before[-1]
    for one in reversed(before):
        if updates_between(program, leaf, one, first) or passes[one].place == passes[position].place:
            break
        first = one
    return passes[first].place


def _never_reset(
    program: Program, leaves: list[int], position: int, step: BackwardStep, update: UpdateRecord, learns: Place | None
) -> Finding:
    """`learns` is where the first of the passes was called that the leaves are updated after."""
    names = [program.tensor_name(leaf) for leaf in leaves]
    pass_ = program.recording.passes[position]
    written = written_at(program, update)
    place = pass_.place or written
    text = headline(
        f"{join(names, 3)}.grad {_is(names)} never reset: {at(place)} adds to the gradient of the pass before",
        f"{names[0]}.grad is never reset: {at(place)} adds to the gradient of the pass before",
        f"Gradients are never reset: {at(place)} adds to those of the pass before",
    )
    lines = [
        f"{program.pass_name(position).capitalize()} adds to {names[0]}.grad what it had from the pass before: "
        f"{told_sum(program, step)}.",
        f"The update at {at(written)} uses it, so that each step repeats all earlier ones.",
    ]
    others = (("updated", written),) if written is not None else ()
    when = "after each {}" if learns is None or learns == place else f"before {at(learns)}, in each round"
    remedy = f"Set {names[0]}.grad = None {when.format('update')}."
    if len(names) > 1:
        remedy = f"Set .grad = None {when.format('update')}, of {join(names, 6)}."
    if optimizer := optimizer_at(program.recording, update.place):
        remedy = f"Call {optimizer}.zero_grad() {when.format('step')}."
    if learns is not None and learns != place:  # of a GAN: the generator's loss goes through the discriminator, too
        remedy = f"{remedy} After the step would be too early, since {at(place)} adds to it."
    return Finding(
        "accumulated", "error", text, tuple(lines), remedy, place, position, step.index, step.node, leaves[0], others
    )  # fmt: skip


def _added_up(program: Program, leaves: list[int], position: int, step: BackwardStep) -> Finding:
    names = [program.tensor_name(leaf) for leaf in leaves]
    pass_ = program.recording.passes[position]
    text = headline(
        f"{join(names, 3)}.grad {_is(names)} the sum of several passes: {at(pass_.place)} adds to it",
        f"{names[0]}.grad is the sum of several passes: {at(pass_.place)} adds to it",
        f".grad is the sum of several passes: {at(pass_.place)} adds to it",
    )
    lines = [f"{program.pass_name(position).capitalize()} adds to {names[0]}.grad: {told_sum(program, step)}."]
    severity: Severity = "notice"
    place = pass_.place
    remedy = f"If that is not meant, set {names[0]}.grad = None before this backward."
    learning = learned(program.recording)
    updates = [one for one in program.recording.updates if one.tensor in learning]
    if others := [one for one in updates if one.change != 0 and one.place is not None]:
        told = join([program.tensor_name(one.tensor) for one in others], 3)
        text = headline(
            f"{join(names, 3)} {_get(names)} gradients, but {at(others[0].place)} updates only {told}",
            f"{names[0]} gets gradients, but {at(others[0].place)} does not update it",
            f".grad is the sum of several passes: {at(pass_.place)} adds to it",
        )
        lines.append(f"The update at {at(others[0].place)} changes {told}, and never {join(names, 3)}.")
        if written := program.updated.get(leaves[0]):
            lines.append(f"{at(written[0].place)} changes {names[0]}, without a gradient.")
        optimizer = optimizer_at(program.recording, others[0].place)
        if (made := only_assignment(program.recording, optimizer) if optimizer else None) is not None:
            lines.append(f"{optimizer}, made at {at(made)}, was not given {'it' if len(names) == 1 else 'them'}.")
        remedy = (
            f"If {names[0]} is to be learned, update it, too: give it to the optimiser. Else, it need not require grad."
        )
        if (late := _replaced_later(program.recording, names[0], others[0].place)) is not None:
            text = headline(
                f"{join(names, 3)} {_get(names)} no update: the optimiser was made before {at(late)}",
                f"Leaves get gradients, but no update: the optimiser was made before {at(late)}",
            )
            lines.insert(0, f"{expression(program.recording, late)} replaces what the optimiser was made from.")
            remedy, severity, place = "Make the optimiser after the model is complete.", "warning", late
        if hidden := next((found[1] for one in names if (found := _IN_A_CONTAINER.match(one))), ""):
            text = headline(
                f"{join(names, 3)} {_get(names)} no update: {hidden} is a plain list or dict",
                f"{len(names)} leaves get gradients, but no update: {hidden} is a plain list or dict",
                f"Leaves get gradients, but no update: {hidden} is a plain list or dict",
            )
            lines.insert(0, f"parameters() does not look into {hidden}, a plain list or dict of the module.")
            remedy = f"Make {hidden} an nn.ModuleList or nn.ModuleDict; of parameters, an nn.ParameterList."
            severity, place = "warning", _container(program.recording, hidden) or place
        elif (made := _made_as_plain_tensor(program, names[0])) is not None:
            attribute = expression(program.recording, made).partition("=")[0].strip()
            text = headline(
                f"{names[0]} gets gradients, but no update: {attribute} is no parameter",
                f"{names[0]} gets gradients, but is no parameter of its module",
            )
            lines.insert(0, f"parameters() does not give {names[0]}, which is a plain tensor of its module.")
            remedy = f"Make it a parameter: {attribute} = nn.Parameter(...)."
            severity, place = "warning", made
    return Finding(
        "accumulated", severity, text, tuple(lines), remedy, place, position, step.index, step.node, leaves[0]
    )  # fmt: skip


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


def _replaced_later(recording: Recording, leaf: str, step: Place | None) -> Place | None:
    """Where a module of the model, such as `model.head` of `head.bias`, is replaced after the optimiser was made."""
    optimizer = optimizer_at(recording, step)
    made = only_assignment(recording, optimizer) if optimizer else None
    modules = leaf.split(".")[:-1]
    for one in assignments(recording, made.file) if made is not None and modules else ():
        path = ast.unparse(one.targets[0]).split(".")
        is_module = (
            len(path) > 1 and path[0] != "self" and path[1:] in (modules[: len(path) - 1], modules[1 : len(path)])
        )
        if made is not None and is_module and made.end_line < one.lineno and isinstance(one.value, ast.Call):
            return place_in(recording, made.file, one)
    return None


def _get(names: list[str]) -> str:
    return "gets" if len(names) == 1 else "get"


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"
