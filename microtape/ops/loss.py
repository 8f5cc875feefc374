"""Softmax and losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.operation import Operation, call
from microtape.ops.elementwise import exp
from microtape.ops.index import place
from microtape.ops.reduction import sum


class SoftmaxBackward0(Operation):
    __slots__ = ("dim",)
    formula = "z = eˣ / Σ eˣ    ∂x = z · (g - Σ g · z)"

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Any) -> Any:
        e = np.exp(x - np.max(x, self.dim, keepdims=True))
        return e / np.sum(e, self.dim, keepdims=True)

    def grad_x(self, g: Any, z: Any) -> Any:
        return z * (g - sum(g * z, self.dim, True))


class LogSoftmaxBackward0(Operation):
    __slots__ = ("dim",)
    formula = "z = x - ln Σ eˣ    ∂x = g - eᶻ · Σ g"

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Any) -> Any:
        shifted = x - np.max(x, self.dim, keepdims=True)
        return shifted - np.log(np.sum(np.exp(shifted), self.dim, keepdims=True))

    def grad_x(self, g: Any, z: Any) -> Any:
        return g - exp(z) * sum(g, self.dim, True)


class NllLossBackward0(Operation):
    """The negative of each row's entry for its class, averaged or summed."""

    __slots__ = ("classes", "reduction", "target")
    formula = "z = -mean xᵢ,class(i)    ∂x = -g / n at each row's class, 0 elsewhere"

    def __init__(self, target: Any, reduction: str) -> None:
        super().__init__()
        self.target, self.reduction = target, reduction

    @property
    def key(self) -> tuple[Any, Any]:
        """Each row's entry for its class."""
        return np.arange(len(self.target)), self.target

    def forward(self, x: Any) -> Any:
        self.classes = x.shape[1]
        picked = -x[self.key]
        if self.reduction == "none":
            return picked
        return picked.mean() if self.reduction == "mean" else picked.sum()

    def grad_x(self, g: Any) -> Any:
        count = len(self.target)
        if self.reduction == "mean":
            g = g / count
        ones = np.ones(count, self.dtype)
        return place(-g * ones, self.key, (count, self.classes))


class MseLossBackward0(Operation):
    __slots__ = ("reduction",)
    operands = ("x", "y")
    formula = "z = mean (x - y)²    ∂z/∂x = 2 (x - y) / n,  ∂z/∂y = -2 (x - y) / n"

    def __init__(self, reduction: str) -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, x: Any, y: Any) -> Any:
        squared = (x - y) ** 2
        if self.reduction == "none":
            return squared
        return squared.mean() if self.reduction == "mean" else squared.sum()

    def grad_x(self, g: Any, x: Any, y: Any) -> Any:
        difference = x - y
        scale = 2 / np.prod(difference.shape) if self.reduction == "mean" else 2
        return g * (float(scale) * difference)

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return -self.grad_x(g, x, y)


def softmax(x: Any, dim: int) -> Any:
    """eˣ / Σ eˣ along `dim`."""
    return call(SoftmaxBackward0(dim), x)


def log_softmax(x: Any, dim: int) -> Any:
    """ln softmax(x) along `dim`, computed without overflow."""
    return call(LogSoftmaxBackward0(dim), x)


def nll_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    """Minus the log-probability of each row's class; x: (n, classes), target: (n,) of integers.

    `reduction` is "mean", "sum" or "none". Raises ValueError for another.
    """
    check_reduction(reduction)
    return call(NllLossBackward0(getattr(target, "array", target), reduction), x)


def cross_entropy(x: Any, target: Any, reduction: str = "mean") -> Any:
    """Softmax cross-entropy of logits (n, classes) against integer classes (n,)."""
    return nll_loss(log_softmax(x, -1), target, reduction)


def mse_loss(x: Any, y: Any, reduction: str = "mean") -> Any:
    """The mean squared difference. `reduction` is "mean", "sum" or "none"."""
    check_reduction(reduction)
    return call(MseLossBackward0(reduction), x, y)


def check_reduction(reduction: str) -> None:
    """Raise ValueError for an unknown reduction."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
