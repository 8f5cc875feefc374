"""The Jacobians of a small node, computed from its backward and from differences of its forward."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from microtape.recording.checking.quotients import Array, Backward, Forward, close, moved
from microtape.recording.model.model import JacobianCheck

LONGEST = 16  # elements of an output or an operand: each element of an operand costs three calls of the forward


class MovedOperand(NamedTuple):
    """An operand of a node, by whose elements its forward is differentiated."""

    array: Array
    wide: Array  # in the dtype for the differences
    precision: float  # of differences
    of_gradient: float  # the precision of its gradient


def jacobians(
    where: tuple[int, int],
    forward: Forward,
    backward: Backward,
    operands: Sequence[MovedOperand],
    outputs: Sequence[tuple[int, int]],
    edges: Sequence[int | None],
) -> Iterator[JacobianCheck]:
    """The Jacobian of each small output by each small operand.

    Args:
        where: the pass and the node, as `JacobianCheck` gives them.
        forward: the node's forward.
        backward: the node's backward, run at the operands.
        operands: all of them.
        outputs: the differentiable outputs: their numbers among the results of `forward`, and among all outputs.
        edges: for each operand the edge that its gradient takes. Where backward then returns None, it counts as 0.
            None: it is not needed.
    """
    wide = [one.wide for one in operands]
    results = forward([one.array for one in operands])
    for place, output in outputs:
        result = results[place]
        if not 0 < result.size <= LONGEST or result.dtype.kind != "f":
            continue
        rows = [backward(output, one_hot) for one_hot in _one_hots(result)]
        for number, operand in enumerate(operands):
            array, edge = operand.array, edges[number]
            if not 0 < array.size <= LONGEST or array.dtype.kind != "f" or edge is None:
                continue
            gradients = [np.zeros(array.shape) if row[number] is None else row[number] for row in rows]
            analytical = np.array([one.reshape(-1) for one in gradients], np.float64)
            numerical = np.empty_like(analytical)
            for element in range(array.size):
                near = moved(forward, wide, number, element, operand.precision)
                after, here, before = (one[place].reshape(-1) for one in near.outputs)
                numerical[:, element] = near.quotients(after - here, here - before, analytical[:, element])
            if np.isfinite(numerical).all():
                agrees = close(analytical, numerical, operand.precision, operand.of_gradient)
                wrong = _worst_first(analytical, numerical, agrees)
                yield JacobianCheck(*where, edge, output, analytical, numerical, wrong)


def _one_hots(result: Array) -> Iterator[Array]:
    """Gradients of an output that are 1 at one element, and 0 elsewhere."""
    for element in range(result.size):
        one_hot = np.zeros_like(result, order="C")
        one_hot.reshape(-1)[element] = 1
        yield one_hot


def _worst_first(analytical: Array, numerical: Array, agrees: Array) -> tuple[int, ...]:
    apart = np.nan_to_num(np.abs(analytical - numerical), nan=np.inf).reshape(-1)
    wrong = np.flatnonzero(~agrees.reshape(-1))
    return tuple(wrong[np.argsort(-apart[wrong], kind="stable")].tolist())
