"""Distances between vectors, and losses made of distances and margins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microtape.basics.dtypes import scalar_name
from microtape.ops.elementwise.exponential import sqrt
from microtape.ops.elementwise.mask import masked_fill
from microtape.ops.elementwise.rounding import abs, sgn
from microtape.ops.elementwise.selection import clamp_min, minimum, where
from microtape.ops.linear.product import check_one_dtype, matmul
from microtape.ops.network.loss import check_reduction, reduced
from microtape.ops.reduction.statistics import LinalgVectorNormBackward0, vector_norm
from microtape.ops.reduction.sums_and_extrema import sum
from microtape.ops.shape.reshaping import unsqueeze
from microtape.ops.shape.transposition import transpose
from microtape.ops.shared.kinds import nothing, refusal_of
from microtape.tape.operation import Binary, binary, call

__all__ = ["cdist"]


class CdistBackward0(LinalgVectorNormBackward0):
    """The norm of the differences. At ties of the largest each gets the gradient, which `vector_norm` shares."""

    __slots__ = ()

    def grad_x(self, g: Any, x: Any, z: Any) -> Any:
        if math.isinf(self.ord):
            return sgn(x) * self.spread(g) * (abs(x) == self.spread(z))
        if not self.ord:
            return nothing(x)
        return super().grad_x(g, x, z)


class EuclideanDistBackward0(Binary):
    """Distances between many rows by a matrix product, without computing every difference.

    NB: the squares are computed in float64, where torch loses half of the bits of a small distance; a square within
    the rounding error counts as 0.
    """

    formula = "zᵢⱼ = √(|xᵢ|² + |yⱼ|² - 2 xᵢ · yⱼ)    ∂xᵢ = Σⱼ gᵢⱼ (xᵢ - yⱼ) / zᵢⱼ,  ∂yⱼ = Σᵢ gᵢⱼ (yⱼ - xᵢ) / zᵢⱼ"
    op = "cdist"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        wide_x, wide_y = x.astype(np.float64), y.astype(np.float64).swapaxes(-1, -2)
        both = np.sum(wide_x * wide_x, -1, keepdims=True) + np.sum(wide_y * wide_y, -2, keepdims=True)
        squares = both - 2 * (wide_x @ wide_y)
        squares[squares < both * (4 * np.finfo(np.float64).eps)] = 0
        return np.sqrt(squares).astype(x.dtype, order="C")

    def grad_x(self, g: Any, x: Any, y: Any, z: Any) -> Any:
        shares = masked_fill(g / z, z == 0, 0)
        return x * sum(shares, -1, True) - matmul(shares, y)

    def grad_y(self, g: Any, x: Any, y: Any, z: Any) -> Any:
        shares = transpose(masked_fill(g / z, z == 0, 0), -1, -2)
        return y * sum(shares, -1, True) - matmul(shares, x)


_MANY = 25  # rows; for more, torch multiplies matrices


def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The p-norm of `x1 - x2 + eps` along the last dimension; (n, features) twice gives (n,)."""
    return vector_norm(x1 - x2 + eps, p, -1, keepdim)


def cdist(x1: Any, x2: Any, p: float = 2.0) -> Any:
    """The p-norm of the difference between every row of `x1` (..., n, features) and of `x2` (..., m, features).

    The result is (..., n, m). Where two rows are equal, the derivative is 0.
    """
    for i, x in enumerate((x1, x2), 1):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, X{i} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    for i, x in enumerate((x1, x2), 1):
        if x.dtype.kind != "f":
            raise RuntimeError(f"cdist only supports floating-point dtypes, X{i} got: {scalar_name(x.dtype)}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    something = x1.shape[-1] and x1.shape[-2] and x2.shape[-2]
    if something and p == 2 and max(x1.shape[-2], x2.shape[-2]) > _MANY:
        check_one_dtype(x1, x2, "expected m1 and m2 to have the same dtype, but got: {2} != {3}")
        return binary(EuclideanDistBackward0, x1, x2)
    if something and x1.dtype == np.float16:
        raise refusal_of(x1.dtype, "cdist")
    if x1.dtype != x2.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(x1.dtype)} but found {scalar_name(x2.dtype)}")
    away = unsqueeze(x1, -2) - unsqueeze(x2, -3)
    return call(CdistBackward0((away.ndim - 1,), False, p, None), away)


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """max(d(anchor, positive) - d(anchor, negative) + margin, 0) for distances d; all are (n, features).

    With `swap`, d(positive, negative) replaces d(anchor, negative) where it is smaller (Balntas et al., 2016).
    """
    check_reduction(reduction)
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    near, far = (pairwise_distance(anchor, other, p, eps) for other in (positive, negative))
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduced(clamp_min(margin + near - far, 0), reduction)


def margin_ranking_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    """max(-target · (input1 - input2) + margin, 0): with target 1, the first input should be the larger one."""
    check_reduction(reduction)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    difference = input1 - input2
    return reduced(clamp_min(-target * difference + margin, 0), reduction)


def hinge_embedding_loss(input: Any, target: Any, margin: float = 1.0, reduction: str = "mean") -> Any:
    """`input`, a distance, where `target` is 1, and max(margin - input, 0) where it is -1."""
    check_reduction(reduction)
    margins = input.new_full(input.shape, margin)
    lacking = where(target != 1, clamp_min(margins - input, 0), 0)
    return reduced(lacking + where(target != -1, input, 0), reduction)


def cosine_embedding_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    """1 - the cosine between two vectors where `target` is 1, and max(cosine - margin, 0) where it is -1.

    The inputs are (n, features) or (features,), the target (n,) or ().
    """
    check_reduction(reduction)
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not input1.ndim == input2.ndim == target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    squares = [sum(x * x, -1) + 1e-12 for x in (input1, input2)]
    cosine = sum(input1 * input2, -1) / sqrt(squares[0] * squares[1])
    near, far = 1 - cosine, clamp_min(cosine - margin, 0)
    return reduced(where(target == 1, near, 0.0) + where(target == -1, far, 0.0), reduction)
