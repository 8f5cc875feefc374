"""Absolute value, sign and rounding, which is constant almost everywhere: its derivative is 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.ops.elementwise.selection import where
from microtape.ops.shared.arguments import refuse_out
from microtape.ops.shared.kinds import in_place, nothing, refusing
from microtape.tape.in_place import call_
from microtape.tape.operation import Operation, Unary, call, unary
from microtape.tape.tensor_state import TensorState

__all__ = [
    "abs",
    "abs_",
    "absolute",
    "ceil",
    "ceil_",
    "fix",
    "floor",
    "floor_",
    "frac",
    "frac_",
    "round",
    "round_",
    "sgn",
    "sign",
    "trunc",
    "trunc_",
]


@refusing(b="abs_cpu")
class AbsBackward0(Unary):
    formula = "z = |x|    ∂z/∂x = sign x"
    floating = False
    forward = staticmethod(np.abs)

    def grad_x(self, g: Any, x: Any) -> Any:
        return g * sgn(x)


class Flat(Unary):
    """Step functions: the derivative is 0, even where the gradient that arrives is not finite."""

    floating = False

    def grad_x(self, g: Any) -> Any:
        return nothing(g)


@refusing(
    c=NotImplementedError(
        "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."
    )
)
class SignBackward0(Flat):
    formula = "z = sign x    ∂z/∂x = 0"

    @staticmethod
    def forward(x: Any) -> Any:
        return (x > 0).astype(x.dtype) if x.dtype.kind in "bu" else np.subtract(x > 0, x < 0, dtype=x.dtype)  # NaN: 0


class SgnBackward0(Unary):
    """The direction of a complex number, of length 1; the sign of a real one."""

    formula = "z = x / |x|    ∂x = (g - z² · ḡ) / 2|x|, for real x 0"
    floating = False

    @staticmethod
    def forward(x: Any) -> Any:
        return np.sign(x) if x.dtype.kind == "c" else SignBackward0.forward(x)

    def grad_x(self, g: Any, x: Any, z: Any) -> Any:
        if x.dtype.kind != "c":
            return nothing(g)
        length = abs(x)
        turned = (g - z.conj() * z.conj() * g.conj()) / (2 * where(length == 0, 1.0, length))  # g is conjugated here
        return where(length == 0, 0.0, turned)


@refusing(b="floor_vml_cpu", c=NotImplementedError("floor is not supported for complex inputs"))
class FloorBackward0(Flat):
    formula = "z = ⌊x⌋    ∂z/∂x = 0"
    forward = staticmethod(np.floor)


@refusing(b="ceil_vml_cpu", c=NotImplementedError("ceil is not supported for complex inputs"))
class CeilBackward0(Flat):
    formula = "z = ⌈x⌉    ∂z/∂x = 0"
    forward = staticmethod(np.ceil)


@refusing(b="trunc_vml_cpu", c=NotImplementedError("trunc is not supported for complex inputs"))
class TruncBackward0(Flat):
    formula = "z = x without its fraction    ∂z/∂x = 0"
    forward = staticmethod(np.trunc)


@refusing(b="round_vml_cpu", c="round_vml_cpu")
class RoundBackward0(Flat):
    formula = "z = the nearest integer, at ties the even one    ∂z/∂x = 0"

    @staticmethod
    def forward(x: Any) -> Any:
        return np.rint(x) if x.dtype.kind == "f" else x.copy()


@refusing(biuc="round_cpu")
class RoundBackward1(Operation):
    """Rounding to a number of decimals."""

    __slots__ = ("decimals",)
    formula = "z = x rounded to n decimals    ∂z/∂x = 0"

    def __init__(self, decimals: int) -> None:
        super().__init__()
        self.decimals = decimals

    def forward(self, x: Any) -> Any:
        return np.round(x, self.decimals)

    def grad_x(self, g: Any) -> Any:
        return nothing(g)


@refusing(biuc="frac_cpu")
class FracBackward0(Unary):
    formula = "z = the fraction of x    ∂z/∂x = 1"
    floating = False

    @staticmethod
    def forward(x: Any) -> Any:
        return x - np.trunc(x)

    def grad_x(self, g: Any) -> Any:
        return g


def abs(input: Any) -> Any:
    """The absolute value."""
    return unary(AbsBackward0, input)


def sign(input: Any) -> Any:
    """-1, 0 or 1; 0 for NaN."""
    return unary(SignBackward0, input)


def sgn(input: Any) -> Any:
    """`sign`, for complex numbers too: x / |x|."""
    return unary(SgnBackward0, input)


def floor(input: Any) -> Any:
    """The largest integer that is not above the element."""
    return unary(FloorBackward0, input)


def ceil(input: Any) -> Any:
    """The smallest integer that is not below the element."""
    return unary(CeilBackward0, input)


def trunc(input: Any) -> Any:
    """The element rounded towards zero."""
    return unary(TruncBackward0, input)


def round(input: Any, *, decimals: int | None = None, out: None = None) -> Any:
    """The nearest integer, or number with `decimals` decimals; at ties the even one. Raises TypeError for an `out`."""
    refuse_out(out)
    return unary(RoundBackward0, input) if decimals is None else call(RoundBackward1(decimals), input)


def frac(input: Any) -> Any:
    """The fractional part, with the sign of the element."""
    return unary(FracBackward0, input)


def round_(x: TensorState, *, decimals: int | None = None) -> Any:
    """Round in place."""
    return call_(RoundBackward0() if decimals is None else RoundBackward1(decimals), x)


def abs_(x: TensorState) -> Any:
    """The absolute value, in place. Raises RuntimeError for complex numbers, whose absolute value is real."""
    if x.array.dtype.kind == "c":
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return call_(AbsBackward0(), x)


sign_, sgn_ = in_place(SignBackward0), in_place(SgnBackward0)
floor_, ceil_, trunc_, frac_ = map(in_place, (FloorBackward0, CeilBackward0, TruncBackward0, FracBackward0))


# torch has several names for some functions
absolute = abs
fix = trunc
