"""Layers that normalize to mean 0 and variance 1: over the batch, or over the features of each example."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.ops.elementwise.exponential import rsqrt
from microtape.ops.reduction.sums_and_extrema import mean, sum
from microtape.ops.shared.arguments import dim_index
from microtape.ops.shared.kinds import refusal_of, refusing
from microtape.tape.operation import Operation, call
from microtape.tape.saved import unpack

STANDARDISED = (
    "z = x̂ · w + b, x̂ = (x - mean x) / √(σ² + ε)    "
    "∂x = (ĝ - mean ĝ - x̂ · mean(ĝ · x̂)) / √(σ² + ε), ĝ = g · w,  ∂w = Σ g · x̂,  ∂b = Σ g"
)
STANDARDISED_BY_RUNNING = (
    "z = x̂ · w + b, x̂ = (x - μ) / √(σ² + ε), running μ, σ²    ∂x = g · w / √(σ² + ε),  ∂w = Σ g · x̂,  ∂b = Σ g"
)


class Normalization(Operation):
    """Common: `dims` are the dimensions that mean and variance are taken over.

    Backward uses the mean and variance that forward computed. With `create_graph=True` it computes them again from x,
    so that they can be differentiated. Half precision is computed in single precision.
    """

    __slots__ = ("absent", "center", "dims", "eps", "scale", "x_shape")
    operands = ("x", "weight", "bias")
    row_major = True
    formula = STANDARDISED
    center: Any  # x̄
    scale: Any  # 1 / √(σ² + ε)

    absent: tuple[str, ...]  # the parameters that were not given

    def __init__(self, dims: tuple[int, ...], eps: float) -> None:
        super().__init__()
        self.dims, self.eps = dims, eps

    def wide(self, parameter: Any) -> Any:
        """A weight or bias, shaped to broadcast against x."""
        return parameter

    def grouped(self, x: Any) -> Any:
        """An array in x's shape, reshaped so that `dims` can be normalized."""
        return x

    def forward(self, x: Any, weight: Any, bias: Any) -> Any:
        self.x_shape = x.shape
        rows = self.grouped(x.astype(np.float32) if x.dtype == np.float16 else x)
        self.center, z, self.scale = self.statistics(rows)
        z *= self.scale
        z = z.reshape(self.x_shape)
        z *= self.wide(weight)
        z += self.wide(bias)
        return z.astype(x.dtype, copy=False)

    def statistics(self, rows: Any) -> tuple[Any, Any, Any]:
        """The mean, the differences from it, and the factor that brings them to variance 1."""
        center = mean(rows, self.dims, True)
        away = rows - center
        return center, away, rsqrt(mean(away * away, self.dims, True) + self.eps)

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """See Node.apply. Instead of x, the formulas get the pair of x̂ and `scale`, which they share."""
        x, weight, bias = unpack(self, create_graph)
        rows = self.grouped(x)
        away, scale = self.statistics(rows)[1:] if create_graph else (rows - self.center, self.scale)
        standard = away * scale, scale
        return [
            formula(self, gradient, standard, weight, bias) if receiver is not None else None
            for formula, receiver in zip(self.gradients, self.next_nodes, strict=True)
        ]

    def grad_x(self, g: Any, x: Any, weight: Any, _bias: Any) -> Any:
        normal, scale = x
        h = self.grouped(g * self.wide(weight))
        return ((h - mean(h, self.dims, True) - normal * mean(h * normal, self.dims, True)) * scale).reshape(g.shape)

    def grad_weight(self, g: Any, x: Any, _weight: Any, _bias: Any) -> Any:
        return g * x[0]

    def grad_bias(self, g: Any, _x: Any, _weight: Any, _bias: Any) -> Any:
        return g


@refusing(biuc="LayerNormKernelImpl")
class NativeLayerNormBackward0(Normalization):
    __slots__ = ()
    op = "layer_norm"


@refusing(biuc="batch_norm")
class NativeBatchNormBackward0(Normalization):
    """Weight and bias have an element for each channel, along the second dimension."""

    __slots__ = ()
    op = "batch_norm"

    def wide(self, parameter: Any) -> Any:
        """The parameter along the second dimension."""
        return parameter.reshape((-1,) + (1,) * (len(self.x_shape) - 2))

    def grad_weight(self, g: Any, x: Any, _weight: Any, _bias: Any) -> Any:
        return sum(g * x[0].reshape(self.x_shape), self.parameter_dims)

    def grad_bias(self, g: Any, _x: Any, _weight: Any, _bias: Any) -> Any:
        return sum(g, self.parameter_dims)

    @property
    def parameter_dims(self) -> tuple[int, ...]:
        """The dimensions along which weight and bias are repeated."""
        return (0, *range(2, len(self.x_shape)))


