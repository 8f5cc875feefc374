"""Initial values, written into a tensor in place and returned; from one seed the same as torch's.

Why the scale matters: a layer multiplies the variance of its input by fan_in · Var(w), and a deep network by that
factor once per layer. Glorot and Bengio (2010) and He et al. (2015) choose Var(w) so that the factor is about 1.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from microtape.absent import lacking as _lacking
from microtape.basics.call_site import user_stacklevel
from microtape.ops.elementwise.selection import where
from microtape.random import Generator
from microtape.tape.grad_mode import no_grad
from microtape.tensors.factories import empty_like, eye, from_numpy

_LINEAR = ("linear", *(f"conv{kind}{n}d" for kind in ("", "_transpose") for n in (1, 2, 3)), "sigmoid")


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which weights before this activation are larger; `param` is the negative slope of a leaky ReLU.

    Raises ValueError for an unknown activation or a slope that is no number.
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, int | float):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    gains = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4, **dict.fromkeys(_LINEAR, 1)}
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return gains[nonlinearity]


@no_grad()
def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Any:
    """Fill with numbers that are uniformly distributed in [a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Any:
    """Fill with normally distributed numbers."""
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def trunc_normal_(
    tensor: Any,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Any:
    """Fill with normally distributed numbers, drawn again wherever they lie outside of [a, b].

    Raises NotImplementedError if less than 30 percent would lie inside, where torch draws in another way.
    """
    inside = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    if inside <= 0.3:
        raise NotImplementedError(
            f"trunc_normal_ is here for a range that holds more than 30% of the numbers, got {inside:.0%}: "
            "widen [a, b], or make std smaller"
        )
    low, high = (tensor.new_tensor(bound).item() for bound in (a, b))
    result = tensor.normal_(mean, std, generator=generator)
    while (outside := (result < low) | (result > high)).any():
        result = where(outside, empty_like(result).normal_(mean, std, generator=generator), result)
    return tensor if result is tensor else tensor.copy_(result)


def _normal_cdf(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


@no_grad()
def constant_(tensor: Any, val: float) -> Any:
    """Fill with one number."""
    return tensor.fill_(val)


def ones_(tensor: Any) -> Any:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Any) -> Any:
    """Fill with zeros."""
    return constant_(tensor, 0.0)


@no_grad()
def eye_(tensor: Any) -> Any:
    """Ones on the diagonal, zeros elsewhere. Raises ValueError unless the tensor has 2 dimensions."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return tensor.copy_(eye(*tensor.shape))


def fans(tensor: Any) -> tuple[int, int]:
    """(fan_in, fan_out) of a weight (out, in, ...): how many numbers go into, and come out of, a place of the kernel.

    Raises ValueError for a tensor with fewer than 2 dimensions.
    """
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    kernel = math.prod(tensor.shape[2:])
    return tensor.shape[1] * kernel, tensor.shape[0] * kernel


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Generator | None = None) -> Any:
    """Uniform in [-a, a) with a = gain · √(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010)."""
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Generator | None = None) -> Any:
    """Normal with std = gain · √(2 / (fan_in + fan_out)) (Glorot and Bengio, 2010)."""
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _xavier_std(tensor: Any, gain: float) -> float:
    return gain * math.sqrt(2.0 / float(sum(fans(tensor))))


def kaiming_uniform_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Any:
    """Uniform in [-c, c) with c = gain · √(3 / fan) (He et al., 2015); `a` is the negative slope of a leaky ReLU."""
    if (std := _kaiming_std(tensor, a, mode, nonlinearity)) is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Any:
    """Normal with std = gain / √fan (He et al., 2015); `a` is the negative slope of a leaky ReLU."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0, std, generator)


def _kaiming_std(tensor: Any, a: float, mode: str, nonlinearity: str) -> float | None:
    """The standard deviation; None, with a warning, for a tensor without elements."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=user_stacklevel())
        return None
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of {modes}")
    return calculate_gain(nonlinearity, a) / math.sqrt(fans(tensor)[modes.index(mode.lower())])


@no_grad()
def orthogonal_(tensor: Any, gain: float = 1, generator: Generator | None = None) -> Any:
    """Orthogonal rows or columns of length `gain`: the Q of a QR decomposition of normal numbers (Saxe et al., 2013).

    A tensor of more dimensions counts as a matrix (first, rest). Raises ValueError for fewer than 2 dimensions.
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    rows = tensor.shape[0]
    numbers = tensor.new_empty(rows, tensor.numel() // rows).normal_(generator=generator).numpy()
    is_wide = rows < numbers.shape[1]
    q, r = np.linalg.qr(numbers.T if is_wide else numbers)
    q = q * np.sign(np.diag(r))  # which makes Q uniform among the orthogonal matrices (Mezzadri, 2007)
    return tensor.copy_(from_numpy(q.T if is_wide else q).reshape(tensor.shape)).mul_(gain)


__all__ = [
    "calculate_gain",
    "constant_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

__getattr__ = _lacking(__name__)
