"""Products with vectors added to something: `addmv`, `addr`, `addbmm`; distances and cross products."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from microtape.basics.dtypes import scalar_name
from microtape.ops.elementwise.complex_numbers import conj
from microtape.ops.linear.product import AddmmBackward0, bmm, check_one_dtype, dot, matmul, mv
from microtape.ops.reduction.statistics import vector_norm
from microtape.ops.shape.reshaping import expand
from microtape.ops.shape.transposition import t, transpose
from microtape.ops.shared.arguments import dim_index, plain
from microtape.ops.shared.kinds import refusing
from microtape.tape.in_place import call_
from microtape.tape.operation import Binary, call
from microtape.tape.tensor_state import TensorState

__all__ = ["addbmm", "addmv", "addr", "cross", "dist", "vdot"]


@refusing(b="addmv_impl_cpu")
class AddmvBackward0(AddmmBackward0):
    __slots__ = ()
    formula = "z = β · x + α · Y · w    ∂x = β · g,  ∂Y = α · g ⊗ w,  ∂w = α · Yᵀ · g"

    def grad_y(self, g: Any, _y: Any, w: Any) -> Any:
        return g.reshape((-1, 1)) * w * self.alpha

    def grad_w(self, g: Any, y: Any, _w: Any) -> Any:
        return mv(t(y), g) * self.alpha


class AddrBackward0(AddmmBackward0):
    __slots__ = ()
    formula = "Z = β · X + α · y ⊗ w    ∂X = β · G,  ∂y = α · G · w,  ∂w = α · Gᵀ · y"

    def forward(self, x: Any, y: Any, w: Any) -> Any:
        return super().forward(x, y.reshape(-1, 1), w.reshape(1, -1))

    def grad_y(self, g: Any, _y: Any, w: Any) -> Any:
        return mv(g, w) * self.alpha

    def grad_w(self, g: Any, y: Any, _w: Any) -> Any:
        return mv(t(g), y) * self.alpha


class AddbmmBackward0(AddmmBackward0):
    __slots__ = ()
    formula = "Z = β · X + α · Σᵢ Yᵢ · Wᵢ    ∂X = β · G,  ∂Yᵢ = α · G · Wᵢᵀ,  ∂Wᵢ = α · Yᵢᵀ · G"

    def forward(self, x: Any, y: Any, w: Any) -> Any:
        n, _, m = y.shape[1], w.shape[1], w.shape[2]
        return super().forward(x, y.swapaxes(0, 1).reshape(n, -1), w.reshape(-1, m))

    def grad_y(self, g: Any, y: Any, w: Any) -> Any:
        return bmm(expand(g, (y.shape[0], *g.shape)), transpose(w, 1, 2)) * self.alpha

    def grad_w(self, g: Any, y: Any, _w: Any) -> Any:
        return bmm(transpose(y, 1, 2), expand(g, (y.shape[0], *g.shape))) * self.alpha


@refusing(b="cross")
class LinalgCrossBackward0(Binary):
    __slots__ = ("dim",)
    row_major = True
    formula = "z = x × y    ∂x = y × g,  ∂y = g × x"

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Any, y: Any) -> Any:
        return np.cross(x, y, axis=self.dim)

    def grad_x(self, g: Any, _x: Any, y: Any) -> Any:
        return linalg_cross(y, g, self.dim)

    def grad_y(self, g: Any, x: Any, _y: Any) -> Any:
        return linalg_cross(g, x, self.dim)


def addmv(input: Any, mat: Any, vec: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """beta · input + alpha · mat · vec: of a matrix (n, m) and a vector (m,)."""
    _check_sizes(input, mat, vec)
    return call(AddmvBackward0(beta, alpha), input, mat, vec)


def addr(input: Any, vec1: Any, vec2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """beta · input + alpha · vec1 ⊗ vec2: of vectors (n,) and (m,)."""
    for i, vec in enumerate((vec1, vec2), 1):
        if vec.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument vec{i}, but got {vec.ndim}-D")
    return call(AddrBackward0(beta, alpha), input, vec1, vec2)


def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """beta · input + alpha · the sum of the products of two batches of matrices, (b, n, k) and (b, k, m)."""
    _check_batches(batch1, batch2)
    return call(AddbmmBackward0(beta, alpha), input, batch1, batch2)


def _check_sizes(input: Any, mat: Any, vec: Any) -> None:
    """Raise RuntimeError unless the operands of `addmv` fit, and have one dtype."""
    if mat.ndim != 2 or vec.ndim != 1 or input.ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {input.ndim}, {mat.ndim}, {vec.ndim}")
    (n, m), (k,), count = mat.shape, vec.shape, input.shape[0] if input.ndim else 1
    if m != k or count not in (n, 1):
        raise RuntimeError(f"size mismatch, got input ({count}), mat ({n}x{m}), vec ({k})")
    dtypes = [plain(one).dtype for one in (input, mat, vec)]
    if len(set(dtypes)) > 1:
        first, second, third = map(scalar_name, dtypes)
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {first}, {second}, and {third}")


def _check_batches(batch1: Any, batch2: Any) -> None:
    """Raise IndexError or RuntimeError unless the batches of `addbmm` fit, and have one dtype."""
    for one in (batch1, batch2):
        dim_index(2, one.ndim)
    (first, n, m), (second, k, p) = batch1.shape, batch2.shape
    if first != second:
        raise RuntimeError(f"batch1 and batch2 must have same number of batches, got {first} and {second}")
    if m != k:
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({n}x{m} and {k}x{p})")
    check_one_dtype(batch1, batch2, "self and mat2 must have the same dtype, but got {} and {}")


def cross(input: Any, other: Any, dim: int | None = None) -> Any:
    """The cross product along `dim`, of size 3; by default the first dimension of that size."""
    if dim is None:
        dim = next((i for i, size in enumerate(input.shape) if size == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return linalg_cross(input, other, dim)


def linalg_cross(input: Any, other: Any, dim: int = -1) -> Any:
    """The cross product of the vectors along `dim`.

    Raises RuntimeError if `dim` does not have size 3.
    """
    if input.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    counted = dim_index(dim, input.ndim)
    if (input.shape[counted], other.shape[counted]) != (3, 3):
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. "
            f"Got {input.shape[counted]} and {other.shape[counted]}"
        )
    return call(LinalgCrossBackward0(counted), input, other)


def dist(input: Any, other: Any, p: float = 2) -> Any:
    """The p-norm of `input - other`."""
    difference = input - other
    if difference.dtype.kind not in "fc":
        name = scalar_name(difference.array.dtype)
        raise RuntimeError(f"norm(): input dtype should be either floating point or complex. Got {name} instead.")
    return vector_norm(difference, p)


def vdot(input: Any, other: Any) -> Any:
    """The dot product of two vectors, the first one conjugated."""
    return dot(conj(input) if input.array.dtype.kind == "c" else input, other)


def multi_dot(tensors: Sequence[Any]) -> Any:
    """The product of several matrices, from left to right; the first and the last may be vectors."""
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    return reduce(matmul, tensors)


def addmv_(x: TensorState, mat: Any, vec: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """`addmv`, in place."""
    _check_sizes(x, mat, vec)
    return call_(AddmvBackward0(beta, alpha), x, mat, vec)
