"""Convolutions of any number of dimensions.

Note [Three of a kind]
  A convolution is linear in its input and in its weight, so Σ g · conv(x, w) is a sum of products of three factors. Its
  derivative with respect to x is computed from g and w, the one with respect to w from x and g. So each of the three
  operations below has the other two as its derivatives, to any order.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from microtape.basics.dtypes import cpp_name, scalar_name
from microtape.ops.indexing.padding import pad
from microtape.ops.network.geometry import Geometry, geometry_of
from microtape.ops.reduction.sums_and_extrema import sum
from microtape.ops.shape.reshaping import squeeze, unsqueeze
from microtape.ops.shared.arguments import int_tuple, plain
from microtape.ops.shared.kinds import Promoting, named
from microtape.tape.operation import call

_INDIVISIBLE = (
    "Given groups={0}, expected weight to be divisible by {0} at dimension 0, but got weight of size [{1}] instead"
)


class Convolving(Promoting):
    """Common to the three operations; see Note [Three of a kind]."""

    __slots__ = ("absent", "geometry")
    operands: ClassVar[tuple[str, ...]] = ("x", "w")
    arguments: ClassVar[tuple[str, ...]] = ("stride", "padding", "dilation", "groups")

    def __init__(self, geometry: Geometry, absent: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.geometry, self.absent = geometry, absent

    @property
    def stride(self) -> tuple[int, ...]:
        """How far the kernel moves."""
        return self.geometry.stride

    @property
    def padding(self) -> tuple[int, ...]:
        """How many zeros are added at each side."""
        return self.geometry.padding

    @property
    def dilation(self) -> tuple[int, ...]:
        """How far the kernel's elements are apart."""
        return self.geometry.dilation

    @property
    def groups(self) -> int | None:
        """How many groups of channels there are; None for a single one, the default."""
        return self.geometry.groups if self.geometry.groups > 1 else None


class ConvolutionBackward0(Convolving):
    __slots__ = ()
    operands = ("x", "w", "b")
    formula = "z = x ∗ w + b    ∂x = g spread by w,  ∂w = Σ g · x where they met,  ∂b = Σ g"

    @property
    def op(self) -> str:  # type: ignore[override]
        """`conv2d` for images."""
        return f"conv{len(self.geometry.w_shape) - 2}d"

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
        return self.geometry.folded(self.geometry.rows(w).swapaxes(1, 2) @ self.geometry.grouped(x))

    def grad_x(self, g: Any, _x: Any, w: Any) -> Any:
        return _convolved(self.geometry, g, w)

    def grad_w(self, g: Any, x: Any, _w: Any) -> Any:
        return call(ConvolutionWeightBackward0(self.geometry), g, x)


class ConvolutionWeightBackward0(Convolving):
    __slots__ = ()
    formula = "z = Σ x · w where they met    ∂x = w spread by g,  ∂w = x ∗ g"
    op = "conv_weight"

    def forward(self, x: Any, w: Any) -> Any:
        products = self.geometry.grouped(w) @ self.geometry.columns(x).swapaxes(2, 3)
        return np.add.reduce(products, 0).reshape(self.geometry.w_shape)

    def grad_x(self, g: Any, _x: Any, w: Any) -> Any:
        return call(ConvolutionInputBackward0(self.geometry), w, g)

    def grad_w(self, g: Any, x: Any, _w: Any) -> Any:
        return _convolved(self.geometry, x, g)


