"""Classification losses: the negative log-likelihood of the right class."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microtape.basics.dtypes import scalar_name
from microtape.basics.summing import add_up
from microtape.ops.elementwise.division import over_number
from microtape.ops.elementwise.selection import where
from microtape.ops.indexing.along import grid, out_of_range
from microtape.ops.indexing.index import IndexBackward0
from microtape.ops.network.loss import check_reduction, constant
from microtape.ops.reduction.softmax import log_softmax
from microtape.ops.reduction.sums_and_extrema import sum
from microtape.ops.shape.reshaping import reshape
from microtape.ops.shared.arguments import plain
from microtape.ops.shared.kinds import named, refusing
from microtape.tape.operands import as_tensor
from microtape.tape.operation import Operation, call, misfit
from microtape.tape.tensor_state import TensorState

_INT64 = np.dtype(np.int64)
_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 8)}


@refusing(biuc="nll_loss_out_frame")
class NllLossBackward0(Operation):
    """An entry's share is the weight of its class, or 0 if ignored; for the mean, divided by the sum of shares."""

    arguments = ("target", "weight")
    __slots__ = ("ignore_index", "key", "reduction", "shares", "target", "weight", "x_shape")
    formula = "z = -mean x[i, class(i)] · weight, N = Σ weight    ∂x = -g / N · weight at each row's class, 0 elsewhere"
    op = "nll_loss"

    def __init__(self, target: Any, weight: Any, ignore_index: int, reduction: str) -> None:
        check_reduction(reduction)
        super().__init__()
        self.target, self.weight, self.ignore_index, self.reduction = target, weight, ignore_index, reduction

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        target = plain(self.target)
        count = x.shape[min(x.ndim - 1, 1)]
        if 0 <= self.ignore_index < count or not _all_below(target, count):
            kept = target != self.ignore_index
            classes = np.where(kept, target, 0)
            out_of_bounds = out_of_range(classes, count)
            if out_of_bounds is not None:
                raise IndexError(f"Target {out_of_bounds} is out of bounds.")
        else:
            kept, classes = np.True_, target
        self.key = _picking_key(classes)
        if classes is target and self.weight is None and self.reduction != "none":  # the usual case: equal shares
            n = x.dtype.type(target.size if self.reduction == "mean" else 1)
            self.shares = 1 / n
            return -add_up(x[self.key], None) / n
        shares = (kept if self.weight is None else kept * plain(self.weight)[classes]).astype(x.dtype)
        total = add_up(shares, None)
        self.shares = shares / (total or 1) if self.reduction == "mean" else shares
        losses = -x[self.key] * shares
        if self.reduction == "none":
            return losses
        return add_up(losses, None) / (total if self.reduction == "mean" else 1)

    # NB: `key` and `shares` are made of what is saved here, as in torch: so a write to it is noticed
    def grad_x(self, g: Any, x: Any, target: Any, weight: Any) -> Any:
        return call(NllLossBackwardBackward0(target, self.key, self.x_shape), g * -self.shares)


class NllLossBackwardBackward0(Operation):
    """The transpose of picking each row's class."""

    __slots__ = ("key", "target", "x_shape")
    formula = "z = x at each row's class, 0 elsewhere    ∂x = g at each row's class"
    op = "nll_loss_backward"

    def __init__(self, target: Any, key: tuple[Any, ...], x_shape: tuple[int, ...]) -> None:
        super().__init__()
        self.target, self.key, self.x_shape = target, key, x_shape

    def forward(self, x: Any) -> Any:
        z = np.zeros(self.x_shape, x.dtype)
        z[self.key] = x
        return z

    def grad_x(self, g: Any, target: Any) -> Any:
        return call(IndexBackward0(self.key), g)


@refusing(biuc="nll_loss2d_forward_out_frame")
@named("NllLoss2DBackward0")
class NllLoss2D(NllLossBackward0):
    """For x with dimensions after those of the batch and of the classes."""

    __slots__ = ()
    op = "nll_loss"


def _all_below(target: Any, count: int) -> bool:
    """Whether all numbers are in range(count), in one comparison: negative ones viewed as unsigned are large."""
    unsigned = target.view(_UNSIGNED[target.itemsize])
    return bool(np.maximum.reduce(unsigned, None, initial=0) < count)


def _picking_key(classes: Any) -> tuple[Any, ...]:
    """The key that picks each row's class: of a vector, of rows, or of rows with further dimensions."""
    if classes.ndim < 2:
        return (np.arange(len(classes)), classes) if classes.ndim else (classes,)
    first, *others = grid(classes.shape)
    return (first, classes, *others)


