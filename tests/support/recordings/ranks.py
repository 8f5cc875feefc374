"""Recordings as the processes of one run leave them, made in one process."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

import microtape as mt
from microtape.recording.model.model import Recording

RATE = 0.1


class Model:
    """Two parameters whose gradients do not depend on them: the data, and 1."""

    def __init__(self, w: Sequence[float] = (1.0, 2.0, 3.0), b: float = 0.5) -> None:
        self.w = mt.tensor(list(w), requires_grad=True)
        self.b = mt.tensor(b, requires_grad=True)

    def __call__(self, x: Any, rank: int) -> Any:
        return (self.w * x).sum() + self.b


def data(rank: int, step: int) -> list[float]:
    """What a rank reads in a step."""
    return [rank + 1.0, 2.0 - rank, step + 1.0]


def trained(
    count: int = 2,
    steps: int = 3,
    *,
    averages: Literal["in the pass", "after it", "never"] = "in the pass",
    model: Callable[[int], Any] = lambda rank: Model(),
    data: Callable[[int, int], list[float]] = data,
    rate: Callable[[int, int], float] = lambda rank, step: RATE,
    first: int = 0,
) -> list[Recording]:
    """The recordings of a data-parallel run, of the ranks from 0 on. The functions are given a rank (and a step)."""
    found = [_of_rank(rank, count, steps, averages, model, data, rate) for rank in range(count)]
    if averages == "in the pass":
        found = averaged(found)
    if first:
        found = [dataclasses.replace(one, passes=one.passes[first:]) for one in found]
    return [ranked(one, rank, count) for rank, one in enumerate(found)]


def _of_rank(rank: int, count: int, steps: int, averages: str, model: Any, data: Any, rate: Any) -> Recording:
    def run() -> None:
        own = model(rank)
        for step in range(steps):
            x = mt.tensor(data(rank, step))
            loss = own(x, rank)
            loss.backward()
            if averages != "never":
                own.w.grad = mt.tensor(np.mean([data(one, step) for one in range(count)], axis=0).astype(np.float32))
            with mt.no_grad():
                for p in (own.w, own.b):
                    if p.grad is not None:
                        p -= rate(rank, step) * p.grad
                    p.grad = None

    return mt.record(run)


def averaged(recordings: Sequence[Recording]) -> list[Recording]:
    """The same as if a reducer had averaged `.grad` within each pass."""
    found = []
    for recording in recordings:
        passes = []
        for at, one in enumerate(recording.passes):
            steps = []
            for step in one.steps:
                name = recording.label(step.node)
                if recording.nodes[step.node].variable is not None:
                    total = np.mean([_arrived(other, at, name, step.grad_after) for other in recordings], axis=0)
                    step = step._replace(grad_after=np.asarray(total, np.float32))
                steps.append(step)
            passes.append(one._replace(steps=tuple(steps)))
        found.append(dataclasses.replace(recording, passes=tuple(passes)))
    return found


def _arrived(recording: Recording, at: int, name: str, like: Any) -> Any:
    """What a rank adds to the average: zeros if the leaf has no gradient there."""
    steps = [one for one in recording.passes[at].steps if recording.label(one.node) == name]
    return steps[0].grad_outputs[0] if steps else np.zeros_like(like)


def ranked(recording: Recording, rank: int, count: int) -> Recording:
    """The same with the rank of its process."""
    return dataclasses.replace(recording, options={**recording.options, "rank": rank, "ranks": count})


def with_grad(recording: Recording, at: int, name: str, change: Callable[[Any], Any]) -> Recording:
    """The same with another `.grad` of a leaf after one of its passes."""
    one = recording.passes[at]
    steps = [
        step._replace(grad_after=np.asarray(change(step.grad_after), np.float32))
        if recording.label(step.node) == name
        else step
        for step in one.steps
    ]
    passes = list(recording.passes)
    passes[at] = one._replace(steps=tuple(steps))
    return dataclasses.replace(recording, passes=tuple(passes))
