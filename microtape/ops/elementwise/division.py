"""Division: exact, rounded, and the remainder."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from microtape.ops.elementwise.arithmetic import pair
from microtape.ops.shared.chunked import in_chunks
from microtape.ops.shared.kinds import Promoting, WithNumber, floating, nothing, promote_all, refusal_of, refusing
from microtape.ops.shared.undefined import UndefinedBackward, call_undefined
from microtape.tape.in_place import call_
from microtape.tape.operands import as_operand
from microtape.tape.operation import Binary, binary, call
from microtape.tape.tensor_state import TensorState

__all__ = ["div", "divide", "floor_divide", "fmod", "remainder", "true_divide"]

_MANY = 1000  # elements; below that, the cost of calling numpy dominates


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


@refusing(bc="div_{self.rounding}_cpu")
class DivBackward2(Promoting):
    """The rounded quotient."""

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
        return _divided_down(x, y) if self.rounding == "floor" else _divided_towards_zero(x, y)

    def grad_x(self, g: Any) -> Any:
        return nothing(g)

    def grad_y(self, g: Any) -> Any:
        return nothing(g)


@refusing(bc="remainder_cpu")
class RemainderBackward1(Binary):
    formula = "z = x - y · ⌊x / y⌋    ∂z/∂x = 1,  ∂z/∂y = -⌊x / y⌋"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        _refuse_zero(x, y)
        return _from_quotient(_rounded_down_rest, x, y, RemainderBackward1.rest)

    @staticmethod
    def rest(x: Any, y: Any, quotient: Any) -> Any:
        """The remainder of x / y; a 0 has the sign of x."""
        rest = x - np.floor(quotient) * y
        return np.where(rest == 0, np.copysign(0, x), rest)

    def grad_x(self, g: Any, _x: Any, _y: Any) -> Any:
        return g

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return -g * _whole_quotient(x, y, "floor")


class RemainderBackward0(WithNumber):
    formula = "z = x - n · ⌊x / n⌋    ∂z/∂x = 1"

    def forward(self, x: Any) -> Any:
        return RemainderBackward1.forward(x, np.asarray(self.number).astype(x.dtype))

    def grad_x(self, g: Any) -> Any:
        return g


@refusing(bc="fmod_cpu")
class FmodBackward1(Binary):
    formula = "z = x - y · trunc(x / y)    ∂z/∂x = 1,  ∂z/∂y = -trunc(x / y)"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        _refuse_zero(x, y)
        return _from_quotient(np.fmod, x, y, lambda x, y, quotient: np.copysign(x - np.trunc(quotient) * y, x))

    def grad_x(self, g: Any, _x: Any, _y: Any) -> Any:
        return g

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return -g * _whole_quotient(x, y, "trunc")


class FmodBackward0(WithNumber):
    formula = "z = x - n · trunc(x / n)    ∂z/∂x = 1"

    def forward(self, x: Any) -> Any:
        return FmodBackward1.forward(x, np.asarray(self.number).astype(x.dtype))

    def grad_x(self, g: Any) -> Any:
        return g


class DivBackward1(WithNumber):
    """For derivative formulas: divided by a number, as in torch's."""

    formula = "z = x / n    ∂z/∂x = 1 / n"
    op = "div"

    def forward(self, x: Any) -> Any:
        return x / self.number

    def grad_x(self, g: Any) -> Any:
        return over_number(g, self.number)


def divided_by(x: Any, y: Any) -> Any:
    """`x / y`."""
    return binary(DivBackward0, x, y)


def floored_by(x: Any, y: Any) -> Any:
    """`x // y`."""
    return floor_divide(x, y) if isinstance(y, (TensorState, int, float)) else NotImplemented


def floored_from(x: Any, y: Any) -> Any:
    """`y // x`, where y is a number."""
    return floor_divide(y, x) if isinstance(y, (int, float)) else NotImplemented


def modulo(x: Any, y: Any) -> Any:
    """`x % y`."""
    return remainder(x, y) if isinstance(y, (TensorState, int, float)) else NotImplemented


def modulo_from(x: Any, y: Any) -> Any:
    """`y % x`, where y is a number."""
    return remainder(as_operand(y, x), x) if isinstance(y, (int, float)) else NotImplemented


def over_number(x: Any, number: Any) -> Any:
    """`x / number`."""
    return call(DivBackward1(number), x) if isinstance(x, TensorState) else x / number


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """`input / other`; integers are divided as floats. `rounding_mode` may be "trunc" or "floor".

    Raises RuntimeError for another rounding mode.
    """
    if rounding_mode is None:
        return binary(DivBackward0, input, other)
    return call(DivBackward2(rounding_mode), *pair(input, other))


