"""Updates that are too large."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.training.scaled import steps_without_scaler
from microtape.recording.findings.training.steps import written_at
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import Pass, Recording, UpdateRecord

_DIVERGED = 100  # a leaf whose norm grew by this factor
_NEXT_TO_ZERO = 1e-3  # a leaf whose root mean square is below this may well change by more than its norm
_FAR = 10  # the root mean square of a change that few numbers of a network survive
_SMALL = 1e-2  # one below this, such as the logarithm of a variance, may well grow by a factor


def large_updates(program: Program) -> Iterator[Finding]:
    """One finding for the first update that changed a leaf by more than its own norm, unless the loss took it well.

    Many losses are bounded, though, or need no more than a direction: a leaf that was thrown very far is a notice.
    """
    thrown: UpdateRecord | None = None
    told = {one.place for one in steps_without_scaler(program)}
    for one in program.recording.updates:
        record = program.recording.tensors[one.tensor]
        if one.norm is None or one.change is None or one.norm <= _NEXT_TO_ZERO * math.sqrt(math.prod(record.shape)):
            continue
        if one.place in told:
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
    place = written_at(program, update)
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
        *[f"{name} diverges at {at(place)}: its norm goes {way}" for way in ways],
        f"{name} changes by more than its norm at {at(place)}: {norm} before, moved by {change}",
        f"A leaf changes by more than its norm at {at(place)}: from {norm}, by {change}",
    )
    lines = [f"Before the update after pass {update.passes}, the norm of {name} was {norm}; it moved by {change}."]
    step = program.steps[position].get(record.node or -1) if position is not None else None
    size = program.sizes(step.grad_after) if step is not None else None
    if size is not None:
        lines.append(f"Its gradient's root mean square was {format_number(size.rms, 3)}.")
    if last.passes > update.passes and last.norm is not None:
        lines.append(f"After pass {last.passes} the norm was {format_number(last.norm, 3)}.")
    remedy = "Lower the learning rate, or clip the gradient; an error in the sign or scale of the loss does this too."
    return Finding(
        "large update", "warning" if diverges else "notice", text, tuple(lines), remedy, place, position,
        step.index if step is not None else None,
        record.node, update.tensor,
    )  # fmt: skip
