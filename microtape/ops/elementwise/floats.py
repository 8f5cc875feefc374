"""Operations that look at NaN and signs, and powers in double precision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microtape.ops.elementwise.exponential import pow
from microtape.ops.elementwise.selection import where
from microtape.ops.shape.casting import cast
from microtape.ops.shared.kinds import beside_number, floating, nothing, refusing
from microtape.tape.operands import as_operand
from microtape.tape.operation import Binary, Operation, binary, call
from microtape.tape.tensor_state import TensorState

__all__ = ["copysign", "float_power", "fmax", "fmin"]


@refusing(c="fmax not implemented for complex tensors.")
class FmaxBackward0(Binary):
    formula = (
        "z = max(x, y), the number if the other one is NaN    ∂z/∂x = 1 where z is x, else 0,  "
        "∂z/∂y = 1 where z is y, else 0"
    )
    forward = staticmethod(np.fmax)

    def grad_x(self, g: Any, x: Any, y: Any) -> Any:
        return where((x >= y) | (y != y), g, 0.0)

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return where((x >= y) | (y != y), 0.0, g)


@refusing(c="fmin not implemented for complex tensors.")
class FminBackward0(Binary):
    formula = (
        "z = min(x, y), the number if the other one is NaN    ∂z/∂x = 1 where z is x, else 0,  "
        "∂z/∂y = 1 where z is y, else 0"
    )
    forward = staticmethod(np.fmin)

    def grad_x(self, g: Any, x: Any, y: Any) -> Any:
        return where((x <= y) | (y != y), g, 0.0)

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return where((x <= y) | (y != y), 0.0, g)


@refusing(c="copysign_cpu")
class CopysignBackward0(Binary):
    formula = "z = |x| with the sign of y    ∂z/∂x = z / x, 0 at x = 0,  ∂z/∂y = 0"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return np.copysign(floating(x), floating(y))

    def grad_x(self, g: Any, x: Any, _y: Any, z: Any) -> Any:
        return g * where(x == 0, 0.0, z / x)

    def grad_y(self, g: Any, _x: Any, _y: Any, _z: Any) -> Any:
        return nothing(g)


@refusing(c="copysign_cpu")
class CopysignBackward1(Operation):
    """With the sign of a number."""

    __slots__ = ("number",)
    formula = "z = |x| with the sign of n    ∂z/∂x = z / x, 0 at x = 0"

    def __init__(self, number: float) -> None:
        super().__init__()
        self.number = number

    def forward(self, x: Any) -> Any:
        x = floating(beside_number(x, self.number))
        return np.copysign(x, x.dtype.type(math.copysign(1, self.number)))

    def grad_x(self, g: Any, x: Any, z: Any) -> Any:
        return g * where(x == 0, 0.0, z / x)


def fmax(input: Any, other: Any) -> Any:
    """The larger of two elements; where one is NaN, the other one."""
    return binary(FmaxBackward0, input, other)


def fmin(input: Any, other: Any) -> Any:
    """The smaller of two elements; where one is NaN, the other one."""
    return binary(FminBackward0, input, other)


def copysign(input: Any, other: Any) -> Any:
    """The magnitude of `input` with the sign of `other`, a tensor or a number."""
    if isinstance(other, int | float):
        return call(CopysignBackward1(other), input)
    return binary(CopysignBackward0, input, other)


def float_power(input: Any, exponent: Any) -> Any:
    """`pow`, computed in float64, or in complex128 if an operand is complex."""
    like = input if isinstance(input, TensorState) else exponent
    given = (as_operand(input, like), as_operand(exponent, like))
    dtype = np.complex128 if any([one.array.dtype.kind == "c" for one in given]) else np.float64
    base, power = [cast(one, dtype) if isinstance(one, TensorState) else one for one in (input, exponent)]
    return pow(base, power)
