"""Operations on the elements that a boolean mask selects."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microtape.basics.dtypes import cpp_name, scalar_name
from microtape.ops.shape.reshaping import expand
from microtape.ops.shared.arguments import plain
from microtape.ops.shared.choice import choose
from microtape.tape.in_place import call_
from microtape.tape.operands import as_tensor, number_as
from microtape.tape.operation import Operation, call
from microtape.tape.tensor_state import TensorState, zeros_like

__all__ = ["masked_fill", "masked_scatter", "masked_select"]

_SCATTER = "masked_scatter_ only supports boolean masks, but got mask with dtype {}"


class MaskedFillBackward0(Operation):
    """A number where the mask is True."""

    __slots__ = ("mask", "number")
    row_major = True
    formula = "z = n where mask, else x    ∂x = 0 where mask, else g"
    op = "masked_fill"

    def __init__(self, mask: Any, number: Any) -> None:
        super().__init__()
        self.mask, self.number = mask, number

    def forward(self, x: Any) -> Any:
        return choose(plain(self.mask), number_as(self.number, x.dtype), x)

    def grad_x(self, g: Any, mask: Any) -> Any:
        return masked_fill(g, mask, 0)


class MaskedFillBackward1(Operation):
    """A tensor without dimensions where the mask is True."""

    __slots__ = ("mask",)
    row_major = True
    operands = ("x", "y")
    formula = "z = y where mask, else x    ∂x = 0 where mask, else g,  ∂y = Σ g where mask"
    op = "masked_fill"

    def __init__(self, mask: Any) -> None:
        super().__init__()
        self.mask = mask

    def forward(self, x: Any, y: Any) -> Any:
        return choose(plain(self.mask), y.astype(x.dtype), x)

    def grad_x(self, g: Any, mask: Any) -> Any:
        return masked_fill(g, mask, 0)

    def grad_y(self, g: Any, mask: Any) -> Any:
        return g * mask  # the engine sums it up


class MaskedSelectBackward0(Operation):
    __slots__ = ("mask", "x_shape")
    formula = "z = the elements of x where mask    ∂x = g at their places, 0 elsewhere"

    def __init__(self, mask: Any) -> None:
        super().__init__()
        self.mask = mask

    def forward(self, x: Any) -> Any:
        mask = plain(self.mask)
        self.x_shape = np.broadcast_shapes(x.shape, mask.shape)
        return np.broadcast_to(x, self.x_shape)[np.broadcast_to(mask, self.x_shape)]

    def grad_x(self, g: Any, mask: Any) -> Any:
        mask = mask if mask.shape == self.x_shape else expand(mask, self.x_shape)
        return call(MaskedScatterBackward0(mask), zeros_like(g, self.x_shape, g.dtype), g)


class MaskedScatterBackward0(Operation):
    __slots__ = ("mask", "y_shape")
    row_major = True
    operands = ("x", "y")
    formula = "z = x, with the elements of y in turn where mask    ∂x = 0 where mask, else g,  ∂y = g where mask"

    def __init__(self, mask: Any) -> None:
        super().__init__()
        self.mask = mask

    def forward(self, x: Any, y: Any) -> Any:
        self.y_shape = y.shape
        mask = np.broadcast_to(plain(self.mask), np.broadcast_shapes(x.shape, self.mask.shape))
        x = np.broadcast_to(x, mask.shape)
        count = np.count_nonzero(mask)
        if count > y.size:
            raise RuntimeError("Number of elements of source < number of ones in mask")
        z = x.copy()
        z[mask] = y.reshape(-1)[:count]
        return z

    def grad_x(self, g: Any, mask: Any) -> Any:
        return masked_fill(g, mask, 0)

    def grad_y(self, g: Any, mask: Any) -> Any:
        part = masked_select(g, mask)
        taken = np.arange(math.prod(self.y_shape)) < part.shape[0]
        zeros = zeros_like(g, self.y_shape, g.dtype)
        return call(MaskedScatterBackward0(_as_mask(taken.reshape(self.y_shape), g, _SCATTER)), zeros, part)


def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """`input`, with `value` (a number, or a tensor without dimensions) where `mask`, which broadcasts, is True.

    Raises RuntimeError for a mask that is not of dtype bool, or a value with dimensions.
    """
    return _fill(call, input, mask, value)


def masked_fill_(x: TensorState, mask: Any, value: Any) -> Any:
    """Write `value` where `mask` is True."""
    return _fill(call_, x, mask, value)


def _fill(run: Any, x: Any, mask: Any, value: Any) -> Any:
    """The common part of `masked_fill` and `masked_fill_`."""
    mask = _as_mask(mask, x, "masked_fill_ only supports boolean masks, but got mask with dtype {cpp}")
    if not isinstance(value, TensorState):
        return run(MaskedFillBackward0(mask, value), x)
    if value.array.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.array.ndim} dimension(s)."
        )
    return run(MaskedFillBackward1(mask), x, value)


def masked_select(input: Any, mask: Any) -> Any:
    """The elements of `input` where `mask` is True, in one dimension; both broadcast."""
    return call(MaskedSelectBackward0(_as_mask(mask, input, "masked_select: expected BoolTensor for mask")), input)


def masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """`input`, with the elements of `source` in turn where `mask`, which broadcasts, is True."""
    return _scatter(call, input, mask, source)


def masked_scatter_(x: TensorState, mask: Any, source: Any) -> Any:
    """Write the elements of `source` in turn where `mask` is True."""
    return _scatter(call_, x, mask, source)


def _scatter(run: Any, x: Any, mask: Any, source: Any) -> Any:
    """The common part of `masked_scatter` and `masked_scatter_`. Raises RuntimeError if the dtypes differ."""
    if source.dtype != x.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{scalar_name(x.dtype)} and {scalar_name(source.dtype)}"
        )
    return run(MaskedScatterBackward0(_as_mask(mask, x, _SCATTER)), x, source)


def _as_mask(mask: Any, x: Any, complaint: str) -> Any:
    """The mask as an array or a Tensor, whichever x is. Raises RuntimeError with the complaint if not of bools."""
    mask = as_tensor(mask, type(x)) if isinstance(x, TensorState) else np.asarray(mask)
    if mask.dtype.kind != "b":
        raise RuntimeError(complaint.format(scalar_name(mask.dtype), cpp=cpp_name(mask.dtype)))
    return mask
