"""The patches that a kernel meets, as columns of a matrix, and their way back: what convolution is made of."""

from __future__ import annotations

from typing import Any

from microtape.operation import Operation, call
from microtape.ops.arguments import int_tuple
from microtape.ops.convolution import Geometry
from microtape.ops.kinds import refusing
from microtape.ops.shape import squeeze, unsqueeze
from microtape.tensor_state import Array


@refusing(iu="im2col_out_cpu")
class Im2ColBackward0(Operation):
    __slots__ = ("geometry",)
    formula = "z = each patch of x as a column    ∂x = at each place the sum of g over the patches it is in"
    op = "unfold"

    def __init__(self, geometry: Geometry) -> None:
        super().__init__()
        self.geometry = geometry

    def forward(self, x: Array) -> Any:
        columns = self.geometry.columns(x)
        return columns.reshape(x.shape[0], -1, self.geometry.places)

    def grad_x(self, g: Any) -> Any:
        return call(Col2ImBackward0(self.geometry), g)


@refusing(iu="col2im_out_cpu")
class Col2ImBackward0(Operation):
    __slots__ = ("geometry",)
    formula = "z = at each place the sum of x over the patches it is in    ∂x = each patch of g as a column"
    op = "fold"

    def __init__(self, geometry: Geometry) -> None:
        super().__init__()
        self.geometry = geometry

    def forward(self, x: Array) -> Any:
        return self.geometry.folded(x)

    def grad_x(self, g: Any) -> Any:
        return call(Im2ColBackward0(self.geometry), g)


def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The patches of pictures (n, channels, height, width) as columns: (n, channels · kernel, patches)."""
    return batched("unfold", Im2ColBackward0, input, 3, None, kernel_size, dilation, padding, stride)


def fold(input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Pictures of `output_size` from their patches (n, channels · kernel, patches); where these overlap, their sum."""
    return batched("fold", Col2ImBackward0, input, 2, output_size, kernel_size, dilation, padding, stride)


def batched(
    name: str, operation: Any, x: Any, single: int, size: Any, kernel: Any, dilation: Any, padding: Any, stride: Any
) -> Any:
    """The common part of both: x may lack the first dimension and then has `single` dimensions.

    Raises RuntimeError where the sizes do not fit.
    """
    kernel, dilation, padding, stride = (int_tuple(value, 2) for value in (kernel, dilation, padding, stride))
    if x.ndim == single:
        out = batched(name, operation, unsqueeze(x, 0), single, size, kernel, dilation, padding, stride)
        return squeeze(out, 0)
    if x.ndim != single + 1:
        raise RuntimeError(f"{name}: expected {single} or {single + 1} dimensions, but got shape {list(x.shape)}")
    area = kernel[0] * kernel[1]
    height_width = tuple(x.shape[2:]) if size is None else int_tuple(size, 2)
    channels, left_over = (x.shape[1], 0) if size is None else divmod(x.shape[1], area)
    places = [
        (length + 2 * p - d * (k - 1) - 1) // s + 1
        for length, p, d, k, s in zip(height_width, padding, dilation, kernel, stride, strict=True)
    ]
    if min(places) < 1:
        raise RuntimeError(f"{name}: a kernel of {kernel} does not fit into {height_width} with padding {padding}")
    if left_over or (size is not None and x.shape[2] != places[0] * places[1]):
        raise RuntimeError(
            f"{name}: expected (n, channels · {area}, {places[0] * places[1]}), but got shape {list(x.shape)}"
        )
    shape = (x.shape[0], channels, *height_width)
    return call(operation(Geometry(stride, padding, dilation, 1, shape, (1, channels, *kernel), tuple(places))), x)
