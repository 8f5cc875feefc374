"""Elements in another order: flipped, rolled, rotated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.ops.shared.arguments import dim_index, dim_tuple, sizes
from microtape.tape.in_place import copy_in_layout
from microtape.tape.operation import Operation, call

__all__ = ["flip", "fliplr", "flipud", "roll", "rot90"]


class FlipBackward0(Operation):
    __slots__ = ("dims",)
    formula = "z = x in reverse order    ∂x = g in reverse order"

    def __init__(self, dims: tuple[int, ...]) -> None:
        super().__init__()
        self.dims = dims

    def forward(self, x: Any) -> Any:
        return copy_in_layout(np.flip(x, self.dims), x)

    def grad_x(self, g: Any) -> Any:
        return flip(g, self.dims)


class RollBackward0(Operation):
    __slots__ = ("dims", "shifts")
    row_major = True
    formula = "z = x, shifted cyclically    ∂x = g, shifted back"

    def __init__(self, shifts: tuple[int, ...], dims: tuple[int, ...] | None) -> None:
        super().__init__()
        self.shifts, self.dims = shifts, dims

    def forward(self, x: Any) -> Any:
        return np.roll(x, self.shifts if self.dims is not None else self.shifts[0], self.dims)

    def grad_x(self, g: Any) -> Any:
        return call(RollBackward0(tuple([-shift for shift in self.shifts]), self.dims), g)


class Rot90Backward0(Operation):
    __slots__ = ("dims", "k")
    formula = "z = x, rotated by k quarter turns    ∂x = g, rotated back"
    op = "rot90"

    def __init__(self, k: int, dims: tuple[int, int]) -> None:
        super().__init__()
        self.k, self.dims = k, dims

    def forward(self, x: Any) -> Any:
        return np.rot90(x, self.k, self.dims).copy()

    def grad_x(self, g: Any) -> Any:
        return rot90(g, -self.k, self.dims)


def flip(input: Any, *given: Any, dims: Any = None) -> Any:
    """`input` with the order of elements reversed along the dimensions: `flip(x, (0, 1))`, `x.flip(0, 1)`."""
    counted = dim_tuple(sizes(given if dims is None else (dims,)), input.ndim)
    return call(FlipBackward0(counted or ()), input)


def fliplr(input: Any) -> Any:
    """`input` with its second dimension reversed. Raises RuntimeError if there is none."""
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip(input, 1)


def flipud(input: Any) -> Any:
    """`input` with its first dimension reversed. Raises RuntimeError if there is none."""
    if not input.ndim:
        raise RuntimeError("Input must be >= 1-d.")
    return flip(input, 0)


def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """`input` shifted cyclically by `shifts` along `dims`; without `dims`, as if it were flattened."""
    moves = sizes((shifts,))
    if not moves:
        raise RuntimeError("`shifts` required")
    if dims is None:
        return call(RollBackward0(moves, None), input)
    counted = tuple([dim_index(dim, input.ndim) for dim in sizes((dims,))])
    if len(moves) != len(counted):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(moves)}, dims:{len(counted)}")
    return call(RollBackward0(moves, counted), input)


def rot90(input: Any, k: int = 1, dims: Sequence[int] = (0, 1)) -> Any:
    """`input` rotated by `k` · 90°, from the first of `dims` towards the second."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.ndim}")
    first, second = (dim_index(dim, input.ndim) for dim in dims)
    if first == second:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    return call(Rot90Backward0(k, (first, second)), input)
