"""Difference quotients of a forward that can run again at nearby points.

Source: the central difference (f(x + h) - f(x - h)) / 2h has a truncation error of order h². The step h is near the
cube root of the machine precision, where truncation and rounding errors balance. At a kink, such as that of relu at 0,
every number between the one-sided differences is a subgradient, and agrees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Arrays: TypeAlias = Sequence[Array]
Forward: TypeAlias = Callable[[Arrays], Arrays]
"""An operation's outputs from its operands."""
Backward: TypeAlias = Callable[[int, Array], Sequence[Any]]
"""The gradients of a node's operands, from the number of an output and its gradient; None where there is none."""

_LARGEST_STEP = 0.01  # of a number that is 1


class Moved(NamedTuple):
    """What a forward gives with one element of an operand moved up, left as it is, and moved down by `step`."""

    step: float
    points: tuple[float, ...]
    outputs: tuple[Arrays, ...]

    def quotients(self, rise: Any, fall: Any, expected: Any, weight: float = 1.0) -> Array:
        """The derivatives of numbers that change by `rise` and `fall` on the two sides, as central differences.

        At a kink, a derivative is `expected` if that is between the one-sided differences. The numbers are sums of
        outputs with weights of this size.
        """
        rise, fall, expected = (np.asarray(one, np.float64) for one in (rise, fall, expected))
        right, middle, left = self.points
        with np.errstate(all="ignore"):
            central = (rise + fall) / (right - left)
            sides = rise / (right - middle), fall / (middle - left)
            low, high = np.minimum(*sides), np.maximum(*sides)
            is_small = np.maximum(np.abs(rise), np.abs(fall)) < self.step**0.5 * weight  # a jump changes it by more
            has_kink = high - low > 1e-3 * np.maximum(np.abs(low), np.abs(high))
            is_within = (low <= expected) & (expected <= high)
        found: Array = np.where(is_small & has_kink & is_within, expected, central)
        return found


def moved(forward: Forward, arrays: Arrays, which: int, element: int, computed_in: float, times: float = 1.0) -> Moved:
    """Run `forward` with one element of `arrays[which]` moved up, left as it is, and moved down.

    It computes with the machine precision `computed_in`. The step is as many `times` the best one.
    """
    at = float(arrays[which].reshape(-1)[element])
    step = times * computed_in ** (1 / 3) * max(1.0, abs(at))
    points, outputs = [], []
    for value in (at + step, at, at - step):
        changed = list(arrays)
        changed[which] = np.array(arrays[which], order="C")  # so that reshape(-1) is a view
        changed[which].reshape(-1)[element] = value
        points.append(float(changed[which].reshape(-1)[element]))
        outputs.append([one.astype(np.float64) for one in forward(changed)])
    return Moved(step, tuple(points), tuple(outputs))


def other_steps(computed_in: float) -> Sequence[float]:
    """Steps, times the best one, with which the quotients of a differentiable function are nearly the same.

    Those of one that rounds, jumps or stops iterating early are not: its error is divided by the step.
    """
    largest = max(2.0, _LARGEST_STEP / computed_in ** (1 / 3))
    return 1 / 8, min(10.0, largest), min(100.0, largest)


def precision(array: Array) -> float:
    """The machine precision of a floating-point array."""
    return float(np.finfo(array.dtype).eps)


def close(analytical: Array, numerical: Array, computed_in: float, of_gradient: float) -> npt.NDArray[np.bool_]:
    """Where both agree as far as they can: differences lose a third of the digits, sums lose many, too.

    The forward has run with the machine precision `computed_in`, the analytical gradient has `of_gradient`.
    """
    largest = (np.abs(np.nan_to_num(one)).max(initial=0) for one in (numerical, analytical))
    scale = max(*largest, 1e-3)
    tolerance = 50 * computed_in ** (2 / 3) + max(of_gradient**0.5, 1e-6)
    return np.isclose(analytical, numerical, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
