"""The same elements in another shape. Those that need no copy are views; see Note [Views and their history]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.operation import Operation, Unary, call
from microtape.saved import type_name
from microtape.tensor_state import TensorState
from microtape.views import ViewOperation, view_call


class ViewBackward0(ViewOperation):
    __slots__ = ("shape_",)
    formula = "z = x in another shape    ∂x = g in x's shape"

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape_ = shape

    def forward(self, x: Any) -> Any:
        return x.reshape(self.shape_)

    def grad_x(self, g: Any) -> Any:
        return g.reshape(self.x_shape)


class ReshapeAliasBackward0(ViewBackward0):
    """A view of elements that do not lie in order."""

    __slots__ = ()

    def parameters(self) -> tuple[Any, ...]:
        return (self.shape_,)


class InOrder(Unary):
    """A copy with its elements in order, so that it can be reshaped."""

    __slots__ = ()
    formula = "z = x    ∂z/∂x = 1"
    op = "clone"
    forward = staticmethod(np.ascontiguousarray)

    def name(self) -> str:
        return "CloneBackward0"

    def grad_x(self, g: Any) -> Any:
        return g


class UnsafeViewBackward0(Operation):
    """A reshape of a copy."""

    __slots__ = ("shape_", "x_shape")
    formula = "z = x in another shape    ∂x = g in x's shape"
    op = "reshape"

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape_ = shape

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        return x.reshape(self.shape_)

    def grad_x(self, g: Any) -> Any:
        return g.reshape(self.x_shape)


class PermuteBackward0(ViewOperation):
    __slots__ = ("dims",)
    formula = "z = x with its dimensions in another order    ∂x = g in x's order"

    def __init__(self, dims: tuple[int, ...]) -> None:
        super().__init__()
        self.dims = dims

    def forward(self, x: Any) -> Any:
        return x.transpose(self.dims)

    def grad_x(self, g: Any) -> Any:
        return permute(g, tuple(int(i) for i in np.argsort(self.dims)))


class TransposeBackward0(ViewOperation):
    __slots__ = ("dim0", "dim1")
    formula = "z = x with two dimensions swapped    ∂x = g with them swapped"

    def __init__(self, dim0: int, dim1: int) -> None:
        super().__init__()
        self.dim0, self.dim1 = dim0, dim1

    def forward(self, x: Any) -> Any:
        return x.swapaxes(self.dim0, self.dim1)

    def grad_x(self, g: Any) -> Any:
        return transpose(g, self.dim0, self.dim1)


class TBackward0(ViewOperation):
    __slots__ = ()
    formula = "z = xᵀ    ∂x = gᵀ"

    def forward(self, x: Any) -> Any:
        return x.T

    def grad_x(self, g: Any) -> Any:
        return t(g)


class ExpandBackward0(ViewOperation):
    __slots__ = ("shape_",)
    formula = "z = x repeated along dimensions of size 1    ∂x = Σ g along them"

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape_ = shape

    def forward(self, x: Any) -> Any:
        view = np.broadcast_to(x, self.shape_)
        if x.flags.writeable:
            view.flags.writeable = True  # a part of it may well be written to
        return view

    def grad_x(self, g: Any) -> Any:
        return g  # the engine undoes broadcasting


class SqueezeBackward1(ViewOperation):
    __slots__ = ("dims",)
    formula = "z = x without a dimension of size 1    ∂x = g in x's shape"

    def __init__(self, dims: tuple[int, ...]) -> None:
        super().__init__()
        self.dims = dims

    def forward(self, x: Any) -> Any:
        return x.reshape([size for i, size in enumerate(x.shape) if i not in self.dims or size != 1])

    def grad_x(self, g: Any) -> Any:
        return g.reshape(self.x_shape)


class SqueezeBackward0(SqueezeBackward1):
    """All dimensions of size 1."""

    __slots__ = ()

    def parameters(self) -> tuple[Any, ...]:
        return (self.dims,)


class UnsqueezeBackward0(ViewOperation):
    __slots__ = ("dim",)
    formula = "z = x with a new dimension of size 1    ∂x = g in x's shape"

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Any) -> Any:
        return np.expand_dims(x, self.dim)

    def grad_x(self, g: Any) -> Any:
        return g.reshape(self.x_shape)


class CatBackward0(Operation):
    __slots__ = ("dim", "sizes")
    operands = ()
    formula = "z = x₀, x₁, … one behind the other    ∂xᵢ = its part of g"

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, *arrays: Any) -> Any:
        self.sizes = [array.shape[self.dim] for array in arrays]
        return np.concatenate(arrays, self.dim)

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """The part of the gradient that belongs to each operand."""
        stops = np.cumsum(self.sizes)
        before = (slice(None),) * (self.dim % gradient.ndim)
        return [
            gradient[(*before, slice(int(stop) - size, int(stop)))]
            for stop, size in zip(stops, self.sizes, strict=True)
        ]


class StackBackward0(Operation):
    __slots__ = ("dim",)
    operands = ()
    formula = "z = x₀, x₁, … along a new dimension    ∂xᵢ = its part of g"

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, *arrays: Any) -> Any:
        return np.stack(arrays, self.dim)

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """The part of the gradient that belongs to each operand."""
        before = (slice(None),) * (self.dim % gradient.ndim)
        return [gradient[(*before, i)] for i in range(len(self.next_edges))]


def reshape(x: Any, *shape: Any) -> Any:
    """x in another shape, as a view where its memory allows it. One size may be -1."""
    wanted = sizes(shape)
    if not isinstance(x, TensorState):
        return x.reshape(wanted)
    if np.shares_memory(x.array, x.array.reshape(wanted)) or x.array.size == 0:
        return view_call(x, ViewBackward0 if x.array.flags.c_contiguous else ReshapeAliasBackward0, wanted)
    return call(UnsafeViewBackward0(wanted), call(InOrder(), x))


def view(x: Any, *shape: Any) -> Any:
    """x in another shape without a copy. Raises RuntimeError where that is impossible."""
    wanted = sizes(shape)
    if not np.shares_memory(x.array, x.array.reshape(wanted)) and x.array.size:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return view_call(x, ViewBackward0, wanted)


def flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The dimensions from `start_dim` to `end_dim` as one."""
    shape = x.shape
    if not shape:
        return reshape(x, (1,))
    start, end = start_dim % len(shape), end_dim % len(shape)
    if start == end:
        return x
    return reshape(x, (*shape[:start], -1, *shape[end + 1 :]))


