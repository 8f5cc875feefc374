"""Losses of predictions and targets, element by element."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from microtape.basics.call_site import user_stacklevel
from microtape.basics.dtypes import scalar_name
from microtape.basics.summing import total
from microtape.ops.elementwise.activation import sigmoid, softplus
from microtape.ops.elementwise.exponential import exp, log, log1p, log_of_one_plus_exp, xlogy
from microtape.ops.elementwise.rounding import abs
from microtape.ops.elementwise.selection import clamp
from microtape.ops.reduction.sums_and_extrema import mean, sum
from microtape.ops.shape.reshaping import broadcast_tensors
from microtape.ops.shared.arguments import plain
from microtape.ops.shared.choice import choose
from microtape.ops.shared.kinds import Promoting, refusal_of, refusing
from microtape.tape.grad_mode import mode
from microtape.tape.operands import as_tensor
from microtape.tape.operation import NO_MASKS, call
from microtape.tape.tensor_state import TensorState, requires_grad


class PairLoss(Promoting):
    """Common to losses of a prediction x and a target y: a value for each pair of elements, and their mean or sum.

    `reduction` is "mean", "sum" or "none".
    """

    __slots__ = ("count", "reduction")
    operands = ("x", "y")
    averages = True

    def __init__(self, reduction: str) -> None:
        check_reduction(reduction)
        super().__init__()
        self.reduction = reduction

    def forward(self, x: Any, y: Any) -> Any:
        values = self.value(x, y)
        self.count = values.size
        if self.reduction == "none":
            return values
        if self.reduction == "sum":
            return total(values, None)
        return values.mean() if self.count else values.sum() / 0  # NaN, of which numpy's mean would warn

    def value(self, x: Any, y: Any) -> Any:
        """The loss of each pair."""
        raise NotImplementedError

    @property
    def share(self) -> float:
        """The factor of each pair's loss in the result."""
        return 1 / self.count if self.reduction == "mean" and self.count else 1

    def weighted(self, g: Any, weight: Any) -> Any:
        """Each pair's share of g."""
        return g * self.share if weight is None else g * self.share * weight


@refusing(biuc="mse_cpu")
class MseLossBackward0(PairLoss):
    formula = "z = mean (x - y)²    ∂z/∂x = 2 (x - y) / N,  ∂z/∂y = -2 (x - y) / N"

    def value(self, x: Any, y: Any) -> Any:
        return (x - y) ** 2

    def grad_x(self, g: Any, x: Any, y: Any) -> Any:
        return call(MseLossBackwardBackward0(2 * self.share), g, x, y)

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return -call(MseLossBackwardBackward0(2 * self.share), g, x, y)


class MseLossBackwardBackward0(Promoting):
    """The derivative of the squared error as an operation of its own: w is the gradient that arrived."""

    __slots__ = ("factor",)
    operands = ("w", "x", "y")
    formula = "z = c · w · (x - y)    ∂z/∂w = c · (x - y),  ∂z/∂x = c · w,  ∂z/∂y = -c · w"
    op = "mse_loss_backward"

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, w: Any, x: Any, y: Any) -> Any:
        return w * (self.factor * (x - y))

    def grad_w(self, g: Any, _w: Any, x: Any, y: Any) -> Any:
        return g * (self.factor * (x - y))

    def grad_x(self, g: Any, w: Any, _x: Any, _y: Any) -> Any:
        return g * (self.factor * w)

    def grad_y(self, g: Any, w: Any, _x: Any, _y: Any) -> Any:
        return g * (-self.factor * w)


@refusing(biuc="smooth_l1_cpu")
class SmoothL1LossBackward0(PairLoss):
    __slots__ = ("beta",)
    formula = (
        "z = mean of ½ · d² / β where |d| < β, else |d| - ½ · β,  d = x - y    ∂z/∂x = d / β within [-1, 1], / N,  "
        "∂y = -∂x"
    )

    def __init__(self, reduction: str, beta: float) -> None:
        super().__init__(reduction)
        self.beta = beta

    def value(self, x: Any, y: Any) -> Any:
        away = np.abs(x - y)
        return choose(away < self.beta, 0.5 * away * away / self.beta, away - 0.5 * self.beta)

    def grad_x(self, g: Any, x: Any, y: Any) -> Any:
        return g * (self.share * clamp((x - y) / self.beta, -1, 1))

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return g * (-self.share * clamp((x - y) / self.beta, -1, 1))


