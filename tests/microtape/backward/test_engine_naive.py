"""In any sequence of operations, values and gradients are those of the naive twin, or microtape raises an error.

A state machine applies the same operations to a tensor and to an array of Numbers. An operation that microtape refuses,
such as a write into a leaf, is applied to neither; microtape must never compute a wrong number.

Note [Whose gradient]
  A view shares its Numbers with its base, as it shares its memory, so a Number's derivative is that of the base. All
  other results get new Numbers, and so does the whole base after a write, since the gradient of the tensor before the
  write is a different one. The gradient with respect to a result is therefore compared only if it is not a view.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

import microtape as mt
from microtape.errors import FreedGraphError, InPlaceError, ModifiedInPlaceError, NoGraphError
from tests.support import naive


class Product(mt.autograd.Function):
    """x · y, with both saved."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


class Curve(mt.autograd.Function):
    """tanh x, differentiated from its saved result."""

    @staticmethod
    def forward(ctx, x):
        z = x.tanh()
        ctx.save_for_backward(z)
        return z

    @staticmethod
    def backward(ctx, g):
        (z,) = ctx.saved_tensors
        return g * (1 - z * z)


class Both(mt.autograd.Function):
    """3x and 5x; `used_thrice` uses the second output three times."""

    @staticmethod
    def forward(ctx, x):
        return x * 3, x * 5

    @staticmethod
    def backward(ctx, g, h):
        return g * 3 + h * 5


class Overwrite(mt.autograd.Function):
    """sin x, in place."""

    @staticmethod
    def forward(ctx, x):
        ctx.derivative = x.cos()
        x.copy_(x.sin())
        ctx.mark_dirty(x)
        return x

    @staticmethod
    @mt.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * ctx.derivative


class Forget(mt.autograd.Function):
    """0, in place; x gets no gradient."""

    @staticmethod
    def forward(ctx, x):
        x.zero_()
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return None


Pair = tuple[Callable[..., Any], Callable[..., Any]]


def write(cells: np.ndarray, values: Any) -> None:
    cells[...] = values


def base_of(cells: np.ndarray) -> np.ndarray:
    """The array that owns the memory."""
    while isinstance(cells.base, np.ndarray):
        cells = cells.base
    return cells


def with_hook(x: Any, register: Callable[[Any], Any]) -> Any:
    """A copy of a copy of x; `register` adds a hook to the first copy."""
    y = x * 1
    if y.requires_grad:
        register(y)
    return y * 1


SEEN: list[tuple[Any, Any]] = []
"""The gradients that hooks have kept, and copies of their values at that time."""


def hold(gradient: Any) -> None:
    if gradient is not None:
        SEEN.append((gradient, gradient.detach().clone()))


def times(number: float) -> Callable[[Any], Any]:
    """A tensor hook; an undefined gradient stays undefined."""
    return lambda g: None if g is None else g * number


def first_times(number: float) -> Callable[..., Any]:
    """A hook on a node, called before or after it runs."""
    return lambda gs, *_: None if gs[0] is None else (gs[0] * number, *gs[1:])


def used_thrice(x: Any) -> Any:
    _, second = Both.apply(x)
    return second + second.sin() + second


def rows_thrice(x: Any) -> Any:
    row = x.unbind(0)[-1]
    return row + row.sin() + row * row


