"""The choices of randomly generated programs: operations, views, in-place writes, and Functions of every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
COPIES_FROM = 9
"""From this index on, some of UNARY copy in torch, and then write to the copy."""

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
HOOKS: list[Callable[[Any], Any]] = [lambda g: None, lambda g: g * 2, lambda g: g + 1, lambda g: g.detach()]
FUNCTIONS = 16


def functions_of(mt: Any, note: Callable[..., None]) -> list[Any]:
    """Functions of two tensors and a number; `note` is called with the tensors that a backward sees."""

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
            note(g, h)
            return g * 3, h, None

    class TwoOrNone(Two):
        @staticmethod
        def forward(ctx, x, y, k):
            ctx.set_materialize_grads(False)
            return x * k, y + 1

        @staticmethod
        def backward(ctx, g, h):
            note(g, h)
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
            note(x, y)
            return g * x, None, None

    class InPlaceAndMore(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, k):
            z = x * y
            x.add_(k)
            ctx.mark_dirty(x)
            ctx.save_for_backward(y)
            return x, z

        @staticmethod
        def backward(ctx, g, h):
            (y,) = ctx.saved_tensors
            note(g, h)
            return g + h * y, None, None

    class Same(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, k):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 5, None, None

    class SameAndSaved(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, k):
            ctx.save_for_backward(x, y)
            return y, x

        @staticmethod
        def backward(ctx, h, g):
            x, y = ctx.saved_tensors
            note(x, y)
            return g * 2, h * 3, None

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
            note(g, h)
            return g * 2, None, None

    class SameButNonDifferentiable(NonDifferentiable):
        @staticmethod
        def forward(ctx, x, y, k):
            ctx.mark_non_differentiable(y)
            ctx.set_materialize_grads(False)
            return x * 2, y, k

        @staticmethod
        def backward(ctx, g, h, nothing):
            note(g, h)
            return g, None, None

    class Once(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, k):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        @mt.autograd.function.once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x.cos(), None, None

    class Reentrant(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, k):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            with mt.enable_grad():
                inside = ctx.saved_tensors[0].detach().requires_grad_()
                (inside * inside).backward(g.detach())
            note(inside.grad)
            return inside.grad, None, None

    class Wrong(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, k):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g.sum(), mt.cat([g.reshape(-1), g.reshape(-1)]), None

    functions = [
        Mul,
        Tanh,
        Two,
        TwoOrNone,
        InPlace,
        InPlaceSaved,
        InPlaceAndMore,
        Same,
        SameAndSaved,
        View,
        Nothing,
        NonDifferentiable,
        SameButNonDifferentiable,
        Once,
        Reentrant,
        Wrong,
    ]
    assert len(functions) == FUNCTIONS
    return functions
