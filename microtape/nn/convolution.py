"""Convolutions, and their transposes."""

from __future__ import annotations

from typing import Any

from microtape.nn import functional
from microtape.nn.linear import reset_weight_and_bias
from microtape.nn.module import Module
from microtape.nn.parameter import Parameter
from microtape.tensors.factories import empty

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _Convolution(Module):
    """Common: sizes are numbers or tuples of `dims` numbers. The initial weights are uniform in ±1 / √fan_in."""

    dims = 0
    transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
        *,
        output_padding: Any = 0,
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = self._sizes(kernel_size), self._sizes(stride)
        self.padding = padding if isinstance(padding, str) else self._sizes(padding)
        self.dilation, self.output_padding = self._sizes(dilation), self._sizes(output_padding)
        self.padding_mode = padding_mode
        self._check()
        channels = (in_channels, out_channels // groups) if self.transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(empty((*channels, *self.kernel_size), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_channels, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def _sizes(self, size: Any) -> tuple[int, ...]:
        return tuple(size) if isinstance(size, tuple | list) else (size,) * self.dims

    def _check(self) -> None:
        if self.groups <= 0:
            raise ValueError("groups must be a positive integer")
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        if self.out_channels % self.groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(self.padding, str) and self.padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {self.padding!r}, should be one of same, valid")
        if self.padding == "same" and any(step != 1 for step in self.stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
        if self.padding_mode not in _PADDING_MODES:
            raise ValueError(
                f"padding_mode must be one of {', '.join(_PADDING_MODES)}, but got padding_mode='{self.padding_mode}'"
            )

    def reset_parameters(self) -> None:
        """Draw new initial values."""
        reset_weight_and_bias(self.weight, self.bias)

    def _padded(self, input: Any) -> tuple[Any, Any]:
        """The input, padded here unless with zeros, and the padding that is left to the convolution."""
        if self.padding_mode == "zeros":
            return input, self.padding
        if self.padding == "same":
            totals = [step * (size - 1) for step, size in zip(self.dilation, self.kernel_size, strict=True)]
            pairs = [(total // 2, total - total // 2) for total in totals]
        else:
            sizes: Any = (0,) * self.dims if self.padding == "valid" else self.padding
            pairs = [(size, size) for size in sizes]
        return functional.pad(input, [size for pair in reversed(pairs) for size in pair], mode=self.padding_mode), 0

    def extra_repr(self) -> str:
        """The sizes that are not the usual ones."""
        shown: dict[str, Any] = {"kernel_size": self.kernel_size, "stride": self.stride}
        for name, usual in (("padding", 0), ("dilation", 1), ("output_padding", 0)):
            value = getattr(self, name)
            if value != (usual,) * len(value):
                shown[name] = value
        shown |= {"groups": self.groups} if self.groups != 1 else {}
        shown |= {"bias": False} if self.bias is None else {}
        shown |= {"padding_mode": self.padding_mode} if self.padding_mode != "zeros" else {}
        sizes = ", ".join(f"{name}={value}" for name, value in shown.items())
        return f"{self.in_channels}, {self.out_channels}, {sizes}"


class Conv1d(_Convolution):
    """The cross-correlation of (N, in_channels, L) or (in_channels, L) with out_channels kernels, plus a bias."""

    dims = 1

    def forward(self, input: Any) -> Any:
        """(N, out_channels, L'). Raises RuntimeError for shapes that do not fit."""
        input, padding = self._padded(input)
        return functional.conv1d(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv2d(_Convolution):
    """The cross-correlation of (N, in_channels, H, W) or (in_channels, H, W) with out_channels kernels, plus a bias."""

    dims = 2

    def forward(self, input: Any) -> Any:
        """(N, out_channels, H', W'). Raises RuntimeError for shapes that do not fit."""
        input, padding = self._padded(input)
        return functional.conv2d(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class _Transposed(_Convolution):
    """Common: the linear map that backward applies to the gradients of a convolution (Dumoulin and Visin, 2016)."""

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            device=device,
            dtype=dtype,
            output_padding=output_padding,
        )

    def _options(self) -> tuple[Any, ...]:
        options = (self.stride, self.padding, self.output_padding, self.groups, self.dilation)
        return (self.weight, self.bias, *options)


class ConvTranspose1d(_Transposed):
    """(N, in_channels, L) to (N, out_channels, L'), with L' = (L - 1) · stride + kernel_size without padding."""

    dims = 1

    def forward(self, input: Any) -> Any:
        """(N, out_channels, L'). Raises RuntimeError for shapes that do not fit."""
        return functional.conv_transpose1d(input, *self._options())


class ConvTranspose2d(_Transposed):
    """(N, in_channels, H, W) to (N, out_channels, H', W'), of which each is as L' of ConvTranspose1d."""

    dims = 2

    def forward(self, input: Any) -> Any:
        """(N, out_channels, H', W'). Raises RuntimeError for shapes that do not fit."""
        return functional.conv_transpose2d(input, *self._options())
