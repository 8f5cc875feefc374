"""What goes wrong between passes: gradients that are never reset, and updates that are too large."""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise

import numpy as np

from microtape.recording.findings.finding import Finding, Severity
from microtape.recording.findings.program import Program
from microtape.recording.findings.training.idle import left_alone
from microtape.recording.findings.wording import at, headline, join
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BackwardStep, Pass, Place, Recording, UpdateRecord, Value
from microtape.recording.model.source import (
    assignments,
    expression,
    function_around,
    is_installed,
    only_assignment,
    place_in,
    tree_of,
)

_DIVERGED = 100  # a leaf whose norm grew by this factor
_IN_A_CONTAINER = re.compile(r"((?:\w+(?:\[[^]]+\])?\.)+\w+)\[[^]]+\]")  # of a module: `model.layers[1].bias`
_NEXT_TO_ZERO = 1e-3  # a leaf whose root mean square is below this may well change by more than its norm
_FAR = 10  # the root mean square of a change that few numbers of a network survive
_SMALL = 1e-2  # one below this, such as the logarithm of a variance, may well grow by a factor


def never_reset(program: Program) -> Iterator[Finding]:
    """One finding for all leaves whose .grad a later pass added to, without a reset in between.

    It is an error if the program updates the leaf between the two passes and uses the sum afterwards. For a leaf that
    is never updated, or not by its gradient, it may be deliberate. Three kinds of sums are right: of several losses or
    batches before one update; a sum that is reset before anything uses it, as of a critic through which the gradients
    of a generator go; and that of a leaf that the program asks `grad` about, which requires grad only for that.
    """
    updated: list[tuple[int, int, BackwardStep, UpdateRecord, Place | None]] = []  # of each leaf, the first one
    summed: list[tuple[int, int, BackwardStep]] = []
    learning, passes = learned(program.recording), program.recording.passes
    is_kept = _same_or_clipped if "clip_grad" in "".join(program.recording.sources.values()) else _same
    for leaf, way in _ways_of_leaves(program).items():
        for number, ((earlier, before), (position, step)) in enumerate(pairwise(way), 1):
            if not _is_added(before, step, is_kept):
                continue
            updates = [
                one for one in program.updated.get(leaf, ())
                if passes[earlier].index < one.passes <= passes[position].index
            ]  # fmt: skip
            if leaf in learning and updates:
                used = _is_used(program, leaf, islice(way, number, None), is_kept)
                if used or (used is None and passes[position].place == passes[earlier].place):
                    learns = _first_of_round(program, leaf, [one for one, _ in islice(way, number)], position)
                    updated.append((leaf, position, step, updates[-1], learns))
                    break
            elif leaf not in learning | program.asked and program.sizes.largest(step.grad_before) > 0:
                summed.append((leaf, position, step))
                break
    if updated and left_alone(program):  # another optimiser steps in its place
        return
    updated.sort(key=lambda one: (one[1], one[2].index))
    summed.sort(key=lambda one: (one[1], one[2].index))
    if updated:
        leaf, position, step, update, learns = updated[0]
        again = [one for one in updated if one[1] == position]
        yield _never_reset(program, [one[0] for one in again], position, step, update, learns)
    elif summed:
        leaf, position, step = summed[0]
        yield _added_up(program, [one[0] for one in summed if one[1] == position], position, step)


def _first_of_round(program: Program, leaf: int, before: Sequence[int], position: int) -> Place | None:
    """The line of the first pass since the last update whose gradients the next one uses, but for those of this pass.

    `before` are the positions of the passes that gave the leaf a gradient before this one.
    """
    passes, updates = program.recording.passes, [one.passes for one in program.updated.get(leaf, ())]
    first = before[-1]
    for one in reversed(before):
        is_updated = any(passes[one].index < update <= passes[first].index for update in updates)
        if is_updated or passes[one].place == passes[position].place:
            break
        first = one
    return passes[first].place


def learned(recording: Recording) -> frozenset[int]:
    """The leaves whose updates may use their gradients.

    If a gradient is named where some leaves are updated, those that are only updated elsewhere, without naming one, are
    not learned: such as the parameters of a teacher, which are an average of its student's.
    """
    updates = recording.updates
    named = {one.tensor for one in updates if one.place is None or _names_a_gradient(recording, one.place)}
    return frozenset(named or (one.tensor for one in updates))


def _names_a_gradient(recording: Recording, place: Place) -> bool:
    """Whether a line is the step of an optimiser, or stands in a function, or a statement of a module, with `.grad`."""
    source = recording.sources.get(place.file, "")
    return ".step(" in expression(recording, place) or _has_a_gradient_around(source, place.line)


