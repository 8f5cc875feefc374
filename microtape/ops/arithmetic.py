"""The operators of arithmetic. Broadcasting is undone by the engine, so that the formulas stay as in the textbook.

In the formulas z is the result, g is ∂L/∂z, and what a `grad_` method returns is ∂L/∂ of that operand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.dtypes import get_default_dtype
from microtape.in_place import call_, places
from microtape.operation import Binary, Operation, Unary, as_operand, binary, call
from microtape.ops.elementwise import log, where
from microtape.tensor_state import TensorState


class AddBackward0(Binary):
    formula = "z = x + y    ∂z/∂x = 1,  ∂z/∂y = 1"
    forward = staticmethod(np.add)

    def grad_x(self, g: Any) -> Any:
        return g

    def grad_y(self, g: Any) -> Any:
        return g


class ScaledAdd(Binary):
    """Addition with a factor."""

    __slots__ = ("alpha",)
    formula = "z = x + α · y    ∂z/∂x = 1,  ∂z/∂y = α"
    op = "add"

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self.alpha = alpha

    def name(self) -> str:
        return "AddBackward0"

    def forward(self, x: Any, y: Any) -> Any:
        return x + np.multiply(y, self.alpha, dtype=y.dtype)

    def grad_x(self, g: Any) -> Any:
        return g

    def grad_y(self, g: Any) -> Any:
        return g * self.alpha


class SubBackward0(Binary):
    formula = "z = x - y    ∂z/∂x = 1,  ∂z/∂y = -1"
    forward = staticmethod(np.subtract)

    def grad_x(self, g: Any) -> Any:
        return g

    def grad_y(self, g: Any) -> Any:
        return -g


class ScaledSub(ScaledAdd):
    """Subtraction with a factor."""

    __slots__ = ()
    formula = "z = x - α · y    ∂z/∂x = 1,  ∂z/∂y = -α"
    op = "sub"

    def name(self) -> str:
        return "SubBackward0"

    def forward(self, x: Any, y: Any) -> Any:
        return x - np.multiply(y, self.alpha, dtype=y.dtype)

    def grad_y(self, g: Any) -> Any:
        return -g * self.alpha


class RsubBackward1(Unary):
    """A number minus a tensor."""

    __slots__ = ("number",)
    formula = "z = c - x    ∂z/∂x = -1"
    op = "rsub"

    def __init__(self, number: Any) -> None:
        super().__init__()
        self.number = number

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
        if x.dtype.kind in "biu":
            x = x.astype(get_default_dtype())
        return np.true_divide(x, y, dtype=x.dtype)

    def grad_x(self, g: Any, _x: Any, y: Any) -> Any:
        return g / y

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return -g * ((x / y) / y)


class NegBackward0(Unary):
    formula = "z = -x    ∂z/∂x = -1"
    forward = staticmethod(np.negative)

    def grad_x(self, g: Any) -> Any:
        return -g


class PowBackward0(Operation):
    """A constant exponent."""

    __slots__ = ("exponent",)
    formula = "z = xⁿ    ∂z/∂x = n · xⁿ⁻¹"

    def __init__(self, exponent: float) -> None:
        super().__init__()
        self.exponent = exponent

    def forward(self, x: Any) -> Any:
        return np.power(x, self.exponent)

    def grad_x(self, g: Any, x: Any) -> Any:
        if self.exponent == 0:
            return g * 0
        return g * (self.exponent * x ** (self.exponent - 1))


class PowBackward1(Binary):
    formula = "z = xʸ    ∂z/∂x = y · xʸ⁻¹,  ∂z/∂y = xʸ · ln x"
    forward = staticmethod(np.power)

    def grad_x(self, g: Any, x: Any, y: Any, _z: Any) -> Any:
        return g * where(y == 0, 0.0, y * x ** (y - 1))

    def grad_y(self, g: Any, x: Any, y: Any, z: Any) -> Any:
        return g * where((x == 0) & (y >= 0), 0.0, z * log(x))


class PowBackward2(Operation):
    """A constant base."""

    __slots__ = ("base",)
    operands = ("y",)
    formula = "z = bʸ    ∂z/∂y = bʸ · ln b"

    def __init__(self, base: float) -> None:
        super().__init__()
        self.base = base

    def forward(self, y: Any) -> Any:
        return np.power(self.base, y, dtype=y.dtype)

    def grad_y(self, g: Any, y: Any, z: Any) -> Any:
        if self.base == 0:
            return where(y >= 0, 0.0, g * (z * -np.inf))
        return g * (z * np.log(self.base))


class CloneBackward0(Unary):
    formula = "z = x    ∂z/∂x = 1"
    forward = staticmethod(np.copy)

    def grad_x(self, g: Any) -> Any:
        return g


class CopyBackwards(Operation):
    """x becomes y, broadcast and cast to what x is."""

    operands = ("x", "y")
    formula = "z = y    ∂z/∂x = 0,  ∂z/∂y = 1"
    op = "copy"

    def name(self) -> str:
        return "torch::autograd::CopyBackwards"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return np.broadcast_to(y, np.broadcast_shapes(x.shape, y.shape)).astype(x.dtype)

    def grad_x(self, g: Any) -> Any:
        return g * 0

    def grad_y(self, g: Any) -> Any:
        return g


class FillBackward3(CopyBackwards):
    """A 0-d tensor everywhere."""

    op = "fill"

    def name(self) -> str:
        return "FillBackward3"


class FillBackward2(Unary):
    """A number everywhere."""

    __slots__ = ("value",)
    formula = "z = c    ∂z/∂x = 0"
    op = "fill"

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def forward(self, x: Any) -> Any:
        return np.full_like(x, self.value)

    def grad_x(self, g: Any) -> Any:
        return g * 0


class ZeroBackward0(Unary):
    formula = "z = 0    ∂z/∂x = 0"
    op = "zero"
    forward = staticmethod(np.zeros_like)

    def grad_x(self, g: Any) -> Any:
        return g * 0


class ToCopyBackward0(Unary):
    """A cast."""

    __slots__ = ("to_dtype",)
    formula = "z = x in another dtype    ∂z/∂x = 1"
    op = "to"

    def __init__(self, dtype: Any) -> None:
        super().__init__()
        self.to_dtype = dtype

    def forward(self, x: Any) -> Any:
        return x.astype(self.to_dtype)

    def grad_x(self, g: Any) -> Any:
        return g


def add(x: Any, y: Any, *, alpha: float = 1) -> Any:
    """`x + alpha · y`."""
    return binary(AddBackward0, x, y) if alpha == 1 else call(ScaledAdd(alpha), x, operand(y, x))


def sub(x: Any, y: Any, *, alpha: float = 1) -> Any:
    """`x - alpha · y`."""
    return binary(SubBackward0, x, y) if alpha == 1 else call(ScaledSub(alpha), x, operand(y, x))


def rsub(x: Any, y: Any) -> Any:
    """`y - x`, for a y that is no tensor: what `1 - x` records."""
    if isinstance(y, np.ndarray):
        return binary(SubBackward0, as_operand(y, x), x)
    return call(RsubBackward1(as_operand(y, x).array), x)


def mul(x: Any, y: Any) -> Any:
    """`x · y`."""
    return binary(MulBackward0, x, y)


def div(x: Any, y: Any) -> Any:
    """`x / y`; integers are divided as floats."""
    return binary(DivBackward0, x, y)


def neg(x: Any) -> Any:
    """`-x`."""
    return call(NegBackward0(), x)


def pow(x: Any, y: Any) -> Any:
    """`x ** y`, of tensors or numbers."""
    if not isinstance(y, TensorState) and np.ndim(y) == 0 and not isinstance(y, np.ndarray):
        return call(PowBackward0(y), x)
    if not isinstance(x, TensorState) and np.ndim(x) == 0 and not isinstance(x, np.ndarray):
        return call(PowBackward2(x), y)
    return binary(PowBackward1, x, y)


def clone(x: Any) -> Any:
    """A copy that gradients flow through."""
    return call(CloneBackward0(), x)


def copy_(x: TensorState, y: Any) -> Any:
    """Write y into x."""
    same = isinstance(y, TensorState) and places(x.array) == places(y.array)  # then nothing is lost by overlapping
    return call_(CopyBackwards(), x, y, sharing="repeated" if same else "same")


def fill_(x: TensorState, value: Any) -> Any:
    """Write a number or a 0-d tensor everywhere. Raises RuntimeError for a tensor with dimensions."""
    if not isinstance(value, TensorState):
        return call_(FillBackward2(value), x, sharing="repeated")
    if value.array.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value.array.ndim} dimensions."
        )
    return call_(FillBackward3(), x, value, sharing="any")


def zero_(x: TensorState) -> Any:
    """Write zeros."""
    return call_(ZeroBackward0(), x, sharing="repeated")


def add_(x: TensorState, y: Any, *, alpha: float = 1) -> Any:
    """Add `alpha · y` in place."""
    return call_(AddBackward0() if alpha == 1 else ScaledAdd(alpha), x, operand(y, x))


def sub_(x: TensorState, y: Any, *, alpha: float = 1) -> Any:
    """Subtract `alpha · y` in place."""
    return call_(SubBackward0() if alpha == 1 else ScaledSub(alpha), x, operand(y, x))


def to(x: TensorState, dtype: Any) -> Any:
    """x in another dtype; x itself if it has that one."""
    return x if x.array.dtype == dtype else call(ToCopyBackward0(np.dtype(dtype)), x)


def binary_(cls: type[Operation], x: TensorState, y: Any) -> Any:
    """Write `cls.forward(x, y)` into x."""
    return call_(cls(), x, operand(y, x))


def operand(value: Any, other: TensorState) -> TensorState:
    """`value` as the other operand beside a tensor."""
    return value if isinstance(value, TensorState) else as_operand(value, other)