UNARY: list[Pair] = [
    (lambda x: x * 2, lambda x: x * 2.0),
    (lambda x: 1 - x, lambda x: naive.array(np.ones(x.shape)) - x),
    (lambda x: x.tanh(), lambda x: naive.apply("tanh", x)),
    (lambda x: x.sin(), lambda x: naive.apply("sin", x)),
    (lambda x: (x * 0.1).exp(), lambda x: naive.apply("exp", x * 0.1)),
    (lambda x: x.sum(0), lambda x: np.asarray(x.sum(0), object)),
    (lambda x: x.clone(), lambda x: x),
    (Curve.apply, lambda x: naive.apply("tanh", x)),
    (lambda x: x[[0, -1, 0]], lambda x: x[[0, -1, 0]]),
]
FANS: list[Pair] = [  # several gradients add up at one input
    (lambda x: x + x.sin() + x * x + x, lambda x: x + naive.apply("sin", x) + x * x + x),
    (lambda x: mt.stack([x, x, x, x]).sum(0), lambda x: x * 4.0),
    (used_thrice, lambda x: x * 10.0 + naive.apply("sin", x * 5.0)),
    (rows_thrice, lambda x: x[-1, ...] + naive.apply("sin", x[-1, ...]) + x[-1, ...] * x[-1, ...]),
]
HOOKED: list[Pair] = [  # with a hook that changes the gradient
    (lambda x: with_hook(x, lambda y: y.register_hook(times(2))), lambda x: naive.fresh(x, 2.0)),
    (lambda x: with_hook(x, lambda y: y.register_hook(times(2)).remove()), lambda x: x),
    (lambda x: x + with_hook(x, lambda y: y.register_hook(hold)), lambda x: x * 2.0),
    (lambda x: x + with_hook(x, lambda y: y.grad_fn.register_hook(lambda gs, _: hold(gs[0]))), lambda x: x * 2.0),
    (
        lambda x: with_hook(x, lambda y: y.grad_fn.register_prehook(first_times(3))),
        lambda x: naive.fresh(x, 3.0),
    ),
    (
        lambda x: with_hook(x, lambda y: y.grad_fn.register_hook(first_times(5))),
        lambda x: naive.fresh(x, 5.0),
    ),
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
    (lambda x: x.unbind(0)[-1], lambda x: x[-1, ...]),
    (lambda x: x.chunk(2)[0], lambda x: x[: -(-len(x) // 2)]),
]
OVERWRITE: Pair = (lambda x, y: Overwrite.apply(x), lambda x, y: write(x, naive.apply("sin", x)))
FORGET: Pair = (lambda x, y: Forget.apply(x), lambda x, y: write(x, naive.array(0.0)))
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
    FORGET,
    OVERWRITE,
]


VIEWS_OF_VIEWS = st.lists(st.sampled_from(VIEWS), min_size=1, max_size=2)
THROUGH_A_VIEW = st.one_of(st.sampled_from(WRITES), st.just(FORGET))


def error() -> Any:
    raise ValueError("not a view")


REFUSED = (RuntimeError, IndexError)


class Twins(NamedTuple):
    """A tensor of microtape, and its twin: an array of Numbers."""

    ours: Any
    theirs: np.ndarray


class Programs(RuleBasedStateMachine):
    """The operations of the state machine."""

    tensors = Bundle("tensors")

    def __init__(self) -> None:
        super().__init__()
        self.all: list[Twins] = []
        self.with_grad: list[Twins] = []  # leaves, and tensors that retain their gradient
        self.expected: list[np.ndarray | None] = []  # for each of them, what its .grad must be, as Numbers
        self.written = self.freed = False  # whether any tensor was written to; whether any graph may have been freed
        SEEN.clear()
        self.twice = True  # whether everything can be differentiated twice

    @property
    def leaves(self) -> list[Twins]:
        return [one for one in self.with_grad if one.ours.is_leaf]

    @initialize(target=tensors)
    def first_leaves(self) -> Any:
        values = np.array([[0.5, -1.0, 0.25], [1.5, 0.75, -0.5]]), np.array([0.3, -0.6, 0.9])
        leaves = [self.new_leaf(value) for value in values]
        leaves[1].ours.register_hook(hold)
        return multiple(*leaves, *[self.kept(Twins(leaf.ours * 1, leaf.theirs * 1.0)) for leaf in leaves])

    @rule(target=tensors, values=st.lists(st.integers(-8, 8), min_size=3, max_size=3))
    def leaf(self, values: list[int]) -> Any:
        return self.new_leaf(np.array(values) / 4)

    @rule(target=tensors, x=tensors, pair=st.sampled_from(UNARY + FANS + HOOKED + VIEWS))
    def compute(self, x: Twins, pair: Pair) -> Any:
        return self.computed(pair, x)

    @rule(target=tensors, x=tensors, pair=st.sampled_from(FANS + HOOKED))
    def there_and_back(self, x: Twins, pair: Pair) -> Any:
        result = self.computed(pair, x)
        if isinstance(result, Twins):
            self.backward(result, True, False)
        return result

    @rule(target=tensors, x=tensors, y=tensors, pair=st.sampled_from(BINARY))
    def combine(self, x: Twins, y: Twins, pair: Pair) -> Any:
        return self.computed(pair, x, y)

    @rule(target=tensors, x=tensors, y=tensors, pair=st.sampled_from(BINARY))
    def combine_with_copies_saved(self, x: Twins, y: Twins, pair: Pair) -> Any:
        with mt.autograd.graph.saved_tensors_hooks(lambda saved: saved.detach().clone(), lambda kept: kept):
            return self.computed(pair, x, y)

    @rule(target=tensors, x=tensors)
    def detach(self, x: Twins) -> Any:
        return self.kept(Twins(x.ours.detach().clone(), naive.constants(x.theirs)))

    @rule(target=tensors, x=tensors, pair=st.sampled_from(UNARY))
    def compute_without_grad(self, x: Twins, pair: Pair) -> Any:
        with mt.no_grad():
            return self.computed((pair[0], lambda cells: naive.constants(pair[1](cells))), x)

    @rule(target=tensors, x=tensors)
    def retain_grad(self, x: Twins) -> Any:
        twins = self.kept(Twins(x.ours * 1, naive.fresh(x.theirs)))
        if twins.ours.requires_grad:
            twins.ours.retain_grad()
            self.with_grad.append(twins)
            self.expected.append(None)
        return twins

    @rule(x=tensors, y=tensors, pair=st.sampled_from(WRITES))
    def write(self, x: Twins, y: Twins, pair: Pair) -> None:
        if np.may_share_memory(x.theirs, y.theirs):
            try:
                y = Twins(y.ours.clone(), y.theirs.copy())
            except REFUSED:  # a view that may no longer be used
                return
        before, self.written = x.ours.detach().clone(), True
        try:
            pair[0](x.ours, y.ours)
        except REFUSED:  # a Function's forward may already have written
            x.ours.data.copy_(before)
            return
        pair[1](x.theirs, y.theirs)
        base = base_of(x.theirs)
        base[...] = naive.fresh(base)
        self.twice = self.twice and pair is not OVERWRITE
        if pair in (OVERWRITE, FORGET):  # as in torch, a Function that writes to a tensor drops its retained `.grad`
            self.expected = [
                None if one.ours is x.ours else expected
                for one, expected in zip(self.with_grad, self.expected, strict=True)
            ]

    @rule(x=tensors, y=tensors, views=VIEWS_OF_VIEWS, written=st.integers(0, 2), pair=THROUGH_A_VIEW)
    def write_through_a_view(self, x: Twins, y: Twins, views: list[Pair], written: int, pair: Pair) -> None:
        """Write to a base, a view of it, or a view of the view; then backward from the last view and from the base."""
        chain = [x]
        for view in views:
            window = self.computed(view, chain[-1])
            if not isinstance(window, Twins):
                return
            chain.append(window)
        self.write(chain[written % len(chain)], y, pair)
        self.backward(chain[-1], True, False)
        self.backward(x, True, False)

    @rule(target=tensors, x=tensors, y=tensors, use=st.sampled_from(UNARY + BINARY), pair=st.sampled_from(WRITES))
    def overwrite_after_use(self, x: Twins, y: Twins, use: Pair, pair: Pair) -> Any:
        result = self.computed(use, x, y) if use in BINARY else self.computed(use, x)
        self.write(x, y, pair)
        if isinstance(result, Twins):
            self.backward(result, True, False)
        return result

    @rule(x=tensors, retain_graph=st.booleans(), create_graph=st.booleans())
    def backward(self, x: Twins, retain_graph: bool, create_graph: bool) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the warning that a recorded backward pass makes a cycle
                x.ours.sum().backward(retain_graph=retain_graph, create_graph=create_graph)
        except REFUSED as error:  # which gradients were accumulated before the error is unknown
            if not self.excused(error):
                raise
            self.clear()
            return
        finally:
            self.freed = self.freed or not retain_graph
        for i, one in enumerate(self.with_grad):
            found = naive.grad(x.theirs, one.theirs)
            before = self.expected[i]
            found = found if create_graph else naive.constants(found)
            self.expected[i] = found if before is None else before + found

    def excused(self, error: Exception) -> bool:
        """Whether something has happened that can make backward raise this error."""
        if isinstance(error, FreedGraphError):
            return self.freed
        if isinstance(error, ModifiedInPlaceError | InPlaceError):
            return self.written
        return isinstance(error, NoGraphError) or not self.twice

    @rule()
    def clear(self) -> None:
        for i, one in enumerate(self.with_grad):
            one.ours.grad = self.expected[i] = None

    def forget_retained(self) -> None:
        """Reset the `.grad` of retaining tensors: `grad` adds to them, unlike to leaves."""
        for i, one in enumerate(self.with_grad):
            if not one.ours.is_leaf:
                one.ours.grad = self.expected[i] = None

    @rule(x=tensors, y=tensors)
    def gradient_of_a_result(self, x: Twins, y: Twins) -> None:
        """`grad` with respect to a result; see Note [Whose gradient]."""
        if not y.ours._is_view():
            with contextlib.suppress(*REFUSED):
                (found,) = mt.autograd.grad(x.ours.sum(), y.ours, retain_graph=True, materialize_grads=True)
                self.equal(found, naive.grad(x.theirs, y.theirs))
            self.forget_retained()

    @rule(x=tensors)
    def differentiate_twice(self, x: Twins) -> None:
        derivatives = [naive.grad(x.theirs, leaf.theirs) for leaf in self.leaves]
        self.check_twice(lambda: self.leaf_gradients(x.ours.sum(), create_graph=True), derivatives)

    @rule(number=st.integers(0, 5))
    def differentiate_a_gradient(self, number: int) -> None:
        """Differentiate a leaf's `.grad` from a recorded backward pass."""
        number %= len(self.leaves)
        leaf = self.leaves[number]
        if leaf.ours.grad is not None and leaf.ours.grad.requires_grad:
            expected = self.expected[[one.ours is leaf.ours for one in self.with_grad].index(True)]
            assert expected is not None
            self.check_twice(lambda: [leaf.ours.grad], [expected])

    def check_twice(self, first_of: Callable[[], Any], derivatives: list[np.ndarray]) -> None:
        """Compare first derivatives, and the derivatives of the first of these."""
        try:
            first = first_of()
            second = self.leaf_gradients(first[0].sum())
        except (ModifiedInPlaceError, FreedGraphError, NoGraphError):
            return
        except RuntimeError:
            if self.twice:
                raise
            return
        finally:
            self.forget_retained()
        for found, derivative in zip(first, derivatives, strict=True):
            self.equal(found, derivative)
        for found, leaf in zip(second, self.leaves if self.twice else (), strict=self.twice):
            self.equal(found, naive.grad(derivatives[0], leaf.theirs))

    def leaf_gradients(self, root: Any, create_graph: bool = False) -> Any:
        leaves = [leaf.ours for leaf in self.leaves]
        return mt.autograd.grad(
            root, leaves, retain_graph=True, create_graph=create_graph, allow_unused=True, materialize_grads=True
        )

    @invariant()
    def values_are_equal(self) -> None:
        for one in self.all:
            self.equal(one.ours, one.theirs)

    @invariant()
    def gradients_are_equal(self) -> None:
        for one, expected in zip(self.with_grad, self.expected, strict=True):
            if expected is None or one.ours.grad is None:
                assert one.ours.grad is None
                assert expected is None or not naive.floats(expected).any()
            else:
                self.equal(one.ours.grad, expected)

    @invariant()
    def what_hooks_saw_stays_as_it_was(self) -> None:
        for gradient, copy in SEEN:
            assert mt.equal(gradient, copy)

    def equal(self, ours: Any, theirs: np.ndarray) -> None:
        np.testing.assert_allclose(ours.detach().numpy(), naive.floats(theirs), rtol=1e-6, atol=1e-9)

    def new_leaf(self, values: np.ndarray) -> Twins:
        leaf = self.kept(Twins(mt.tensor(values, requires_grad=True), naive.array(values)))
        self.with_grad.append(leaf)
        self.expected.append(None)
        return leaf

    def computed(self, pair: Pair, *operands: Twins) -> Any:
        try:
            ours = pair[0](*[one.ours for one in operands])
        except REFUSED:
            return multiple()
        theirs = pair[1](*[one.theirs for one in operands])
        return self.kept(Twins(ours, theirs if pair in VIEWS else naive.fresh(theirs)))

    def kept(self, twins: Twins) -> Twins:
        self.all.append(twins)
        return twins


TestPrograms = Programs.TestCase
TestPrograms.settings = settings(
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