@functools.lru_cache(maxsize=64)
def _has_a_gradient_around(source: str, line: int) -> bool:
    tree = tree_of(source) or ast.Module([], [])
    statements = [one for one in tree.body if one.lineno <= line <= (one.end_lineno or one.lineno)]
    innermost = function_around(source, line) or next(iter(statements), tree)
    return any(isinstance(one, ast.Attribute) and one.attr == "grad" for one in ast.walk(innermost))


def _ways_of_leaves(program: Program) -> dict[int, list[tuple[int, BackwardStep]]]:
    """For each leaf, its steps that have changed .grad, each with the position of its pass."""
    found: dict[int, list[tuple[int, BackwardStep]]] = {}
    for position, pass_ in enumerate(program.recording.passes):
        for step in program.leaf_steps(pass_):
            leaf = program.node(step.node).variable
            if leaf is not None and step.grad_after is not None:
                found.setdefault(leaf, []).append((position, step))
    return found


def _is_added(before: BackwardStep, step: BackwardStep, is_kept: Callable[[Value, Value], bool]) -> bool:
    """Whether a step adds to what another one has left in .grad."""
    if before.grad_after is None or step.grad_before is None:
        return False
    return is_kept(before.grad_after, step.grad_before)


def _is_used(
    program: Program, leaf: int, ahead: Iterable[tuple[int, BackwardStep]], is_kept: Callable[[Value, Value], bool]
) -> bool | None:
    """Whether an update uses .grad before it is reset; `ahead` are this step of the leaf and the later ones.

    None if the recording ends before either happens, as it does after the last of several batches.
    """
    passes, updates = program.recording.passes, [one.passes for one in program.updated.get(leaf, ())]
    now: tuple[int, BackwardStep] | None = None
    for position, step in ahead:
        if now is not None and any(passes[now[0]].index < one <= passes[position].index for one in updates):
            return True
        if now is not None and not _is_added(now[1], step, is_kept):
            return False
        now = position, step
    is_updated = now is not None and any(passes[now[0]].index < one for one in updates)
    return True if is_updated else None


def _never_reset(
    program: Program, leaves: list[int], position: int, step: BackwardStep, update: UpdateRecord, learns: Place | None
) -> Finding:
    """`learns` is where the first of the passes was called that the leaves are updated after."""
    names = [program.tensor_name(leaf) for leaf in leaves]
    pass_ = program.recording.passes[position]
    place = pass_.place or update.place
    text = headline(
        f"{join(names, 3)}.grad {_is(names)} never reset: {at(place)} adds to the gradient of the pass before",
        f"{names[0]}.grad is never reset: {at(place)} adds to the gradient of the pass before",
        f"Gradients are never reset: {at(place)} adds to those of the pass before",
    )
    lines = [
        f"{program.pass_name(position).capitalize()} adds to {names[0]}.grad what it had from the pass before: "
        f"{_sum(program, step)}.",
        f"The update at {at(update.place)} uses it, so that each step repeats all earlier ones.",
    ]
    others = (("updated", update.place),) if update.place is not None else ()
    when = "after each {}" if learns is None or learns == place else f"before {at(learns)}, in each round"
    remedy = f"Set {names[0]}.grad = None {when.format('update')}."
    if len(names) > 1:
        remedy = f"Set .grad = None {when.format('update')}, of {join(names, 6)}."
    if (call := expression(program.recording, update.place).partition(".step("))[1]:
        remedy = f"Call {call[0]}.zero_grad() {when.format('step')}."
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
    lines = [f"{program.pass_name(position).capitalize()} adds to {names[0]}.grad: {_sum(program, step)}."]
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
        optimizer = expression(program.recording, others[0].place).partition(".step(")[0]
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


def _replaced_later(recording: Recording, leaf: str, step: Place | None) -> Place | None:
    """Where a module of the model, such as `model.head` of `head.bias`, is replaced after the optimiser was made."""
    optimizer = expression(recording, step).partition(".step(")[0]
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


def _sum(program: Program, step: BackwardStep) -> str:
    """The sum in .grad, as numbers for a scalar, else by the sizes."""
    values = step.grad_before, next(iter(step.grad_outputs), None), step.grad_after
    if all(isinstance(one, np.ndarray) and one.size == 1 for one in values):
        old, new, total = (format_number(one.item()) for one in values if isinstance(one, np.ndarray))
        return f"{old} + {new} = {total}"
    sizes = [size.rms if (size := program.sizes(one)) is not None else 0.0 for one in values]
    old, new, total = map(format_number, sizes)
    return f"root mean square {old} before, {new} new, {total} afterwards"


def _get(names: list[str]) -> str:
    return "gets" if len(names) == 1 else "get"


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
    return one == other if not isinstance(one, np.ndarray) and not isinstance(other, np.ndarray) else False


