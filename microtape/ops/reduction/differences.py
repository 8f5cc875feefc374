"""Derivatives and integrals of sampled functions, covariances, and sums of exponentials, cumulated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.basics.dtypes import get_default_dtype, scalar_name
from microtape.ops.elementwise.complex_numbers import complex, imag, real
from microtape.ops.elementwise.exponential import exp, sqrt
from microtape.ops.elementwise.selection import clamp, where
from microtape.ops.reduction.cumulative import Scan, accumulated, cumsum, diff
from microtape.ops.reduction.sums_and_extrema import mean, sum
from microtape.ops.shape.casting import cast
from microtape.ops.shape.joining import cat
from microtape.ops.shape.reshaping import reshape, unsqueeze
from microtape.ops.shape.subviews import diagonal, narrow, select
from microtape.ops.shape.transposition import matrix_transpose, movedim
from microtape.ops.shared.arguments import dim_index
from microtape.ops.shared.kinds import refusing
from microtape.tape.operation import call
from microtape.tape.tensor_state import TensorState, new_tensor

__all__ = [
    "corrcoef",
    "cov",
    "cumulative_trapezoid",
    "gradient",
    "logcumsumexp",
    "trapezoid",
    "trapz",
]


@refusing(biu="logcumsumexp_out_cpu")
class LogcumsumexpBackward0(Scan):
    __slots__ = ()
    formula = "zᵢ = ln Σ exp(xⱼ) over j ≤ i    ∂xⱼ = Σ gᵢ · exp(xⱼ - zᵢ) over i ≥ j"

    def forward(self, x: Any) -> Any:
        if not x.ndim:
            return x.copy()
        if x.dtype.kind == "c":
            top = x.real.max(self.dim, keepdims=True)
            return top + np.log(np.cumsum(np.exp(x - top), self.dim))
        return accumulated(np.logaddexp, x, self.dim, x.dtype)

    def grad_x(self, g: Any, x: Any, z: Any) -> Any:
        if not x.ndim:
            return g
        rows, columns = unsqueeze(movedim(z, self.dim, -1), -1), unsqueeze(movedim(x, self.dim, -1), -2)
        is_summed = np.tri(x.shape[self.dim], dtype=bool)
        shares = exp(where(is_summed, columns - rows, -np.inf))  # ∂zᵢ/∂xⱼ, at most 1
        return movedim(sum(unsqueeze(movedim(g, self.dim, -1), -1) * shares, -2), -1, self.dim)


def logcumsumexp(input: Any, dim: int) -> Any:
    """ln of the cumulative sums of eˣ along `dim`, without overflow."""
    return call(LogcumsumexpBackward0(dim_index(dim, input.ndim)), input)


def gradient(
    input: Any, *, spacing: Any = None, dim: int | Sequence[int] | None = None, edge_order: int = 1
) -> tuple[Any, ...]:
    """The derivative of a sampled function along each dimension, or each of `dim`: central differences inside.

    `spacing` is the distance of the samples, one for each dimension, or a vector of coordinates for each. At the ends
    the differences are one-sided, of order `edge_order`, 1 or 2. Raises RuntimeError for too few samples.
    """
    if input.dtype == np.uint8:
        raise RuntimeError("microtape.gradient does not support uint8 input.")
    dims = range(input.ndim) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    given = list(spacing) if isinstance(spacing, tuple | list) else [1 if spacing is None else spacing] * len(dims)
    if len(given) != len(dims):
        count = "'self.dim() = {}', since dim argument was not given" if dim is None else "{}"
        raise RuntimeError(
            "microtape.gradient expected spacing to be unspecified, a scalar, or a list of length "
            f"{'equal to ' if dim is None else ''}{count.format(len(dims))}, but got a list of length {len(given)}"
        )
    if edge_order not in (1, 2):
        raise RuntimeError("microtape.gradient only supports edge_order=1 and edge_order=2.")
    found = []
    for one, step in zip(dims, given, strict=True):
        counted = dim_index(one, input.ndim)
        if input.shape[counted] <= edge_order:
            raise RuntimeError("microtape.gradient expected each dimension size to be at least edge_order+1")
        if isinstance(step, TensorState) and step.array.ndim:
            found.append(_uneven_gradient(input, step, counted, edge_order))
        else:
            found.append(_even_gradient(input, step, counted, edge_order))
    return tuple(found)


def _even_gradient(x: Any, step: Any, dim: int, edge_order: int) -> Any:
    """The derivative along a dimension of samples at equal distances."""
    size = x.shape[dim]
    inside = (narrow(x, dim, 2, size - 2) - narrow(x, dim, 0, size - 2)) / (step * 2)
    if edge_order == 1:
        first = (narrow(x, dim, 1, 1) - narrow(x, dim, 0, 1)) / step
        last = (narrow(x, dim, size - 1, 1) - narrow(x, dim, size - 2, 1)) / step
    else:
        a, b, c = (narrow(x, dim, i, 1) for i in range(3))
        first = (-1.5 * a + 2 * b - 0.5 * c) / step
        a, b, c = (narrow(x, dim, size - i, 1) for i in range(1, 4))
        last = (1.5 * a - 2 * b + 0.5 * c) / step
    return cat([first, inside, last], dim)


def _uneven_gradient(x: Any, places: Any, dim: int, edge_order: int) -> Any:
    """The derivative along a dimension of samples at these coordinates: that of the parabola through three samples."""
    size = x.shape[dim]
    gaps = reshape(diff(places), (-1, *[1] * (x.ndim - 1 - dim)))
    before, after = narrow(gaps, 0, 0, size - 2), narrow(gaps, 0, 1, size - 2)
    both = before + after
    a, b, c = -after / (before * both), (after - before) / (before * after), before / (after * both)
    left, here, right = (narrow(x, dim, i, size - 2) for i in range(3))
    inside = a * left + b * here + c * right
    h, k = narrow(gaps, 0, 0, 1), narrow(gaps, 0, size - 2, 1)
    if edge_order == 1:
        first = (narrow(x, dim, 1, 1) - narrow(x, dim, 0, 1)) / h
        last = (narrow(x, dim, size - 1, 1) - narrow(x, dim, size - 2, 1)) / k
    else:
        f, e, d = (narrow(x, dim, i, 1) for i in range(3))
        k = narrow(gaps, 0, 1, 1)
        first = -(2 * h + k) / (h * (h + k)) * f + (h + k) / (h * k) * e - h / (k * (h + k)) * d
        f, e, d = (narrow(x, dim, size - i, 1) for i in range(1, 4))
        h, k = narrow(gaps, 0, size - 2, 1), narrow(gaps, 0, size - 3, 1)
        last = (2 * h + k) / (h * (h + k)) * f - (h + k) / (h * k) * e + h / (k * (h + k)) * d
    return cat([first, inside, last], dim)


def _areas(y: Any, x: Any, dx: Any, dim: int) -> Any:
    """Twice the areas of the trapezoids between neighbouring samples along `dim`."""
    size = y.shape[dim]
    heights = narrow(y, dim, 1, size - 1) + narrow(y, dim, 0, size - 1)
    if x is None:
        return heights * (1 if dx is None else dx)
    widths = diff(x, 1, -1 if x.ndim == 1 else dim)
    return heights * (reshape(widths, (-1, *[1] * (y.ndim - 1 - dim))) if x.ndim == 1 else widths)


def trapezoid(y: Any, x: Any = None, *, dx: Any = None, dim: int = -1) -> Any:
    """The integral of `y` along `dim` by the trapezoidal rule, over the coordinates `x` or steps of `dx` (or 1)."""
    counted = _checked_dim("trapezoid", y, x, dim)
    if x is None:
        ends = select(y, counted, 0) + select(y, counted, -1)
        return (sum(y, counted) - ends * 0.5) * (1 if dx is None else dx)
    return sum(_areas(y, x, dx, counted), counted) / 2


def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = None, dim: int = -1) -> Any:
    """`trapezoid` up to each sample but the first."""
    counted = _checked_dim("cumulative_trapezoid", y, x, dim)
    return cumsum(_areas(y, x, dx, counted), counted) / 2


def _checked_dim(name: str, y: Any, x: Any, dim: int) -> int:
    """`dim` counted from the front. Raises RuntimeError for bools."""
    if "b" in [one.dtype.kind for one in (y, x) if one is not None]:
        raise RuntimeError(
            f"{name}: received a bool input for {'`y`' if x is None else '`x` or `y`'}, but bool is not supported"
        )
    return dim_index(dim, y.ndim)


def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariance matrix of the rows of (variables, observations); of one row or a vector, its variance.

    `fweights` (observations,) says how often each observation occurs, `aweights` how much it counts. The divisor is the
    number of observations minus `correction`. Raises RuntimeError above two dimensions.
    """
    if input.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )
    x = reshape(input, (1, -1)) if input.ndim < 2 else input
    if x.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = _floating(x)
    _check_weights(fweights, aweights)
    weights = fweights if aweights is None else aweights if fweights is None else fweights * aweights
    if weights is None:
        count: Any = x.shape[1]
        centred = x - mean(x, 1, True)
        weighed = centred
    else:
        count = sum(weights)
        centred = x - sum(x * weights, 1, True) / count
        weighed = centred * weights
    if aweights is not None and weights is not None:
        divisor = count - correction * sum(weights * aweights) / count
    else:
        divisor = count - correction
    divisor = clamp(divisor, min=0) if isinstance(divisor, TensorState) else max(divisor, 0)
    spread = weighed @ matrix_transpose(centred.conj())
    if not isinstance(divisor, TensorState):
        divisor = new_tensor(type(spread), np.asarray(divisor, spread.array.real.dtype))
    result = spread / divisor
    return reshape(result, ()) if x.shape[0] == 1 else result


