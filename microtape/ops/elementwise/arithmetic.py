"""The operators of arithmetic. The engine undoes broadcasting, so that the formulas stay as in the textbook.

In the formulas, z is the result and g is ∂L/∂z; a method `grad_x` returns ∂L/∂x.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from microtape.ops.shared.kinds import Promoting, WithNumber, in_place, named, refusing
from microtape.tape.in_place import call_
from microtape.tape.operands import as_element, as_operand, number_as, promoted
from microtape.tape.operation import NO_MASKS, Binary, Unary, binary, call, unary
from microtape.tape.tensor_state import TensorState

__all__ = ["add", "mul", "multiply", "neg", "neg_", "negative", "positive", "rsub", "sub", "subtract"]


class AddBackward0(Binary):
    formula = "z = x + y    ∂z/∂x = 1,  ∂z/∂y = 1"
    forward = staticmethod(operator.add)  # faster than np.add for scalars

    def grad_x(self, g: Any) -> Any:
        return g

    def grad_y(self, g: Any) -> Any:
        return g


NO_MASK = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the "
    "`~` or `logical_not()` operator instead."
)


class SubBackward0(Binary):
    formula = "z = x - y    ∂z/∂x = 1,  ∂z/∂y = -1"
    forward = staticmethod(operator.sub)

    @staticmethod
    def promoted(x: Any, y: Any) -> Any:
        """See Binary.promoted."""
        _refuse_mask(x, y)
        return promoted(x, y)

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
        return (x + _checked_alpha(self.alpha, x) * y).astype(x.dtype, copy=False)

    def grad_x(self, g: Any) -> Any:
        return g

    def grad_y(self, g: Any) -> Any:
        return g * self.alpha


@named("SubBackward0")
class ScaledSub(ScaledAdd):
    """`sub` with its `alpha`."""

    __slots__ = ()
    formula = "z = x - α · y    ∂z/∂x = 1,  ∂z/∂y = -α"

    def forward(self, x: Any, y: Any) -> Any:
        return x - _checked_alpha(self.alpha, x) * y

    def grad_y(self, g: Any) -> Any:
        return -g * self.alpha


class RsubBackward0(Promoting):
    """`rsub` of two tensors."""

    __slots__ = ("alpha",)
    operands = ("x", "y")
    formula = "z = y - α · x    ∂z/∂x = -α,  ∂z/∂y = 1"
    op = "rsub"

    def __init__(self, alpha: Any) -> None:
        super().__init__()
        self.alpha = alpha

    def forward(self, x: Any, y: Any) -> Any:
        return y - _checked_alpha(self.alpha, x) * x

    def grad_x(self, g: Any) -> Any:
        return -g * self.alpha

    def grad_y(self, g: Any) -> Any:
        return g


class RsubBackward1(WithNumber):
    formula = "z = n - x    ∂z/∂x = -1"
    op = "rsub"

    def forward(self, x: Any) -> Any:
        return as_element(self.number, x.dtype) - x

    def grad_x(self, g: Any) -> Any:
        return -g


class MulBackward0(Binary):
    formula = "z = x · y    ∂z/∂x = y,  ∂z/∂y = x"
    forward = staticmethod(operator.mul)

    def grad_x(self, g: Any, _x: Any, y: Any) -> Any:
        return g * y

    def grad_y(self, g: Any, x: Any, _y: Any) -> Any:
        return g * x


class AddBackward1(WithNumber):
    """For derivative formulas: plus a number, as in torch's."""

    formula = "z = x + n    ∂z/∂x = 1"
    op = "add"

    def forward(self, x: Any) -> Any:
        return x + self.number

    def grad_x(self, g: Any) -> Any:
        return g


class MulBackward1(WithNumber):
    """For derivative formulas: times a number, as in torch's."""

    formula = "z = x · n    ∂z/∂x = n"
    op = "mul"

    def forward(self, x: Any) -> Any:
        return x * self.number

    def grad_x(self, g: Any) -> Any:
        return times_number(g, self.number)


@refusing(
    b="Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` "
    "or `logical_not()` operator instead."
)
class NegBackward0(Unary):
    formula = "z = -x    ∂z/∂x = -1"
    floating = False
    forward = staticmethod(np.negative)

    def grad_x(self, g: Any) -> Any:
        return -g


# Python's operators. For other types they return NotImplemented, so that the other operand's method is tried.


def plus(x: Any, y: Any) -> Any:
    """`x + y`."""
    return binary(AddBackward0, x, y)


