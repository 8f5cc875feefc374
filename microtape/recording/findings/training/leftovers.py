"""Gradients that one loss has left in a network, and the update for another loss uses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.training.grad_fields import (
    is_left,
    is_used,
    kept_by,
    learned,
    told_sum,
    updates_between,
)
from microtape.recording.findings.training.steps import optimizer_at
from microtape.recording.findings.wording import at, headline, join
from microtape.recording.model.model import BackwardStep, UpdateRecord


class _Leftover(NamedTuple):
    """What a pass, by its position, adds to the gradient that an earlier one has left in a leaf."""

    position: int
    earlier: int
    leaf: int
    step: BackwardStep
    served: UpdateRecord  # of another leaf, between the two passes
    update: UpdateRecord  # of this one, by the sum; an earlier one if the recording ends before it


def left_by_another_loss(program: Program) -> Iterator[Finding]:
    """One finding for the leaves that are updated by what an earlier loss, which served others, has left in `.grad`.

    As of a GAN whose critic is not reset after the gradients of the generator have gone through it. The sum of two
    losses before one update is right as a rule. Here, the first loss has already updated leaves that the second one
    does not reach, and all that the second one reaches has gradients of the first.
    """
    found = sorted(_leftovers(program), key=lambda one: (one.position, one.step.index))
    if found:
        yield _finding(program, [one for one in found if one.position == found[0].position])


def _leftovers(program: Program) -> Iterator[_Leftover]:
    passes, learning, is_kept = program.recording.passes, learned(program.recording), kept_by(program)
    reached: dict[int, set[int]] = {}  # by the position of a pass, the leaves
    for leaf, way in program.accumulations.items():
        for position, _ in way:
            reached.setdefault(position, set()).add(leaf)
    for leaf in learning & program.accumulations.keys():
        way = program.accumulations[leaf]
        for number, ((earlier, _), (position, step)) in enumerate(pairwise(way), 1):
            if not is_left(program, way, number, is_kept) or not program.sizes.largest(step.grad_before) > 0:
                continue
            if updates_between(program, leaf, earlier, position):  # it is never reset, which is told
                break
            if passes[earlier].place == passes[position].place or not reached[position] <= reached[earlier]:
                continue
            others = sorted((reached[earlier] - reached[position]) & learning)
            served = [update for one in others for update in updates_between(program, one, earlier, position)]
            if served and is_used(program, leaf, islice(way, number, None), is_kept) is not False:
                updates = program.updated[leaf]
                later = [one for one in updates if one.passes > passes[position].index]
                yield _Leftover(position, earlier, leaf, step, served[0], later[0] if later else updates[-1])
                break


def _finding(program: Program, found: list[_Leftover]) -> Finding:
    passes = program.recording.passes
    position, earlier, leaf, step, served, update = found[0]
    names = [program.tensor_name(one.leaf) for one in found]
    place, left = passes[position].place, passes[earlier].place
    text = headline(
        f"{at(place)} adds to the gradients that {at(left)} has left in {join(names, 3)}",
        f"{at(place)} adds to the gradient that {at(left)} has left in {names[0]}",
        f"{at(place)} adds to gradients that {at(left)} has left",
    )
    lines = (
        f"{program.pass_name(position).capitalize()} adds to {names[0]}.grad: {told_sum(program, step)}.",
        f"{at(served.place)} uses the gradients of {program.pass_name(earlier)}, for other leaves; {at(update.place)} "
        "uses those of both, for these.",
    )
    optimizer = optimizer_at(program.recording, update.place)
    reset = f"Call {optimizer}.zero_grad()" if optimizer else f"Set .grad = None, of {join(names, 6)},"
    remedy = f"{reset} before {at(place)}, in each round. A reset before {at(left)} comes too early."
    return Finding(
        "accumulated", "warning", text, lines, remedy, place, position, step.index, step.node, leaf,
        (("updated", update.place),) if update.place is not None else (),
    )  # fmt: skip
