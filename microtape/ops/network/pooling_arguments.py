"""Reading the arguments of pooling: the size and the layout of its windows."""

from __future__ import annotations

from typing import Any

from microtape.ops.shared.arguments import int_tuple


def pooling_window(
    name: str, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any = 1
) -> tuple[tuple[int, ...], ...]:
    """Kernel, stride, padding, dilation for both dimensions. Raises RuntimeError if they or the image are invalid."""
    kernel, paddings, gaps = int_tuple(kernel_size, 2), int_tuple(padding, 2), int_tuple(dilation, 2)
    steps = kernel if stride is None or stride == () or stride == [] else int_tuple(stride, 2)
    for values, must in (
        (kernel, "kernel_size must either be a single int"),
        (steps, "stride must either be omitted, a single int"),
        (paddings, "padding must either be a single int"),
        (gaps, "dilation must be either a single int"),
    ):
        if len(values) != 2:
            raise RuntimeError(f"{name}: {must}, or a tuple of two ints")
    if x.ndim not in (3, 4):
        raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")
    if min(steps) == 0:
        raise RuntimeError("stride should not be zero")
    if min(gaps) < 1:
        raise RuntimeError(f"dilation should be greater than zero, but got dilationH: {gaps[0]} dilationW: {gaps[1]}")
    if min(paddings) < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {min(paddings)}")
    if any([p > (d * (k - 1) + 1) // 2 for p, k, d in zip(paddings, kernel, gaps, strict=True)]):
        raise RuntimeError(
            f"pad should be at most half of effective kernel size, but got pad={max(paddings)}, "
            f"kernel_size={max(kernel)} and dilation={max(gaps)}"
        )
    if any([p > k // 2 for p, k in zip(paddings, kernel, strict=True)]):
        raise RuntimeError(
            f"pad should be smaller than or equal to half of kernel size, but got padW = {paddings[1]}, "
            f"padH = {paddings[0]}, kW = {kernel[1]}, kH = {kernel[0]}"
        )
    if 0 in x.shape[-3:]:
        raise RuntimeError(
            f"Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:{list(x.shape)}"
        )
    return kernel, steps, paddings, gaps


def row_window(kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> tuple[tuple[int, int], ...]:
    """Kernel, stride, padding, dilation of one dimension, for an image of one row."""
    (kernel,), (gap,), (width,) = (int_tuple(one, 1) for one in (kernel_size, dilation, padding))
    (step,) = (kernel,) if stride is None or stride == () or stride == [] else int_tuple(stride, 1)
    return (1, kernel), (1, step), (0, width), (1, gap)
