"""Linear layers, and the layer that does nothing."""

from __future__ import annotations

import math
from typing import Any

from microtape.nn import functional, init
from microtape.nn.module import Module
from microtape.nn.parameter import Parameter
from microtape.tensors.factories import empty


class Identity(Module):
    """Its input, whatever the arguments: a placeholder for a layer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """`input`."""
        return input


class Linear(Module):
    """`input @ weight.T + bias`: (..., in_features) to (..., out_features).

    The initial weights are uniform in ±1 / √in_features.
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in_features), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values."""
        reset_weight_and_bias(self.weight, self.bias)

    def forward(self, input: Any) -> Any:
        """(..., out_features) from (..., in_features). Raises RuntimeError for other shapes."""
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """x · Wₖ · y + bₖ: (..., out_features) of (..., in1_features) and (..., in2_features).

    The initial weights are uniform in ±1 / √in1_features. Raises ValueError unless `in1_features` is positive.
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values."""
        if self.in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={self.in1_features})")
        bound = 1 / math.sqrt(self.in1_features)
        for one in self.parameters():
            init.uniform_(one, -bound, bound)

    def forward(self, input1: Any, input2: Any) -> Any:
        """(..., out_features). Raises RuntimeError for shapes that do not fit."""
        return functional.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        sizes = f"in1_features={self.in1_features}, in2_features={self.in2_features}"
        return f"{sizes}, out_features={self.out_features}, bias={self.bias is not None}"


def reset_weight_and_bias(weight: Any, bias: Any) -> None:
    """Draw both uniformly in ±1 / √fan_in: for a weight, that is the rule of He et al. with a slope of √5."""
    init.kaiming_uniform_(weight, a=math.sqrt(5))
    if bias is not None:
        fan_in, _ = init.fans(weight)
        bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
        init.uniform_(bias, -bound, bound)
