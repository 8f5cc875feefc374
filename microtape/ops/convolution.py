"""Convolutions of any number of dimensions.

Note [Three of a kind]
  A convolution is linear in its input and in its weight: Σ z · conv(x, w) is one sum of products of three. The
  derivative by x takes z and w, that by w takes x and z, and the derivatives of those are again one of the three. So
  each of the three operations below has the other two for its derivatives, to any order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from microtape.dtypes import cpp_name, scalar_name
from microtape.operation import call
from microtape.ops.arguments import int_tuple
from microtape.ops.kinds import Promoting, named
from microtape.ops.padding import pad
from microtape.ops.reduction import sum
from microtape.ops.shape import squeeze, unsqueeze
from microtape.tensor_state import Array


class Geometry(NamedTuple):
    """What a kernel meets where. x is (n, channels, *size), w is (outputs, channels / groups, *kernel)."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int
    x_shape: tuple[int, ...]
    w_shape: tuple[int, ...]
    out_size: tuple[int, ...]  # how many places the kernel takes in each dimension

    @property
    def padded_shape(self) -> tuple[int, ...]:
        """The shape of x with its padding, and with more behind it where the last place needs that."""
        sizes = (size + 2 * p for size, p in zip(self.x_shape[2:], self.padding, strict=True))
        each = zip(self.out_size, self.stride, self.dilation, self.w_shape[2:], strict=True)
        reached = ((n - 1) * s + d * (k - 1) + 1 for n, s, d, k in each)
        return (*self.x_shape[:2], *map(max, sizes, reached))

    @property
    def inside(self) -> Any:
        """Where x is in its padded array."""
        sizes = zip(self.padding, self.x_shape[2:], strict=True)
        return (slice(None), slice(None), *(slice(p, p + size) for p, size in sizes))

    def offsets(self) -> Iterator[tuple[Any, Any]]:
        """Each element of the kernel, and the elements of the padded x that it meets."""
        for offset in itertools.product(*[range(k) for k in self.w_shape[2:]]):
            met = zip(offset, self.dilation, self.stride, self.out_size, strict=True)
            yield offset, tuple([slice(i * d, i * d + (n - 1) * s + 1, s) for i, d, s, n in met])

    def columns(self, x: Array) -> Array:
        """What the kernel meets at each place: (n, groups, channels / groups · kernel, places)."""
        padded = x
        if self.padded_shape != self.x_shape:
            padded = np.zeros(self.padded_shape, x.dtype)
            padded[self.inside] = x
        strides = padded.strides
        windows = as_strided(
            padded,
            (*self.x_shape[:2], *self.w_shape[2:], *self.out_size),
            (
                *strides[:2],
                *(step * d for step, d in zip(strides[2:], self.dilation, strict=True)),
                *(step * s for step, s in zip(strides[2:], self.stride, strict=True)),
            ),
        )
        return windows.reshape(self.x_shape[0], self.groups, math.prod(self.w_shape[1:]), self.places)

    def folded(self, columns: Array) -> Any:
        """The transpose of `columns`: what was met at several places is added up."""
        parts = columns.reshape((*self.x_shape[:2], *self.w_shape[2:], *self.out_size))
        padded = np.zeros(self.padded_shape, columns.dtype)
        for offset, met in self.offsets():
            padded[:, :, *met] += parts[:, :, *offset]
        return padded if self.padded_shape == self.x_shape else padded[self.inside]

    @property
    def places(self) -> int:
        """How many times the kernel is laid down on each picture."""
        return math.prod(self.out_size)

    def rows(self, w: Array) -> Array:
        """The kernels as matrices: (groups, outputs / groups, channels / groups · kernel)."""
        return w.reshape(self.groups, self.w_shape[0] // self.groups, math.prod(self.w_shape[1:]))

    def grouped(self, z: Array) -> Array:
        """Something z-shaped as matrices: (n, groups, outputs / groups, places)."""
        return z.reshape(self.x_shape[0], self.groups, self.w_shape[0] // self.groups, self.places)

    def ungrouped(self, matrices: Array) -> Array:
        """The reverse of `grouped`."""
        return matrices.reshape((self.x_shape[0], self.w_shape[0], *self.out_size))


class Convolving(Promoting):
    """Common to the three; see Note [Three of a kind]."""

    __slots__ = ("geometry",)
    operands: ClassVar[tuple[str, ...]] = ("x", "w")

    def __init__(self, geometry: Geometry) -> None:
        super().__init__()
        self.geometry = geometry


class ConvolutionBackward0(Convolving):
    __slots__ = ()
    operands = ("x", "w", "b")
    formula = "z = x ∗ w + b    ∂x = g spread by w,  ∂w = Σ g · x where they met,  ∂b = Σ g"
    op = "conv"

    def forward(self, x: Any, w: Any, b: Any) -> Any:
        z = self.geometry.ungrouped(self.geometry.rows(w) @ self.geometry.columns(x))
        z += b.reshape((-1,) + (1,) * (z.ndim - 2))
        return z

    def grad_x(self, g: Any, _x: Any, w: Any) -> Any:
        return call(ConvolutionInputBackward0(self.geometry), g, w)

    def grad_w(self, g: Any, x: Any, _w: Any) -> Any:
        return call(ConvolutionWeightBackward0(self.geometry), x, g)

    def grad_b(self, g: Any, _x: Any, _w: Any) -> Any:
        return sum(g, (0, *range(2, g.ndim)))


class ConvolutionInputBackward0(Convolving):
    __slots__ = ()
    formula = "z = x spread by w    ∂x = g ∗ w,  ∂w = Σ x · g where they met"
    op = "conv_input"

    def forward(self, x: Any, w: Any) -> Any:
        return self.geometry.folded(np.swapaxes(self.geometry.rows(w), 1, 2) @ self.geometry.grouped(x))

    def grad_x(self, g: Any, _x: Any, w: Any) -> Any:
        return convolved(self.geometry, g, w)

    def grad_w(self, g: Any, x: Any, _w: Any) -> Any:
        return call(ConvolutionWeightBackward0(self.geometry), g, x)


class ConvolutionWeightBackward0(Convolving):
    __slots__ = ()
    formula = "z = Σ x · w where they met    ∂x = w spread by g,  ∂w = x ∗ g"
    op = "conv_weight"

    def forward(self, x: Any, w: Any) -> Any:
        products = self.geometry.grouped(w) @ np.swapaxes(self.geometry.columns(x), 2, 3)
        return np.add.reduce(products, 0).reshape(self.geometry.w_shape)

    def grad_x(self, g: Any, _x: Any, w: Any) -> Any:
        return call(ConvolutionInputBackward0(self.geometry), w, g)

    def grad_w(self, g: Any, x: Any, _w: Any) -> Any:
        return convolved(self.geometry, x, g)


@named("ConvolutionBackward0")
class TransposedConvolution(ConvolutionInputBackward0):
    """`conv_transpose`, with its bias: a convolution's derivative used as an operation."""

    __slots__ = ()
    operands = ("x", "w", "b")
    formula = "z = x spread by w, + b    ∂x = g ∗ w,  ∂w = Σ x · g where they met,  ∂b = Σ g"

    def forward(self, x: Any, w: Any, b: Any) -> Any:  # type: ignore[override]  # it has a bias, too
        z = super().forward(x, w)
        return z + b.reshape((-1,) + (1,) * (z.ndim - 2))

    def grad_b(self, g: Any, _x: Any, _w: Any) -> Any:
        return sum(g, (0, *range(2, g.ndim)))


def convolved(geometry: Geometry, x: Any, w: Any, bias: Any = None) -> Any:
    """The convolution; without a bias there is one of zeros."""
    zeros = np.zeros(geometry.w_shape[0], x.dtype)
    return call(ConvolutionBackward0(geometry), x, w, zeros if bias is None else bias)


def convolution(
    dims: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """The common part of `conv1d` and `conv2d`."""
    if input.ndim == dims + 1:
        return squeeze(convolution(dims, unsqueeze(input, 0), weight, bias, stride, padding, dilation, groups), 0)
    check_ranks(f"conv{dims}d", dims, input, weight)
    check_dtypes(input, weight, bias)
    strides, dilations = int_tuple(stride, dims), int_tuple(dilation, dims)
    if min(strides) < 1:
        raise RuntimeError("non-positive stride is not supported")
    if min(dilations) < 1:
        raise RuntimeError("dilation should be greater than zero")
    if groups < 1:
        raise RuntimeError("non-positive groups is not supported")
    if padding == "valid":
        padding = 0
    elif padding == "same":
        if any([one != 1 for one in strides]):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        wholes = [d * (k - 1) for d, k in zip(dilations, weight.shape[2:], strict=True)]
        if any([whole % 2 for whole in wholes]):
            input = pad(input, [one for whole in reversed(wholes) for one in (0, whole % 2)])
        padding = [whole // 2 for whole in wholes]
    paddings = int_tuple(padding, dims)
    if min(paddings) < 0:
        raise RuntimeError("negative padding is not supported")
    outputs, channels = weight.shape[:2]
    if input.shape[1] != channels * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have "
            f"{channels * groups} channels, but got {input.shape[1]} channels instead"
        )
    if outputs % groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0")
    reach = [d * (k - 1) + 1 for d, k in zip(dilations, weight.shape[2:], strict=True)]
    padded = [size + 2 * p for size, p in zip(input.shape[2:], paddings, strict=True)]
    if any([one > size for one, size in zip(reach, padded, strict=True)]):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, padded))}). Kernel size: "
            f"({' x '.join(map(str, reach))}). Kernel size can't be greater than actual input size"
        )
    places = tuple([(size - one) // s + 1 for size, one, s in zip(padded, reach, strides, strict=True)])
    geometry = Geometry(strides, paddings, dilations, groups, tuple(input.shape), tuple(weight.shape), places)
    return convolved(geometry, input, weight, bias)


def check_ranks(name: str, dims: int, input: Any, weight: Any) -> None:
    """Raise RuntimeError where input or weight has the wrong number of dimensions."""
    ranks = f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input"
    if input.ndim != dims + 2:
        raise RuntimeError(f"{ranks} to {name}, but got input of size: {list(input.shape)}")
    if weight.ndim != dims + 2:
        raise RuntimeError(
            f"{ranks} and a {dims + 2}D weight to {name}, but got input of size: {list(input.shape)} and weight of "
            f"size: {list(weight.shape)}"
        )


def check_dtypes(input: Any, weight: Any, bias: Any) -> None:
    """Raise RuntimeError where weight or bias has another dtype than the input: convolutions do not promote."""
    if bias is not None and bias.dtype != input.dtype:
        types = cpp_name(input.dtype), cpp_name(bias.dtype)
        raise RuntimeError(f"Input type ({types[0]}) and bias type ({types[1]}) should be the same")
    if weight.dtype != input.dtype:
        found = scalar_name(weight.dtype)
        raise RuntimeError(f"expected scalar type {scalar_name(input.dtype)} but found {found}")


def conv1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Slide `weight` (outputs, channels / groups, kernel) along `input` (n, channels, length), or without the n.

    `padding` zeros are added at both ends, or as many as keep the length with "same". Returns (n, outputs, places).
    """
    return convolution(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Slide `weight` (outputs, channels / groups, h, w) over `input` (n, channels, height, width), or without the n.

    `padding` zeros are added on all sides, or as many as keep the size with "same". Returns (n, outputs, rows, cols).
    """
    return convolution(2, input, weight, bias, stride, padding, dilation, groups)


def transposed_convolution(
    dims: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Any:
    """The common part of `conv_transpose1d` and `conv_transpose2d`."""
    if input.ndim == dims + 1:
        whole = transposed_convolution(
            dims, unsqueeze(input, 0), weight, bias, stride, padding, output_padding, groups, dilation
        )
        return squeeze(whole, 0)
    check_ranks(f"conv_transpose{dims}d", dims, input, weight)
    check_dtypes(input, weight, None)
    steps, paddings, extras, dilations = (int_tuple(one, dims) for one in (stride, padding, output_padding, dilation))
    each = zip(input.shape[2:], weight.shape[2:], steps, paddings, extras, dilations, strict=True)
    size = tuple([(n - 1) * s - 2 * p + d * (k - 1) + extra + 1 for n, k, s, p, extra, d in each])
    channels, places = weight.shape[1] * groups, tuple(input.shape[2:])
    x_shape = (input.shape[0], channels, *size)
    geometry = Geometry(steps, paddings, dilations, groups, x_shape, tuple(weight.shape), places)
    zeros = np.zeros(channels, input.dtype)
    return call(TransposedConvolution(geometry), input, weight, zeros if bias is None else bias)


def conv_transpose1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The transpose of `conv1d`: each element of `input` spreads `weight` (channels, outputs / groups, kernel)."""
    return transposed_convolution(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The transpose of `conv2d`: each element of `input` spreads `weight` (channels, outputs / groups, h, w)."""
    return transposed_convolution(2, input, weight, bias, stride, padding, output_padding, groups, dilation)
