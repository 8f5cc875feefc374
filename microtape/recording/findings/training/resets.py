"""Gradients that are never reset, so that each update repeats earlier ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.training.grad_fields import (
    is_left,
    is_used,
    kept_by,
    learned,
    told_addition,
    told_sum,
    updates_between,
)
from microtape.recording.findings.training.idle import left_alone
from microtape.recording.findings.training.left_out import left_out
from microtape.recording.findings.training.steps import optimizer_at, written_at
from microtape.recording.findings.training.twice_given import twice_given
from microtape.recording.findings.wording import at, headline, join
from microtape.recording.model.model import BackwardStep, Place, UpdateRecord


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
    """For leaves that nothing updates by their gradient; if the program updates others so, they may be left out."""
    learning = learned(program.recording)
    for update in program.recording.updates:
        if update.tensor in learning and update.change != 0 and update.place is not None:
            return left_out(program, leaves, position, step, update.place)
    names = [program.tensor_name(leaf) for leaf in leaves]
    place = program.recording.passes[position].place
    text = headline(
        f"{join(names, 3)}.grad {_is(names)} the sum of several passes: {at(place)} adds to it",
        f"{names[0]}.grad is the sum of several passes: {at(place)} adds to it",
        f"A .grad is the sum of several passes: {at(place)} adds to it",
    )
    remedy = f"If that is not meant, set {names[0]}.grad = None before this backward."
    lines = (told_addition(program, names[0], position, step),)
    return Finding("accumulated", "notice", text, lines, remedy, place, position, step.index, step.node, leaves[0])


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"
