"""The patches that a kernel covers as columns of a matrix (im2col), and back (col2im)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from microtape.ops.network.geometry import Geometry, geometry_of
from microtape.ops.shape.reshaping import squeeze, unsqueeze
from microtape.ops.shared.arguments import int_tuple
from microtape.ops.shared.kinds import refusing
from microtape.tape.operation import Operation, call
from microtape.tape.tensor_state import Array


@refusing(iu="im2col_out_cpu")
class Im2ColBackward0(Operation):
    __slots__ = ("geometry",)
    formula = "z = each patch of x as a column    ∂x = Σ g over the patches that an element is in"
    op = "unfold"

    def __init__(self, geometry: Geometry) -> None:
        super().__init__()
        self.geometry = geometry

    def forward(self, x: Array) -> Any:
        columns = self.geometry.columns(x)
        return columns.reshape(x.shape[0], math.prod(self.geometry.w_shape[1:]), self.geometry.places)

    def grad_x(self, g: Any) -> Any:
        return call(Col2ImBackward0(self.geometry), g)


@refusing(iu="col2im_out_cpu")
class Col2ImBackward0(Operation):
    __slots__ = ("geometry",)
    formula = "z = Σ x over the patches that an element is in    ∂x = each patch of g as a column"
    op = "fold"

    def __init__(self, geometry: Geometry) -> None:
        super().__init__()
        self.geometry = geometry

    def forward(self, x: Array) -> Any:
        return self.geometry.folded(x)

    def grad_x(self, g: Any) -> Any:
        return call(Im2ColBackward0(self.geometry), g)


class Window(NamedTuple):
    """A kernel's size, and how it slides over an image; each is (height, width)."""

    kernel: tuple[int, ...]
    dilation: tuple[int, ...]
    padding: tuple[int, ...]
    stride: tuple[int, ...]

    def blocks(self, size: Sequence[int]) -> tuple[int, ...]:
        """How many patches there are along each dimension of an image of this size."""
        each = zip(size, self.kernel, self.dilation, self.padding, self.stride, strict=True)
        return tuple([(length + 2 * p - d * (k - 1) - 1) // s + 1 for length, k, d, p, s in each])

    def over(self, count: int, channels: int, size: Sequence[int]) -> Geometry:
        """The geometry of the window over `count` images."""
        shape = (count, channels, *size)
        return geometry_of(
            self.stride, self.padding, self.dilation, 1, shape, (1, channels, *self.kernel), self.blocks(size)
        )


def _window(kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Window:
    """The arguments for both dimensions. Raises RuntimeError if one is not positive; the padding may be 0."""
    read = Window(*[int_tuple(value, 2) for value in (kernel_size, dilation, padding, stride)])
    for name, short, (height, width), least in (
        ("kernel size", "kernel", read.kernel, 1),
        ("dilation", "dilation", read.dilation, 1),
        ("padding", "pad", read.padding, 0),
        ("stride", "stride", read.stride, 1),
    ):
        if min(height, width) < least:
            raise RuntimeError(
                f"{name} should be {'greater than zero' if least else 'non-negative'}, "
                f"but got {short}_height: {height} {short}_width: {width}"
            )
    return read


def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The patches of images (n, channels, height, width) as columns: (n, channels · kernel, patches).

    The first dimension may be left out. Raises RuntimeError if no patch fits.
    """
    moves = _window(kernel_size, dilation, padding, stride)
    if input.ndim == 3:
        return squeeze(unfold(unsqueeze(input, 0), kernel_size, dilation, padding, stride), 0)
    if input.ndim != 4:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
            f"input, but got: {list(input.shape)}"
        )
    count, channels, *size = input.shape
    blocks = moves.blocks(size)
    if min(blocks) < 1:
        raise RuntimeError(
            f"Given input with spatial size {tuple(size)}, kernel_size={moves.kernel}, dilation={moves.dilation}, "
            f"padding={moves.padding}, calculated shape of the array of sliding blocks as {blocks}, but its components "
            "must be at least one."
        )
    return call(Im2ColBackward0(moves.over(count, channels, size)), input)


def fold(input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Images of `output_size` from their patches (n, channels · kernel, patches); overlapping patches add up.

    The first dimension may be left out. Raises RuntimeError if the sizes do not fit.
    """
    moves, size = _window(kernel_size, dilation, padding, stride), int_tuple(output_size, 2)
    if input.ndim == 2:
        return squeeze(fold(unsqueeze(input, 0), output_size, kernel_size, dilation, padding, stride), 0)
    if input.ndim != 3:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {list(input.shape)}"
        )
    count, rows, columns = input.shape
    channels, left_over = divmod(rows, math.prod(moves.kernel))
    if left_over:
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={rows} and kernel_size={moves.kernel}."
        )
    blocks = moves.blocks(size)
    if columns != math.prod(blocks) or min(blocks) < 1:
        raise RuntimeError(
            f"Given output_size={size}, kernel_size={moves.kernel}, dilation={moves.dilation}, "
            f"padding={moves.padding}, stride={moves.stride}, expected size of input's dimension 2 to match the "
            f"calculated number of sliding blocks {blocks[0]} * {blocks[1]} = {math.prod(blocks)}, "
            f"but got input.size(2)={columns}."
        )
    return call(Col2ImBackward0(moves.over(count, channels, size)), input)