@named("ConvolutionBackward0")
class TransposedConvolution(ConvolutionInputBackward0):
    """`conv_transpose` with its bias: the derivative of a convolution, used as an operation."""

    __slots__ = ()
    operands = ("x", "w", "b")
    formula = "z = x spread by w, + b    ∂x = g ∗ w,  ∂w = Σ x · g where they met,  ∂b = Σ g"

    @property
    def op(self) -> str:  # type: ignore[override]
        """`conv_transpose2d` for images."""
        return f"conv_transpose{len(self.geometry.w_shape) - 2}d"

    def forward(self, x: Any, w: Any, b: Any) -> Any:  # type: ignore[override]  # it also has a bias
        z = super().forward(x, w)
        return z + b.reshape((-1,) + (1,) * (z.ndim - 2))

    def grad_b(self, g: Any, _x: Any, _w: Any) -> Any:
        return sum(g, (0, *range(2, g.ndim)))


def _convolved(geometry: Geometry, x: Any, w: Any, bias: Any = None) -> Any:
    """The convolution; a missing bias is zeros."""
    if bias is not None:
        return call(ConvolutionBackward0(geometry), x, w, bias)
    return call(ConvolutionBackward0(geometry, ("b",)), x, w, np.zeros(geometry.w_shape[0], x.dtype))


