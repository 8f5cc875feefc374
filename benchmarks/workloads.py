"""The programs that are timed, each written once for all engines, with their target ratios.

A workload's `loss(ops, parameters, constants)` uses operators and the functions of `ops`, which every engine provides
under torch's names. A run computes the loss and its gradients with respect to all parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import floors

Array = npt.NDArray[Any]
Run = Callable[[], Sequence[Any]]


@dataclass(frozen=True)
class Workload:
    """A program, its inputs, its floor, and the engines that can run it."""

    name: str
    title: str
    loss: Callable[[Any, Sequence[Any], Sequence[Any]], Any]
    parameters: Sequence[Array]
    constants: Sequence[Any] = ()
    floor: Callable[[Sequence[Array], Sequence[Array]], Run] | None = None
    operations: int = 0  # recorded in the forward pass; if given, the time per operation is reported
    peers: Sequence[str] = ("torch", "autograd", "mygrad")
    targets: dict[str, float] = field(default_factory=dict)  # at most this many times the time of that peer
    tolerance: float = 1e-4  # between the engines' gradients, relative to the largest


def _uniform(*shape: int, low: float = -1.0, high: float = 1.0, seed: int = 0) -> Array:
    """Float32 numbers of this shape, the same in each run."""
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def scalars(count: int, seed: int = 0) -> list[Array]:
    """`count` 0-d arrays."""
    return [np.array(value, np.float32) for value in _uniform(count, seed=seed)]


def chain(ops: Any, parameters: Sequence[Any], steps: Sequence[Any]) -> Any:
    """`y · a + b`, repeated."""
    y, a, b = parameters
    for _ in range(steps[0] // 2):
        y = y * a
        y = y + b
    return ops.sum(y)


def same_leaf(ops: Any, parameters: Sequence[Any], steps: Sequence[Any]) -> Any:
    """One leaf, added repeatedly."""
    (x,) = parameters
    y = x
    for _ in range(steps[0]):
        y = y + x
    return y


def scalar_mlp(ops: Any, parameters: Sequence[Any], constants: Sequence[Any]) -> Any:
    """A network of scalar nodes as micrograd builds it: 2-16-16-1, relu, squared error over the samples."""
    samples, wanted = constants
    losses = []
    for sample, target in zip(samples, wanted, strict=True):
        values, taken = sample, 0
        for inputs, outputs in ((2, 16), (16, 16), (16, 1)):
            layer = []
            for _ in range(outputs):
                weights = parameters[taken : taken + inputs]
                z = parameters[taken + inputs]
                taken += inputs + 1
                for w, value in zip(weights, values, strict=True):
                    z = z + w * value
                layer.append(ops.relu(z) if outputs > 1 else z)
            values = layer
        losses.append((values[0] - target) ** 2)
    return reduce(add, losses)


def mlp(ops: Any, parameters: Sequence[Any], constants: Sequence[Any]) -> Any:
    """Linear layers with relu between them, softmax cross-entropy."""
    x, target = constants
    h = x @ parameters[0] + parameters[1]
    for i in range(2, len(parameters), 2):
        h = ops.relu(h) @ parameters[i] + parameters[i + 1]
    return ops.cross_entropy(h, target)


def _mlp_inputs(batch: int, *sizes: int) -> dict[str, Any]:
    """Weights and biases, inputs and classes for `mlp`."""
    parameters = []
    for i, (n, m) in enumerate(pairwise(sizes)):
        parameters += [_uniform(n, m, seed=2 * i) / np.float32(np.sqrt(n)), _uniform(m, seed=2 * i + 1)]
    target = np.random.default_rng(0).integers(0, sizes[-1], batch)
    return {"parameters": parameters, "constants": (_uniform(batch, sizes[0], seed=99), target)}


def penalty(ops: Any, parameters: Sequence[Any], constants: Sequence[Any]) -> Any:
    """The squared norm of the MLP's gradient."""
    gradients = ops.gradients(lambda *leaves: mlp(ops, leaves, constants), parameters)
    return reduce(add, [ops.sum(g * g) for g in gradients])


def rnn(ops: Any, parameters: Sequence[Any], constants: Sequence[Any]) -> Any:
    """h = tanh(x W + h U + b), step by step."""
    w, u, b, h = parameters
    steps, weights = constants[:-1], constants[-1]
    for x in steps:
        h = ops.tanh(x @ w + h @ u + b)
    return ops.sum(h * weights)


def elementwise(ops: Any, parameters: Sequence[Any], constants: Sequence[Any]) -> Any:
    """Twenty operations on arrays larger than the caches."""
    y, a, b = parameters
    (c,) = constants
    for _ in range(4):
        z = ops.tanh(y * a + b)
        y = z * z - c
    return ops.sum(y)


