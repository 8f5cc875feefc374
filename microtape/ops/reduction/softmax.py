"""Softmax, its logarithm and logsumexp, computed without overflow."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.basics.summing import reduced_along
from microtape.ops.elementwise.exponential import exp
from microtape.ops.reduction.sums_and_extrema import Reduction, sum
from microtape.ops.shape.casting import cast
from microtape.ops.shared.arguments import dim_tuple
from microtape.ops.shared.kinds import Promoting, floating, refusing
from microtape.tape.operation import Operation, call
from microtape.tape.tensor_state import TensorState

__all__ = ["log_softmax", "logsumexp", "softmax"]


class SoftmaxAlongDim(Operation):
    """Common to softmax and its logarithm: the dimension, as a tuple, which is empty for a scalar."""

    __slots__ = ("dim", "kernel_name")
    row_major = True

    def __init__(self, dim: tuple[int, ...] | None, ndim: int) -> None:
        super().__init__()
        self.dim = dim
        self.kernel_name = "lastdim_kernel" if dim in ((), (ndim - 1,)) else "kernel"  # which torch's messages name


@refusing(biuc="softmax_{self.kernel_name}_impl")
class SoftmaxBackward0(SoftmaxAlongDim):
    __slots__ = ()
    formula = "z = eˣ / Σ eˣ    ∂x = z · (g - Σ g · z)"

    def forward(self, x: Any) -> Any:
        e = np.exp(_shifted(x, self.dim))
        return e / reduced_along(np.add, e, self.dim)

    def grad_x(self, g: Any, z: Any) -> Any:
        return call(SoftmaxBackwardDataBackward0(self.dim), g, z)


class SoftmaxBackwardDataBackward0(Promoting):
    """The derivative of softmax as an operation of its own: x is the gradient that arrived, y the softmax."""

    __slots__ = ("dim",)
    operands = ("x", "y")
    op = "softmax_backward"
    formula = "z = y · (x - Σ x · y)    ∂x = y · (g - Σ g · y),  ∂y = g · (x - Σ x · y) - x · Σ g · y"

    def __init__(self, dim: tuple[int, ...] | None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Any, y: Any) -> Any:
        return y * (x - reduced_along(np.add, x * y, self.dim))

    def grad_x(self, g: Any, _x: Any, y: Any) -> Any:
        return y * (g - sum(g * y, self.dim, True))

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return g * (x - sum(x * y, self.dim, True)) - x * sum(g * y, self.dim, True)


@refusing(biuc="log_softmax_{self.kernel_name}_impl")
class LogSoftmaxBackward0(SoftmaxAlongDim):
    __slots__ = ()
    formula = "z = x - ln Σ eˣ    ∂x = g - eᶻ · Σ g"
    op = "log_softmax"

    def forward(self, x: Any) -> Any:
        z = _shifted(x, self.dim)
        z -= np.log(reduced_along(np.add, np.exp(z), self.dim))
        return z

    def grad_x(self, g: Any, z: Any) -> Any:
        return call(LogSoftmaxBackwardDataBackward0(self.dim), g, z)


class LogSoftmaxBackwardDataBackward0(Promoting):
    """The derivative of log_softmax as an operation of its own: x is the gradient that arrived, y the log_softmax."""

    __slots__ = ("dim",)
    operands = ("x", "y")
    op = "log_softmax_backward"
    formula = "z = x - eʸ · Σ x    ∂x = g - Σ g · eʸ,  ∂y = -g · eʸ · Σ x"

    def __init__(self, dim: tuple[int, ...] | None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Any, y: Any) -> Any:
        return x - np.exp(y) * reduced_along(np.add, x, self.dim)

    def grad_x(self, g: Any, _x: Any, y: Any) -> Any:
        return g - sum(g * exp(y), self.dim, True)

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return -g * (exp(y) * sum(x, self.dim, True))


class LogsumexpBackward0(Reduction):
    __slots__ = ()
    averages = True
    formula = "z = ln Σ eˣ    ∂z/∂x = eˣ⁻ᶻ"

    def forward(self, x: Any) -> Any:
        x = floating(x)
        self.x_shape = x.shape
        top = reduced_along(np.maximum, x.real, self.dim, initial=-np.inf)
        top = np.where(np.isfinite(top), top, 0).astype(x.dtype, copy=False)
        total = np.log(reduced_along(np.add, np.exp(x - top), self.dim)) + top
        return total if self.keepdim else np.squeeze(total, self.dim)

    def grad_x(self, g: Any, x: Any, z: Any) -> Any:
        return self.spread(g) * exp(x - self.spread(z))


def _shifted(x: Any, dim: tuple[int, ...] | None) -> Any:
    """x minus its largest element along `dim`: then eˣ cannot overflow, and softmax does not change."""
    return x - reduced_along(np.maximum, x, dim, initial=-np.inf)


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """`eˣ / Σ eˣ` along `dim`: positive numbers that add up to 1."""
    ndim = input.ndim
    return call(SoftmaxBackward0(dim_tuple(dim, ndim), ndim), _in_dtype(input, dtype))


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """The logarithm of softmax along `dim`."""
    ndim = input.ndim
    return call(LogSoftmaxBackward0(dim_tuple(dim, ndim), ndim), _in_dtype(input, dtype))


def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """ln Σ eˣ over the dimensions `dim`."""
    return call(LogsumexpBackward0(dim_tuple(dim, input.ndim), keepdim), input)


def _in_dtype(x: Any, dtype: Any) -> Any:
    """x, cast if a dtype was asked for."""
    return cast(x, dtype) if dtype is not None and isinstance(x, TensorState) else x
