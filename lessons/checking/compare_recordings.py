"""Finds the first step of a recording that differs from the real engine's recording, or from the solution's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from microtape.recording.model.formatting import format_shape, format_value
from microtape.recording.model.model import BackwardStep, Delivery, Recording, Summary, Value

WIDTH = 40  # of a value in a sentence


class WrongStep(NamedTuple):
    """A step of a recording, by indices from 0, and a description of what is wrong with it."""

    pass_index: int
    step: int
    what: str


class Reply(NamedTuple):
    """The reply to a learner's claim that a step is the first wrong one."""

    right: bool
    text: str


def first_wrong_step(faulty: Recording, real: Recording) -> WrongStep | None:
    """The first wrong step of a wrong engine, None if there is none.

    Both engines ran the same program, so their nodes have the same numbers. A step is not wrong if it only runs earlier
    or later than on the real engine; it is wrong if it receives or sends different gradients.
    """
    for index, (wrong, right) in enumerate(zip(faulty.passes, real.passes, strict=False)):
        steps = {step.node: step for step in right.steps}
        for number, step in enumerate(wrong.steps):
            what = next(_wrong(faulty, step, steps.get(step.node)), None)
            if what is not None:
                return WrongStep(index, number, what)
    return None


def reply_to_claim(faulty: Recording, real: Recording, pass_index: int, step: int) -> Reply:
    """Judge the claim that this step is the first wrong one."""
    found = first_wrong_step(faulty, real)
    if found is None or (pass_index, step) < found[:2]:
        return Reply(False, "This step is right: it receives and sends the right gradients. Go on.")
    if (pass_index, step) > found[:2]:
        return Reply(False, "This is too late: an earlier step has already gone wrong. Go back.")
    return Reply(True, found.what)


def first_different_step(own: Recording, expected: Recording) -> WrongStep | None:
    """The first step at which a learner's recording differs from the solution's, None if there is none."""
    for index, (mine, theirs) in enumerate(zip(own.passes, expected.passes, strict=False)):
        for number, step in enumerate(mine.steps):
            if number >= len(theirs.steps):
                return WrongStep(index, number, "the solution's pass has already ended here")
            other = theirs.steps[number]
            what = next(_other(own, step, expected, other), None)
            if what is not None:
                return WrongStep(index, number, what)
        if len(mine.steps) < len(theirs.steps):
            missing = expected.nodes[theirs.steps[len(mine.steps)].node].op
            return WrongStep(
                index, max(len(mine.steps) - 1, 0), f"your pass ends here; the solution's goes on to {missing}"
            )
    return None


def _wrong(faulty: Recording, step: BackwardStep, right: BackwardStep | None) -> Iterator[str]:
    """Descriptions of what is wrong with a step of a wrong engine."""
    name = f"`{faulty.label(step.node)}`"
    if right is None:
        yield f"{name} does not run at all on the real engine."
        return
    if right.error is not None and step.error is None:
        first = right.error.message.partition("; ")[0].partition(":")[0]
        yield f"The real engine stops here with an error: {first}."
        return
    for took, takes in zip(step.grad_outputs, right.grad_outputs, strict=True):
        if not same(took, takes):
            yield f"{name} receives {_said(took)}; on the real engine it receives {_said(takes)}."
    for delivery in step.deliveries:
        if not _adds_up(delivery):
            yield (
                f"`{faulty.label(delivery.node)}` had already received {_said(delivery.before)}; now "
                f"{_said(delivery.term)} arrives, and the buffer holds {_said(delivery.total)}."
            )
    for gave, gives in zip(step.grad_inputs, right.grad_inputs, strict=True):
        if not same(gave, gives):
            yield f"{name} sends {_said(gave, gives)}; on the real engine it sends {_said(gives, gave)}."
    if not same(step.grad_after, right.grad_after):
        yield (
            f"`{faulty.label(step.node)}.grad` was {_said(step.grad_before)}, {_said(step.grad_outputs[0])} arrives, "
            f"and now it is {_said(step.grad_after)}; on the real engine it is {_said(right.grad_after)}."
        )


def _other(own: Recording, step: BackwardStep, expected: Recording, other: BackwardStep) -> Iterator[str]:
    """Descriptions of how a learner's step differs from the solution's."""
    node, theirs = own.nodes[step.node], expected.nodes[other.node]
    if node.op != theirs.op:
        yield f"{node.op} runs; in the solution {theirs.op} runs (your code may just be written differently)"
        return
    if step.error is not None and other.error is None:
        yield f"it fails: {step.error.message.partition(chr(10))[0].partition('. ')[0].rstrip('.')}"
    for took, takes in zip(step.grad_outputs, other.grad_outputs, strict=False):
        if not same(took, takes):
            yield f"{node.op} receives {_said(took, takes)}, the solution's receives {_said(takes, took)}"
    for gave, gives in zip(step.grad_inputs, other.grad_inputs, strict=False):
        if not same(gave, gives):
            yield f"{node.op} sends {_said(gave, gives)}, the solution's sends {_said(gives, gave)}"
    if len(step.grad_inputs) != len(other.grad_inputs):
        yield f"{node.op} sends {len(step.grad_inputs)} gradients, the solution's sends {len(other.grad_inputs)}"
    if not same(step.grad_after, other.grad_after):
        yield f".grad becomes {_said(step.grad_after)}, the solution's {_said(other.grad_after)}"


def same(one: Value | None, other: Value | None) -> bool:
    """Whether two gradients are nearly equal."""
    if one is None or other is None:
        return one is other
    if isinstance(one, Summary) or isinstance(other, Summary):
        return one == other
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-4, atol=1e-6, equal_nan=True)


def _adds_up(delivery: Delivery) -> bool:
    """Whether the new sum in the buffer is the old one plus the gradient that arrived."""
    before, term, total = delivery.before, delivery.term, delivery.total
    if before is None or term is None:
        return same(total, term if before is None else before)
    if isinstance(before, Summary) or isinstance(term, Summary):
        return not same(total, term)
    return same(total, np.add(before, term))


def _said(value: Value | None, other: Value | None = None) -> str:
    """A value in a sentence, with its shape if the other value's shape differs."""
    if value is None:
        return "nothing"
    text = format_value(value, WIDTH)
    differs = other is not None and other.shape != value.shape
    return f"{text} (shape {format_shape(value.shape)})" if differs else text
