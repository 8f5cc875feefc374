"""Pooling: the largest element or the mean of each window. Images are (n, channels, height, width), or without n."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from microtape.ops.network.geometry import Geometry, geometry_of
from microtape.ops.network.pooling_arguments import pooling_window, row_window
from microtape.ops.shape.reshaping import squeeze, unsqueeze
from microtape.ops.shared.kinds import refusing
from microtape.tape.operation import Operation, call
from microtape.tape.tensor_state import Array, TensorState, new_tensor


class Pooling(Operation):
    """Common: windows of each channel by itself. To `Geometry`, each channel is an image of the batch."""

    arguments = ("kernel", "stride", "padding")
    __slots__ = ("ceil", "dilation", "kernel", "padding", "stride", "x_shape")
    x_shape: tuple[int, ...]

    def __init__(
        self,
        kernel: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        ceil: bool,
    ) -> None:
        super().__init__()
        self.kernel, self.stride, self.padding, self.dilation, self.ceil = kernel, stride, padding, dilation, ceil

    @property
    def geometry(self) -> Geometry:
        """The geometry of the windows. Raises RuntimeError if none fits."""
        size = tuple([self.count(dim) for dim in (0, 1)])
        if min(size) <= 0:
            raise RuntimeError(
                f"Given input size: ({_by(self.x_shape[-3:])}). Calculated output size: "
                f"({_by((*self.x_shape[-3:-2], *size))}). Output size is too small"
            )
        images = (math.prod(self.x_shape[:-2]), 1, *self.x_shape[-2:])
        return geometry_of(self.stride, self.padding, self.dilation, 1, images, (1, 1, *self.kernel), size)

    def count(self, dim: int) -> int:
        """How many windows there are along a dimension; with `ceil`, a last one need only begin inside."""
        size, padding, stride = self.x_shape[dim - 2], self.padding[dim], self.stride[dim]
        room = size + 2 * padding - self.dilation[dim] * (self.kernel[dim] - 1) - 1
        if not self.ceil:
            return room // stride + 1
        count = -(-room // stride) + 1
        return count - 1 if (count - 1) * stride >= size + padding else count

    @property
    def z_shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        return (*self.x_shape[:-2], *self.geometry.out_size)

    def padded(self, x: Array, outside: Any) -> Array:
        """The images with their padding."""
        geometry = self.geometry
        padded = np.full(geometry.padded_shape, outside, x.dtype)
        padded[geometry.inside] = x.reshape(geometry.x_shape)
        return padded

    def windows(self, x: Array, outside: Any) -> Any:
        """The elements of each window in the last dimension: (images, rows, columns, kernel)."""
        g, padded = self.geometry, self.padded(x, outside)
        count, _, down, right = padded.strides
        (i, j), (a, b) = self.dilation, self.stride
        view = as_strided(
            padded, (g.x_shape[0], *g.out_size, *self.kernel), (count, down * a, right * b, down * i, right * j)
        )
        return view.reshape((g.x_shape[0], *g.out_size, math.prod(self.kernel)))


@refusing(bc="max_pool2d")
class MaxPool2DWithIndicesBackward0(Pooling):
    __slots__ = ("places",)
    formula = "z = the largest of each window    ∂x = g where it stood, 0 elsewhere"
    op = "max_pool2d"

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        shape = self.z_shape
        outside = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        windows = self.windows(x, outside)
        chosen = np.argmax(windows, -1, keepdims=True)
        values = np.take_along_axis(windows, chosen, -1)
        if any(self.padding) and np.any(values == outside):  # never the padding, even if x is as small
            inside = self.windows(np.ones(x.shape, np.bool_), False)
            first = np.argmax(inside & (windows == outside), -1, keepdims=True)
            chosen = np.where(values == outside, first, chosen)
        self.places = self.flat(chosen[..., 0]).reshape(shape)
        return values.reshape(shape)

    def flat(self, chosen: Array) -> Any:
        """The flat index of each chosen element in its image."""
        (i, j), (a, b), (p, q) = self.dilation, self.stride, self.padding
        _, rows, columns = chosen.shape
        down = np.arange(rows)[:, None] * a + chosen // self.kernel[1] * i - p
        right = np.arange(columns) * b + chosen % self.kernel[1] * j - q
        return down * self.x_shape[-1] + right

    def grad_x(self, g: Any) -> Any:
        return call(MaxPool2DWithIndicesBackwardBackward0(self.places, self.x_shape), g)


class MaxPool2DWithIndicesBackwardBackward0(Operation):
    """The transpose of picking the largest."""

    __slots__ = ("places", "x_shape")
    formula = "z = x added up where the largest stood    ∂x = g where the largest stood"
    op = "max_pool_backward"

    def __init__(self, places: Array, x_shape: tuple[int, ...]) -> None:
        super().__init__()
        self.places, self.x_shape = places, x_shape

    def forward(self, x: Any) -> Any:
        images, size = math.prod(self.x_shape[:-2]), math.prod(self.x_shape[-2:])
        z = np.zeros(images * size, x.dtype)
        np.add.at(z, self.in_one_row(), x.reshape(-1))
        return z.reshape(self.x_shape)

    def in_one_row(self) -> Array:
        """The flat indices of the largest, among all elements of all images."""
        images, size = math.prod(self.x_shape[:-2]), math.prod(self.x_shape[-2:])
        within: Array = (
            self.places.reshape(images, math.prod(self.places.shape[-2:])) + np.arange(images)[:, None] * size
        )
        return within.reshape(-1)

    def grad_x(self, g: Any) -> Any:
        return call(PickFlat(self.in_one_row().reshape(self.places.shape), self.x_shape, self.places), g)


class PickFlat(Operation):
    """The derivative of max pooling's derivative."""

    __slots__ = ("flat", "places", "x_shape")
    formula = "z = x where the largest stood    ∂x = g added up where the largest stood"
    op = "pick"

    def __init__(self, flat: Array, x_shape: tuple[int, ...], places: Array) -> None:
        super().__init__()
        self.flat, self.x_shape, self.places = flat, x_shape, places

    def forward(self, x: Any) -> Any:
        return x.reshape(-1)[self.flat]

    def grad_x(self, g: Any) -> Any:
        return call(MaxPool2DWithIndicesBackwardBackward0(self.places, self.x_shape), g)