def _convolution(
    dims: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """The common part of `conv1d` and `conv2d`."""
    if input.ndim == dims + 1:
        return squeeze(_convolution(dims, unsqueeze(input, 0), weight, bias, stride, padding, dilation, groups), 0)
    _check_ranks(f"conv{dims}d", dims, input, weight)
    _check_dtypes(input, weight, bias)
    strides, dilations = _moves("stride", stride, dims), _moves("dilation", dilation, dims)
    if min(strides) < 1:
        raise RuntimeError("non-positive stride is not supported")
    if min(dilations) < 1:
        raise RuntimeError(f"dilation should be greater than zero, but got {list(dilations)}")
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
    elif isinstance(padding, str):
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    x, w = plain(input), plain(weight)
    geometry = _meeting(x.shape, w.shape, strides, _moves("padding", padding, dims), dilations, groups)
    _check_bias(bias, w.shape[0], f"Given weight of size {list(w.shape)}")
    return _convolved(geometry, input, weight, bias)


@lru_cache(maxsize=256)
def _meeting(
    x_shape: tuple[int, ...],
    w_shape: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
) -> Geometry:
    """The geometry of kernel and input. Raises RuntimeError if they do not fit."""
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    outputs, channels, *kernel = w_shape
    if x_shape[1] != channels * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(w_shape)}, expected input{list(x_shape)} to have "
            f"{channels * groups} channels, but got {x_shape[1]} channels instead"
        )
    if outputs % groups:
        raise RuntimeError(_INDIVISIBLE.format(groups, list(w_shape)))
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    padded = [size + 2 * p for size, p in zip(x_shape[2:], padding, strict=True)]
    if any([one > size for one, size in zip(reach, padded, strict=True)]):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, padded))}). Kernel size: "
            f"({' x '.join(map(str, reach))}). Kernel size can't be greater than actual input size"
        )
    places = tuple([(size - one) // s + 1 for size, one, s in zip(padded, reach, stride, strict=True)])
    return Geometry(stride, padding, dilation, groups, x_shape, w_shape, places)


def _check_ranks(name: str, dims: int, input: Any, weight: Any) -> None:
    """Raise RuntimeError if input or weight has the wrong number of dimensions."""
    if input.ndim == dims + 2 == weight.ndim:
        return
    ranks = f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input"
    if input.ndim != dims + 2:
        raise RuntimeError(f"{ranks} to {name}, but got input of size: {list(input.shape)}")
    raise RuntimeError(
        f"{ranks} and a {dims + 2}D weight to {name}, but got input of size: {list(input.shape)} and weight of "
        f"size: {list(weight.shape)}"
    )


def _moves(name: str, value: Any, dims: int) -> tuple[int, ...]:
    """A stride, padding or dilation for each dimension. Raises RuntimeError if there are too many or too few."""
    values = int_tuple(value, dims)
    if len(values) != dims:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {dims} values to match the convolution "
            f"dimensions, but got {name}={list(values)}"
        )
    return values


def _check_bias(bias: Any, outputs: int, given: str) -> None:
    """Raise RuntimeError for a bias that does not have one element for each output."""
    if bias is not None and tuple(bias.shape) != (outputs,):
        raise RuntimeError(
            f"{given}, expected bias to be 1-dimensional with {outputs} elements, but got bias of size "
            f"{list(bias.shape)} instead"
        )


def _check_dtypes(input: Any, weight: Any, bias: Any) -> None:
    """Raise RuntimeError if weight or bias has another dtype than the input: convolutions do not promote."""
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
    return _convolution(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Slide `weight` (outputs, channels / groups, h, w) over `input` (n, channels, height, width), or without the n.

    `padding` zeros are added on all sides, or as many as keep the size with "same". Returns (n, outputs, rows, cols).
    """
    return _convolution(2, input, weight, bias, stride, padding, dilation, groups)


def _transposed_convolution(
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
        whole = _transposed_convolution(
            dims, unsqueeze(input, 0), weight, bias, stride, padding, output_padding, groups, dilation
        )
        return squeeze(whole, 0)
    _check_ranks(f"conv_transpose{dims}d", dims, input, weight)
    _check_dtypes(input, weight, None)
    steps, paddings = _moves("stride", stride, dims), _moves("padding", padding, dims)
    extras, dilations = _moves("output_padding", output_padding, dims), _moves("dilation", dilation, dims)
    _check_transposed(input, weight, bias, groups, steps, paddings, extras, dilations)
    each = zip(input.shape[2:], weight.shape[2:], steps, paddings, extras, dilations, strict=True)
    size = tuple([(n - 1) * s - 2 * p + d * (k - 1) + extra + 1 for n, k, s, p, extra, d in each])
    channels, places = weight.shape[1] * groups, tuple(input.shape[2:])
    x_shape = (input.shape[0], channels, *size)
    geometry = geometry_of(steps, paddings, dilations, groups, x_shape, tuple(weight.shape), places)
    if bias is not None:
        return call(TransposedConvolution(geometry), input, weight, bias)
    return call(TransposedConvolution(geometry, ("b",)), input, weight, np.zeros(channels, input.dtype))


def _check_transposed(
    input: Any,
    weight: Any,
    bias: Any,
    groups: int,
    steps: tuple[int, ...],
    paddings: tuple[int, ...],
    extras: tuple[int, ...],
    dilations: tuple[int, ...],
) -> None:
    """Raise RuntimeError for invalid arguments of a transposed convolution."""
    for values, least, name in (
        (paddings, 0, "negative padding"),
        (extras, 0, "negative output_padding"),
        (steps, 1, "non-positive stride"),
        (dilations, 1, "non-positive dilation"),
        ((groups,), 1, "non-positive groups"),
    ):
        if min(values) < least:
            raise RuntimeError(f"{name} is not supported")
    shape = list(weight.shape)
    if shape[0] % groups:
        raise RuntimeError(_INDIVISIBLE.format(groups, shape))
    if input.shape[1] != shape[0]:
        raise RuntimeError(
            f"Given transposed=1, weight of size {shape}, expected input{list(input.shape)} to have {shape[0]} "
            f"channels, but got {input.shape[1]} channels instead"
        )
    _check_bias(bias, shape[1] * groups, f"Given transposed=1, weight of size {shape}")
    if any([extra >= step and extra >= gap for extra, step, gap in zip(extras, steps, dilations, strict=True)]):
        above = 2 - len(steps)  # a row counts as an image
        (a, b), (p, q), (i, j) = (0,) * above + extras, (1,) * above + steps, (1,) * above + dilations
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got "
            f"output_padding_height: {a} output_padding_width: {b} stride_height: {p} stride_width: {q} "
            f"dilation_height: {i} dilation_width: {j}"
        )


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
    return _transposed_convolution(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


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
    return _transposed_convolution(2, input, weight, bias, stride, padding, output_padding, groups, dilation)
