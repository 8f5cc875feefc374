"""The checks of one step that were made in another run of the program, joined to the recording of the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from microtape.recording.model.model import BackwardStep, Place, Recording, Value


class CheckedStep(NamedTuple):
    """A step of a pass, by what is the same in every run of the program."""

    pass_: int  # its `index`
    step: int
    op: str
    place: Place | None
    name: str  # for the user


class Checked(NamedTuple):
    """A recording with the checks of a step."""

    recording: Recording
    pass_: int  # the pass's `index`
    node: int
    is_same: bool  # whether the program computed the same numbers again: then it is the recording that was shown


def with_checks(shown: Recording, made: Recording, wanted: CheckedStep) -> Checked | str:
    """The shown recording with the checks that another run has made of a step; a sentence if there are none.

    If the other run computed other numbers, the checks belong to its recording only.
    """
    there, here = _step(made, wanted), _step(shown, wanted)
    if there is None or here is None:
        return (
            f"step {wanted.step + 1} of pass {wanted.pass_ + 1} is another one now. A program that is different each "
            "time it runs needs a seed, or `--check` from the start."
        )
    checks = [one for one in made.checks if (one.pass_, one.node) == (wanted.pass_, there.node)]
    jacobians = [one for one in made.jacobians if (one.pass_, one.node) == (wanted.pass_, there.node)]
    if not checks and not jacobians:
        return "it has no gradient of real numbers that finite differences could check."
    if not _same(here.grad_outputs, there.grad_outputs) or not _same(here.grad_inputs, there.grad_inputs):
        return Checked(made, wanted.pass_, there.node, is_same=False)
    joined = replace(
        shown,
        checks=(*shown.checks, *(one._replace(node=here.node) for one in checks)),
        jacobians=(*shown.jacobians, *(one._replace(node=here.node) for one in jacobians)),
    )
    return Checked(joined, wanted.pass_, here.node, is_same=True)


def _step(recording: Recording, wanted: CheckedStep) -> BackwardStep | None:
    """The wanted step, if it is there and evaluates the same operation of the program."""
    steps = next((one.steps for one in recording.passes if one.index == wanted.pass_), ())
    step = next((one for one in steps if one.index == wanted.step), None)
    if step is None:
        return None
    node = recording.nodes[step.node]
    return step if (node.op, node.place) == (wanted.op, wanted.place) else None


def _same(some: Sequence[Value | None], others: Sequence[Value | None]) -> bool:
    """Whether these are the same numbers. Summaries tell it, too."""
    return len(some) == len(others) and all(
        np.array_equal(one, other, equal_nan=True)
        if isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
        else one == other
        for one, other in zip(some, others, strict=True)
    )