PickFlat.__name__ = "GatherBackward0"


@refusing(b="avg_pool2d")
class AvgPool2DBackward0(Pooling):
    __slots__ = ("count_padding", "divisor")
    formula = "z = the mean of each window    ∂x = g / N, added up over the windows"
    op = "avg_pool2d"

    def __init__(
        self,
        kernel: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        ceil: bool,
        count_padding: bool,
        divisor: int | None,
    ) -> None:
        super().__init__(kernel, stride, padding, (1,) * len(kernel), ceil)
        self.count_padding, self.divisor = count_padding, divisor

    def divisors(self, dtype: Any) -> Any:
        """The divisor of each window's sum: how many of its elements count."""
        if self.divisor is not None:
            return self.divisor
        geometry = self.geometry
        counted = np.zeros((1, 1, *geometry.padded_shape[2:]), dtype)
        if self.count_padding:
            (height, width), (p, q) = self.x_shape[-2:], self.padding
            counted[..., : height + 2 * p, : width + 2 * q] = 1
        else:
            counted[geometry.inside] = 1
        return self.added_up(counted)[0, 0]

    def added_up(self, padded: Array) -> Any:
        """The sum of each window of padded images."""
        geometry = self.geometry
        total = np.zeros((len(padded), 1, *geometry.out_size), padded.dtype)
        for _, met in geometry.meetings:
            total += padded[met]
        return total

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        wide = x.astype(np.float64) if x.dtype.kind in "iu" or x.dtype == np.float16 else x
        total = self.added_up(self.padded(wide, 0)).reshape(self.z_shape)
        return (total / self.divisors(wide.dtype)).astype(x.dtype, copy=False)

    def grad_x(self, g: Any) -> Any:
        return call(AvgPool2DBackwardBackward0(self), g)


class AvgPool2DBackwardBackward0(Operation):
    """The transpose of taking means; `pool` is the operation."""

    __slots__ = ("pool",)
    formula = "z = x / N, added up over the windows    ∂x = the mean of each window of g"
    op = "avg_pool_backward"

    def __init__(self, pool: AvgPool2DBackward0) -> None:
        super().__init__()
        self.pool = pool

    def forward(self, x: Any) -> Any:
        pool, geometry = self.pool, self.pool.geometry
        each = (x / pool.divisors(x.dtype)).astype(x.dtype, copy=False)
        each = each.reshape(geometry.x_shape[0], 1, geometry.places)
        columns = np.broadcast_to(each, (len(each), math.prod(pool.kernel), geometry.places))
        return geometry.folded(columns).reshape(pool.x_shape)

    def grad_x(self, g: Any) -> Any:
        pool = self.pool
        again = AvgPool2DBackward0(pool.kernel, pool.stride, pool.padding, pool.ceil, pool.count_padding, pool.divisor)
        return call(again, g)


def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window; the first of several gets the gradient.

    The windows lie `stride` apart, by default side by side; `padding` adds elements that are never the largest;
    `ceil_mode` adds windows that only begin inside. With `return_indices`, (values, indices), the indices flat in each
    image.
    """
    kernel, steps, paddings, gaps = pooling_window("max_pool2d", input, kernel_size, stride, padding, dilation)
    node = MaxPool2DWithIndicesBackward0(kernel, steps, paddings, gaps, ceil_mode)
    values = call(node, input)
    if not return_indices:
        return values
    return values, new_tensor(type(input), node.places) if isinstance(input, TensorState) else node.places


def avg_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The mean of each window; `padding` adds zeros, which count unless `count_include_pad` is False.

    `ceil_mode` adds windows that only begin inside; `divisor_override` replaces the divisor of the sums.
    """
    kernel, steps, paddings, _ = pooling_window("avg_pool2d", input, kernel_size, stride, padding)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    return call(AvgPool2DBackward0(kernel, steps, paddings, ceil_mode, count_include_pad, divisor_override), input)


def max_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """`max_pool2d` of rows: (n, channels, length), or without the n."""
    kernel, steps, paddings, gaps = row_window(kernel_size, stride, padding, dilation)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{list(input.shape)}"
        )
    if paddings[1] > kernel[1] // 2 and not return_indices:
        raise RuntimeError(
            f"max_pool1d() padding should be at most half of kernel size, but got padding={paddings[1]} and "
            f"kernel_size={kernel[1]}"
        )
    pooled = max_pool2d(unsqueeze(input, -2), kernel, steps, paddings, gaps, ceil_mode, return_indices)
    return tuple([squeeze(one, -2) for one in pooled]) if return_indices else squeeze(pooled, -2)


def avg_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """`avg_pool2d` of rows: (n, channels, length), or without the n."""
    kernel, steps, paddings, _ = row_window(kernel_size, stride, padding, 1)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {input.ndim}-dimensional tensor for argument #1 'self' (while "
            "checking arguments for avg_pool1d)"
        )
    return squeeze(avg_pool2d(unsqueeze(input, -2), kernel, steps, paddings, ceil_mode, count_include_pad), -2)


def _by(sizes: Sequence[int]) -> str:
    """Sizes as torch's messages write them: 1x4x4."""
    return "x".join(map(str, sizes))
