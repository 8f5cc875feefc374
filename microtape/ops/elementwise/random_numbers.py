"""Random numbers written in place, Bernoulli trials, samples, and dropout."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from microtape.basics.dtypes import scalar_name
from microtape.basics.fused import multiply_add
from microtape.ops.elementwise.comparison import undifferentiable
from microtape.ops.shape.reshaping import expanded_size
from microtape.ops.shared.kinds import nothing, refusal_of, refusing
from microtape.ops.shared.undefined import call_undefined
from microtape.random import Generator, default_generator, drawn
from microtape.tape.grad_mode import mode
from microtape.tape.in_place import call_
from microtape.tape.operation import Operation, call
from microtape.tape.tensor_state import Array, TensorState, new_tensor, requires_grad

__all__ = ["bernoulli", "multinomial"]


class RandomDraw(Operation):
    """Common: `draw` makes the result, and the derivative is 0."""

    __slots__ = ("draw",)
    formula = "z = random numbers    ∂z/∂x = 0"

    def __init__(self, draw: Callable[[Array], Array]) -> None:
        super().__init__()
        self.draw = draw

    def forward(self, x: Any) -> Any:
        return self.draw(x)

    def grad_x(self, g: Any) -> Any:
        return nothing(g)


@refusing(biu="check_uniform_bounds")
class UniformBackward0(RandomDraw):
    __slots__ = ()


@refusing(biu="normal_kernel_cpu")
class NormalBackward0(RandomDraw):
    __slots__ = ()


@refusing(biu="normal_kernel_cpu")
class NormalBackward1(RandomDraw):
    """One standard deviation for all elements."""

    __slots__ = ()
    formula = "z = normal random numbers of mean x    ∂z/∂x = 0"


@refusing(biu="normal_kernel_cpu")
class NormalBackward2(RandomDraw):
    """One mean for all elements."""

    __slots__ = ()
    formula = "z = normal random numbers of standard deviation x    ∂z/∂x = 0"


class TwoTensorDraw(Operation):
    """Common: `draw` makes the result from two tensors, and both derivatives are 0."""

    __slots__ = ("draw",)
    operands = ("x", "y")

    def __init__(self, draw: Callable[[Array, Array], Array]) -> None:
        super().__init__()
        self.draw = draw

    def forward(self, x: Any, y: Any) -> Any:
        return self.draw(x, y)

    def grad_x(self, g: Any) -> Any:
        return nothing(g)

    def grad_y(self, g: Any) -> Any:
        return nothing(g)


class NormalBackward3(TwoTensorDraw):
    __slots__ = ()
    formula = "z = normal random numbers of mean x, standard deviation y    ∂z/∂x = 0,  ∂z/∂y = 0"


class RandomBackward0(RandomDraw):
    """From the lowest to the highest that are given."""

    __slots__ = ()


class RandomBackward1(RandomDraw):
    """From 0 to the highest that is given."""

    __slots__ = ()
    op = "random"


class RandomBackward2(RandomDraw):
    """From all numbers of the dtype."""

    __slots__ = ()
    op = "random"


@refusing(
    biuc="Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
    "specified {name}"
)
class ExponentialBackward0(RandomDraw):
    __slots__ = ()


@refusing(biu="bernoulli_tensor_cpu_p_", c="bernoulli_tensor_cpu_self_")
class BernoulliBackward0(RandomDraw):
    __slots__ = ()
    formula = "z = 1 with probability x, else 0    ∂z/∂x = 0"


class BernoulliBackward1(TwoTensorDraw):
    """A tensor of probabilities, for a tensor that is overwritten."""

    __slots__ = ()
    op = "bernoulli"
    formula = "z = 1 with probability y, else 0    ∂z/∂x = 0,  ∂z/∂y = 0"


class BernoulliBackward2(RandomDraw):
    """One probability for all elements."""

    __slots__ = ()
    op = "bernoulli"


def uniform_(x: TensorState, low: float = 0.0, high: float = 1.0, *, generator: Generator | None = None) -> Any:
    """Write random numbers, uniformly distributed in [`low`, `high`)."""

    def draw(array: Array) -> Array:
        return multiply_add(drawn("uniform", array.shape, array.dtype, generator), high - low, low)

    return call_(UniformBackward0(draw), x)


def normal_(x: TensorState, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Any:
    """Write random numbers, normally distributed with that mean and standard deviation."""
    check_deviation(std)

    def draw(array: Array) -> Array:
        return drawn("normal", array.shape, array.dtype, generator, mean, std)

    return call_(NormalBackward0(draw), x)


def normal(mean: Any, std: Any, generator: Generator | None) -> Any:
    """`microtape.normal` of a tensor of means, of standard deviations, or of both, which broadcast."""
    if not isinstance(mean, TensorState):

        def draw(deviations: Array) -> Any:
            _check_deviations(deviations)
            return drawn("normal", deviations.shape, deviations.dtype, generator) * deviations + mean

        return call(NormalBackward2(draw), std)
    if mode.enabled and requires_grad(mean) and mean.array.dtype.kind == "c":
        raise RuntimeError("normal does not support automatic differentiation for outputs with complex dtype.")
    if not isinstance(std, TensorState):
        check_deviation(std)

        def draw_alike(means: Array) -> Any:
            return drawn("normal", means.shape, means.dtype, generator, 0.0, std) + means

        return call(NormalBackward1(draw_alike), mean)

    def draw_around(means: Array, deviations: Array) -> Array:
        _check_deviations(deviations)
        if means.dtype.kind in "biu":
            raise refusal_of(means.dtype, "normal_kernel_cpu")
        numbers = drawn("normal", np.broadcast_shapes(means.shape, deviations.shape), means.dtype, generator)
        return (numbers * deviations + means).astype(means.dtype, copy=False)

    return call(NormalBackward3(draw_around), mean, std)


def check_deviation(std: float) -> None:
    """Raise RuntimeError for a negative standard deviation."""
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")


def _check_deviations(std: Array) -> None:
    """Raise RuntimeError unless these are standard deviations."""
    if std.dtype.kind == "c":
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if std.size and std.min() < 0:
        raise RuntimeError("normal expects all elements of std >= 0.0")


def random_(x: TensorState, low: int = 0, high: int | None = None, *, generator: Generator | None = None) -> Any:
    """Write random integers below `high`: `random_(high)` or `random_(low, high)`; by default any of the dtype."""

    def draw(array: Array) -> Array:
        info: Any = np.iinfo(array.dtype) if array.dtype.kind in "iu" else np.finfo(array.dtype)
        most = 2**info.nmant if array.dtype.kind == "f" else int(info.max)
        start, stop = (low, high) if high is not None else (0, low or most + 1)
        values = (generator or default_generator).integers(start, stop, array.size)
        return values.astype(array.dtype).reshape(array.shape)

    node = RandomBackward0(draw) if high is not None else RandomBackward1(draw) if low else RandomBackward2(draw)
    return call_(node, x)


def bernoulli(input: Any, p: float | None = None, *, generator: Generator | None = None) -> Any:
    """1 with the probability given by each element of `input`, else 0; with `p`, with that probability for all.

    Raises RuntimeError for a probability outside [0, 1]. With `p`, there is no derivative.
    """
    if p is None:
        return call(BernoulliBackward0(lambda chances: _thrown(chances, generator)), input)
    _check_probability(p)
    return call_undefined("bernoulli", lambda array: _coins(array.shape, p, generator).astype(array.dtype), input)


def bernoulli_(x: TensorState, p: Any = 0.5, *, generator: Generator | None = None) -> Any:
    """Write 1 with probability `p`, a number or a tensor that can be expanded to x's shape, else 0."""
    if isinstance(p, TensorState):

        def throw(array: Array, chances: Array) -> Any:
            return _thrown(np.broadcast_to(chances, array.shape), generator).astype(array.dtype)

        expanded_size(p, x.array.shape)
        return call_(BernoulliBackward1(throw), x, p)
    _check_probability(p)

    def draw(array: Array) -> Array:
        return _coins(array.shape, p, generator).astype(array.dtype)

    return call_(BernoulliBackward2(draw), x)