def floor_divide(input: Any, other: Any) -> Any:
    """⌊input / other⌋. It has no derivative: use `div` with `rounding_mode="floor"` where one is needed."""
    return call_undefined("floor_divide", _divided_down, *pair(input, other))


def remainder(input: Any, other: Any) -> Any:
    """The remainder of a division that rounds down: it has the sign of `other`, like Python's `%`."""
    if isinstance(other, (int, float)):
        return call(RemainderBackward0(other), input)
    return binary(RemainderBackward1, input, other)


def fmod(input: Any, other: Any) -> Any:
    """The remainder of a division that rounds towards zero: it has the sign of `input`."""
    if isinstance(other, (int, float)):
        return call(FmodBackward0(other), input)
    return binary(FmodBackward1, input, other)


def div_(x: TensorState, other: Any, *, rounding_mode: str | None = None) -> Any:
    """Divide by `other` in place."""
    return call_(
        DivBackward0() if rounding_mode is None else DivBackward2(rounding_mode), x, as_operand(other, x, "div_")
    )


def floor_divide_(x: TensorState, other: Any) -> Any:
    """Divide by `other` in place and round down. It has no derivative."""
    return call_(UndefinedBackward("floor_divide_", _divided_down), x, as_operand(other, x, "floor_divide_"))


def remainder_(x: TensorState, other: Any) -> Any:
    """`remainder`, in place."""
    if isinstance(other, (int, float)):
        return call_(RemainderBackward0(other), x)
    return call_(RemainderBackward1(), x, as_operand(other, x, "remainder_"))


def fmod_(x: TensorState, other: Any) -> Any:
    """`fmod`, in place."""
    if isinstance(other, (int, float)):
        return call_(FmodBackward0(other), x)
    return call_(FmodBackward1(), x, as_operand(other, x, "fmod_"))


def _divided_down(x: Any, y: Any) -> Any:
    """⌊x / y⌋. Raises NotImplementedError for bools and complex numbers."""
    if x.dtype.kind in "bc":
        raise refusal_of(x.dtype, "div_floor_cpu")
    _refuse_zero(x, y)
    return _from_quotient(np.floor_divide, x, y, lambda x, y, quotient: np.floor(quotient))


def _whole_quotient(x: Any, y: Any, rounding: str) -> Any:
    """`div` for a derivative formula, whose arrays have not been promoted."""
    if not isinstance(x, TensorState):
        x, y = promote_all([x, y])
    return div(x, y, rounding_mode=rounding)


def _rounded_down_rest(x: Any, y: Any) -> Any:
    """The remainder of x / y, rounded down. NB: numpy gives a remainder of 0 the sign of y, torch that of x."""
    rest = np.remainder(x, y)
    if x.dtype.kind in "iu" or rest.all():
        return rest
    return np.where(rest == 0, np.copysign(0, x), rest)


def _from_quotient(exact: Any, x: Any, y: Any, formula: Any) -> Any:
    """`exact(x, y)`; large float32 arrays by a formula of their quotient in float64, in a third of the time.

    With 24 bits in x and in y, the float64 quotient falls on the right side of every integer, and its product with y is
    exact, as long as the quotient is small and y finite. For other elements `exact`, which is slower, is called.
    """
    if x.dtype != np.float32 or np.size(x) + np.size(y) < _MANY:
        return exact(x, y)
    return in_chunks(partial(_by_quotient, exact, formula), x, y)


def _by_quotient(exact: Any, formula: Any, x: Any, y: Any) -> Any:
    """See `_from_quotient`."""
    quotient = np.divide(x, y, dtype=np.float64)
    z = formula(x, y, quotient).astype(x.dtype)
    others = ~(np.abs(quotient) < 2**22) | np.isinf(y)
    if others.any():
        x, y = np.broadcast_arrays(x, y)
        z[others] = exact(x[others], y[others])
    return z


def _divided_towards_zero(x: Any, y: Any) -> Any:
    """x / y, rounded towards zero."""
    _refuse_zero(x, y)
    quotient = np.floor_divide(x, y) if x.dtype.kind in "biu" else np.trunc(x / y)
    if x.dtype.kind in "iu":
        quotient = quotient + ((quotient < 0) & (quotient * y != x))
    return quotient.astype(x.dtype, copy=False)


def _refuse_zero(x: Any, y: Any) -> None:
    """Raise RuntimeError for an integer division by 0."""
    if y.dtype.kind in "biu" and not np.all(y) and x.size:
        raise RuntimeError("ZeroDivisionError")


# torch has several names for some functions
divide = div
true_divide = div
