"""Where a recording goes wrong: the first step that differs from what the real engine does, or the solution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from microtape.recording.model.model import BackwardStep, Delivery, Recording, Summary, Value
from microtape.recording.model.words import format_shape, format_value

WIDTH = 40  # of a value in a sentence


class Moment(NamedTuple):
    """A step of a recording, by indices from 0, and what is wrong with it in words."""

    pass_index: int
    step: int
    what: str


class Answer(NamedTuple):
    """What is to be said to somebody who says that a step is the first wrong one."""

    right: bool
    text: str


def first_wrong(faulty: Recording, real: Recording) -> Moment | None:
    """The first step that a wrong engine takes wrongly, None if it takes none.

    Both have run the same program, so their nodes have the same numbers. That a step comes earlier or later than on the
    real engine is not wrong by itself; that it takes or gives something else is.
    """
    for index, (wrong, right) in enumerate(zip(faulty.passes, real.passes, strict=False)):
        steps = {step.node: step for step in right.steps}
        for number, step in enumerate(wrong.steps):
            what = next(_wrong(faulty, step, steps.get(step.node)), None)
            if what is not None:
                return Moment(index, number, what)
    return None


def answer(faulty: Recording, real: Recording, pass_index: int, step: int) -> Answer:
    """What to say to the claim that this step is the first wrong one."""
    found = first_wrong(faulty, real)
    if found is None or (pass_index, step) < found[:2]:
        return Answer(False, "This step is right: it takes what it should take and gives what it should give. Go on.")
    if (pass_index, step) > found[:2]:
        return Answer(False, "By then it is too late: something before this has gone wrong already. Go back.")
    return Answer(True, found.what)


def parting(own: Recording, expected: Recording) -> Moment | None:
    """The first step at which a learner's recording does something else than the solution's, None if none does."""
    for index, (mine, theirs) in enumerate(zip(own.passes, expected.passes, strict=False)):
        for number, step in enumerate(mine.steps):
            if number >= len(theirs.steps):
                return Moment(index, number, "the solution's pass has ended here")
            other = theirs.steps[number]
            what = next(_other(own, step, expected, other), None)
            if what is not None:
                return Moment(index, number, what)
        if len(mine.steps) < len(theirs.steps):
            missing = expected.nodes[theirs.steps[len(mine.steps)].node].op
            return Moment(
                index, max(len(mine.steps) - 1, 0), f"your pass ends here; the solution's goes on to {missing}"
            )
    return None


def _wrong(faulty: Recording, step: BackwardStep, right: BackwardStep | None) -> Iterator[str]:
    """What is wrong with a step of a wrong engine."""
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
            yield f"{name} runs with {_said(took)}; on the real engine it runs with {_said(takes)}."
    for delivery in step.deliveries:
        if not _adds_up(delivery):
            yield (
                f"{_said(delivery.before)} had come to `{faulty.label(delivery.node)}` before, {_said(delivery.term)} "
                f"arrives, and {_said(delivery.total)} is what is there now."
            )
    for gave, gives in zip(step.grad_inputs, right.grad_inputs, strict=True):
        if not same(gave, gives):
            yield f"{name} sends {_said(gave, gives)}; on the real engine it sends {_said(gives, gave)}."
    if not same(step.grad_after, right.grad_after):
        yield (
            f"`{faulty.label(step.node)}.grad` was {_said(step.grad_before)}, {_said(step.grad_outputs[0])} arrives, "
            f"and it is {_said(step.grad_after)} now; on the real engine it is {_said(right.grad_after)}."
        )


def _other(own: Recording, step: BackwardStep, expected: Recording, other: BackwardStep) -> Iterator[str]:
    """What a step of the learner's does otherwise than the solution's."""
    node, theirs = own.nodes[step.node], expected.nodes[other.node]
    if node.op != theirs.op:
        yield f"{node.op} runs, where the solution runs {theirs.op} (which may only be another way to write it)"
        return
    if step.error is not None and other.error is None:
        yield f"it fails: {step.error.message.partition(chr(10))[0].partition('. ')[0].rstrip('.')}"
    for took, takes in zip(step.grad_outputs, other.grad_outputs, strict=False):
        if not same(took, takes):
            yield f"{node.op} takes {_said(took, takes)}, the solution's takes {_said(takes, took)}"
    for gave, gives in zip(step.grad_inputs, other.grad_inputs, strict=False):
        if not same(gave, gives):
            yield f"{node.op} gives {_said(gave, gives)}, the solution's gives {_said(gives, gave)}"
    if len(step.grad_inputs) != len(other.grad_inputs):
        yield f"{node.op} has {len(step.grad_inputs)} gradients to give, the solution's has {len(other.grad_inputs)}"
    if not same(step.grad_after, other.grad_after):
        yield f".grad becomes {_said(step.grad_after)}, the solution's {_said(other.grad_after)}"


def same(one: Value | None, other: Value | None) -> bool:
    """Whether two gradients are equal, nearly."""
    if one is None or other is None:
        return one is other
    if isinstance(one, Summary) or isinstance(other, Summary):
        return one == other
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-4, atol=1e-6, equal_nan=True)


def _adds_up(delivery: Delivery) -> bool:
    """Whether the sum behind an edge is what was there and what has arrived."""
    before, term, total = delivery.before, delivery.term, delivery.total
    if before is None or term is None:
        return same(total, term if before is None else before)
    if isinstance(before, Summary) or isinstance(term, Summary):
        return not same(total, term)
    return same(total, np.add(before, term))


def _said(value: Value | None, other: Value | None = None) -> str:
    """A value in a sentence, with its shape where that is what differs from the other."""
    if value is None:
        return "nothing"
    text = format_value(value, WIDTH)
    differs = other is not None and other.shape != value.shape
    return f"{text} (shape {format_shape(value.shape)})" if differs else text
