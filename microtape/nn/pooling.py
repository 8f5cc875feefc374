"""Pooling: one number for each window of the input, (N, C, L) or (N, C, H, W), also without N."""

from __future__ import annotations

from typing import Any, ClassVar

from microtape.nn import functional
from microtape.nn.function_module import REQUIRED, FunctionModule

_SIZES = {"kernel_size": REQUIRED, "stride": None, "padding": 0}


class _Pool(FunctionModule):
    """Common: windows next to each other, unless `stride` says otherwise."""

    stride: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stride = self.kernel_size if self.stride is None else self.stride


class MaxPool1d(_Pool):
    """The largest number of each window; with `return_indices`, also its place."""

    function = functional.max_pool1d
    options: ClassVar = {**_SIZES, "dilation": 1, "return_indices": False, "ceil_mode": False}
    shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")


class MaxPool2d(MaxPool1d):
    """The largest number of each window; with `return_indices`, also its place."""

    function = functional.max_pool2d


class AvgPool1d(_Pool):
    """The mean of each window."""

    function, options = functional.avg_pool1d, {**_SIZES, "ceil_mode": False, "count_include_pad": True}
    shown = ("kernel_size", "stride", "padding")

    def _set_option(self, name: str, value: Any) -> None:
        is_size = name in _SIZES and isinstance(value, int)
        super()._set_option(name, (value,) if is_size else value)


class AvgPool2d(_Pool):
    """The mean of each window, or its sum divided by `divisor_override`."""

    function = functional.avg_pool2d
    options: ClassVar = {**_SIZES, "ceil_mode": False, "count_include_pad": True, "divisor_override": None}
    shown = ("kernel_size", "stride", "padding")


class AdaptiveAvgPool2d(FunctionModule):
    """The means of as many windows as `output_size` says: a number or a pair, in which None keeps a size."""

    function, options, shown = functional.adaptive_avg_pool2d, {"output_size": REQUIRED}, ("output_size",)
