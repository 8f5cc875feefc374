"""The phases of one backward step."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from microtape.recording.model.model import BackwardStep, NodeRecord

PhaseKind: TypeAlias = Literal["take", "unpack", "apply", "deliver", "accumulate", "free", "fail"]


class Phase(NamedTuple):
    """One phase of a step. After the last phase the step is done."""

    kind: PhaseKind
    delivery: int = 0  # index into the step's deliveries, for "deliver"


def phases(node: NodeRecord, step: BackwardStep) -> tuple[Phase, ...]:
    """Take the gradient out of the buffer, unpack the saved tensors, compute, deliver one by one, free."""
    found = [Phase("take")]
    if step.saved:
        found.append(Phase("unpack"))
    if step.error is not None:
        return (*found, Phase("fail"))
    if node.variable is not None:
        return (*found, Phase("accumulate"))
    if step.deliveries:
        found.append(Phase("apply"))
        found += [Phase("deliver", i) for i in range(len(step.deliveries))]
    if step.freed:
        found.append(Phase("free"))
    return tuple(found)
