"""Matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.operation import Binary, binary, call
from microtape.ops.shape import UnsafeViewBackward0, expand, reshape, squeeze, t, transpose, unsqueeze


class MmBackward0(Binary):
    formula = "Z = X · Y    ∂X = G · Yᵀ,  ∂Y = Xᵀ · G"
    op = "matmul"
    forward = staticmethod(np.matmul)

    def grad_x(self, g: Any, _x: Any, y: Any) -> Any:
        return mm(g, t(y))

    def grad_y(self, g: Any, x: Any, _y: Any) -> Any:
        return mm(t(x), g)


class MvBackward0(Binary):
    formula = "z = X · y    ∂X = g ⊗ y,  ∂y = Xᵀ · g"
    op = "matmul"
    forward = staticmethod(np.matmul)

    def grad_x(self, g: Any, _x: Any, y: Any) -> Any:
        return g.reshape((-1, 1)) * y

    def grad_y(self, g: Any, x: Any, _y: Any) -> Any:
        return mv(t(x), g)


class DotBackward0(Binary):
    formula = "z = Σ x · y    ∂z/∂x = y,  ∂z/∂y = x"
    forward = staticmethod(np.dot)

    def grad_x(self, g: Any, _x: Any, y: Any) -> Any:
        return g * y

    def grad_y(self, g: Any, x: Any, _y: Any) -> Any:
        return g * x


class BmmBackward0(Binary):
    formula = "Zᵢ = Xᵢ · Yᵢ    ∂Xᵢ = Gᵢ · Yᵢᵀ,  ∂Yᵢ = Xᵢᵀ · Gᵢ"
    forward = staticmethod(np.matmul)

    def grad_x(self, g: Any, _x: Any, y: Any) -> Any:
        return bmm(g, transpose(y, 1, 2))

    def grad_y(self, g: Any, x: Any, _y: Any) -> Any:
        return bmm(transpose(x, 1, 2), g)


def mm(x: Any, y: Any) -> Any:
    """The product of two matrices. Raises RuntimeError where they do not fit."""
    if x.shape[1] != y.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({x.shape[0]}x{x.shape[1]} and {y.shape[0]}x{y.shape[1]})"
        )
    return binary(MmBackward0, x, y)


def mv(x: Any, y: Any) -> Any:
    """A matrix times a vector. Raises RuntimeError where they do not fit."""
    if x.shape[1] != y.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({x.shape[0]}), mat ({x.shape[0]}x{x.shape[1]}), vec ({y.shape[0]})"
        )
    return binary(MvBackward0, x, y)


def dot(x: Any, y: Any) -> Any:
    """The inner product of two vectors. Raises RuntimeError where they do not fit."""
    if x.shape != y.shape or x.ndim != 1:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor {list(x.shape)} and src {list(y.shape)} to have the same "
            f"number of elements, but got {x.array.size} and {y.array.size} elements respectively"
        )
    return binary(DotBackward0, x, y)


def bmm(x: Any, y: Any) -> Any:
    """The products of two stacks of matrices."""
    return binary(BmmBackward0, x, y)


def matmul(x: Any, y: Any) -> Any:
    """`x @ y`, for any number of dimensions: recorded as the product that torch would pick.

    A vector stands for a row on the left and a column on the right; leading dimensions broadcast.
    """
    left, right = x.ndim, y.ndim
    if left == 0 or right == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {left}D and {right}D")
    if (left, right) == (1, 1):
        return dot(x, y)
    if (left, right) == (2, 1):
        return mv(x, y)
    if (left, right) == (1, 2):
        return squeeze(mm(unsqueeze(x, 0), y), 0)
    if (left, right) == (2, 2):
        return mm(x, y)
    if left >= 3 and right <= 2:
        return fold_left(x, y)
    return batched(x, y)


def fold_left(x: Any, y: Any) -> Any:
    """A stack of matrices times one matrix or vector: the stack is one tall matrix."""
    tall = reshape(x, (-1, x.shape[-1]))
    product = mm(tall, y) if y.ndim == 2 else mv(tall, y)
    return in_shape(product, (*x.shape[:-1], *y.shape[1:]))


def batched(x: Any, y: Any) -> Any:
    """Stacks of matrices, their leading dimensions broadcast against each other."""
    x_is_row, y_is_column = x.ndim == 1, y.ndim == 1
    x = unsqueeze(x, 0) if x_is_row else x
    y = unsqueeze(y, 1) if y_is_column else y
    lead = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    (n, m), (_, p) = x.shape[-2:], y.shape[-2:]
    if x.shape[-1] != y.shape[-2]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{m}] but got: [{y.shape[-2]}]."
        )
    stacks = [reshape(expand(operand, (*lead, *operand.shape[-2:])), (-1, *operand.shape[-2:])) for operand in (x, y)]
    return in_shape(bmm(*stacks), (*lead, *(() if x_is_row else (n,)), *(() if y_is_column else (p,))))


def in_shape(product: Any, shape: tuple[int, ...]) -> Any:
    """A fresh product in another shape: as nobody else holds it, this is no view."""
    return call(UnsafeViewBackward0(shape), product)


__all__ = ["bmm", "dot", "matmul", "mm", "mv", "t"]