def minus(x: Any, y: Any) -> Any:
    """`x - y`."""
    if y is True or y is False:
        _refuse_bool(x)
    return binary(SubBackward0, x, y)


def minus_from(x: Any, y: Any) -> Any:
    """`y - x`, where y is a number."""
    if not isinstance(y, (int, float, complex)):
        return NotImplemented
    if isinstance(y, bool):
        _refuse_bool(x)
    _refuse_mask(x.array)
    return call(RsubBackward1(y), x)


def times(x: Any, y: Any) -> Any:
    """`x * y`."""
    return binary(MulBackward0, x, y)


# For derivative formulas: operations with a number, of Tensors or arrays


def plus_number(x: Any, number: Any) -> Any:
    """`x + number`."""
    return call(AddBackward1(number), x) if isinstance(x, TensorState) else x + number


def times_number(x: Any, number: Any) -> Any:
    """`x * number`."""
    return call(MulBackward1(number), x) if isinstance(x, TensorState) else x * number


# Functions, with torch's argument names


def _refuse_mask(*arrays: Any) -> None:
    """Raise RuntimeError for a bool operand next to another dtype, or alone; two bools numpy refuses itself."""
    kinds = [array.dtype.kind for array in arrays]
    if ("b" in kinds and set(kinds) != {"b"}) or kinds == ["b"]:
        raise RuntimeError(NO_MASK)


def _refuse_bool(x: Any) -> None:
    """Raise RuntimeError for `x - True`."""
    raise RuntimeError(NO_MASKS if x.array.dtype.kind == "b" else NO_MASK)


def _is_one(alpha: Any) -> bool:
    """Whether `alpha` changes nothing. True and 1.0 are for `_checked_alpha`: not every dtype takes them."""
    return type(alpha) is int and alpha == 1


def _checked_alpha(alpha: Any, x: Any) -> Any:
    """`alpha` in the operands' dtype. Raises RuntimeError for a number of another kind, or one that is too large."""
    kind = x.dtype.kind
    if isinstance(alpha, bool) and kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, (float, complex)) and kind in "biu":
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and kind != "c":
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    return number_as(alpha, x.dtype)


def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`input + alpha · other`, broadcast against each other."""
    if _is_one(alpha):
        return binary(AddBackward0, input, other)
    return call(ScaledAdd(alpha), *pair(input, other))


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`input - alpha · other`, broadcast against each other."""
    if _is_one(alpha):
        return minus(input, other)
    if isinstance(other, bool):
        _refuse_bool(input)
    input, other = pair(input, other)
    _refuse_mask(input, other)
    return call(ScaledSub(alpha), input, other)


def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`other - alpha · input`."""
    if _is_one(alpha) and not isinstance(other, TensorState):
        return minus_from(input, other)
    if isinstance(other, bool):
        _refuse_bool(input)
    input, other = pair(input, other)
    _refuse_mask(input, other)
    return call(RsubBackward0(alpha), input, other)


def mul(input: Any, other: Any) -> Any:
    """`input · other`, broadcast against each other."""
    return binary(MulBackward0, input, other)


def neg(input: Any) -> Any:
    """`-input`. Raises RuntimeError for bools."""
    return unary(NegBackward0, input)


def positive(input: Any) -> Any:
    """`input` itself. Raises RuntimeError for bools."""
    if input.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


# In place


def add_(x: TensorState, other: Any, *, alpha: Any = 1) -> Any:
    """Add `alpha · other` in place."""
    return call_(AddBackward0() if _is_one(alpha) else ScaledAdd(alpha), x, as_operand(other, x, "add_"))


def sub_(x: TensorState, other: Any, *, alpha: Any = 1) -> Any:
    """Subtract `alpha · other` in place."""
    if isinstance(other, bool):
        _refuse_bool(x)
    other = as_operand(other, x, "sub_")
    _refuse_mask(x, other)
    return call_(SubBackward0() if _is_one(alpha) else ScaledSub(alpha), x, other)


def mul_(x: TensorState, other: Any) -> Any:
    """Multiply by `other` in place."""
    return call_(MulBackward0(), x, as_operand(other, x, "mul_"))


def pair(x: Any, y: Any) -> tuple[Any, Any]:
    """Both as tensors if one of them is."""
    if isinstance(x, TensorState):
        return x, as_operand(y, x)
    return (as_operand(x, y), y) if isinstance(y, TensorState) else (x, y)


neg_ = in_place(NegBackward0)


# torch has several names for some functions
multiply = mul
negative = neg
subtract = sub
