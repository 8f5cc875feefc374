"""Activations, and dropout: functions of each element, or along one dimension. `inplace` overwrites the input."""

from __future__ import annotations

import warnings
from typing import Any

from microtape.basics.call_site import user_stacklevel
from microtape.nn import functional
from microtape.nn.function_module import REQUIRED, FunctionModule
from microtape.nn.init import constant_
from microtape.nn.module import Module
from microtape.nn.parameter import Parameter
from microtape.tensors.factories import empty

_IN_PLACE = {"inplace": False}


class ReLU(FunctionModule):
    """max(x, 0)."""

    function, options = functional.relu, _IN_PLACE


class SiLU(FunctionModule):
    """x · σ(x) (Elfwing et al., 2017)."""

    function, options = functional.silu, _IN_PLACE


class Mish(FunctionModule):
    """x · tanh(log(1 + exp(x))) (Misra, 2019)."""

    function, options = functional.mish, _IN_PLACE


class SELU(FunctionModule):
    """scale · ELU(x), with which deep networks normalise themselves (Klambauer et al., 2017)."""

    function, options = functional.selu, _IN_PLACE


class Hardswish(FunctionModule):
    """x · min(max(x + 3, 0), 6) / 6 (Howard et al., 2019)."""

    function, options = functional.hardswish, _IN_PLACE

    def extra_repr(self) -> str:
        """Nothing, as in torch."""
        return ""


class Hardsigmoid(Hardswish):
    """min(max(x + 3, 0), 6) / 6."""

    function = functional.hardsigmoid


class ELU(FunctionModule):
    """x where x > 0, else alpha · (exp(x) - 1) (Clevert et al., 2016)."""

    function, options, shown = functional.elu, {"alpha": 1.0, "inplace": False}, ("alpha",)


class CELU(FunctionModule):
    """x where x > 0, else alpha · (exp(x / alpha) - 1) (Barron, 2017)."""

    function, options, shown = functional.celu, {"alpha": 1.0, "inplace": False}, ("alpha",)


class LeakyReLU(FunctionModule):
    """x where x > 0, else negative_slope · x (Maas et al., 2013)."""

    function, options = functional.leaky_relu, {"negative_slope": 0.01, "inplace": False}
    shown = ("negative_slope",)


class Hardtanh(FunctionModule):
    """x, clamped to [min_val, max_val]. Raises AssertionError unless that is a range."""

    function, options = functional.hardtanh, {"min_val": -1.0, "max_val": 1.0, "inplace": False}
    shown = ("min_val", "max_val")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")


class ReLU6(FunctionModule):
    """min(max(x, 0), 6)."""

    function, options = functional.relu6, _IN_PLACE


class Softplus(FunctionModule):
    """log(1 + exp(beta · x)) / beta, a smooth ReLU; x where beta · x is above `threshold`."""

    function, options = functional.softplus, {"beta": 1.0, "threshold": 20.0}
    shown = ("beta", "threshold")


class GELU(FunctionModule):
    """x · Φ(x), with Φ the distribution function of the normal distribution (Hendrycks and Gimpel, 2016)."""

    function, options, shown = functional.gelu, {"approximate": "none"}, ("approximate",)


class GLU(FunctionModule):
    """a · σ(b), with a and b the halves along `dim` (Dauphin et al., 2017)."""

    function, options, shown = functional.glu, {"dim": -1}, ("dim",)


class Sigmoid(FunctionModule):
    """1 / (1 + exp(-x))."""

    function = functional.sigmoid


class Tanh(FunctionModule):
    """tanh(x)."""

    function = functional.tanh


class LogSigmoid(FunctionModule):
    """log(σ(x))."""

    function = functional.logsigmoid


class Softsign(FunctionModule):
    """x / (1 + |x|)."""

    function = functional.softsign


class Tanhshrink(FunctionModule):
    """x - tanh(x)."""

    function = functional.tanhshrink


class Hardshrink(FunctionModule):
    """x where |x| > lambd, else 0."""

    function, options = functional.hardshrink, {"lambd": 0.5}

    def extra_repr(self) -> str:
        """The option without its name, as in torch."""
        return str(self.lambd)


class Softshrink(Hardshrink):
    """x, moved towards 0 by lambd."""

    function = functional.softshrink


class Threshold(FunctionModule):
    """x where it is above the threshold, else `value`."""

    function = functional.threshold
    options, shown = {"threshold": REQUIRED, "value": REQUIRED, "inplace": False}, ("threshold", "value")


class PReLU(Module):
    """x where x > 0, else weight · x, with one weight, or one for each channel, that is learned (He et al., 2015)."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to `init`."""
        constant_(self.weight, self.init)

    def forward(self, input: Any) -> Any:
        """The shape of `input`, whose dimension 1 are the channels. Raises RuntimeError for another number of them."""
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """The number of weights."""
        return f"num_parameters={self.num_parameters}"


class Softmax(FunctionModule):
    """exp(x) divided by its sum along `dim`: shares that add up to 1.

    Without a `dim` it warns, and takes 0 for 0, 1 or 3 dimensions, else 1.
    """

    function, options, shown = functional.softmax, {"dim": None}, ("dim",)

    def forward(self, input: Any) -> Any:
        """The shape of `input`."""
        dim = self.dim
        if dim is None:
            dim = 0 if input.ndim in (0, 1, 3) else 1
            warnings.warn(
                f"Implicit dimension choice for {type(self).function.__name__} has been deprecated. Change the call to "
                "include dim=X as an argument.",
                stacklevel=user_stacklevel(),
            )
        return type(self).function(input, dim)


class LogSoftmax(Softmax):
    """The logarithm of softmax."""

    function = functional.log_softmax


class Softmin(Softmax):
    """Softmax of -x."""

    function = functional.softmin


class Softmax2d(FunctionModule):
    """Softmax over the channels of (N, C, H, W) or (C, H, W). Raises ValueError for other shapes."""

    @staticmethod
    def function(input: Any) -> Any:
        """The shape of `input`."""
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return functional.softmax(input, -3)


class Dropout(FunctionModule):
    """In training, each element 0 with probability p, the others scaled by 1 / (1 - p) (Srivastava et al., 2014)."""

    function, options = functional.dropout, {"p": 0.5, "inplace": False}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not 0 <= self.p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")

    def given(self) -> dict[str, Any]:
        """The options, and whether the module is in training."""
        return {**super().given(), "training": self.training}

    def extra_repr(self) -> str:
        """The options."""
        return f"p={self.p}, inplace={self.inplace}"
