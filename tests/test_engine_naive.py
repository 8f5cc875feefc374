"""Whatever is done to tensors, in whichever order: their values and gradients are the naive twin's, or it is refused.

A state machine does the same to a tensor of ours and to an array of Numbers. What microtape refuses, such as a write
into a leaf, is done to neither; a wrong number is never given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import naive
import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

import microtape as mt
from microtape.errors import FreedGraphError, ModifiedInPlaceError, NoGraphError


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
OVERWRITE: Pair = (lambda x, y: Overwrite.apply(x), lambda x, y: write(x, naive.apply("sin", x)))
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
    OVERWRITE,
]


def error() -> Any:
    raise ValueError("not a view")


REFUSED = (RuntimeError, IndexError)


class Twins(NamedTuple):
    """A tensor and the same as an array of Numbers, which are a leaf's if there is one."""

    ours: Any
    theirs: np.ndarray


class Programs(RuleBasedStateMachine):
    """What can be done to tensors."""

    tensors = Bundle("tensors")

    def __init__(self) -> None:
        super().__init__()
        self.all: list[Twins] = []
        self.leaves: list[Twins] = []
        self.twice = True  # whether everything can be differentiated twice
        self.expected: list[np.ndarray | None] = []  # for each leaf, what its .grad must be

    @initialize(target=tensors)
    def first_leaves(self) -> Any:
        values = np.array([[0.5, -1.0, 0.25], [1.5, 0.75, -0.5]]), np.array([0.3, -0.6, 0.9])
        leaves = [self.new_leaf(value) for value in values]
        return multiple(*leaves, *[self.kept(Twins(leaf.ours * 1, leaf.theirs * 1.0)) for leaf in leaves])

    @rule(target=tensors, values=st.lists(st.integers(-8, 8), min_size=3, max_size=3))
    def leaf(self, values: list[int]) -> Any:
        return self.new_leaf(np.array(values) / 4)

    @rule(target=tensors, x=tensors, pair=st.sampled_from(UNARY + VIEWS))
    def compute(self, x: Twins, pair: Pair) -> Any:
        return self.computed(pair, x)

    @rule(target=tensors, x=tensors, y=tensors, pair=st.sampled_from(BINARY))
    def combine(self, x: Twins, y: Twins, pair: Pair) -> Any:
        return self.computed(pair, x, y)

    @rule(target=tensors, x=tensors)
    def detach(self, x: Twins) -> Any:
        return self.kept(Twins(x.ours.detach().clone(), naive.array(naive.floats(x.theirs))))

    @rule(target=tensors, x=tensors, pair=st.sampled_from(UNARY))
    def compute_without_grad(self, x: Twins, pair: Pair) -> Any:
        with mt.no_grad():
            return self.computed((pair[0], lambda cells: naive.array(naive.floats(pair[1](cells)))), x)

    @rule(x=tensors, y=tensors, pair=st.sampled_from(WRITES))
    def write(self, x: Twins, y: Twins, pair: Pair) -> None:
        if np.may_share_memory(x.theirs, y.theirs):
            y = Twins(y.ours.clone(), y.theirs.copy())
        before = x.ours.detach().clone()
        try:
            pair[0](x.ours, y.ours)
        except REFUSED:  # what a user's forward has written by then is the user's affair
            x.ours.data.copy_(before)
            return
        pair[1](x.theirs, y.theirs)
        self.twice = self.twice and pair is not OVERWRITE

    @rule(target=tensors, x=tensors, y=tensors, use=st.sampled_from(UNARY + BINARY), pair=st.sampled_from(WRITES))
    def overwrite_after_use(self, x: Twins, y: Twins, use: Pair, pair: Pair) -> Any:
        result = self.computed(use, x, y) if use in BINARY else self.computed(use, x)
        self.write(x, y, pair)
        if isinstance(result, Twins):
            self.backward(result, True)
        return result

    @rule(x=tensors, retain_graph=st.booleans())
    def backward(self, x: Twins, retain_graph: bool) -> None:
        try:
            x.ours.sum().backward(retain_graph=retain_graph)
        except REFUSED:  # of what was accumulated before the error, nothing is known
            for i, leaf in enumerate(self.leaves):
                leaf.ours.grad = self.expected[i] = None
            return
        for i, leaf in enumerate(self.leaves):
            found = naive.floats(naive.grad(x.theirs, leaf.theirs))
            before = self.expected[i]
            self.expected[i] = found if before is None else before + found

    @rule()
    def clear(self) -> None:
        for i, leaf in enumerate(self.leaves):
            leaf.ours.grad = self.expected[i] = None

    @rule(x=tensors)
    def differentiate_twice(self, x: Twins) -> None:
        leaves = [leaf.ours for leaf in self.leaves]
        options = {"allow_unused": True, "materialize_grads": True, "retain_graph": True}
        try:
            first = mt.autograd.grad(x.ours.sum(), leaves, create_graph=True, **options)
            second = mt.autograd.grad(first[0].sum(), leaves, **options)
        except (ModifiedInPlaceError, FreedGraphError, NoGraphError):
            return
        except RuntimeError:
            if self.twice:
                raise
            return
        slopes = [naive.grad(x.theirs, leaf.theirs) for leaf in self.leaves]
        for found, slope in zip(first, slopes, strict=True):
            self.equal(found, slope)
        for found, leaf in zip(second, self.leaves if self.twice else (), strict=self.twice):
            self.equal(found, naive.grad(slopes[0], leaf.theirs))

    @invariant()
    def values_are_equal(self) -> None:
        for one in self.all:
            self.equal(one.ours, one.theirs)

    @invariant()
    def gradients_are_equal(self) -> None:
        for leaf, expected in zip(self.leaves, self.expected, strict=True):
            if expected is None or leaf.ours.grad is None:
                assert leaf.ours.grad is None
                assert expected is None or not expected.any()
            else:
                np.testing.assert_allclose(leaf.ours.grad.numpy(), expected, rtol=1e-6, atol=1e-9)

    def equal(self, ours: Any, theirs: np.ndarray) -> None:
        np.testing.assert_allclose(ours.detach().numpy(), naive.floats(theirs), rtol=1e-6, atol=1e-9)

    def new_leaf(self, values: np.ndarray) -> Twins:
        leaf = self.kept(Twins(mt.tensor(values, requires_grad=True), naive.array(values)))
        self.leaves.append(leaf)
        self.expected.append(None)
        return leaf

    def computed(self, pair: Pair, *operands: Twins) -> Any:
        try:
            ours = pair[0](*[one.ours for one in operands])
        except REFUSED:
            return multiple()
        return self.kept(Twins(ours, pair[1](*[one.theirs for one in operands])))

    def kept(self, twins: Twins) -> Twins:
        self.all.append(twins)
        return twins


TestPrograms = Programs.TestCase
TestPrograms.settings = settings(
    max_examples=100,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
