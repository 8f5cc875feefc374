"""One of two numbers for each element: where, maximum and minimum, bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.basics.dtypes import of_number, scalar_name
from microtape.ops.shared.arguments import plain, refuse_out
from microtape.ops.shared.choice import choose
from microtape.ops.shared.kinds import Promoting, WithNumber, beside_number, refusing
from microtape.ops.shared.undefined import call_undefined
from microtape.tape.in_place import call_
from microtape.tape.operands import NUMBERS, as_operand, as_tensor, number_as
from microtape.tape.operation import Binary, Operation, binary, call, refusal
from microtape.tape.tensor_state import TensorState, new_tensor

__all__ = [
    "clamp",
    "clamp_",
    "clamp_max",
    "clamp_max_",
    "clamp_min",
    "clamp_min_",
    "clip",
    "heaviside",
    "maximum",
    "minimum",
    "nan_to_num",
    "where",
]


class WhereBackward0(Promoting):
    __slots__ = ("condition",)
    operands = ("x", "y")
    formula = "z = x where mask, else y    ∂z/∂x = mask,  ∂z/∂y = 1 - mask"

    def __init__(self, condition: Any) -> None:
        super().__init__()
        self.condition = condition

    def forward(self, x: Any, y: Any) -> Any:
        condition = plain(self.condition)
        try:
            return choose(condition, x, y)
        except ValueError as error:
            for one in (x, y):
                if _fits(condition.shape, one.shape):
                    continue
                raise refusal(error, condition, one) from None
            raise

    def grad_x(self, g: Any, condition: Any) -> Any:
        return where(condition, g, 0.0)

    def grad_y(self, g: Any, condition: Any) -> Any:
        return where(condition, 0.0, g)


@refusing(c="maximum not implemented for complex tensors.")
class MaximumBackward0(Binary):
    formula = "z = max(x, y)    ∂z/∂x = 1 where x > y, ½ where x = y,  ∂z/∂y = 1 where y > x, ½ where x = y"
    forward = staticmethod(np.maximum)

    def grad_x(self, g: Any, x: Any, y: Any) -> Any:
        return where(x < y, 0.0, where(x == y, g / 2, g))

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return where(y < x, 0.0, where(x == y, g / 2, g))


@refusing(c="minimum not implemented for complex tensors.")
class MinimumBackward0(Binary):
    formula = "z = min(x, y)    ∂z/∂x = 1 where x < y, ½ where x = y,  ∂z/∂y = 1 where y < x, ½ where x = y"
    forward = staticmethod(np.minimum)

    def grad_x(self, g: Any, x: Any, y: Any) -> Any:
        return where(x > y, 0.0, where(x == y, g / 2, g))

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return where(y > x, 0.0, where(x == y, g / 2, g))


@refusing(b="{self.kernel}", c=NotImplementedError("clamp is not supported for complex types"))
class ClampBackward1(WithNumber):
    """With bounds that are numbers or None."""

    __slots__ = ("max", "min")
    arguments = ("min", "max")
    formula = "z = x within [l, h]    ∂z/∂x = 1 where l ≤ x ≤ h, else 0"
    op = "clamp"

    def __init__(self, min: float | None, max: float | None) -> None:
        if min is None and max is None:
            raise RuntimeError("microtape.clamp: At least one of 'min' or 'max' must not be None")
        super().__init__(max if min is None else min if max is None else min + max)
        self.min, self.max = min, max

    def forward(self, x: Any) -> Any:
        lowest, highest = (None if bound is None else number_as(bound, x.dtype) for bound in (self.min, self.max))
        return np.clip(x, lowest, highest)

    @property
    def kernel(self) -> str:
        """torch's name for the computation, which is in its errors."""
        bounds = "_min" if self.max is None else "_max" if self.min is None else ""
        return f"clamp{bounds}_scalar_cpu"

    def grad_x(self, g: Any, x: Any) -> Any:
        if self.min is not None:
            g = where(x >= self.min, g, 0.0)
        return g if self.max is None else where(x <= self.max, g, 0.0)


