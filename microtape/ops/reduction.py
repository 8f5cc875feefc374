"""Many elements into one."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.operation import Operation, call
from microtape.ops.shape import expand
from microtape.tensor_state import TensorState


class Reduction(Operation):
    """Common to reductions: which dimensions (None: all), and bringing z's shape back to x's."""

    __slots__ = ("dim", "keepdim", "x_shape")
    x_shape: tuple[int, ...]

    def __init__(self, dim: tuple[int, ...] | None, keepdim: bool) -> None:
        super().__init__()
        self.dim, self.keepdim = dim, keepdim

    def spread(self, z: Any) -> Any:
        """A z-shaped array, repeated to x's shape."""
        if self.dim is not None and not self.keepdim:
            kept = [1 if i in self.dim else size for i, size in enumerate(self.x_shape)]
            z = z.reshape(tuple(kept))
        return expand(z, self.x_shape)

    @property
    def count(self) -> int:
        """How many elements of x make one of z."""
        dims = range(len(self.x_shape)) if self.dim is None else self.dim
        return int(np.prod([self.x_shape[i] for i in dims], dtype=np.int64))


class SumBackward1(Reduction):
    __slots__ = ()
    formula = "z = Σ x    ∂z/∂x = 1"

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        dtype = np.int64 if x.dtype.kind in "biu" else None
        return np.sum(x, self.dim, dtype, keepdims=self.keepdim)

    def grad_x(self, g: Any) -> Any:
        return self.spread(g)


class SumBackward0(SumBackward1):
    """Over all dimensions."""

    __slots__ = ()


class MeanBackward1(Reduction):
    __slots__ = ()
    formula = "z = Σ x / n    ∂z/∂x = 1 / n"

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        dtype = np.dtype(np.float32) if x.dtype == np.float16 else x.dtype
        total = np.sum(x, self.dim, dtype, keepdims=self.keepdim)
        return np.divide(total, self.count).astype(x.dtype, copy=False)  # np.mean would warn where there is nothing

    def grad_x(self, g: Any) -> Any:
        return self.spread(g) / self.count


class MeanBackward0(MeanBackward1):
    """Over all dimensions."""

    __slots__ = ()


class AmaxBackward0(Reduction):
    __slots__ = ()
    formula = "z = max x    ∂z/∂x = 1 at the largest, shared at ties"

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        return np.max(x, self.dim, keepdims=self.keepdim)

    def grad_x(self, g: Any, x: Any, z: Any) -> Any:
        chosen = x == self.spread(z)
        return self.spread(g / sum(chosen, self.dim, self.keepdim)) * chosen


class MaxBackward1(AmaxBackward0):
    """Over all dimensions."""

    __slots__ = ()
    op = "max"


class AminBackward0(AmaxBackward0):
    __slots__ = ()
    formula = "z = min x    ∂z/∂x = 1 at the smallest, shared at ties"

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        return np.min(x, self.dim, keepdims=self.keepdim)


class MinBackward1(AminBackward0):
    """Over all dimensions."""

    __slots__ = ()
    op = "min"


class LogsumexpBackward0(Reduction):
    __slots__ = ()
    formula = "z = ln Σ eˣ    ∂z/∂x = eˣ⁻ᶻ"

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        top = np.max(x, self.dim, keepdims=True)
        top = np.where(np.isfinite(top), top, 0).astype(x.dtype, copy=False)
        total = np.log(np.sum(np.exp(x - top), self.dim, keepdims=True)) + top
        return total if self.keepdim else np.squeeze(total, self.dim)

    def grad_x(self, g: Any, x: Any, z: Any) -> Any:
        from microtape.ops.elementwise import exp

        return self.spread(g) * exp(x - self.spread(z))


def dims_of(x: Any, dim: int | tuple[int, ...] | list[int] | None) -> tuple[int, ...] | None:
    """`dim` as a tuple of non-negative numbers; an empty one means all, as in torch. Raises IndexError out of range."""
    if dim is None or dim == () or dim == []:
        return None
    dims = tuple(dim) if isinstance(dim, tuple | list) else (dim,)
    ndim = x.ndim or 1
    for one in dims:
        if not -ndim <= one < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {one})"
            )
    return tuple(one % ndim for one in dims) if x.ndim else ()


def sum(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The sum over all elements, or over the dimensions `dim`."""
    dims = dims_of(x, dim)
    return call((SumBackward0 if dim is None else SumBackward1)(dims, keepdim), x)


def mean(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The mean over all elements, or over the dimensions `dim`. Raises RuntimeError for integers, as torch does."""
    if isinstance(x, TensorState) and x.array.dtype.kind in "biu":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {x.array.dtype.name.capitalize()}"
        )
    return call((MeanBackward0 if dim is None else MeanBackward1)(dims_of(x, dim), keepdim), x)


def amax(x: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """The largest element; at ties the gradient is shared."""
    return call(AmaxBackward0(dims_of(x, dim), keepdim), x)


def amin(x: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """The smallest element; at ties the gradient is shared."""
    return call(AminBackward0(dims_of(x, dim), keepdim), x)


def max(x: Any) -> Any:
    """The largest of all elements; at ties the gradient is shared."""
    return call(MaxBackward1(None, False), x)


def min(x: Any) -> Any:
    """The smallest of all elements; at ties the gradient is shared."""
    return call(MinBackward1(None, False), x)


def logsumexp(x: Any, dim: Any, keepdim: bool = False) -> Any:
    """ln Σ eˣ over the dimensions `dim`, without overflow."""
    return call(LogsumexpBackward0(dims_of(x, dim), keepdim), x)


def argmax(x: TensorState, dim: int | None = None, keepdim: bool = False) -> Any:
    """Where the largest element is, as int64; never differentiable."""
    from microtape.tensor_state import new_tensor

    return new_tensor(type(x), np.asarray(np.argmax(x.array, dim, keepdims=keepdim)))
