"""Complex numbers: their parts, and the conjugate.

torch's gradient of a real loss L with respect to a complex z is ∂L/∂x + i ∂L/∂y. The engine conjugates complex
gradients before and after a formula, so that the formulas for real derivatives are right for complex ones too; see
`engine.conjugate`. The operations here mix real and complex numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from microtape.basics.dtypes import scalar_name
from microtape.ops.elementwise.rounding import abs
from microtape.ops.elementwise.selection import where
from microtape.ops.elementwise.trigonometric import cos, sin
from microtape.ops.shape.subviews import select
from microtape.ops.shared.kinds import nothing
from microtape.tape.operation import Binary, Unary, binary, unary
from microtape.tape.tensor_state import TensorState
from microtape.tape.views import ViewOperation, view_call

__all__ = ["angle", "complex", "conj", "imag", "polar", "real", "view_as_complex", "view_as_real"]


class ConjBackward0(Unary):
    formula = "z = conj x    ∂x = conj g"
    floating = False
    forward = staticmethod(np.conjugate)

    def grad_x(self, g: Any) -> Any:
        return g.conj()


class ViewAsRealBackward0(ViewOperation):
    __slots__ = ()
    formula = "z = (real part, imaginary part) of x    ∂x = g₀ + i · g₁"
    op = "view_as_real"

    def forward(self, x: Any) -> Any:
        return as_strided(x.real, (*x.shape, 2), (*x.strides, x.itemsize // 2))

    def grad_x(self, g: Any) -> Any:
        return view_as_complex(g)


class ViewAsComplexBackward0(ViewOperation):
    __slots__ = ()
    formula = "z = x₀ + i · x₁    ∂x = (real part, imaginary part) of g"
    op = "view_as_complex"

    def forward(self, x: Any) -> Any:
        x = x.astype(np.float32) if x.dtype == np.float16 else x
        return np.ascontiguousarray(x).view(np.result_type(x.dtype, np.complex64))[..., 0]

    def grad_x(self, g: Any) -> Any:
        return view_as_real(g.conj())  # g is conjugated here


class AngleBackward0(Unary):
    formula = "z = the angle of x    ∂x = g · i · x / |x|², for real x 0"

    @staticmethod
    def forward(x: Any) -> Any:
        return np.where(np.isnan(x), x, (x < 0) * x.dtype.type(np.pi)) if x.dtype.kind == "f" else np.angle(x)

    def grad_x(self, g: Any, x: Any) -> Any:
        if x.dtype.kind != "c":
            return nothing(g)
        size = abs(x)
        return where(size == 0, 0.0, g * (x * 1j / where(size == 0, 1.0, size * size)))


class ComplexBackward0(Binary):
    formula = "z = x + i · y    ∂x = real part of g,  ∂y = imaginary part of g"
    op = "complex"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return (x + 1j * y).astype(np.result_type(x.dtype, np.complex64), copy=False)

    def grad_x(self, g: Any) -> Any:
        return g

    def grad_y(self, g: Any) -> Any:
        return g * 1j


class PolarBackward0(Binary):
    formula = "z = x · (cos y + i · sin y)    ∂x = real part of ḡ · z / x,  ∂y = real part of ḡ · i · z"
    op = "polar"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return ComplexBackward0.forward(x * np.cos(y), x * np.sin(y))

    def grad_x(self, g: Any, _x: Any, y: Any, _z: Any) -> Any:
        return g * complex(cos(y), sin(y))

    def grad_y(self, g: Any, _x: Any, _y: Any, z: Any) -> Any:
        return g * (z * 1j)


def conj(input: Any) -> Any:
    """The complex conjugate; `input` itself if it is real. NB: a copy, where torch makes a view."""
    return unary(ConjBackward0, input) if input.dtype.kind == "c" else input


def real(input: Any) -> Any:
    """The real part, as a view; `input` itself if it is real."""
    return select(view_as_real(input), -1, 0) if input.dtype.kind == "c" else input


def imag(input: Any) -> Any:
    """The imaginary part, as a view. Raises RuntimeError for real numbers."""
    if input.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return select(view_as_real(input), -1, 1) if isinstance(input, TensorState) else np.imag(input)


def view_as_real(input: Any) -> Any:
    """Complex numbers as pairs of real ones in a new last dimension: a view. Raises RuntimeError for real numbers."""
    if input.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return view_call(input, ViewAsRealBackward0)


def view_as_complex(input: Any) -> Any:
    """Pairs of real numbers in the last dimension as complex numbers: a view if the memory is contiguous."""
    if not input.ndim or input.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if input.dtype.kind != "f":
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{scalar_name(input.dtype)}"
        )
    return view_call(input, ViewAsComplexBackward0)


def angle(input: Any) -> Any:
    """The angle of a complex number, in radians; for real ones 0 or π."""
    return unary(AngleBackward0, input)


def complex(real: Any, imag: Any) -> Any:
    """`real + i · imag`."""
    _check_real(real, imag)
    return binary(ComplexBackward0, real, imag)


def _check_real(x: Any, y: Any) -> None:
    """Raise RuntimeError for a Tensor that is not of floats."""
    for one in (x, y):
        if isinstance(one, TensorState) and one.array.dtype.kind != "f":
            raise RuntimeError(
                f"Expected both inputs to be Half, Float or Double tensors but got {scalar_name(x.dtype)} and "
                f"{scalar_name(y.dtype)}"
            )


def polar(abs: Any, angle: Any) -> Any:
    """`abs · (cos angle + i · sin angle)`."""
    _check_real(abs, angle)
    return binary(PolarBackward0, abs, angle)
