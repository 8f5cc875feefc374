"""The operators of arithmetic. Broadcasting is undone by the engine, so that the formulas stay as in the textbook.

In the formulas z is the result, g is ∂L/∂z, and what a `grad_` method returns is ∂L/∂ of that operand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.in_place import call_
from microtape.operation import Binary, Unary, as_operand, binary, call, unary
from microtape.ops.kinds import Promoting, WithNumber, floating, named
from microtape.ops.undefined import call_undefined
from microtape.tensor_state import TensorState


class AddBackward0(Binary):
    formula = "z = x + y    ∂z/∂x = 1,  ∂z/∂y = 1"
    forward = staticmethod(np.add)

    def grad_x(self, g: Any) -> Any:
        return g

    def grad_y(self, g: Any) -> Any:
        return g


class SubBackward0(Binary):
    formula = "z = x - y    ∂z/∂x = 1,  ∂z/∂y = -1"
    forward = staticmethod(np.subtract)

    def grad_x(self, g: Any) -> Any:
        return g

    def grad_y(self, g: Any) -> Any:
        return -g


@named("AddBackward0")
class ScaledAdd(Promoting):
    """`add` with its `alpha`: torch's node has the same name."""

    __slots__ = ("alpha",)
    operands = ("x", "y")
    formula = "z = x + α · y    ∂z/∂x = 1,  ∂z/∂y = α"

    def __init__(self, alpha: Any) -> None:
        super().__init__()
        self.alpha = alpha

    def forward(self, x: Any, y: Any) -> Any:
        return x + self.alpha * y

    def grad_x(self, g: Any) -> Any:
        return g

    def grad_y(self, g: Any) -> Any:
        return g * self.alpha


@named("SubBackward0")
class ScaledSub(ScaledAdd):
    """`sub` with its `alpha`, which comes here negated."""

    __slots__ = ()
    formula = "z = x - α · y    ∂z/∂x = 1,  ∂z/∂y = -α"


class RsubBackward1(WithNumber):
    formula = "z = n - x    ∂z/∂x = -1"
    op = "rsub"

    def forward(self, x: Any) -> Any:
        return self.number - x

    def grad_x(self, g: Any) -> Any:
        return -g


class MulBackward0(Binary):
    formula = "z = x · y    ∂z/∂x = y,  ∂z/∂y = x"
    forward = staticmethod(np.multiply)

    def grad_x(self, g: Any, _x: Any, y: Any) -> Any:
        return g * y

    def grad_y(self, g: Any, x: Any, _y: Any) -> Any:
        return g * x


class DivBackward0(Binary):
    formula = "z = x / y    ∂z/∂x = 1 / y,  ∂z/∂y = -x / y²"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        x = floating(x)
        return np.true_divide(x, y, dtype=x.dtype)

    def grad_x(self, g: Any, _x: Any, y: Any) -> Any:
        return g / y

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return -g * ((x / y) / y)


class DivBackward2(Promoting):
    """A quotient that is rounded."""

    __slots__ = ("rounding",)
    operands = ("x", "y")
    formula = "z = x / y, rounded    ∂z/∂x = 0,  ∂z/∂y = 0"

    def __init__(self, rounding: str) -> None:
        if rounding not in ("trunc", "floor"):
            raise RuntimeError(
                f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding}'"
            )
        super().__init__()
        self.rounding = rounding

    def forward(self, x: Any, y: Any) -> Any:
        return divided_down(x, y) if self.rounding == "floor" else divided_towards_zero(x, y)

    def grad_x(self, g: Any) -> Any:
        return g * 0

    def grad_y(self, g: Any) -> Any:
        return g * 0


class RemainderBackward1(Binary):
    formula = "z = x - y · ⌊x / y⌋    ∂z/∂x = 1,  ∂z/∂y = -⌊x / y⌋"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        refuse_zero(y)
        return np.remainder(x, y)

    def grad_x(self, g: Any, _x: Any, _y: Any) -> Any:
        return g

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return -g * div(x, y, rounding_mode="floor")


class RemainderBackward0(WithNumber):
    formula = "z = x - n · ⌊x / n⌋    ∂z/∂x = 1"

    def forward(self, x: Any) -> Any:
        return RemainderBackward1.forward(x, np.asarray(self.number, x.dtype))

    def grad_x(self, g: Any) -> Any:
        return g


class FmodBackward1(Binary):
    formula = "z = x - y · trunc(x / y)    ∂z/∂x = 1,  ∂z/∂y = -trunc(x / y)"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        refuse_zero(y)
        return np.fmod(x, y)

    def grad_x(self, g: Any, _x: Any, _y: Any) -> Any:
        return g

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return -g * div(x, y, rounding_mode="trunc")


class FmodBackward0(WithNumber):
    formula = "z = x - n · trunc(x / n)    ∂z/∂x = 1"

    def forward(self, x: Any) -> Any:
        return FmodBackward1.forward(x, np.asarray(self.number, x.dtype))

    def grad_x(self, g: Any) -> Any:
        return g


class NegBackward0(Unary):
    formula = "z = -x    ∂z/∂x = -1"
    floating = False
    forward = staticmethod(np.negative)

    def grad_x(self, g: Any) -> Any:
        return -g


# Python's operators. For what is neither tensor nor number they return NotImplemented, so that the other may try.


def plus(x: Any, y: Any) -> Any:
    """`x + y`."""
    return binary(AddBackward0, x, y)


def minus(x: Any, y: Any) -> Any:
    """`x - y`."""
    return binary(SubBackward0, x, y)