@refusing(biuc="GroupNormKernelImpl")
class NativeGroupNormBackward0(NativeBatchNormBackward0):
    """Each group of channels of each example by itself."""

    __slots__ = ("groups",)
    op = "group_norm"

    def __init__(self, groups: int, eps: float) -> None:
        super().__init__((2,), eps)
        self.groups = groups

    def grouped(self, x: Any) -> Any:
        """A row for each group."""
        return x.reshape((self.x_shape[0], self.groups, math.prod(self.x_shape[1:]) // self.groups))


class FixedBatchNorm(NativeBatchNormBackward0):
    """With a mean and variance that were learnt before: evaluation mode."""

    __slots__ = ("running_mean", "running_var")
    op = "batch_norm"
    formula = STANDARDISED_BY_RUNNING

    def __init__(self, dims: tuple[int, ...], eps: float, running_mean: Any, running_var: Any) -> None:
        super().__init__(dims, eps)
        self.running_mean, self.running_var = running_mean, running_var

    def statistics(self, rows: Any) -> tuple[Any, Any, Any]:
        """See Normalization."""
        center = self.wide(self.running_mean)
        return center, rows - center, 1 / np.sqrt(self.wide(self.running_var) + self.eps)

    def grad_x(self, g: Any, x: Any, weight: Any, _bias: Any) -> Any:
        return g * self.wide(weight) * x[1]


FixedBatchNorm.__name__ = "NativeBatchNormBackward0"


def layer_norm(
    input: Any, normalized_shape: Sequence[int], weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """`input` with mean 0 and variance 1 over its last dimensions, of that shape; then times `weight` plus `bias`.

    Source: Ba, Kiros and Hinton (2016). Raises RuntimeError if the shape is not that of the last dimensions.
    """
    shape, dims = _last_dims(input, normalized_shape, weight=weight, bias=bias)
    return _normalized(NativeLayerNormBackward0(dims, eps), shape, input, weight, bias)


def _last_dims(
    input: Any, normalized_shape: Sequence[int], **parameters: Any
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes of the normalized dimensions, and their indices. Raises RuntimeError if a shape does not fit."""
    shape = tuple(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    if tuple(input.shape[-len(shape) :]) != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], but "
            f"got input of size{list(input.shape)}"
        )
    for name, parameter in parameters.items():
        if parameter is not None and tuple(parameter.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(parameter.shape)} and normalized_shape = {list(shape)}"
            )
    return shape, tuple(range(input.ndim - len(shape), input.ndim))


def batch_norm(
    input: Any,
    running_mean: Any | None,
    running_var: Any | None,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Each channel of `input` (n, channels, ...) with mean 0 and variance 1; then times `weight` plus `bias`.

    In `training`, mean and variance are those of the batch, and the running ones, if given, move towards them by
    `momentum`; otherwise the running ones are used. Raises ValueError in training if a channel has only one value.
    Source: Ioffe and Szegedy (2015).
    """
    dims = tuple([dim for dim in range(input.ndim) if dim != 1])
    channels = input.shape[dim_index(1, input.ndim)]
    node: Normalization
    if training:
        _check_several(input.shape)
        node = NativeBatchNormBackward0(dims, eps)
    else:
        if running_mean is None or running_var is None:
            missing = "running_mean" if running_mean is None else "running_var"
            raise RuntimeError(f"{missing} must be defined in evaluation mode")
        node = FixedBatchNorm(dims, eps, running_mean.array.copy(), running_var.array.copy())
    given = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, one in given.items():
        if one is not None and tuple(one.shape) != (channels,):
            raise RuntimeError(f"{name} should contain {channels} elements not {math.prod(one.shape)}")
    z = _normalized(node, (channels,), input, weight, bias)
    x = input.array
    if training and running_mean is not None and x.size:
        count = x.size // channels
        _move(running_mean, x.mean(dims), momentum)
        _move(running_var, x.var(dims) * (count / (count - 1)), momentum)
    return z


def _check_several(shape: Sequence[int]) -> None:
    """Raise ValueError for a shape (n, channels, ...) with only one value for each channel."""
    if shape[0] * math.prod(shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {shape}")


def _move(running: Any, value: Any, momentum: float) -> None:
    """Move a running statistic a little towards `value`. As in torch, its version stays: no node has saved it."""
    running.array[...] = (1 - momentum) * running.array + momentum * value


def _normalized(node: Normalization, shape: tuple[int, ...], x: Any, weight: Any, bias: Any) -> Any:
    """The node's result. A missing weight is ones and a missing bias zeros, which recordings leave out."""
    node.absent = tuple([name for name, one in (("weight", weight), ("bias", bias)) if one is None])
    weight = np.ones(shape, x.dtype) if weight is None else weight
    return call(node, x, weight, np.zeros(shape, x.dtype) if bias is None else bias)


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Each group of channels of `input` (n, channels, ...) with mean 0 and variance 1; times `weight` plus `bias`."""
    if input.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    channels = input.shape[1]
    _check_several([input.shape[0] * channels // num_groups, num_groups, *input.shape[2:]])
    if channels % num_groups:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and tuple(parameter.shape) != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of "
                f"shape {list(parameter.shape)} and input of shape {list(input.shape)}"
            )
    return _normalized(NativeGroupNormBackward0(num_groups, eps), (channels,), input, weight, bias)


def rms_norm(input: Any, normalized_shape: Sequence[int], weight: Any = None, eps: float | None = None) -> Any:
    """`input` with a mean square of 1 over its last dimensions, times `weight` (Zhang and Sennrich, 2019).

    `normalized_shape` are the sizes of these dimensions; `eps`, which is added to the mean, is by default that of
    the dtype.
    """
    _, dims = _last_dims(input, normalized_shape, weight=weight)
    if input.dtype.kind not in "fc":
        raise refusal_of(input.dtype, "rms_norm")
    x = input.float() if input.dtype == np.float16 else input  # the squares of halves would overflow
    scale = rsqrt(mean(x * x, dims, True) + float(np.finfo(x.dtype).eps if eps is None else eps))
    normal = x * scale
    z = normal if weight is None else normal * weight
    return z if x is input else z.half()