def nll_loss(input: Any, target: Any, weight: Any = None, *, ignore_index: int = -100, reduction: str = "mean") -> Any:
    """Minus the log-probability of each row's class.

    `input` is (classes,), (n, classes) or (n, classes, ...), `target` the same without the classes, of dtype int64;
    `weight` has a factor for each class. `reduction` is "mean" (weighted), "sum" or "none".

    Raises ValueError, RuntimeError or IndexError for targets of another shape, another dtype or out of range.
    """
    target = as_tensor(target, type(input)) if isinstance(input, TensorState) else np.asarray(target)
    classes, ignore_index = plain(target), int(ignore_index)
    shape, size = plain(input).shape, classes.shape
    if len(shape) != 2 or size != shape[:1] or classes.dtype is not _INT64:
        _check_classes(shape, classes)
    if weight is not None:
        weight = constant(weight, "weight", f"nll_loss{'2d' if len(shape) > 2 else ''}_forward", input)
        _check_weight(shape, plain(input).dtype, plain(weight))
    if len(shape) <= 2:
        if len(size) == len(shape) == 1:
            target = reshape(target, ())
        return call(NllLossBackward0(target, weight, ignore_index, reduction), input)
    image = len(shape) == 4  # torch reshapes other inputs to four dimensions
    wide = input if image else reshape(input, (*shape[:2], 1, math.prod(shape[2:])))
    node = NllLoss2D(reshape(target, (wide.shape[0], *wide.shape[2:])), weight, ignore_index, reduction)
    losses = call(node, wide)
    return losses if image or reduction != "none" else reshape(losses, size)


def _check_classes(shape: tuple[int, ...], classes: Any) -> None:
    """Raise ValueError or RuntimeError if these cannot be the classes for predictions of this shape.

    Torch has three kernels, which look at dtype and shape in an order of their own: for one row or rows, for images,
    and for all else.
    """
    if not shape:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    size, ndim = classes.shape, len(shape)
    if ndim > 1 and (not size or shape[0] != size[0]):
        count = size[0] if size else 0
        raise ValueError(f"Expected input batch_size ({shape[0]}) to match target batch_size ({count}).")
    expected = (*shape[:1], *shape[2:])
    if ndim <= 2 and len(size) > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if ndim == 4 and len(size) != 3:
        raise RuntimeError(
            f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {len(size)}"
        )
    if ndim not in (1, 2, 4) and size != expected:
        raise RuntimeError(f"Expected target size {list(expected)}, got {list(size)}")
    if classes.dtype != np.int64 and classes.dtype != np.uint8:
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {scalar_name(classes.dtype)}")
    if ndim == 1 and len(size) == 1 and size[0] != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {size[0]}")
    if ndim == 4 and size != expected:
        raise RuntimeError(f"size mismatch (got input: {list(shape)} , target: {list(size)}")


def _check_weight(shape: tuple[int, ...], dtype: Any, weight: Any) -> None:
    """Raise RuntimeError unless there is a weight for each class, in the dtype of the predictions."""
    count = shape[min(len(shape) - 1, 1)]
    if weight.shape != (count,):
        which = "all or no classes" if len(shape) > 2 else _each_or_none(count, weight)
        raise RuntimeError(f"weight tensor should be defined either for {which}")
    if weight.dtype != dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(dtype)} but found {scalar_name(weight.dtype)}")


def _each_or_none(count: int, weight: Any) -> str:
    """How many weights there may be, and how many there are."""
    return f"all {count} classes or no classes but got weight tensor of shape: {list(weight.shape)}"


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """The negative log-likelihood under softmax(input), for logits `input`.

    `target` holds classes, as for `nll_loss`, or probabilities in the shape of `input`. `label_smoothing` spreads
    that share of the probability evenly over all classes (Szegedy et al., 2016). Raises as `nll_loss` does, and
    RuntimeError for probabilities that are no floats.
    """
    shape, targets = plain(input).shape, plain(target)
    dim, dtype = min(len(shape) - 1, 1), targets.dtype
    has_probabilities = bool(shape) and targets.shape == shape
    if has_probabilities and dtype.kind != "f":
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities, got {scalar_name(dtype)}"
        )
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    if has_probabilities and ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    logs = log_softmax(input, dim)
    if has_probabilities:
        return _cross_entropy_of_probabilities(logs, target, dim, weight, reduction, label_smoothing)
    right = nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=reduction)
    if label_smoothing == 0:
        return right
    classes = input.shape[dim]
    weights = as_tensor(np.ones(classes, input.dtype) if weight is None else weight, type(input))
    every = -sum(logs * _in_dim(weights, dim, input.ndim), dim)
    if targets.shape != every.shape:
        raise misfit(every.shape, targets.shape)
    kept = targets != int(ignore_index)
    every = where(kept, every, 0.0)
    if reduction != "none":
        every = sum(every)
    if reduction == "mean":
        every = every / float((plain(weights)[np.where(kept, targets, 0)] * kept).sum())
    return right * (1 - label_smoothing) + every * (label_smoothing / classes)


def _cross_entropy_of_probabilities(
    logs: Any, target: Any, dim: int, weight: Any, reduction: str, label_smoothing: float
) -> Any:
    """The cross-entropy between log-probabilities and target probabilities."""
    check_reduction(reduction)
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / logs.shape[dim]
    losses = logs * target
    if weight is not None:
        weight = as_tensor(weight, type(logs))
        if weight.array.shape != (count := logs.shape[dim],):
            which = _each_or_none(count, weight.array)
            raise RuntimeError(f"cross_entropy: weight tensor should be defined either for {which}")
        losses = losses * _in_dim(weight, dim, logs.ndim)
    if reduction == "none":
        return -sum(losses, dim)
    total = -sum(losses)
    return over_number(total, losses.array.size // losses.shape[dim]) if reduction == "mean" else total


def _in_dim(vector: Any, dim: int, ndim: int) -> Any:
    """A vector, reshaped to lie along dimension `dim` of `ndim`."""
    return vector.reshape(tuple([-1 if i == dim else 1 for i in range(ndim)]))