@refusing(c="maximum_cpu")
class ClampMinBackward1(Promoting):
    """With a bound that is a tensor."""

    operands = ("x", "lowest")
    formula = "z = max(x, n)    ∂z/∂x = 1 where x ≥ n, ∂z/∂n = 1 where x < n"
    op = "clamp_min"
    forward = staticmethod(np.maximum)

    def grad_x(self, g: Any, x: Any, lowest: Any) -> Any:
        return where(x >= lowest, g, 0.0)

    def grad_lowest(self, g: Any, x: Any, lowest: Any) -> Any:
        return where(x < lowest, g, 0.0)


@refusing(c="minimum_cpu")
class ClampMaxBackward1(Promoting):
    """With a bound that is a tensor."""

    operands = ("x", "highest")
    formula = "z = min(x, n)    ∂z/∂x = 1 where x ≤ n, ∂z/∂n = 1 where x > n"
    op = "clamp_max"
    forward = staticmethod(np.minimum)

    def grad_x(self, g: Any, x: Any, highest: Any) -> Any:
        return where(x <= highest, g, 0.0)

    def grad_highest(self, g: Any, x: Any, highest: Any) -> Any:
        return where(x > highest, g, 0.0)


class ClampMinBackward0(ClampBackward1):
    __slots__ = ()
    formula = "z = max(x, l)    ∂z/∂x = 1 where x ≥ l, else 0"
    op = "clamp_min"


class ClampMaxBackward0(ClampBackward1):
    __slots__ = ()
    formula = "z = min(x, h)    ∂z/∂x = 1 where x ≤ h, else 0"
    op = "clamp_max"


@refusing(b="clamp_cpu", c=NotImplementedError("clamp is not supported for complex types"))
class ClampBackward0(Promoting):
    """With bounds that are tensors; a missing one is replaced by an infinite one."""

    operands = ("x", "lowest", "highest")
    formula = "z = x within [min, max]    ∂z/∂x = 1 inside, ∂z/∂min = 1 below it, ∂z/∂max = 1 above it"
    op = "clamp"

    @staticmethod
    def forward(x: Any, lowest: Any, highest: Any) -> Any:
        return np.minimum(np.maximum(x, lowest), highest)

    def grad_x(self, g: Any, x: Any, lowest: Any, highest: Any) -> Any:
        return where((x >= lowest) & (x <= highest), g, 0.0)

    def grad_lowest(self, g: Any, x: Any, lowest: Any, highest: Any) -> Any:
        return where((x < lowest) & (lowest < highest), g, 0.0)

    def grad_highest(self, g: Any, x: Any, lowest: Any, highest: Any) -> Any:
        return where((x > highest) | (lowest > highest), g, 0.0)


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """`input` where `condition` holds, else `other`; all broadcast against each other.

    With a condition alone, the indices where it holds, one tensor for each dimension. Raises RuntimeError if the
    condition is not of dtype bool.
    """
    if input is None and other is None:
        return tuple(
            [new_tensor(type(condition), indices.copy()) for indices in np.nonzero(np.atleast_1d(condition.array))]
        )
    tensor = next((one for one in (input, other, condition) if isinstance(one, TensorState)), None)
    if tensor is None:
        return choose(condition, input, other)
    if isinstance(condition, NUMBERS):
        raise TypeError(f"where(): argument 'condition' (position 1) must be Tensor, not {type(condition).__name__}")
    condition = as_tensor(condition, type(tensor))
    if condition.array.dtype.kind != "b":
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{scalar_name(condition.array.dtype)}"
        )
    return call(WhereBackward0(condition), *_beside_each_other(input, other, type(tensor)))


