"""Programs made at random give the gradients of the naive twin, or are refused: never a wrong number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import naive
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import microtape as mt
from microtape.errors import AutogradError, ModifiedInPlaceError


class Product(mt.autograd.Function):
    """x · y, saved."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


class Curve(mt.autograd.Function):
    """tanh x, from its saved result."""

    @staticmethod
    def forward(ctx, x):
        z = x.tanh()
        ctx.save_for_backward(z)
        return z

    @staticmethod
    def backward(ctx, g):
        (z,) = ctx.saved_tensors
        return g * (1 - z * z)


class Overwrite(mt.autograd.Function):
    """sin x, written over x."""

    @staticmethod
    def forward(ctx, x):
        ctx.slope = x.cos()
        x.copy_(x.sin())
        ctx.mark_dirty(x)
        return x

    @staticmethod
    @mt.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * ctx.slope


Pair = tuple[Callable[..., Any], Callable[..., Any]]


def write(cells: np.ndarray, values: Any) -> None:
    cells[...] = values


UNARY: list[Pair] = [
    (lambda x: x * 2, lambda x: x * 2.0),
    (lambda x: 1 - x, lambda x: naive.array(np.ones(x.shape)) - x),
    (lambda x: x.tanh(), lambda x: naive.apply("tanh", x)),
    (lambda x: x.sin(), lambda x: naive.apply("sin", x)),
    (lambda x: (x * 0.1).exp(), lambda x: naive.apply("exp", x * 0.1)),
    (lambda x: x.sum(0), lambda x: np.asarray(x.sum(0), object)),
    (lambda x: x.clone(), lambda x: x.copy()),
    (Curve.apply, lambda x: naive.apply("tanh", x)),
    (lambda x: x[[0, -1, 0]], lambda x: x[[0, -1, 0]]),
]
BINARY: list[Pair] = [
    (lambda x, y: x + y, lambda x, y: x + y),
    (lambda x, y: x - y, lambda x, y: x - y),
    (lambda x, y: x * y, lambda x, y: x * y),
    (Product.apply, lambda x, y: x * y),
    (lambda x, y: mt.stack([x, y]), lambda x, y: np.stack([x, y])),
]
VIEWS: list[Pair] = [
    (lambda x: x[0], lambda x: x[0, ...]),
    (lambda x: x[1:], lambda x: x[1:]),
    (lambda x: x[..., :2], lambda x: x[..., :2]),
    (lambda x: x.t() if x.ndim < 3 else x.mT, lambda x: x.T if x.ndim < 3 else x.swapaxes(-1, -2)),
    (lambda x: x.unsqueeze(0), lambda x: x[None]),
    (lambda x: x.view(-1), lambda x: x.reshape(-1) if x.flags.c_contiguous else error()),
]
WRITES: list[Pair] = [
    (lambda x, y: x.add_(y), lambda x, y: write(x, x + y)),
    (lambda x, y: x.mul_(y), lambda x, y: write(x, x * y)),
    (lambda x, y: x.copy_(y), lambda x, y: write(x, y)),
    (lambda x, y: x.sub_(y, alpha=2), lambda x, y: write(x, x - y * 2.0)),
    (lambda x, y: x.tanh_(), lambda x, y: write(x, naive.apply("tanh", x))),
    (lambda x, y: x.sin_(), lambda x, y: write(x, naive.apply("sin", x))),
    (lambda x, y: x.mul_(0.5), lambda x, y: write(x, x * 0.5)),
    (lambda x, y: x.zero_(), lambda x, y: write(x, naive.array(0.0))),
    (lambda x, y: x.__setitem__(0, y), lambda x, y: write(x[0, ...], y)),
    (lambda x, y: x.__setitem__([0], 1.5), lambda x, y: write(x[0, ...], naive.array(1.5))),
    (lambda x, y: Overwrite.apply(x), lambda x, y: write(x, naive.apply("sin", x))),
]


def error() -> Any:
    raise ValueError("not a view")


TABLES = {"unary": UNARY, "binary": BINARY, "view": VIEWS, "write": WRITES}
_number = st.integers(0, 30)
PROGRAMS = st.lists(st.tuples(st.sampled_from(sorted(TABLES)), _number, _number, _number), min_size=2, max_size=14)


class Twins:
    """The same tensors twice."""

    def __init__(self) -> None:
        values = np.array([[0.5, -1.0, 0.25], [1.5, 0.75, -0.5]]), np.array([0.3, -0.6, 0.9])
        self.leaves = [mt.tensor(value, requires_grad=True) for value in values]
        self.naive_leaves = [naive.array(value) for value in values]
        self.ours: list[Any] = [leaf * 1 for leaf in self.leaves]
        self.theirs: list[Any] = [leaf * 1.0 for leaf in self.naive_leaves]

    def run(self, kind: str, which: int, x: int, y: int) -> None:
        """Do the same to both; what either refuses is done to neither."""
        ours, theirs = TABLES[kind][which % len(TABLES[kind])]
        count = 2 if kind in ("binary", "write") else 1
        numbers = [one % len(self.ours) for one in (x, y)][:count]
        if kind == "write" and np.may_share_memory(self.theirs[numbers[0]], self.theirs[numbers[1]]):
            numbers[1] = 0 if np.may_share_memory(self.theirs[numbers[0]], self.theirs[1]) else 1
            if np.may_share_memory(self.theirs[numbers[0]], self.theirs[numbers[1]]):
                return
        try:
            result = ours(*[self.ours[one] for one in numbers])
        except (AutogradError, RuntimeError, IndexError):
            return
        twin = theirs(*[self.theirs[one] for one in numbers])
        if kind != "write" and len(self.ours) < 10:
            self.ours.append(result)
            self.theirs.append(twin)
        for tensor, cells in zip(self.ours, self.theirs, strict=True):
            np.testing.assert_allclose(tensor.detach().numpy(), naive.floats(cells), rtol=1e-6, atol=1e-9)


@settings(max_examples=200, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(PROGRAMS, _number)
def test_gradients_are_those_of_the_naive_twin(program, root):
    twins = Twins()
    for instruction in program:
        twins.run(*instruction)
    ours, theirs = twins.ours[root % len(twins.ours)].sum(), twins.theirs[root % len(twins.ours)]
    try:
        found = mt.autograd.grad(ours, twins.leaves, create_graph=True, allow_unused=True, materialize_grads=True)
    except ModifiedInPlaceError:
        return
    for gradient, leaf in zip(found, twins.naive_leaves, strict=True):
        np.testing.assert_allclose(
            gradient.detach().numpy(), naive.floats(naive.grad(theirs, leaf)), rtol=1e-6, atol=1e-9
        )
    check_second_derivatives(twins, found[0], naive.grad(theirs, twins.naive_leaves[0]))


def check_second_derivatives(twins: Twins, ours: Any, theirs: np.ndarray) -> None:
    if not ours.requires_grad:
        return
    try:
        found = mt.autograd.grad(ours.sum(), twins.leaves, allow_unused=True, materialize_grads=True)
    except RuntimeError:  # through Overwrite, which is once differentiable
        return
    for gradient, leaf in zip(found, twins.naive_leaves, strict=True):
        np.testing.assert_allclose(gradient.numpy(), naive.floats(naive.grad(theirs, leaf)), rtol=1e-6, atol=1e-9)