def permute(x: Any, *dims: Any) -> Any:
    """x with its dimensions in the given order."""
    ndim = x.ndim
    return view_call(x, PermuteBackward0, tuple(dim % ndim for dim in sizes(dims)))


def transpose(x: Any, dim0: int, dim1: int) -> Any:
    """x with two dimensions swapped."""
    return view_call(x, TransposeBackward0, dim0, dim1)


def t(x: Any) -> Any:
    """The transpose of a matrix; vectors and scalars stay as they are. Raises RuntimeError above two dimensions."""
    if x.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {x.ndim}D")
    return view_call(x, TBackward0) if isinstance(x, TensorState) else x.T


def expand(x: Any, *shape: Any) -> Any:
    """x repeated along dimensions of size 1, without a copy; -1 keeps a size. Raises RuntimeError if x does not fit."""
    wanted = sizes(shape)
    lead = len(wanted) - x.ndim
    if lead < 0:
        raise RuntimeError(
            f"expand({type_name(x.array)}{{{list(x.shape)}}}, size={list(wanted)}): the number of sizes provided "
            f"({len(wanted)}) must be greater or equal to the number of dimensions in the tensor ({x.ndim})"
        )
    full = tuple(x.shape[i - lead] if size == -1 and i >= lead else size for i, size in enumerate(wanted))
    for i, size in reversed(list(enumerate(full))):
        if i >= lead and x.shape[i - lead] not in (1, size):
            raise RuntimeError(
                f"The expanded size of the tensor ({size}) must match the existing size ({x.shape[i - lead]}) at "
                f"non-singleton dimension {i}.  Target sizes: {list(full)}.  Tensor sizes: {list(x.shape)}"
            )
    return view_call(x, ExpandBackward0, full)


def squeeze(x: Any, dim: int | tuple[int, ...] | None = None) -> Any:
    """x without its dimensions of size 1, or without those named in `dim` that have size 1."""
    if dim is None:
        return view_call(x, SqueezeBackward0, tuple(range(x.ndim)))
    dims = dim if isinstance(dim, tuple) else (dim,)
    return view_call(x, SqueezeBackward1, tuple(i % max(x.ndim, 1) for i in dims))


def unsqueeze(x: Any, dim: int) -> Any:
    """x with a new dimension of size 1 at `dim`."""
    return view_call(x, UnsqueezeBackward0, dim % (x.ndim + 1))


def cat(tensors: Sequence[Any], dim: int = 0) -> Any:
    """The tensors one behind the other along `dim`."""
    return call(CatBackward0(dim), *tensors)


def stack(tensors: Sequence[Any], dim: int = 0) -> Any:
    """The tensors, all of one shape, along a new dimension."""
    return call(StackBackward0(dim), *tensors)


def sizes(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """`f(2, 3)` and `f((2, 3))` mean the same."""
    if len(shape) == 1 and not isinstance(shape[0], int | np.integer):
        shape = tuple(shape[0])
    return tuple(int(size) for size in shape)
