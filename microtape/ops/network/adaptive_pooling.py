"""Pooling to a given output size, whatever the size of the image."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.ops.reduction.sums_and_extrema import mean
from microtape.ops.shared.kinds import refusing
from microtape.tape.operation import Operation, call
from microtape.tape.tensor_state import Array


@refusing(biuc="adaptive_avg_pool2d")
class AdaptiveAvgPool2DBackward0(Operation):
    __slots__ = ("columns", "rows")
    formula = "z = R · x · Cᵀ, where R and C average rows and columns    ∂x = Rᵀ · g · C"

    def __init__(self, rows: Array, columns: Array) -> None:
        super().__init__()
        self.rows, self.columns = rows, columns

    def forward(self, x: Any) -> Any:
        return (self.rows.astype(x.dtype) @ x) @ self.columns.T.astype(x.dtype)

    def grad_x(self, g: Any) -> Any:
        return call(AdaptiveAvgPool2DBackward0(self.rows.T, self.columns.T), g)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """The means of `output_size` parts along each dimension, as equal as possible; None keeps a dimension's size."""
    if isinstance(output_size, tuple | list) and input.ndim < 3:
        raise ValueError("Input dimension should be at least 3")
    if input.ndim not in (3, 4):
        raise RuntimeError(f"adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got {list(input.shape)}")
    given = tuple(output_size) if isinstance(output_size, tuple | list) else (output_size,) * 2
    wanted = [size if parts is None else int(parts) for parts, size in zip(given, input.shape[-2:], strict=True)]
    if min(wanted) < 0:
        raise RuntimeError(
            "adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0 but received "
            f"{{{wanted[0]}, {wanted[1]}}}"
        )
    if wanted == [1, 1]:
        return mean(input, (-1, -2), True)
    rows, columns = (_averaging(size, parts) for size, parts in zip(input.shape[-2:], wanted, strict=True))
    return call(AdaptiveAvgPool2DBackward0(rows, columns), input)


def _averaging(size: int, parts: int) -> Array:
    """The matrix that maps a vector to the means of its parts; uneven parts share elements."""
    matrix = np.zeros((parts, size))
    for i in range(parts):
        start, end = i * size // parts, -(-(i + 1) * size // parts)
        matrix[i, start:end] = 1 / (end - start)
    return matrix
