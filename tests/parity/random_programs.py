"""Programs made at random, and how to run one on a module.

A program is a list of instructions such as ("binary", 3, 0, 2). The numbers choose among what is there when the
instruction runs (modulo), so that every list is a program; one that makes no sense raises the same error on both sides.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from parity.observe import Event, Program, Raised, See, as_microtape, differences

Instruction = tuple[Any, ...]

SHAPES = [(2, 3), (3,), (2, 3), (), (1, 3), (2, 1), (0,)]
UNARY: list[Callable[[Any], Any]] = [
    lambda x: -x,
    lambda x: x * 2,
    lambda x: 0.5 * x,
    lambda x: x + 1,
    lambda x: 1 - x,
    lambda x: x.sin(),
    lambda x: x.tanh(),
    lambda x: x.sigmoid(),
    lambda x: x.relu(),
    lambda x: x.abs(),
    lambda x: x.exp(),
    lambda x: x**2,
    lambda x: x.clone(),
    lambda x: x.sum(),
    lambda x: x.mean(),
    lambda x: x.sum(-1),
    lambda x: x.sum(0, True),
    lambda x: x.square(),
    lambda x: x / 4,
    lambda x: x[[0, 0]],
    lambda x: x.float(),
    lambda x: x.double(),
]
BINARY: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x * y,
    lambda x, y: x / (y * y + 1),
    lambda x, y: x.add(y, alpha=2),
]
VIEWS: list[Callable[[Any], Any]] = [
    lambda x: x[0],
    lambda x: x[-1],
    lambda x: x[1:],
    lambda x: x[:1],
    lambda x: x[..., 1:],
    lambda x: x[None],
    lambda x: x[...],
    lambda x: x.view(-1),
    lambda x: x.reshape(-1),
    lambda x: x.t(),
    lambda x: x.unsqueeze(0),
    lambda x: x.squeeze(),
    lambda x: x.expand(2, *x.shape),
    lambda x: x.detach(),
    lambda x: x.view_as(x),
    lambda x: x.unbind(0)[-1],
    lambda x: x.chunk(2)[0],
]
IN_PLACE: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x.add_(y),
    lambda x, y: x.add_(1),
    lambda x, y: x.mul_(y),
    lambda x, y: x.mul_(0.5),
    lambda x, y: x.sub_(y, alpha=2),
    lambda x, y: x.copy_(y),
    lambda x, y: x.zero_(),
    lambda x, y: x.fill_(2.0),
    lambda x, y: x.tanh_(),
    lambda x, y: x.sigmoid_(),
    lambda x, y: x.sin_(),
    lambda x, y: x.neg_(),
    lambda x, y: x.relu_(),
    lambda x, y: x.__setitem__(0, y),
    lambda x, y: x.__setitem__(slice(1, None), y),
    lambda x, y: x.__setitem__(0, 3.0),
    lambda x, y: x.__setitem__(..., y),
    lambda x, y: x.__setitem__([0], y),
    lambda x, y: x.data.mul_(0.5),
    lambda x, y: x.detach().add_(1),
]
FUNCTIONS = 10
HOOKS: list[Callable[[Any], Any]] = [lambda g: None, lambda g: g * 2, lambda g: g + 1, lambda g: g.detach()]

_number = st.integers(0, 40)
_grad_mode = st.sampled_from([None, None, None, None, False, True])
_mask = st.integers(0, 15)
INSTRUCTIONS: st.SearchStrategy[Instruction] = st.one_of(
    st.tuples(st.just("leaf"), _number, st.booleans()),
    st.tuples(st.just("unary"), _grad_mode, _number, _number),
    st.tuples(st.just("binary"), _grad_mode, _number, _number, _number),
    st.tuples(st.just("view"), _grad_mode, _number, _number),
    st.tuples(st.just("in_place"), _grad_mode, _number, _number, _number),
    st.tuples(st.just("function"), _grad_mode, st.integers(0, FUNCTIONS - 1), _number, _number),
    st.tuples(st.just("hook"), _number, _number, st.integers(0, 5)),
    st.tuples(st.just("remove_hook"), _number),
    st.tuples(st.just("flag"), _number, st.integers(0, 5)),
    st.tuples(st.just("look"), _number),
    st.tuples(st.just("drop"), _number),
    st.tuples(st.just("backward"), _number, _mask, st.lists(_number, max_size=2), st.booleans()),
    st.tuples(st.just("grad"), _number, _mask, st.lists(_number, min_size=1, max_size=3), st.booleans()),
)
FIRST_ORDER = st.lists(INSTRUCTIONS, min_size=4, max_size=25)


class Steps(See):
    """A See that notes the number of the instruction in place of a line."""

    step = 0

    def _add(self, seen: Any) -> None:
        self.events.append(Event(self.step, seen))

    def _raised(self, error: BaseException) -> Raised:
        return Raised(type(error), as_microtape(getattr(error, "summary", None) or str(error)), 0)


def program_of(instructions: list[Instruction]) -> Program:
    """The instructions as a program for `observe.run`."""

    def program(mt: Any, see: See) -> None:
        assert isinstance(see, Steps)
        machine = Machine(mt, see)
        for step, instruction in enumerate(instructions):
            see.step = step
            machine.run(instruction)
        for tensor in machine.tensors:
            see.step += 1
            with see.raising():
                see(tensor)
            see.value(tensor.grad if tensor.is_leaf else None)

    return program


class Machine:
    """What a program has made so far, and what each instruction does with it."""

    def __init__(self, mt: Any, see: Steps) -> None:
        self.mt, self.see = mt, see
        self.functions = functions_of(mt, see)
        self.tensors: list[Any] = [self.values((2, 3), 1).requires_grad_(), self.values((3,), 2)]
        self.handles: list[Any] = []

    def values(self, shape: tuple[int, ...], seed: int) -> Any:
        """A tensor of small numbers, different ones for each seed."""
        count = 1
        for size in shape:
            count *= size
        numbers = [((7 * i + 3 * seed) % 11 - 5) / 4 for i in range(count)]
        return self.mt.tensor(numbers, dtype=self.mt.float64).reshape(shape).clone()

    def tensor(self, number: int) -> Any:
        """One of the tensors there are."""
        return self.tensors[number % len(self.tensors)]

    def run(self, instruction: Instruction) -> None:
        """Do one thing and note what came of it."""
        name, *arguments = instruction
        try:
            result = getattr(self, name)(*arguments)
        except Exception as error:
            self.see._add(self.see._raised(error))
            for tensor in self.tensors:  # how much was looked at before the error is of no interest
                with contextlib.suppress(RuntimeError):
                    _ = tensor.grad_fn
            return
        for tensor in result if isinstance(result, tuple) else (result,):
            if isinstance(tensor, self.mt.Tensor) and len(self.tensors) < 12:
                self.tensors.append(tensor)
                self.see(tensor)

    def leaf(self, number: int, requires_grad: bool) -> Any:
        shape = SHAPES[number % len(SHAPES)]
        return self.values(shape, number).requires_grad_(requires_grad)

    def in_mode(self, enabled: bool | None, function: Callable[..., Any], *arguments: Any) -> Any:
        with self.mt.set_grad_enabled(self.mt.is_grad_enabled() if enabled is None else enabled):
            return function(*arguments)

    def unary(self, mode: bool | None, which: int, x: int) -> Any:
        return self.in_mode(mode, UNARY[which % len(UNARY)], self.tensor(x))

    def binary(self, mode: bool | None, which: int, x: int, y: int) -> Any:
        return self.in_mode(mode, BINARY[which % len(BINARY)], self.tensor(x), self.tensor(y))

    def view(self, mode: bool | None, which: int, x: int) -> Any:
        return self.in_mode(mode, VIEWS[which % len(VIEWS)], self.tensor(x))

    def in_place(self, mode: bool | None, which: int, x: int, y: int) -> None:
        target, other = self.tensor(x), self.tensor(y)
        if other is not target and np.may_share_memory(target.detach().numpy(), other.detach().numpy()):
            other = other.detach().clone()  # torch does not say what comes of writing to what is being read
        self.in_mode(mode, IN_PLACE[which % len(IN_PLACE)], target, other)

    def function(self, mode: bool | None, which: int, x: int, y: int) -> Any:
        return self.in_mode(mode, self.functions[which].apply, self.tensor(x), self.tensor(y), 3.0)

    def hook(self, x: int, which: int, kind: int) -> None:
        tensor, change, number = self.tensor(x), HOOKS[which % len(HOOKS)], len(self.handles)
        _ = tensor.grad_fn  # torch 2.13 crashes in register_hook where it has to make a view's grad_fn again

        def on_tensor(gradient: Any) -> Any:
            self.see("hook", number)
            self.see.value(gradient)
            return None if gradient is None else change(gradient)

        def on_node(*gradients: Any) -> None:
            for several in gradients:
                self.see("node hook", number)
                self.see.value(*several)

        if kind <= 2:
            self.handles.append(tensor.register_hook(on_tensor))
        elif kind == 3:
            self.handles.append(tensor.register_post_accumulate_grad_hook(lambda leaf: self.see("accumulated", number)))
        elif tensor.grad_fn is not None:
            register = tensor.grad_fn.register_prehook if kind == 4 else tensor.grad_fn.register_hook
            self.handles.append(register(on_node))

    def remove_hook(self, number: int) -> None:
        if self.handles:
            self.handles[number % len(self.handles)].remove()

    def flag(self, x: int, which: int) -> None:
        tensor = self.tensor(x)
        if which == 0:
            tensor.requires_grad_()
        elif which == 1:
            tensor.requires_grad_(False)
        elif which == 2:
            tensor.detach_()
        elif which in (3, 4):
            tensor.retain_grad()
        else:
            tensor.grad = None

    def look(self, x: int) -> None:
        tensor = self.tensor(x)
        self.see(tensor)
        self.see.value(tensor.grad)

    def drop(self, x: int) -> None:
        if len(self.tensors) > 2:
            del self.tensors[x % len(self.tensors)]

    def backward(self, root: int, mask: int, inputs: list[int], ordered: bool) -> None:
        tensor = self.tensor(root)
        wanted = [self.tensor(number) for number in inputs] or None

        def act() -> None:
            tensor.backward(self.first_gradient(tensor, mask), retain_graph=bool(mask & 1), inputs=wanted)

        self.watched(ordered, tensor, act)
        self.see.value(*[one.grad for one in self.tensors if one.grad_fn is None or one.retains_grad])

    def grad(self, root: int, mask: int, inputs: list[int], ordered: bool) -> None:
        tensor = self.tensor(root)
        wanted = [self.tensor(number) for number in inputs]

        def act() -> None:
            self.see.value(
                *self.mt.autograd.grad(
                    tensor,
                    wanted,
                    self.first_gradient(tensor, mask),
                    retain_graph=bool(mask & 1),
                    allow_unused=bool(mask & 2),
                    materialize_grads=mask & 6 == 6,
                )
            )

        self.watched(ordered, tensor, act)

    def watched(self, ordered: bool, tensor: Any, act: Callable[[], None]) -> None:
        if ordered:
            with self.see.order(tensor):
                act()
        else:
            act()

    def first_gradient(self, tensor: Any, mask: int) -> Any:
        if tensor.numel() == 1 and mask & 8:
            return None
        return self.values(tuple(tensor.shape), 5) if tensor.dtype == self.mt.float64 else None


TORCH_GIVES_UP = (
    "INTERNAL ASSERT",  # a bug of its own
    "Use of index_put_ on expanded tensors",  # what it will soon refuse, as we do
    "a single memory location",  # depends on the strides of dimensions of size 1; also said in backward, of no harm
)
"""What torch says in programs that are not worth comparing to their end."""

FORBIDDEN_VIEW = ("A view was created in", "is a view and")


def differences_but_known(theirs: list[Event], ours: list[Event]) -> list[str]:
    """Like `differences`; where a statement is wrong twice over, either error will do."""
    if any(text in repr(event) for event in theirs for text in TORCH_GIVES_UP):
        return []
    for event, other in zip(theirs, ours, strict=False):
        for one in (event, other):
            if isinstance(one.seen, Raised):  # torch says 0 whichever output it is
                one.seen = one.seen._replace(message=re.sub(r"output \d+ of", "output 0 of", one.seen.message))
        wrong = isinstance(event.seen, Raised) and isinstance(other.seen, Raised)
        if wrong and any(text in event.seen.message for text in FORBIDDEN_VIEW):
            event.seen = other.seen
    return differences(theirs, ours)


def functions_of(mt: Any, see: See) -> list[Any]:
    """Functions of two tensors and a number."""

    class Mul(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, k):
            ctx.save_for_backward(x, y)
            ctx.k = k
            return x * y * k

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return (
                g * y * ctx.k if ctx.needs_input_grad[0] else None,
                g * x * ctx.k if ctx.needs_input_grad[1] else None,
                None,
            )

    class Tanh(mt.autograd.Function):
        @staticmethod
        def forward(x, y, k):
            return x.tanh()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, g):
            (z,) = ctx.saved_tensors
            return g * (1 - z * z), None, None

    class Two(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, k):
            return x * k, y + 1

        @staticmethod
        def backward(ctx, g, h):
            see.value(g, h)
            return g * 3, h, None

    class TwoOrNone(Two):
        @staticmethod
        def forward(ctx, x, y, k):
            ctx.set_materialize_grads(False)
            return x * k, y + 1

        @staticmethod
        def backward(ctx, g, h):
            see.value(g, h)
            return g, h, None

    class InPlace(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, k):
            x.mul_(k)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 3, None, None

    class InPlaceSaved(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, k):
            x.copy_(x.detach().sin())
            ctx.mark_dirty(x)
            ctx.save_for_backward(x, y)
            return x

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            see.value(x, y)
            return g * x, None, None

    class Same(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, k):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 5, None, None

    class View(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, k):
            ctx.save_for_backward(x)
            return x.view(-1)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g.view(x.shape), None, None

    class Nothing(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, k):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return None, g, None

    class NonDifferentiable(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, k):
            z, w = x * 2, y * 3
            ctx.mark_non_differentiable(w)
            return z, w

        @staticmethod
        def backward(ctx, g, h):
            see.value(g, h)
            return g * 2, None, None

    functions = [Mul, Tanh, Two, TwoOrNone, InPlace, InPlaceSaved, Same, View, Nothing, NonDifferentiable]
    assert len(functions) == FUNCTIONS
    return functions
