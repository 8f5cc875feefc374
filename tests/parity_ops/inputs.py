"""What operations are called with: arrays made from one seed, so that torch and microtape get the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Random = np.random.Generator


class Input(NamedTuple):
    """How to make an operand. Floating operands require grad unless `fixed`."""

    make: Callable[[Random], np.ndarray]
    fixed: bool = False


def real(*shape: int, low: float = -2.0, high: float = 2.0) -> Input:
    """Numbers between two bounds; almost surely no ties and not near a kink at 0."""
    return Input(lambda random: away_from_zero(random.uniform(low, high, shape)))


def positive(*shape: int) -> Input:
    """Numbers from 0.3 to 2.5."""
    return real(*shape, low=0.3, high=2.5)


def inside(*shape: int) -> Input:
    """Numbers within (-1, 1)."""
    return real(*shape, low=-0.9, high=0.9)


def complex_(*shape: int) -> Input:
    """Complex numbers."""
    return Input(lambda random: random.normal(size=shape) + 1j * random.normal(size=shape))


def exactly(values: Any, dtype: Any = np.float64) -> Input:
    """These numbers: ties, kinks, zeros."""
    return Input(lambda random: np.array(values, dtype))


def fixed(values: Any, dtype: Any = None) -> Input:
    """These numbers, without a gradient: indices, masks."""
    return Input(lambda random: np.array(values, dtype), fixed=True)


def below(limit: int, *shape: int) -> Input:
    """Whole numbers from 0 up to `limit`."""
    return Input(lambda random: random.integers(0, limit, shape), fixed=True)


def mask(*shape: int) -> Input:
    """Bools."""
    return Input(lambda random: random.random(shape) < 0.5, fixed=True)


def definite(*shape: int) -> Input:
    """Symmetric positive-definite matrices; the last two sizes are equal."""

    def make(random: Random) -> np.ndarray:
        root = random.normal(size=shape)
        return root @ np.swapaxes(root, -1, -2) + np.eye(shape[-1])

    return Input(make)


def invertible(*shape: int) -> Input:
    """Matrices that are far from singular."""
    return Input(lambda random: random.normal(size=shape) + 3 * np.eye(shape[-2], shape[-1]))


def away_from_zero(values: np.ndarray) -> np.ndarray:
    return values + 0.05 * np.sign(values)