def conv2d(ops: Any, parameters: Sequence[Any], constants: Sequence[Any]) -> Any:
    """One convolution of images; the constant is the gradient of its result."""
    x, w, b = parameters
    return ops.sum(ops.conv2d(x, w, b) * constants[0])


def gathers(ops: Any, parameters: Sequence[Any], indices: Sequence[Any]) -> Any:
    """Rows gathered with repetition, then parts of them by slices and strides."""
    (table,) = parameters
    total = None
    for index in indices:
        rows = table[index]
        term = ops.sum(rows[::2, :8] * rows[1::2, 8:])
        total = term if total is None else total + term
    return total


SCALAR_MLP_SIZE = 3 * 16 + 17 * 16 + 17
SAMPLES = ([2.0, 3.0], [3.0, -1.0], [0.5, 1.0], [1.0, 1.0]), (1.0, -1.0, -1.0, 1.0)
FOUR = [_uniform(4, low=0.1, high=0.5), _uniform(4, low=0.98, high=1.01), _uniform(4, low=0.01, high=0.02)]
SMALL_MLP = _mlp_inputs(64, 64, 128, 10)
_index = np.random.default_rng(3)

WORKLOADS = [
    Workload(
        "chain",
        "chain of 2,000 mul/add on 4 floats",
        chain,
        FOUR,
        [2000],
        floors.chain,
        operations=2000,
        targets={"torch": 0.80, "autograd": 0.25},
    ),
    Workload(
        "scalar chain",
        "scalar chain of 1,000 mul/add",
        chain,
        [np.array(one[0]) for one in FOUR],
        [1000],
        floors.chain,
        operations=1000,
        targets={"torch": 0.66, "autograd": 0.18},
    ),
    Workload(
        "scalar mlp",
        "MLP 2-16-16-1 of scalar nodes, 2,571 operations",
        scalar_mlp,
        scalars(SCALAR_MLP_SIZE),
        SAMPLES,
        operations=2571,
        peers=("torch", "autograd", "mygrad", "micrograd"),
        targets={"torch": 0.71, "autograd": 0.11},
    ),
    Workload(
        "mlp",
        "MLP 64-128-10, batch 64, cross-entropy",
        mlp,
        **SMALL_MLP,
        floor=floors.mlp,
        targets={"numpy": 1.42, "formulas": 1.7, "torch": 0.70, "autograd": 0.30},
    ),
    Workload(
        "large mlp",
        "MLP 1024-1024-1024-10, batch 256",
        mlp,
        **_mlp_inputs(256, 1024, 1024, 1024, 10),
        floor=floors.mlp,
        targets={"numpy": 1.03},
        peers=("torch", "autograd", "mygrad", "tinygrad"),
    ),
    Workload(
        "rnn",
        "tanh RNN, 200 steps, hidden 64, batch 16",
        rnn,
        [_uniform(32, 64) / 6, _uniform(64, 64) / 8, _uniform(64), _uniform(16, 64)],
        [*_uniform(200, 16, 32, seed=1), _uniform(16, 64, seed=2)],
        floors.rnn,
        targets={"numpy": 1.95, "torch": 0.90},
    ),
    Workload(
        "elementwise",
        "20 elementwise operations on 1e6 floats",
        elementwise,
        [_uniform(1_000_000, seed=i) for i in range(3)],
        [_uniform(1_000_000, seed=3)],
        floors.elementwise,
        targets={"numpy": 1.12},
    ),
    Workload(
        "long chain",
        "chain of 1,000,000 nodes",
        chain,
        FOUR,
        [1_000_000],
        operations=1_000_000,
        peers=("torch",),
        targets={"torch": 1.00},
        tolerance=1e-2,
    ),
    Workload(
        "same leaf",
        "one leaf used 100,000 times",
        same_leaf,
        [np.array(0.5, np.float32)],
        [100_000],
        operations=100_000,
        peers=("torch", "autograd"),
        targets={"torch": 1.05, "autograd": 0.12},
    ),
    Workload(
        "conv2d",
        "conv2d 8x3x32x32, 16 filters 3x3",
        conv2d,
        [_uniform(8, 3, 32, 32), _uniform(16, 3, 3, 3), _uniform(16)],
        [_uniform(8, 16, 30, 30, seed=1)],
        floors.conv2d,
        peers=("torch", "mygrad"),
        targets={"numpy": 1.12, "torch": 0.85},
    ),
    Workload(
        "double backward",
        "gradient of the squared gradient norm of the small MLP",
        penalty,
        **SMALL_MLP,
        floor=floors.penalty,
        peers=("torch", "autograd"),
        targets={"numpy": 2.2, "torch": 0.75},
    ),
    Workload(
        "gathers",
        "50 gathers of 256 rows, slices, strides, scatter-add back",
        gathers,
        [_uniform(1000, 16)],
        [_index.integers(0, 1000, 256) for _ in range(50)],
        floors.gathers,
        targets={"numpy": 1.85, "torch": 0.95},
    ),
]
