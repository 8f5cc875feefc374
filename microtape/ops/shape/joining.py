"""Several tensors as one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from microtape.ops.shape.reshaping import expand, reshape, unsqueeze
from microtape.ops.shared.arguments import dim_index, plain
from microtape.ops.shared.kinds import Promoting
from microtape.tape.operation import call
from microtape.tape.tensor_state import TensorState, zeros_like

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "cat",
    "column_stack",
    "concat",
    "concatenate",
    "dstack",
    "hstack",
    "meshgrid",
    "row_stack",
    "stack",
    "vstack",
]


class CatBackward0(Promoting):
    __slots__ = ("dim", "shapes")
    operands = ()
    all_or_none = True
    row_major = True
    formula = "z = x₀, x₁, … concatenated    ∂xᵢ = its part of g"

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, *arrays: Any) -> Any:
        self.shapes = [array.shape for array in arrays]
        filled = [array for array in arrays if array.shape != (0,)]
        return np.concatenate(filled or arrays, self.dim)

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """The part of the gradient that belongs to each operand."""
        before, stop = (slice(None),) * self.dim, 0
        parts: list[Any] = []
        for shape in self.shapes:
            size = 0 if shape == (0,) else shape[self.dim]  # an empty vector may be joined with anything
            stop += size
            if size:
                parts.append(gradient[(*before, slice(stop - size, stop))])
            else:
                parts.append(zeros_like(gradient, shape, gradient.dtype))
        return parts


class StackBackward0(Promoting):
    __slots__ = ("dim",)
    operands = ()
    all_or_none = True
    row_major = True
    formula = "z = x₀, x₁, … stacked along a new dimension    ∂xᵢ = its part of g"

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, *arrays: Any) -> Any:
        return np.stack(arrays, self.dim)

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """The part of the gradient that belongs to each operand."""
        before = (slice(None),) * self.dim
        return [gradient[(*before, i)] for i in range(len(self.next_nodes))]


_JOINABLE = (TensorState, np.ndarray, np.generic)


def _check_tensor(i: int, x: Any) -> None:
    """Raise TypeError for anything that is not a tensor or array."""
    if not isinstance(x, _JOINABLE):
        raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(x).__name__}")


def cat(tensors: Sequence[Any], dim: int = 0) -> Any:
    """The tensors concatenated along `dim`; their other sizes are equal.

    Raises ValueError for no tensors, RuntimeError if the sizes do not match.
    """
    tensors = tuple(tensors)
    if not tensors:
        raise ValueError("microtape.cat(): expected a non-empty list of Tensors")
    for i, tensor in enumerate(tensors):
        _check_tensor(i, tensor)
        if not tensor.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    shapes = [plain(tensor).shape for tensor in tensors]
    full = next((shape for shape in shapes if shape != (0,)), (0,))
    dim = dim_index(dim, len(full))
    for i, shape in enumerate(shapes):
        if shape == (0,) or shape[:dim] + shape[dim + 1 :] == full[:dim] + full[dim + 1 :]:
            continue  # an empty vector may be joined with anything
        if len(shape) != len(full):
            raise RuntimeError(f"Tensors must have same number of dimensions: got {len(full)} and {len(shape)}")
        sizes = enumerate(zip(full, shape, strict=True))
        expected, size = next(pair for one, pair in sizes if one != dim and pair[0] != pair[1])
        raise RuntimeError(
            f"Sizes of tensors must match except in dimension {dim}. Expected size {expected} but got size "
            f"{size} for tensor number {i} in the list."
        )
    return call(CatBackward0(dim), *tensors)


def stack(tensors: Sequence[Any], dim: int = 0) -> Any:
    """The tensors, all of one shape, along a new dimension. Raises RuntimeError for none, or for different shapes."""
    tensors = tuple(tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    _check_tensor(0, tensors[0])
    shape = tensors[0].shape
    for i, tensor in enumerate(tensors):
        _check_tensor(i, tensor)
        if tensor.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and "
                f"{list(tensor.shape)} at entry {i}"
            )
    return call(StackBackward0(dim_index(dim, len(shape) + 1)), *tensors)


def hstack(tensors: Sequence[Any]) -> Any:
    """The tensors side by side: along the second dimension, or the first where there is only one."""
    if not tensors:
        raise RuntimeError("hstack expects a non-empty TensorList")
    given = [atleast_1d(tensor) for tensor in tensors]
    return cat(given, 0 if given[0].ndim == 1 else 1)


def vstack(tensors: Sequence[Any]) -> Any:
    """The tensors on top of each other: vectors as rows."""
    if not tensors:
        raise RuntimeError("vstack expects a non-empty TensorList")
    return cat([atleast_2d(tensor) for tensor in tensors])


def dstack(tensors: Sequence[Any]) -> Any:
    """The tensors behind each other, along the third dimension."""
    if not tensors:
        raise RuntimeError("dstack expects a non-empty TensorList")
    return cat([atleast_3d(one) for one in tensors], 2)


def column_stack(tensors: Sequence[Any]) -> Any:
    """The tensors side by side: vectors as columns."""
    if not tensors:
        raise RuntimeError("column_stack expects a non-empty TensorList")
    return hstack([reshape(one, (math.prod(one.shape), 1)) if one.ndim < 2 else one for one in tensors])


def atleast_1d(*tensors: Any) -> Any:
    """Each tensor with at least one dimension; several as a tuple."""
    return _each(lambda x: x if x.ndim else reshape(x, (1,)), tensors)


def atleast_2d(*tensors: Any) -> Any:
    """Each tensor with at least two dimensions, vectors as rows; several as a tuple."""
    return _each(lambda x: x if x.ndim > 1 else unsqueeze(x, 0) if x.ndim else reshape(x, (1, 1)), tensors)


def atleast_3d(*tensors: Any) -> Any:
    """Each tensor with at least three dimensions, matrices with a new last one; several as a tuple."""

    def raised(x: Any) -> Any:
        if x.ndim > 2:
            return x
        if x.ndim == 2:
            return unsqueeze(x, -1)
        return unsqueeze(unsqueeze(x, 0), -1) if x.ndim else reshape(x, (1, 1, 1))

    return _each(raised, tensors)


def _each(function: Callable[[Any], Any], tensors: tuple[Any, ...]) -> Any:
    """`function` of one tensor, or of each of several, which may also be given as one sequence."""
    if len(tensors) == 1 and isinstance(tensors[0], TensorState):
        return function(tensors[0])
    several = tensors[0] if len(tensors) == 1 else tensors
    return tuple([function(one) for one in several])


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Any, ...]:
    """The coordinates of a grid: one tensor for each vector, all of the grid's shape.

    `indexing="xy"` swaps the first two dimensions, as for an image.
    """
    vectors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], tuple | list) else tensors
    for vector in vectors:
        if vector.ndim > 1:
            raise RuntimeError(f"meshgrid: Expected 0D or 1D tensor in the tensor list but got: {list(vector.shape)}")
    swap = indexing == "xy" and len(vectors) > 1
    order = [1, 0, *range(2, len(vectors))] if swap else list(range(len(vectors)))
    shape = tuple([math.prod(vectors[i].shape) for i in order])
    return tuple(
        [
            expand(reshape(vector, tuple([-1 if i == place else 1 for i in range(len(shape))])), shape)
            for vector, place in zip(vectors, [order.index(i) for i in range(len(vectors))], strict=True)
        ]
    )


# torch has several names for some functions
concat = concatenate = cat
row_stack = vstack
