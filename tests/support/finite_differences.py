"""Derivatives by evaluating a function alone, without any of the engine's derivative code: an independent oracle.

Along a line x + s · v, with random weights w of the outputs, every function becomes one of a single number,
φ(s) = ⟨w, f(x + s · v)⟩. φ′(0) = ⟨∇, v⟩ checks the gradient and the tangent, φ″(0) = ⟨v, H · v⟩ forward mode over
reverse mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import microtape as mt
from microtape.autograd import forward_ad

Arrays = Sequence[np.ndarray]
STEPS = ((4e-3, 2e-6, 2e-6), (2e-4, 2e-6, 1e-4), (1e-5, 2e-6, 0.0))
"""A step, and the errors allowed in φ′ and φ″. The smaller steps, which cost digits, are for x near a kink."""


class Derivatives(NamedTuple):
    """φ′(0) in reverse and in forward mode, and φ″(0) in forward mode over reverse mode."""

    reverse: float
    forward: float
    second: tuple[float, ...]  # of a plain backward pass, and of a recorded one


def inner(a: Any, b: Any) -> float:
    """The inner product, in which a complex number counts as two real ones."""
    return float(np.sum((np.conj(np.asarray(a)) * np.asarray(b)).real))


def random_like(random: np.random.Generator, array: np.ndarray) -> np.ndarray:
    """An array of the same shape and dtype with elements from -1 to 1."""
    found = random.uniform(-1, 1, array.shape)
    return np.asarray(
        found + 1j * random.uniform(-1, 1, array.shape) if array.dtype.kind == "c" else found, array.dtype
    )


def directional(function: Callable[..., Any], x: Arrays, v: Arrays, weights: Sequence[Any]) -> Callable[[float], float]:
    """φ; the weight of an output that does not count is None."""

    def phi(s: float) -> float:
        outputs = listed(function(*[mt.tensor(a + s * b) for a, b in zip(x, v, strict=True)]))
        return sum(inner(w, z.numpy()) for w, z in zip(weights, outputs, strict=True) if w is not None)

    return phi


def numerical(phi: Callable[[float], float], step: float) -> tuple[float, float]:
    """φ′(0) and φ″(0) by central differences at three steps, extrapolated to step 0 (Richardson)."""
    centre = phi(0.0)
    first, second = [], []
    for h in (step, step / 2, step / 4):
        ahead, behind = phi(h), phi(-h)
        first.append((ahead - behind) / (2 * h))
        second.append((ahead - 2 * centre + behind) / h**2)
    return _extrapolated(first), _extrapolated(second)


def _extrapolated(values: Sequence[float]) -> float:
    """The limit of values whose error is a series in h², at h, h/2 and h/4."""
    a, b, c = values
    a, b = b + (b - a) / 3, c + (c - b) / 3
    return b + (b - a) / 15


def derivatives(function: Callable[..., Any], x: Arrays, v: Arrays, weights: Sequence[Any]) -> Derivatives:
    """The engine's derivatives of φ."""
    seeds = [mt.tensor(w) for w in weights if w is not None]
    leaves = [mt.tensor(a, requires_grad=True) for a in x]
    gradients = mt.autograd.grad(_roots(function(*leaves), weights), leaves, seeds, allow_unused=True)
    second = []
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(mt.tensor(a), mt.tensor(b)) for a, b in zip(x, v, strict=True)]
        tangents = [forward_ad.unpack_dual(z).tangent for z in _roots(function(*duals), weights)]
        for create_graph in (False, True):
            leaves = [mt.tensor(a, requires_grad=True) for a in x]
            duals = [forward_ad.make_dual(a, mt.tensor(b)) for a, b in zip(leaves, v, strict=True)]
            roots = _roots(function(*duals), weights)
            found = mt.autograd.grad(roots, leaves, seeds, create_graph=create_graph, allow_unused=True)
            moved = [None if g is None else forward_ad.unpack_dual(g).tangent for g in found]
            second.append(_sum(moved, v))
    wanted = [w for w in weights if w is not None]
    return Derivatives(_sum(gradients, v), _sum(tangents, wanted), tuple(second))


def _sum(tensors: Sequence[Any], arrays: Arrays) -> float:
    """The sum of the inner products; None stands for zeros."""
    return sum(inner(a.detach().numpy(), b) for a, b in zip(tensors, arrays, strict=True) if a is not None)


def _roots(result: Any, weights: Sequence[Any]) -> list[Any]:
    """The outputs that have a weight."""
    return [z for z, w in zip(listed(result), weights, strict=True) if w is not None]


def listed(result: Any) -> list[Any]:
    """The outputs of a call as a list."""
    return list(result) if isinstance(result, tuple | list) else [result]


def weights_of(function: Callable[..., Any], x: Arrays, random: np.random.Generator) -> list[Any]:
    """A random weight for each output that depends on x; None for the others."""
    outputs = listed(function(*[mt.tensor(a, requires_grad=True) for a in x]))
    return [random_like(random, z.detach().numpy()) if z.requires_grad else None for z in outputs]


def check(function: Callable[..., Any], x: Arrays, seed: int = 0) -> None:
    """Raise AssertionError if the engine's derivatives of `function` at `x` differ from the numerical ones."""
    random = np.random.default_rng(seed)
    v = [random_like(random, a) for a in x]
    weights = weights_of(function, x, random)
    if all(w is None for w in weights):
        return
    phi = directional(function, x, v, weights)
    scale = max(1.0, abs(phi(0.0)))
    found = derivatives(function, x, v, weights)
    missing = {
        ("reverse mode", found.reverse, 0),
        ("forward mode", found.forward, 0),
        *(("forward over reverse", number, 1) for number in found.second),
    }
    tried = []
    for step, *limits in STEPS:
        expected = numerical(phi, step)
        tried.append(expected)
        missing = {
            (what, number, order)
            for what, number, order in missing
            if not abs(number - expected[order]) <= limits[order] * max(scale, abs(expected[order]))
        }
        if not missing:
            return
    raise AssertionError(f"{sorted(missing)} differ from φ′ and φ″ at smaller and smaller steps: {tried}")