def minus_from(x: Any, y: Any) -> Any:
    """`y - x`, where y is a number."""
    return call(RsubBackward1(y), x) if isinstance(y, int | float | complex) else NotImplemented


def times(x: Any, y: Any) -> Any:
    """`x * y`."""
    return binary(MulBackward0, x, y)


def divided_by(x: Any, y: Any) -> Any:
    """`x / y`."""
    return binary(DivBackward0, x, y)


def floored_by(x: Any, y: Any) -> Any:
    """`x // y`."""
    return floor_divide(x, y) if isinstance(y, TensorState | int | float) else NotImplemented


def floored_from(x: Any, y: Any) -> Any:
    """`y // x`, where y is a number."""
    return floor_divide(y, x) if isinstance(y, int | float) else NotImplemented


def modulo(x: Any, y: Any) -> Any:
    """`x % y`."""
    return remainder(x, y) if isinstance(y, TensorState | int | float) else NotImplemented


def modulo_from(x: Any, y: Any) -> Any:
    """`y % x`, where y is a number."""
    return remainder(as_operand(y, x), x) if isinstance(y, int | float) else NotImplemented


# Functions, with torch's argument names


def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`input + alpha · other`, broadcast against each other."""
    if alpha == 1:
        return given("add", binary(AddBackward0, input, other), other)
    return call(ScaledAdd(alpha), *pair(input, other))


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`input - alpha · other`, broadcast against each other."""
    if alpha == 1:
        return given("sub", binary(SubBackward0, input, other), other)
    return call(ScaledSub(-alpha), *pair(input, other))


def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`other - alpha · input`."""
    if alpha == 1 and not isinstance(other, TensorState):
        return given("rsub", minus_from(input, other), other)
    return sub(other, input, alpha=alpha)


def mul(input: Any, other: Any) -> Any:
    """`input · other`, broadcast against each other."""
    return given("mul", binary(MulBackward0, input, other), other)


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """`input / other`; whole numbers are divided as floats. `rounding_mode` may be "trunc" or "floor".

    Raises RuntimeError for another rounding mode.
    """
    if rounding_mode is None:
        return given("div", binary(DivBackward0, input, other), other)
    return call(DivBackward2(rounding_mode), *pair(input, other))


def floor_divide(input: Any, other: Any) -> Any:
    """⌊input / other⌋. It has no derivative: use `div` with `rounding_mode="floor"` where one is needed."""
    return call_undefined("floor_divide", divided_down, *pair(input, other))


def remainder(input: Any, other: Any) -> Any:
    """What is left of a division that rounds down: it has the sign of `other`, as Python's `%` has."""
    if isinstance(other, int | float):
        return call(RemainderBackward0(other), input)
    return given("remainder", binary(RemainderBackward1, input, other), other)


def fmod(input: Any, other: Any) -> Any:
    """What is left of a division that rounds towards zero: it has the sign of `input`."""
    if isinstance(other, int | float):
        return call(FmodBackward0(other), input)
    return given("fmod", binary(FmodBackward1, input, other), other)


def neg(input: Any) -> Any:
    """`-input`. Raises RuntimeError for bools."""
    return unary(NegBackward0, input)


def positive(input: Any) -> Any:
    """`input` itself."""
    return input


# In place


def add_(x: TensorState, other: Any, *, alpha: Any = 1) -> Any:
    """Add `alpha · other` in place."""
    return call_(AddBackward0() if alpha == 1 else ScaledAdd(alpha), x, as_operand(other, x))


def sub_(x: TensorState, other: Any, *, alpha: Any = 1) -> Any:
    """Subtract `alpha · other` in place."""
    return call_(SubBackward0() if alpha == 1 else ScaledSub(-alpha), x, as_operand(other, x))


def mul_(x: TensorState, other: Any) -> Any:
    """Multiply by `other` in place."""
    return call_(MulBackward0(), x, as_operand(other, x))


def div_(x: TensorState, other: Any, *, rounding_mode: str | None = None) -> Any:
    """Divide by `other` in place."""
    return call_(DivBackward0() if rounding_mode is None else DivBackward2(rounding_mode), x, as_operand(other, x))


def remainder_(x: TensorState, other: Any) -> Any:
    """Put what is left of a division by `other` in its place."""
    return call_(RemainderBackward1(), x, as_operand(other, x))


def neg_(x: TensorState) -> Any:
    """Negate in place."""
    return call_(NegBackward0(), x)


def given(name: str, result: Any, other: Any) -> Any:
    """`result`, which is NotImplemented where `other` cannot be an operand. Raises TypeError then."""
    if result is NotImplemented:
        raise TypeError(f"{name}(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}")
    return result


def pair(x: Any, y: Any) -> tuple[Any, Any]:
    """Both as tensors if one of them is."""
    if isinstance(x, TensorState):
        return x, as_operand(y, x)
    return (as_operand(x, y), y) if isinstance(y, TensorState) else (x, y)


def divided_down(x: Any, y: Any) -> Any:
    """⌊x / y⌋."""
    refuse_zero(y)
    return np.floor_divide(x, y)


def divided_towards_zero(x: Any, y: Any) -> Any:
    """x / y without its fraction."""
    refuse_zero(y)
    quotient = np.floor_divide(x, y) if x.dtype.kind in "biu" else np.trunc(x / y)
    if x.dtype.kind in "iu":
        quotient = quotient + ((quotient < 0) & (quotient * y != x))
    return quotient.astype(x.dtype, copy=False)


def refuse_zero(y: Any) -> None:
    """Raise RuntimeError where a whole number would be divided by 0."""
    if y.dtype.kind in "biu" and not np.all(y):
        raise RuntimeError("ZeroDivisionError")
