"""The naive twin of microtape: scalars that know their derivatives, and numpy arrays of such scalars.

Views and in-place writes need no rules here: a numpy view shares its elements with its base, and a write puts new
scalars into them. Nothing is fast, nothing is freed, nothing can be stale. microtape must compute the same values, or
raise an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class Number:
    """A value, and its derivative with respect to each Number that it was computed from, as a Number too."""

    def __init__(self, value: float, made_from: Sequence[tuple[Number, Callable[[], Number]]] = ()) -> None:
        self.value = value
        self.made_from = made_from

    def __add__(self, other: Any) -> Number:
        other = number(other)
        return Number(self.value + other.value, [(self, one), (other, one)])

    def __mul__(self, other: Any) -> Number:
        other = number(other)
        return Number(self.value * other.value, [(self, lambda: other), (other, lambda: self)])

    def __sub__(self, other: Any) -> Number:
        return self + number(other) * -1.0

    def __neg__(self) -> Number:
        return self * -1.0

    __radd__, __rmul__ = __add__, __mul__

    def tanh(self) -> Number:
        z = Number(math.tanh(self.value), [(self, lambda: one() - z * z)])
        return z

    def exp(self) -> Number:
        z = Number(math.exp(self.value), [(self, lambda: z)])
        return z

    def sin(self) -> Number:
        return Number(math.sin(self.value), [(self, self.cos)])

    def cos(self) -> Number:
        return Number(math.cos(self.value), [(self, lambda: -self.sin())])


def one() -> Number:
    return Number(1.0)


def number(value: Any) -> Number:
    value = value.item() if isinstance(value, np.ndarray) else value
    return value if isinstance(value, Number) else Number(float(value))


def array(values: Any) -> np.ndarray:
    """An array of Numbers with the values of an array of floats."""
    return np.vectorize(Number, otypes=[object])(np.asarray(values, float))


def floats(numbers: Any) -> np.ndarray:
    """The values of an array of Numbers, or of a single Number."""
    return np.vectorize(lambda cell: cell.value, otypes=[float])(np.asarray(numbers, object))


def apply(name: str, numbers: np.ndarray) -> np.ndarray:
    """Apply a method of Number to each element."""
    return np.vectorize(lambda cell: getattr(cell, name)(), otypes=[object])(numbers)


def fresh(numbers: Any, derivative: float = 1.0) -> np.ndarray:
    """New Numbers with the same values, whose derivatives with respect to the given ones are `derivative`."""
    numbers = np.asarray(numbers, object)
    copies = [Number(cell.value, [(cell, lambda: Number(derivative))]) for cell in numbers.flat]
    result = np.empty(numbers.size, object)
    result[:] = copies
    return result.reshape(numbers.shape)


def constants(numbers: np.ndarray) -> np.ndarray:
    """The same values without derivatives."""
    return array(floats(numbers))


def grad(roots: Any, leaf: np.ndarray) -> np.ndarray:
    """The derivative of the sum of `roots` with respect to each element of `leaf`."""
    root = Number(0.0) + np.asarray(roots, object).sum()
    order: list[Number] = []
    seen: set[int] = set()
    stack: list[tuple[Number, bool]] = [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((operand, False) for operand, _ in node.made_from)
    gradients = {id(root): one()}
    for node in reversed(order):
        for operand, derivative in node.made_from:
            gradients[id(operand)] = gradients.get(id(operand), Number(0.0)) + gradients[id(node)] * derivative()
    zero = Number(0.0)
    return np.vectorize(lambda cell: gradients.get(id(cell), zero), otypes=[object])(leaf)