def _thrown(chances: Array, generator: Generator | None) -> Any:
    """1 with the probability given by each element, else 0."""
    if chances.dtype.kind in "biu":
        raise refusal_of(chances.dtype, "bernoulli_tensor_cpu_p_")
    if chances.size and not (chances.min() >= 0 and chances.max() <= 1):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    return (drawn("uniform", chances.shape, chances.dtype, generator) < chances).astype(chances.dtype)


def _check_probability(p: float) -> None:
    """Raise RuntimeError unless this is a probability."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")


def dropout(
    input: Any, p: float = 0.5, training: bool = True, inplace: bool = False, *, generator: Generator | None = None
) -> Any:
    """Each element 0 with probability `p`, the others scaled by 1 / (1 - p); `input` itself if not `training`.

    Source: Srivastava et al. (2014). Raises ValueError if `p` is not a probability.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    dtype = input.dtype
    kept = (_coins(input.shape, 1 - p, generator) if p < 1 else np.zeros(input.shape)).astype(dtype)
    factors = new_tensor(type(input), (kept / (1 - p) if p < 1 else kept).astype(dtype))
    return input.mul_(factors) if inplace else input * factors


def _coins(shape: tuple[int, ...], chance: float, generator: Generator | None) -> Array:
    """True with that probability, for each element; see Note [torch's random numbers]."""
    uniform = (generator or default_generator).uniform(math.prod(shape), np.float64)
    return np.reshape(uniform < chance, shape)


def exponential_(x: TensorState, lambd: float = 1.0, *, generator: Generator | None = None) -> Any:
    """Write random numbers, exponentially distributed with mean 1 / `lambd`."""
    return call_(ExponentialBackward0(lambda array: _waiting_times(array.shape, generator) / lambd), x)


def _waiting_times(shape: tuple[int, ...], generator: Generator | None) -> Array:
    """Random numbers, exponentially distributed with mean 1."""
    uniform: Array = drawn("uniform", shape, np.float64, generator)
    return -np.log1p(-uniform)


def multinomial(
    input: TensorState, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Any:
    """The indices of `num_samples` samples from each row of weights in `input`, as int64.

    Weights need not add up to 1. Raises RuntimeError for invalid weights, or more samples than weights without
    replacement.
    """
    return undifferentiable(
        lambda weights: _drawn_places(weights, num_samples, replacement, generator), input, op="multinomial"
    )


def _drawn_places(weights: Array, num_samples: int, replacement: bool, generator: Generator | None) -> Any:
    """`multinomial` for an array of weights."""
    if weights.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if weights.dtype.kind != "f":
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {scalar_name(weights.dtype)}"
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > weights.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not np.all(weights.sum(-1) > 0):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if replacement and num_samples > 1:
        cumulated = np.atleast_2d(np.cumsum(weights, -1, dtype=weights.dtype))
        chances = drawn("uniform", (len(cumulated), num_samples), np.float64, generator)
        pairs = zip(cumulated / cumulated[:, -1:], chances, strict=True)
        places = np.stack([np.searchsorted(row, chance) for row, chance in pairs])
        return np.reshape(places, (*weights.shape[:-1], num_samples)).astype(np.int64)
    races = weights / _waiting_times(weights.shape, generator).astype(weights.dtype)  # the first to arrive are drawn
    return np.argsort(-races, -1, kind="stable")[..., :num_samples].copy()