def _fits(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether two shapes broadcast."""
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b), strict=False))


def _beside_each_other(x: Any, y: Any, like: Any) -> tuple[Any, Any]:
    """Both as tensors; a number takes the other's dtype."""
    if isinstance(x, TensorState):
        return x, _operand_that_fits(y, x)
    if isinstance(y, NUMBERS):
        y = number_as(y, of_number(y))
    y = as_tensor(y, like)
    return _operand_that_fits(x, y), y


def _operand_that_fits(value: Any, other: TensorState) -> TensorState:
    """`as_operand`, but a number must not be too large for the dtype; NB: as in torch, it may be for half precision."""
    if isinstance(value, NUMBERS):
        dtype = beside_number(other.array, value).dtype
        if dtype != np.float16:
            number_as(value, dtype)
    return as_operand(value, other)


def maximum(input: Any, other: Any) -> Any:
    """The larger of each pair of elements; at ties the gradient is split."""
    return binary(MaximumBackward0, input, other)


def minimum(input: Any, other: Any) -> Any:
    """The smaller of each pair of elements; at ties the gradient is split."""
    return binary(MinimumBackward0, input, other)


def clamp(input: Any, min: Any = None, max: Any = None, *, out: None = None) -> Any:
    """`input` clamped to [min, max]; each bound is a number, a tensor, or None.

    Raises RuntimeError if both bounds are None, TypeError for an `out`.
    """
    refuse_out(out)
    if isinstance(min, TensorState) or isinstance(max, TensorState):
        return call(ClampBackward0(), input, *_bounds(input, min, max))
    return call(ClampBackward1(min, max), input)


def clamp_(x: TensorState, min: Any = None, max: Any = None) -> Any:
    """Clamp to [min, max], in place."""
    if isinstance(min, TensorState) or isinstance(max, TensorState):
        return call_(ClampBackward0(), x, *_bounds(x, min, max))
    return call_(ClampBackward1(min, max), x)


def clamp_min(input: Any, min: Any) -> Any:
    """`input`, but at least `min`."""
    return _clamped_below(call, input, min)


def clamp_max(input: Any, max: Any) -> Any:
    """`input`, but at most `max`."""
    return _clamped_above(call, input, max)


def clamp_min_(x: TensorState, min: Any) -> Any:
    """Clamp to at least `min`, in place."""
    return _clamped_below(call_, x, min)


def clamp_max_(x: TensorState, max: Any) -> Any:
    """Clamp to at most `max`, in place."""
    return _clamped_above(call_, x, max)


def _clamped_below(run: Any, x: Any, min: Any) -> Any:
    """The common part of `clamp_min` and `clamp_min_`."""
    return run(ClampMinBackward1(), x, min) if isinstance(min, TensorState) else run(ClampMinBackward0(min, None), x)


def _clamped_above(run: Any, x: Any, max: Any) -> Any:
    """The common part of `clamp_max` and `clamp_max_`."""
    return run(ClampMaxBackward1(), x, max) if isinstance(max, TensorState) else run(ClampMaxBackward0(None, max), x)


class NanToNumBackward0(Operation):
    __slots__ = ("instead",)
    formula = "z = x, a number in place of NaN and of ±∞    ∂z/∂x = 1 where x is a number, else 0"

    def __init__(self, nan: float | None, posinf: float | None, neginf: float | None) -> None:
        super().__init__()
        self.instead = (0.0 if nan is None else nan, posinf, neginf)

    def forward(self, x: Any) -> Any:
        return np.nan_to_num(x, True, *self.instead)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g * (x - x == 0)  # x - x is NaN where x is NaN or infinite


def nan_to_num(input: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Any:
    """`input` with NaN replaced by `nan` (0), and ±∞ by `posinf` and `neginf` (the largest and smallest numbers)."""
    return call(NanToNumBackward0(nan, posinf, neginf), input)


def heaviside(input: Any, values: Any) -> Any:
    """0 for negative elements, 1 for positive ones, `values` for zeros. It has no derivative."""

    def step(x: Any, at_zero: Any) -> Any:
        return np.heaviside(x, at_zero) if x.dtype.kind == "f" else np.where(x == 0, at_zero, x > 0).astype(x.dtype)

    if isinstance(values, int | float | complex):
        raise TypeError(f"heaviside(): argument 'values' (position 2) must be Tensor, not {type(values).__name__}")
    if input.dtype.kind == "c" or values.dtype.kind == "c":
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if input.dtype != values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return call_undefined("heaviside", step, input, values)


def _bounds(x: Any, min: Any, max: Any) -> tuple[Any, Any]:
    """Both bounds as tensors; None becomes a bound beyond every number."""
    dtype = x.array.dtype
    whole = dtype.kind in "iu"
    lowest, highest = (np.iinfo(dtype).min, np.iinfo(dtype).max) if whole else (-np.inf, np.inf)
    return as_operand(lowest if min is None else min, x), as_operand(highest if max is None else max, x)


# torch has several names for some functions
clip = clamp
