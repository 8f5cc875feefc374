"""Matrix products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microtape.basics.dtypes import cpp_name, scalar_name
from microtape.ops.shape.casting import contiguous
from microtape.ops.shape.reshaping import (
    ExpandBackward0,
    SqueezeInPlace,
    UnsafeViewBackward0,
    expanded_size,
    reshape,
    unsqueeze,
)
from microtape.ops.shape.transposition import t, transpose
from microtape.ops.shared.arguments import plain
from microtape.ops.shared.kinds import Promoting, refusal_of, refusing
from microtape.tape.in_place import call_
from microtape.tape.operands import as_operand
from microtape.tape.operation import Binary, binary, call
from microtape.tape.tensor_state import TensorState
from microtape.tape.views import view_call

__all__ = ["addmm", "baddbmm", "bmm", "dot", "ger", "matmul", "mm", "mv", "outer"]

_ndarray = np.ndarray


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


@refusing(b="addmm_impl_cpu_")
class AddmmBackward0(Promoting):
    __slots__ = ("alpha", "beta", "is_by_columns")
    operands = ("x", "y", "w")
    is_by_columns: bool  # the layout of w in memory: that of a transposed weight
    formula = "Z = β · X + α · Y · W    ∂X = β · G,  ∂Y = α · G · Wᵀ,  ∂W = α · Yᵀ · G"

    def __init__(self, beta: float, alpha: float) -> None:
        super().__init__()
        self.beta, self.alpha = beta, alpha

    def forward(self, x: Any, y: Any, w: Any) -> Any:
        self.is_by_columns = w.flags.fnc
        z = y @ w
        if self.alpha != 1:
            z *= z.dtype.type(self.alpha)
        if self.beta != 0:  # else x does not count, even if it is NaN
            z += x if self.beta == 1 else x * z.dtype.type(self.beta)
        return z

    def grad_x(self, g: Any, _y: Any, _w: Any) -> Any:
        return _scaled(g, self.beta)

    def grad_y(self, g: Any, _y: Any, w: Any) -> Any:
        return _scaled(mm(g, t(w)), self.alpha)

    def grad_w(self, g: Any, y: Any, _w: Any) -> Any:
        if self.is_by_columns and type(g) is _ndarray:
            return _scaled((g.T @ y).T, self.alpha)  # as torch: in w's layout, so that the weight's needs no copy
        return _scaled(mm(t(y), g), self.alpha)


@refusing(b="baddbmm")
class BaddbmmBackward0(AddmmBackward0):
    """`addmm` of batches of matrices."""

    __slots__ = ()

    def grad_y(self, g: Any, _y: Any, w: Any) -> Any:
        return _scaled(bmm(g, transpose(w, 1, 2)), self.alpha)

    def grad_w(self, g: Any, y: Any, _w: Any) -> Any:
        return _scaled(bmm(transpose(y, 1, 2), g), self.alpha)


def _scaled(g: Any, factor: float) -> Any:
    """`g · factor`; g itself if the factor is 1."""
    return g if factor == 1 else g * factor


def mm(input: Any, mat2: Any) -> Any:
    """The product of two matrices. Raises RuntimeError if they do not fit."""
    if type(input) is _ndarray and type(mat2) is _ndarray:
        return input @ mat2  # in a derivative formula
    a, b = plain(input), plain(mat2)
    if a.ndim != 2 or b.ndim != 2:
        raise RuntimeError("self must be a matrix" if a.ndim != 2 else "mat2 must be a matrix")
    if a.shape[1] != b.shape[0]:
        (n, m), (p, q) = a.shape, b.shape
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({n}x{m} and {p}x{q})")
    if a.dtype is not b.dtype or a.dtype.kind == "b":
        differ = "expected m1 and m2 to have the same dtype, but got: {2} != {3}"
        check_one_dtype(input, mat2, differ, "addmm_impl_cpu_")
    return binary(MmBackward0, input, mat2)


def mv(input: Any, vec: Any) -> Any:
    """A matrix times a vector. Raises RuntimeError if they do not fit."""
    if input.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {vec.ndim}, {input.ndim}, {vec.ndim}")
    if input.shape[1] != vec.shape[0]:
        (n, m), k = input.shape, vec.shape[0]
        raise RuntimeError(f"size mismatch, got input ({n}), mat ({n}x{m}), vec ({k})")
    check_one_dtype(
        input, vec, "addmv input tensors must have the same dtype, but got {1}, {0}, and {1}", "addmv_impl_cpu"
    )
    return binary(MvBackward0, input, vec)


def dot(input: Any, tensor: Any) -> Any:
    """The inner product of two vectors. Raises RuntimeError if they do not fit."""
    if input.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.ndim}D and {tensor.ndim}D tensors")
    check_one_dtype(input, tensor, "dot : expected both vectors to have same dtype, but found {} and {}", "dot")
    if input.shape != tensor.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor {list(input.shape)} and src {list(tensor.shape)} to have the "
            f"same number of elements, but got {input.shape[0]} and {tensor.shape[0]} elements respectively"
        )
    return binary(DotBackward0, input, tensor)


def bmm(input: Any, mat2: Any) -> Any:
    """The products of two batches of matrices. Raises RuntimeError if they do not fit."""
    if input.ndim != 3 or mat2.ndim != 3:
        raise RuntimeError(f"batch{1 if input.ndim != 3 else 2} must be a 3D tensor")
    if input.shape[0] != mat2.shape[0] or input.shape[2] != mat2.shape[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{input.shape[0]}, {input.shape[2]}] but "
            f"got: [{mat2.shape[0]}, {mat2.shape[1]}]."
        )
    check_one_dtype(input, mat2, "expected scalar type {} but found {}", "bmm")
    return binary(BmmBackward0, input, mat2)


def check_one_dtype(x: Any, y: Any, complaint: str, kernel: str = "") -> None:
    """Raise RuntimeError for Tensors of different dtypes, which products do not promote, or of bools."""
    if not isinstance(x, TensorState) or not isinstance(y, TensorState):
        return
    a, b = x.array.dtype, y.array.dtype
    if a is not b and a != b:
        raise RuntimeError(complaint.format(scalar_name(a), scalar_name(b), cpp_name(a), cpp_name(b)))
    if a.kind == "b" and kernel:
        raise refusal_of(a, kernel)


def addmm(input: Any, mat1: Any, mat2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """`β · input + α · mat1 @ mat2`, with `input` broadcast. Raises RuntimeError if they do not fit."""
    x, a, b = plain(input), plain(mat1), plain(mat2)
    if a.ndim != 2 or b.ndim != 2:
        name, one = ("mat1", a) if a.ndim != 2 else ("mat2", b)
        raise RuntimeError(f"{name} must be a matrix, got {one.ndim}-D tensor")
    (n, m), (p, q) = a.shape, b.shape
    if m != p:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({n}x{m} and {p}x{q})")
    if not x.dtype is a.dtype is b.dtype:
        for name, one in (("self", input), ("mat1", mat1)):
            check_one_dtype(one, mat2, f"{name} and mat2 must have the same dtype, but got {{}} and {{}}")
    if x.shape != (q,):  # otherwise a bias, the usual case
        expanded_size(input, (n, q))
    return call(AddmmBackward0(beta, alpha), input, mat1, mat2)


def addmm_(x: TensorState, mat1: Any, mat2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """`β · x + α · mat1 @ mat2`, in place."""
    return call_(AddmmBackward0(beta, alpha), x, mat1, mat2)


def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """`β · input + α · batch1 @ batch2` for batches of matrices, with `input` broadcast."""
    check_one_dtype(
        input,
        batch1,
        f"Input dtypes must be the same, got: input {{2}}, batch1: {{3}}, batch2: {cpp_name(batch2.dtype)}",
    )
    check_one_dtype(batch1, batch2, "expected scalar type {} but found {}")
    return call(BaddbmmBackward0(beta, alpha), input, batch1, batch2)


def baddbmm_(x: TensorState, batch1: Any, batch2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """`β · x + α · batch1 @ batch2` for batches of matrices, in place."""
    return call_(BaddbmmBackward0(beta, alpha), x, batch1, batch2)


def outer(input: Any, vec2: Any) -> Any:
    """The outer product of two vectors: the matrix of all products of their elements."""
    for name, vector in (("self", input), ("vec2", vec2)):
        if vector.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {vector.ndim}-D")
    return reshape(input, (-1, 1)) * vec2


def matmul(input: Any, other: Any) -> Any:
    """`input @ other`, for any number of dimensions: recorded as the product that torch would choose.

    A vector counts as a row on the left and as a column on the right; leading dimensions broadcast. Raises RuntimeError
    if the operands do not fit.
    """
    left, right = plain(input).ndim, plain(other).ndim
    if left == 0 or right == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {left}D and {right}D")
    if (left, right) == (2, 2):
        return mm(input, other)
    if (left, right) == (1, 1):
        return dot(input, other)
    if (left, right) == (2, 1):
        return mv(input, other)
    if (left, right) == (1, 2):
        product = mm(unsqueeze(input, 0), other)
        return call(SqueezeInPlace(product.shape[1:]), product)
    if left >= 3 and right <= 2:
        return _folded(input, other)
    if left <= 2 and right >= 3:
        return _folded_right(input, other)
    return _batched(input, other)


def times_matrix(x: Any, y: Any) -> Any:
    """`x @ y`; NotImplemented if y is neither tensor nor array."""
    if not isinstance(y, TensorState):
        if not isinstance(y, np.ndarray):
            return NotImplemented
        y = as_operand(y, x)
    return mm(x, y) if x.array.ndim == 2 == y.array.ndim else matmul(x, y)


def matrix_times(x: Any, y: Any) -> Any:
    """`y @ x`, where y is an array."""
    return matmul(as_operand(y, x), x) if isinstance(y, np.ndarray) else NotImplemented


def _folded(x: Any, y: Any) -> Any:
    """A batch of matrices times one matrix or vector: the batch becomes one tall matrix."""
    tall = reshape(x, (math.prod(x.shape[:-1]), x.shape[-1]))
    product = mm(tall, y) if y.ndim == 2 else mv(tall, y)
    return unsafe_view(product, (*x.shape[:-1], *y.shape[1:]))


def _folded_right(x: Any, y: Any) -> Any:
    """One matrix or vector times a batch of matrices: `_folded`, with everything transposed."""
    tall = reshape(transpose(y, -2, -1), (math.prod(y.shape[:-2]) * y.shape[-1], y.shape[-2]))
    if x.ndim == 1:
        return unsafe_view(mv(tall, x), (*y.shape[:-2], y.shape[-1]))
    product = unsafe_view(mm(tall, t(x)), (*y.shape[:-2], y.shape[-1], x.shape[0]))
    return contiguous(transpose(product, -2, -1))


def _batched(x: Any, y: Any) -> Any:
    """The product of batches of matrices, whose leading dimensions broadcast against each other."""
    lead = _broadcast_lead(x.shape[:-2], y.shape[:-2])
    count = math.prod(lead)
    stacks = []
    for one in (x, y):
        matrix = one.shape[-2:]
        stacks.append(reshape(view_call(one, ExpandBackward0, (*lead, *matrix)), (count, *matrix)))
    return unsafe_view(bmm(*stacks), (*lead, x.shape[-2], y.shape[-1]))


def _broadcast_lead(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that two shapes broadcast to. Raises RuntimeError if they do not."""
    if a == b:
        return a
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        pairs = list(zip(a[::-1], b[::-1], strict=False))
        i = next(i for i, (m, n) in enumerate(pairs) if m != n and 1 not in (m, n))
        raise RuntimeError(
            f"The size of tensor a ({pairs[i][0]}) must match the size of tensor b ({pairs[i][1]}) at non-singleton "
            f"dimension {max(len(a), len(b)) - 1 - i}"
        ) from None


def unsafe_view(x: Any, shape: tuple[int, ...]) -> Any:
    """A new shape for a result that nothing else refers to."""
    return call(UnsafeViewBackward0(shape), x)


# torch has several names for some functions
ger = outer
