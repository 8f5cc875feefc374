"""Normalisation: subtract a mean, divide by a standard deviation, then scale and shift by what is learned."""

from __future__ import annotations

from typing import Any

from microtape.basics.dtypes import int64
from microtape.nn import functional, init
from microtape.nn.module import Module
from microtape.nn.parameter import Parameter
from microtape.tensors.factories import empty, ones, tensor, zeros


class _Affine(Module):
    """Common: the learned scale and shift, `weight` and `bias`."""

    def _register_affine(self, shape: Any, affine: bool, bias: bool, options: dict[str, Any]) -> None:
        self.register_parameter("weight", Parameter(empty(shape, **options)) if affine else None)
        self.register_parameter("bias", Parameter(empty(shape, **options)) if affine and bias else None)

    def reset_parameters(self) -> None:
        """Set the scale to 1 and the shift to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class _BatchNorm(_Affine):
    """Common: (x - E[x]) / √(Var[x] + eps) · weight + bias, over each channel of a batch (Ioffe and Szegedy, 2015).

    In training, the running mean and variance move towards those of the batch by the factor `momentum`; None: they are
    the means over all batches. In evaluation they take the place of the batch's own.
    """

    _version = 2

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        options = {"device": device, "dtype": dtype}
        self._register_affine(num_features, affine, bias, options)
        self.register_buffer("running_mean", zeros(num_features, **options) if track_running_stats else None)
        self.register_buffer("running_var", ones(num_features, **options) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", tensor(0, dtype=int64) if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Set the running mean to 0, the running variance to 1 and the count of batches to 0."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Reset the running statistics, the scale to 1 and the shift to 0."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_input_dim(self, input: Any) -> None:
        raise NotImplementedError

    def forward(self, input: Any) -> Any:
        """The same shape as `input`. Raises ValueError for a wrong number of dimensions."""
        self._check_input_dim(input)
        rate = 0.0 if self.momentum is None else self.momentum
        tracked = self.track_running_stats or not self.training
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                rate = 1.0 / self.num_batches_tracked.item()
        return functional.batch_norm(
            input,
            self.running_mean if tracked else None,
            self.running_var if tracked else None,
            self.weight,
            self.bias,
            self.training or (self.running_mean is None and self.running_var is None),
            rate,
            self.eps,
        )

    def extra_repr(self) -> str:
        """The sizes and options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: Any, *arguments: Any
    ) -> None:
        """As Module's; a state dict without versions, as from a numpy file, may lack the count of batches."""
        if local_metadata.get("version", 1) < 2 and self.num_batches_tracked is not None:
            state_dict.setdefault(f"{prefix}num_batches_tracked", self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *arguments)


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L); see `_BatchNorm`."""

    def _check_input_dim(self, input: Any) -> None:
        if input.ndim not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.ndim}D input)")


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W); see `_BatchNorm`."""

    def _check_input_dim(self, input: Any) -> None:
        if input.ndim != 4:
            raise ValueError(f"expected 4D input (got {input.ndim}D input)")


class LayerNorm(_Affine):
    """(x - E[x]) / √(Var[x] + eps) · weight + bias, over the last dimensions, `normalized_shape` (Ba et al., 2016)."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._register_affine(self.normalized_shape, elementwise_affine, bias, {"device": device, "dtype": dtype})
        self.reset_parameters()

    def forward(self, input: Any) -> Any:
        """The same shape as `input`."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The shape and options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class GroupNorm(_Affine):
    """(x - E[x]) / √(Var[x] + eps) · weight + bias, over each of `num_groups` groups of channels (Wu and He, 2018)."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._register_affine(num_channels, affine, bias, {"device": device, "dtype": dtype})
        self.reset_parameters()

    def forward(self, input: Any) -> Any:
        """The same shape as `input`, (N, num_channels, ...)."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The sizes and options."""
        sizes = f"{self.num_groups}, {self.num_channels}, eps={self.eps}"
        return f"{sizes}, affine={self.affine}, bias={self.bias is not None}"


class RMSNorm(Module):
    """x / √(E[x²] + eps) · weight, over the last dimensions, `normalized_shape` (Zhang and Sennrich, 2019)."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        weight = Parameter(ones(self.normalized_shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", weight)

    def reset_parameters(self) -> None:
        """Set the scale to 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Any) -> Any:
        """The same shape as `x`."""
        return functional.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """The shape and options."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


def _shape(normalized_shape: Any) -> tuple[int, ...]:
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