def _check_weights(fweights: Any, aweights: Any) -> None:
    """Raise RuntimeError unless the weights are vectors, of integers and of floats."""
    for name, one, kinds, wanted in (
        ("fweights", fweights, "iu", "integral"),
        ("aweights", aweights, "f", "floating point"),
    ):
        if one is not None and one.ndim > 1:
            raise RuntimeError(
                f"cov(): expected {name} to have one or fewer dimensions but got {name} with {one.ndim} dimensions"
            )
        if one is not None and one.dtype.kind not in kinds:
            name_of = scalar_name(one.array.dtype)
            raise RuntimeError(f"cov(): expected {name} to have {wanted} dtype but got {name} with {name_of} dtype")


def _floating(x: Any) -> Any:
    """x; of integers or bools, x in the default dtype."""
    return cast(x, get_default_dtype()) if x.array.dtype.kind in "biu" else x


def corrcoef(input: Any) -> Any:
    """The correlation coefficients of the rows of (variables, observations), within [-1, 1]."""
    c = cov(input)
    if not c.ndim:
        return c / c
    deviations = sqrt(diagonal(c))
    ratio = c / reshape(deviations, (-1, 1)) / reshape(deviations, (1, -1))
    if ratio.dtype.kind == "c":
        return complex(clamp(real(ratio), -1, 1), clamp(imag(ratio), -1, 1))
    return clamp(ratio, -1, 1)


# torch has several names for some functions
trapz = trapezoid
