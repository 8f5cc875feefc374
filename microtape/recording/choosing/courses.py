"""Makes the course of training out of ordinary recordings: of a pass, the sizes of its parameters and their updates."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from microtape.recording.model.model import (
    CourseRecord,
    ParameterRecord,
    Pass,
    Recording,
    Statistics,
    Summary,
    TensorRef,
    Value,
)
from microtape.recording.model.summary import summarize
from microtape.recording.model.versions import used_versions


def course_of(recording: Recording, index: int) -> CourseRecord | None:
    """The course at the pass with this index; None if the recording lacks the pass.

    For the updates, the recording must reach to the beginning of the next pass.
    """
    one = next((one for one in recording.passes if one.index == index), None)
    if one is None:
        return None
    changes: dict[int, float | None] = {}
    for update in recording.updates:
        if update.passes > index:
            changes.setdefault(update.tensor, update.change)
    used = used_versions(recording, one)
    parameters: list[ParameterRecord] = []
    for leaf, gradient in _gradients(recording, one):
        record = recording.tensors[leaf]
        version = used.get(leaf, max(record.values, default=0))
        parameters.append(
            ParameterRecord(
                record.name or f"leaf {len(parameters) + 1}",
                record.shape,
                _statistics(recording.value(TensorRef(leaf, version))),
                _statistics(gradient),
                changes.get(leaf),
            )
        )
    loss = recording.value(one.root_tensors[0]) if one.root_tensors else None
    return CourseRecord(one.index, loss, tuple(parameters))


def _gradients(recording: Recording, one: Pass) -> Iterator[tuple[int, Value | None]]:
    """The leaves that a pass reaches, in the order of the tape, with their gradients afterwards."""
    after = {step.node: step.grad_after for step in one.steps}
    returned = {capture.tensor: capture.value for capture in one.captures if recording.tensors[capture.tensor].is_leaf}
    for node in one.nodes:
        leaf = recording.nodes[node].variable
        if leaf is not None:
            asked_for = returned.pop(leaf, None)
            yield leaf, after.get(node, asked_for)
    yield from returned.items()


def _statistics(value: Value | None) -> Statistics | None:
    if value is None:
        return None
    about = value if isinstance(value, Summary) else summarize(value, pictures=False)
    return Statistics(_norm(value), about.min, about.max, about.mean, about.std, about.zeros, about.nans, about.infs)


def _norm(value: Value) -> float | None:
    """The square root of the sum of squares; None if an element is not finite, or too little is known."""
    if isinstance(value, Summary):
        if value.nans or value.infs or value.mean is None or value.std is None:
            return None
        return math.sqrt(math.prod(value.shape)) * math.hypot(value.mean, value.std)
    with np.errstate(all="ignore"):
        found = float(np.linalg.norm(value.astype(np.complex128 if value.dtype.kind == "c" else np.float64).ravel()))
    return found if math.isfinite(found) else None