def _same_or_clipped(before: Value, now: Value) -> bool:
    """Whether .grad is what it was, or that scaled down or cut off, as by `clip_grad_norm_` and `clip_grad_value_`."""
    if _same(before, now):
        return True
    if not (isinstance(before, np.ndarray) and isinstance(now, np.ndarray) and before.shape == now.shape and now.any()):
        return False
    most, most_before = np.abs(now).max(), np.abs(before).max()
    scaled, cut_off = before * (most / most_before), np.clip(before, -most, most)
    return bool(most < most_before and (np.allclose(now, scaled, rtol=1e-3) or np.array_equal(now, cut_off)))


def large_updates(program: Program) -> Iterator[Finding]:
    """One finding for the first update that changed a leaf by more than its own norm, unless the loss took it well.

    Many losses are bounded, though, or need no more than a direction: a leaf that was thrown very far is a notice.
    """
    thrown: UpdateRecord | None = None
    for one in program.recording.updates:
        record = program.recording.tensors[one.tensor]
        if one.norm is None or one.change is None or one.norm <= _NEXT_TO_ZERO * math.sqrt(math.prod(record.shape)):
            continue
        if one.change > one.norm and not _loss_took_it_well(program, one):
            yield _large(program, one)
            return
        if one.change > max(_DIVERGED * one.norm, _FAR * math.sqrt(math.prod(record.shape))):
            thrown = thrown or one
    if thrown is not None:
        yield _large(program, thrown)._replace(severity="notice")


def _loss_took_it_well(program: Program, update: UpdateRecord) -> bool:
    """Whether the last pass from the line of the one before the update began with no more than twice its number.

    A leaf that begins next to zero has to grow, and the losses of batches differ; what diverges soon doubles.
    """
    passes = program.recording.passes
    before = next((one for one in reversed(passes) if one.index < update.passes), None)
    last = next((one for one in reversed(passes) if before is not None and one.place == before.place), None)
    losses = [loss_of(program.recording, one) for one in (before, last) if one is not None]
    return len(losses) == 2 and took_it_well(*losses)


def took_it_well(before: float, after: float) -> bool:
    """Whether a loss has at most doubled."""
    return after <= before + abs(before)


def loss_of(recording: Recording, pass_: Pass) -> float:
    """The number from which a pass began; NaN if it began from something else."""
    value = recording.value(pass_.root_tensors[0]) if pass_.root_tensors else None
    return float(value.real.item()) if isinstance(value, np.ndarray) and value.size == 1 else math.nan


def _first_norm(program: Program, update: UpdateRecord) -> float:
    """The norm of the leaf when it was first seen; before this update, if it was next to zero then."""
    assert update.norm is not None
    record = program.recording.tensors[update.tensor]
    size = program.sizes(record.values[min(record.values)]) if record.values else None
    if size is None or not size.rms > _NEXT_TO_ZERO:
        return update.norm
    return min(size.rms * math.sqrt(math.prod(record.shape)), update.norm)


def _large(program: Program, update: UpdateRecord) -> Finding:
    passes = [i for i, one in enumerate(program.recording.passes) if one.index < update.passes]
    position = passes[-1] if passes else None
    name, record = program.tensor_name(update.tensor), program.recording.tensors[update.tensor]
    assert update.norm is not None
    change, norm = format_number(update.change, 3), format_number(update.norm, 3)
    finite = [one for one in program.updated[update.tensor] if one.norm is not None]
    first, last = _first_norm(program, update), finite[-1]
    now = last.norm or 0.0
    if update.change is not None and first > _SMALL * math.sqrt(math.prod(record.shape)):
        now = max(now, update.change - update.norm)  # at least
    diverges = now > _DIVERGED * first
    ways = [f"from {format_number(first, 3)} to {format_number(now, 3)}"] if diverges else []
    text = headline(
        *[f"{name} diverges at {at(update.place)}: its norm goes {way}" for way in ways],
        f"{name} changes by more than its norm at {at(update.place)}: {norm} before, moved by {change}",
        f"A leaf changes by more than its norm at {at(update.place)}: from {norm}, by {change}",
    )
    lines = [f"Before the update after pass {update.passes}, the norm of {name} was {norm}; it moved by {change}."]
    step = program.steps[position].get(record.node or -1) if position is not None else None
    size = program.sizes(step.grad_after) if step is not None else None
    if size is not None:
        lines.append(f"Its gradient's root mean square was {format_number(size.rms, 3)}.")
    if last.passes > update.passes and last.norm is not None:
        lines.append(f"After pass {last.passes} the norm was {format_number(last.norm, 3)}.")
    remedy = "Lower the learning rate, or clip the gradient; an error in the sign or scale of the loss does this too."
    place = update.place
    return Finding(
        "large update", "warning" if diverges else "notice", text, tuple(lines), remedy, place, position,
        step.index if step is not None else None,
        record.node, update.tensor,
    )  # fmt: skip
