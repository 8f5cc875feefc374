"""Chance: random numbers written in place, coins, and dropout."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from microtape.in_place import call_
from microtape.operation import Operation, call
from microtape.random import Generator, default_generator, drawn
from microtape.tensor_state import Array, TensorState, new_tensor


class UniformBackward0(Operation):
    __slots__ = ("draw",)
    formula = "z = random numbers    ∂z/∂x = 0"

    def __init__(self, draw: Callable[[Array], Array]) -> None:
        super().__init__()
        self.draw = draw

    def forward(self, x: Any) -> Any:
        return self.draw(x)

    def grad_x(self, g: Any) -> Any:
        return g * 0


class NormalBackward0(UniformBackward0):
    __slots__ = ()


class RandomBackward0(UniformBackward0):
    __slots__ = ()


class BernoulliBackward0(UniformBackward0):
    __slots__ = ()
    formula = "z = 1 with probability x, else 0    ∂z/∂x = 0"


class BernoulliBackward2(UniformBackward0):
    """With one probability for all."""

    __slots__ = ()
    op = "bernoulli"


def uniform_(x: TensorState, low: float = 0.0, high: float = 1.0, *, generator: Generator | None = None) -> Any:
    """Write random numbers from `low` up to but without `high`, all as likely."""

    def draw(array: Array) -> Array:
        return drawn("uniform", array.shape, array.dtype, generator) * (high - low) + low

    return call_(UniformBackward0(draw), x)


def normal_(x: TensorState, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Any:
    """Write random numbers of that mean and standard deviation, normally distributed."""

    def draw(array: Array) -> Array:
        return drawn("normal", array.shape, array.dtype, generator) * std + mean

    return call_(NormalBackward0(draw), x)


def random_(x: TensorState, low: int = 0, high: int | None = None, *, generator: Generator | None = None) -> Any:
    """Write random whole numbers: `random_(high)` or `random_(low, high)`, without `high`; by default any."""

    def draw(array: Array) -> Array:
        info: Any = np.iinfo(array.dtype) if array.dtype.kind in "iu" else np.finfo(array.dtype)
        most = 2**info.nmant if array.dtype.kind == "f" else int(info.max)
        start, stop = (low, high) if high is not None else (0, low or most + 1)
        values = (generator or default_generator).integers(start, stop, array.size)
        return values.astype(array.dtype).reshape(array.shape)

    return call_(RandomBackward0(draw), x)


def bernoulli(input: Any, *, generator: Generator | None = None) -> Any:
    """1 with the probability that `input` says, else 0, for each element. Raises RuntimeError outside [0, 1]."""

    def draw(chances: Array) -> Array:
        if chances.size and not (chances.min() >= 0 and chances.max() <= 1):
            raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
        return (drawn("uniform", chances.shape, chances.dtype, generator) < chances).astype(chances.dtype)

    return call(BernoulliBackward0(draw), input)


def bernoulli_(x: TensorState, p: float = 0.5, *, generator: Generator | None = None) -> Any:
    """Write 1 with probability `p`, else 0."""

    def draw(array: Array) -> Array:
        return coins(array.shape, p, generator).astype(array.dtype)

    return call_(BernoulliBackward2(draw), x)


def dropout(input: Any, p: float = 0.5, training: bool = True, *, generator: Generator | None = None) -> Any:
    """Each element 0 with probability `p`, the others grown by 1 / (1 - p); `input` itself if not `training`.

    Raises ValueError where `p` is no probability.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    dtype = input.dtype
    kept = coins(input.shape, 1 - p, generator).astype(dtype)
    return input * new_tensor(type(input), (kept / (1 - p) if p < 1 else kept).astype(dtype))


def coins(shape: tuple[int, ...], chance: float, generator: Generator | None) -> Array:
    """True with that chance, for each element."""
    uniform = (generator or default_generator).uniform(math.prod(shape), np.float32)
    return np.reshape(uniform < chance, shape)