@refusing(biuc="huber_cpu")
class HuberLossBackward0(PairLoss):
    __slots__ = ("delta",)
    formula = (
        "z = mean of ½ · d² where |d| < δ, else δ · (|d| - ½ · δ),  d = x - y    ∂z/∂x = d within [-δ, δ], / N,  "
        "∂y = -∂x"
    )

    def __init__(self, reduction: str, delta: float) -> None:
        super().__init__(reduction)
        self.delta = delta

    def value(self, x: Any, y: Any) -> Any:
        away = np.abs(x - y)
        return choose(away < self.delta, 0.5 * away * away, self.delta * (away - 0.5 * self.delta))

    def grad_x(self, g: Any, x: Any, y: Any) -> Any:
        return g * (self.share * clamp(x - y, -self.delta, self.delta))

    def grad_y(self, g: Any, x: Any, y: Any) -> Any:
        return g * (-self.share * clamp(x - y, -self.delta, self.delta))


@refusing(biuc="binary_cross_entropy")
class BinaryCrossEntropyBackward0(PairLoss):
    __slots__ = ("weight",)
    formula = (
        "z = -mean (y · ln x + (1 - y) · ln(1 - x)) · weight    ∂z/∂x = (x - y) / (N · x · (1 - x)) · weight,  "
        "∂z/∂y = ln(1/x - 1) / N · weight"
    )

    def __init__(self, reduction: str, weight: Any) -> None:
        super().__init__(reduction)
        self.weight = weight

    def value(self, x: Any, y: Any) -> Any:
        if not np.all((x >= 0) & (x <= 1)):
            raise RuntimeError("all elements of input should be between 0 and 1")
        if not np.all((y >= 0) & (y <= 1)):
            raise RuntimeError("all elements of target should be between 0 and 1")
        losses = (y - 1) * np.maximum(np.log1p(-x), -100) - y * np.maximum(np.log(x), -100)
        return losses if self.weight is None else losses * plain(self.weight)

    def grad_x(self, g: Any, x: Any, y: Any, weight: Any) -> Any:
        return self.weighted(g, weight) * ((x - y) / clamp(x * (1 - x), 1e-12))

    def grad_y(self, g: Any, x: Any, _y: Any, weight: Any) -> Any:
        return self.weighted(g, weight) * (log1p(-x) - log(x))


@refusing(biuc="log_sigmoid_cpu")
class BinaryCrossEntropyWithLogitsBackward0(PairLoss):
    __slots__ = ("pos_weight", "weight")
    formula = (
        "z = mean (x · (1 - y) + ln(1 + e⁻ˣ)) · weight    ∂z/∂x = (σ(x) - y) / N · weight,  ∂z/∂y = -x / N · weight"
    )
    op = "bce_with_logits"

    def __init__(self, reduction: str, weight: Any, pos_weight: Any) -> None:
        super().__init__(reduction)
        self.weight, self.pos_weight = weight, pos_weight

    def value(self, x: Any, y: Any) -> Any:
        losses = (1 - y) * x + _steepness(y, plain(self.pos_weight)) * log_of_one_plus_exp(-x)
        return losses if self.weight is None else losses * plain(self.weight)

    def grad_x(self, g: Any, x: Any, y: Any, weight: Any, pos_weight: Any) -> Any:
        return self.weighted(g, weight) * ((1 - y) - _steepness(y, pos_weight) * sigmoid(-x))

    def grad_y(self, g: Any, x: Any, _y: Any, weight: Any, pos_weight: Any) -> Any:
        if pos_weight is None:
            return self.weighted(g, weight) * -x
        return self.weighted(g, weight) * ((pos_weight - 1) * softplus(-x) - x)


def _steepness(y: Any, pos_weight: Any) -> Any:
    """The weight of the logarithm: 1, or with `pos_weight` between 1 and that, depending on the target."""
    return 1 if pos_weight is None else 1 + (pos_weight - 1) * y


def mse_loss(input: Any, target: Any, reduction: str = "mean", weight: Any = None) -> Any:
    """The mean squared difference. `reduction` is "mean", "sum" or "none"; raises ValueError for any other.

    With a `weight` of the shape of `input`, the mean is a weighted one.
    """
    if weight is not None:
        x, y = _same_shape(input, target)
        return _weighted((x - y) ** 2, input, weight, reduction)
    return call(MseLossBackward0(reduction), *_same_shape(input, target))


def l1_loss(input: Any, target: Any, reduction: str = "mean", weight: Any = None) -> Any:
    """The mean absolute difference; with a `weight` of the shape of `input`, a weighted one."""
    if weight is not None:
        x, y = _same_shape(input, target)
        return _weighted(abs(x - y), input, weight, reduction)
    return reduced(abs(input - target), reduction)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """The mean of d² / 2β where |d| < β = `beta`, else of |d| - β/2, for the differences d."""
    if beta == 0:
        return l1_loss(input, target, reduction)
    return call(SmoothL1LossBackward0(reduction, beta), *_same_shape(input, target))


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None) -> Any:
    """`smooth_l1_loss`, times `delta` (Huber, 1964). Raises RuntimeError for a `delta` that is not positive.

    NB: a `weight` of the shape of `input` multiplies the losses; their mean is not a weighted one, as in torch.
    """
    check_reduction(reduction)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    x, y = _same_shape(input, target)
    if weight is not None:
        _check_weight(input, weight)
        return reduced(call(HuberLossBackward0("none", delta), x, y) * weight, reduction)
    return call(HuberLossBackward0(reduction, delta), x, y)


