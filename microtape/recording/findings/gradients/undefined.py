"""Undefined gradients, None: which operation received a gradient and sent none on."""

from __future__ import annotations

from typing import NamedTuple

from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at
from microtape.recording.model.model import NodeRecord, Place

_WITHOUT_BACKWARD = ("NotImplemented", "WarnNotImplemented")
"""PyTorch's nodes of operators that have no backward."""


class Stopped(NamedTuple):
    """Where a gradient ended: the place, what happened there, and what to do."""

    place: Place | None
    sent: str
    remedy: str


def where_stopped(program: Program, leaf: int, position: int) -> Stopped:
    """What sent None on the way to a leaf that only undefined gradients reached in a pass."""
    sender = _sender(program, leaf, position)
    if sender is None:
        return Stopped(None, "Every sender sent None.", "Look at the backward that returns None for it.")
    sent = f"{program.name(sender.id)} at {at(sender.place)} sent None."
    if sender.name in _WITHOUT_BACKWARD:
        remedy = f"{sender.op} has no backward: register one, as by torch.library.register_autograd."
        return Stopped(sender.place, sent, remedy)
    return Stopped(sender.place, sent, f"Look at the backward of {sender.op}, which returns None for it.")


def _sender(program: Program, leaf: int, position: int) -> NodeRecord | None:
    """The first node that received a gradient, from the leaf on; else the last of those that received none."""
    steps, found = program.steps[position], None
    waiting = [leaf]
    seen = {leaf}
    while waiting:
        for user in program.users(waiting.pop()):
            if user in steps and user not in seen:
                seen.add(user)
                found = program.node(user)
                if any(one is not None for one in steps[user].grad_outputs):
                    return found
                waiting.append(user)
    return found
