"""How far vectors are from each other, and losses that are made of distances and margins."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.dtypes import scalar_name
from microtape.ops.exponential import sqrt
from microtape.ops.kinds import refusal_of
from microtape.ops.loss import check_reduction, reduced
from microtape.ops.reduction import sum
from microtape.ops.selection import clamp_min, minimum, where
from microtape.ops.shape import unsqueeze
from microtape.ops.statistics import vector_norm


def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The p-norm of `x1 - x2 + eps` along the last dimension; (n, features) twice gives (n,)."""
    return vector_norm(x1 - x2 + eps, p, -1, keepdim)


def cdist(x1: Any, x2: Any, p: float = 2.0) -> Any:
    """The p-norm of the difference between every row of `x1` (..., n, features) and of `x2` (..., m, features).

    The result is (..., n, m). The derivative where two rows are equal is 0.
    """
    for i, x in enumerate((x1, x2), 1):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, X{i} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    for i, x in enumerate((x1, x2), 1):
        if x.dtype.kind != "f":
            raise RuntimeError(f"cdist only supports floating-point dtypes, X{i} got: {scalar_name(x.dtype)}")
        if x.dtype == np.float16:
            raise refusal_of(x.dtype, "cdist")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    return vector_norm(unsqueeze(x1, -2) - unsqueeze(x2, -3), p, -1)


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
    """How much less than `margin` the anchor is nearer to `positive` than to `negative`; all are (n, features).

    With `swap`, the distance from `positive` to `negative` counts where it is the smaller (Balntas et al., 2016).
    """
    check_reduction(reduction)
    near, far = (pairwise_distance(anchor, other, p, eps) for other in (positive, negative))
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduced(clamp_min(margin + near - far, 0), reduction)


def margin_ranking_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    """How much less than `margin` the first is above the second, where `target` is 1, or below it, where it is -1."""
    check_reduction(reduction)
    difference = input1 - input2
    return reduced(clamp_min(-target * difference + margin, 0), reduction)


def hinge_embedding_loss(input: Any, target: Any, margin: float = 1.0, reduction: str = "mean") -> Any:
    """The distance itself where `target` is 1, and what it lacks of `margin` where it is -1."""
    check_reduction(reduction)
    margins = input.new_full(input.shape, margin)
    lacking = where(target != 1, clamp_min(margins - input, 0), 0)
    return reduced(lacking + where(target != -1, input, 0), reduction)


def cosine_embedding_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    """1 - the cosine between two vectors where `target` is 1; where it is -1, how much the cosine is above `margin`.

    The inputs are (n, features) or (features,), the target (n,) or ().
    """
    check_reduction(reduction)
    squares = [sum(x * x, -1) + 1e-12 for x in (input1, input2)]
    cosine = sum(input1 * input2, -1) / sqrt(squares[0] * squares[1])
    near, far = 1 - cosine, clamp_min(cosine - margin, 0)
    return reduced(where(target == 1, near, 0.0) + where(target == -1, far, 0.0), reduction)