def binary_cross_entropy(input: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Any:
    """Minus the log-likelihood of `target` (0 to 1) under probabilities `input`.

    Raises RuntimeError outside [0, 1] and for targets of another dtype, ValueError for those of another shape.
    """
    node = BinaryCrossEntropyBackward0(reduction, constant(weight, "weight", "binary_cross_entropy", input))
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. "
            "Please ensure they have the same size."
        )
    if input.dtype != target.dtype:
        found, expected = scalar_name(target.dtype), scalar_name(input.dtype)
        raise RuntimeError(f"Found dtype {found} but expected {expected}")
    return call(node, input, target)


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Any:
    """`binary_cross_entropy` of σ(input), without overflow. `pos_weight` multiplies the loss of positive targets."""
    weights = {"weight": weight, "pos_weight": pos_weight}
    weights = {name: constant(one, name, "binary_cross_entropy_with_logits", input) for name, one in weights.items()}
    node = BinaryCrossEntropyWithLogitsBackward0(reduction, **weights)
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    kind = target.dtype.kind
    if kind == "b":
        raise RuntimeError(NO_MASKS)  # torch computes 1 - target, and writes the loss into it
    if kind in "iu" and input.dtype.kind in "fc":
        found, wanted = scalar_name(input.dtype), scalar_name(target.dtype)
        raise RuntimeError(f"result type {found} can't be cast to the desired output type {wanted}")
    if input.dtype.kind in "biu":
        raise refusal_of(input.dtype, "log_sigmoid_cpu")
    return call(node, input, target)


def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    """Σ target · (ln target - input), for log-probabilities `input`; `reduction` may also be "batchmean"."""
    if input.dtype.kind != "f" or target.dtype.kind != "f":
        kind = "Complex" if "c" in (input.dtype.kind, target.dtype.kind) else "Integral"
        raise RuntimeError(f"kl_div: {kind} inputs not supported.")
    losses = exp(target) * (target - input) if log_target else xlogy(target, target) - target * input
    if reduction == "batchmean":
        return sum(losses) / input.shape[0] if input.ndim else sum(losses)
    return reduced(losses, reduction)


def check_reduction(reduction: str) -> None:
    """Raise ValueError for an unknown reduction."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


def reduced(losses: Any, reduction: str) -> Any:
    """The mean or sum of the losses, or the losses themselves."""
    check_reduction(reduction)
    if reduction == "none":
        return losses
    return mean(losses) if reduction == "mean" else sum(losses)


def _weighted(losses: Any, input: Any, weight: Any, reduction: str) -> Any:
    """The weighted losses, their sum, or their weighted mean."""
    _check_weight(input, weight)
    check_reduction(reduction)
    losses = losses * weight
    if reduction == "none":
        return losses
    return sum(losses) / sum(weight) if reduction == "mean" else sum(losses)


def _check_weight(input: Any, weight: Any) -> None:
    if tuple(weight.shape) != tuple(input.shape):
        raise ValueError("Weights and input must have the same size.")


def _same_shape(x: Any, y: Any) -> tuple[Any, Any]:
    """Both broadcast to one shape, with torch's warning if the shapes differ."""
    if tuple(x.shape) == tuple(y.shape):
        return x, y
    warnings.warn(
        f"Using a target size ({y.shape}) that is different to the input size ({x.shape}). This will likely lead to "
        "incorrect results due to broadcasting. Please ensure they have the same size.",
        UserWarning,
        stacklevel=user_stacklevel(),
    )
    return broadcast_tensors(x, y)


def constant(weight: Any, name: str, function: str, input: Any) -> Any:
    """A weight as a tensor like `input`; None stays None.

    Raises TypeError for anything but a tensor, an array or None, and RuntimeError for a weight that requires grad: it
    would get none.
    """
    if weight is None:
        return None
    if not isinstance(weight, (TensorState, np.ndarray)):
        raise TypeError(f"a weight must be Tensor, not {type(weight).__name__}")
    tensor = as_tensor(weight, type(input))
    if mode.enabled and requires_grad(tensor):
        raise RuntimeError(
            f"The function '{function}' is not differentiable with respect to argument '{name}'. This input cannot "
            "have requires_grad True."
        )
    return tensor
