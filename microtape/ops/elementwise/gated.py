"""Activations that multiply x by a gate computed from x: glu, mish, hardswish, softsign."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.ops.elementwise.activation import SigmoidBackward0, sigmoid, softplus
from microtape.ops.elementwise.exponential import log_of_one_plus_exp
from microtape.ops.elementwise.rounding import abs
from microtape.ops.elementwise.selection import where
from microtape.ops.elementwise.trigonometric import tanh
from microtape.ops.shape.joining import cat
from microtape.ops.shape.subviews import narrow
from microtape.ops.shared.arguments import dim_index
from microtape.ops.shared.kinds import refusing
from microtape.tape.in_place import call_
from microtape.tape.operation import Unary, call, unary


@refusing(biuc="glu_cpu")
class GluBackward0(Unary):
    __slots__ = ("dim",)
    formula = "z = a · σ(b), a and b the halves of x    ∂x = g · σ(b) and g · a · σ(b) · (1 - σ(b)), joined"
    floating = False

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Any) -> Any:
        a, b = np.split(x, 2, self.dim)
        return a * SigmoidBackward0.forward(b)

    def grad_x(self, g: Any, x: Any) -> Any:
        half = x.shape[self.dim] // 2
        a, gate = narrow(x, self.dim, 0, half), sigmoid(narrow(x, self.dim, half, half))
        return cat([g * gate, g * a * gate * (1 - gate)], self.dim)


@refusing(biuc="mish_cpu")
class MishBackward0(Unary):
    formula = "z = x · tanh s, s = ln(1 + eˣ)    ∂z/∂x = tanh s + x · σ(x) · (1 - tanh² s)"
    op = "mish"
    floating = False

    @staticmethod
    def forward(x: Any) -> Any:
        return x * np.tanh(log_of_one_plus_exp(x))

    def grad_x(self, g: Any, x: Any) -> Any:
        gate = tanh(softplus(x))
        return g * (gate + x * sigmoid(x) * (1 - gate * gate))


@refusing(biuc="hardsigmoid_cpu")
class HardsigmoidBackward0(Unary):
    formula = "z = x / 6 + ½ within [0, 1]    ∂z/∂x = 1/6 between -3 and 3, else 0"
    op = "hardsigmoid"
    floating = False

    @staticmethod
    def forward(x: Any) -> Any:
        return np.clip(x + 3, 0, 6) / 6

    def grad_x(self, g: Any, x: Any) -> Any:
        return where((x > -3) & (x < 3), g / 6, 0.0)


@refusing(biuc="hardswish_cpu")
class HardswishBackward0(Unary):
    formula = "z = x · (x / 6 + ½ within [0, 1])    ∂z/∂x = x / 3 + ½ between -3 and 3, else 0 or 1"
    op = "hardswish"
    floating = False

    @staticmethod
    def forward(x: Any) -> Any:
        return x * HardsigmoidBackward0.forward(x)

    def grad_x(self, g: Any, x: Any) -> Any:
        return where(x <= -3, 0.0, where(x < 3, g * (x / 3 + 0.5), g))


# `inplace=True` writes the result into the input, like the functions with an underscore


def glu(input: Any, dim: int = -1) -> Any:
    """a · σ(b), with a and b the halves of `input` along `dim` (Dauphin et al., 2017).

    `input` is floating point, (..., 2n, ...); the result is (..., n, ...). Raises RuntimeError for an odd size or a 0-d
    tensor, NotImplementedError for other dtypes.
    """
    if not input.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    dim = dim_index(dim, input.ndim)
    if input.shape[dim] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {input.shape[dim]}")
    return call(GluBackward0(dim), input)


def mish(input: Any, inplace: bool = False) -> Any:
    """x · tanh(softplus(x)) (Misra, 2019)."""
    return call_(MishBackward0(), input) if inplace else unary(MishBackward0, input)


def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """σ as a piecewise linear function: 0, x / 6 + ½, 1 (Courbariaux et al., 2015)."""
    return call_(HardsigmoidBackward0(), input) if inplace else unary(HardsigmoidBackward0, input)


def hardswish(input: Any, inplace: bool = False) -> Any:
    """x · hardsigmoid(x) (Howard et al., 2019)."""
    return call_(HardswishBackward0(), input) if inplace else unary(HardswishBackward0, input)


def softsign(input: Any) -> Any:
    """x / (1 + |x|)."""
    return input / (abs(input) + 1)
