"""Programs with functions that the engine calls. Each function logs its name; torch and microtape run them alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Log = list[str]
Program = Callable[[Any, Log], Any]


def clip(mt: Any, log: Log) -> type:
    """A Function with a constant argument, a result that is not differentiable, and an attribute of ctx."""

    class Clip(mt.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any, low: float) -> Any:
            log.append("Clip.forward")
            mask = x > low
            ctx.save_for_backward(mask)
            ctx.low = low
            ctx.mark_non_differentiable(mask)
            return x * mask, mask

        @staticmethod
        def backward(ctx: Any, g: Any, g_mask: Any) -> Any:
            log.append("Clip.backward")
            (mask,) = ctx.saved_tensors
            kept = g * mask
            return kept, None

    return Clip


def with_several_outputs(mt: Any, log: Log) -> Any:
    x = mt.tensor([-1.0, 2.0], requires_grad=True)
    y, mask = clip(mt, log).apply(x * 1, 0.0)
    (y * y).sum().backward()
    return x.grad, mask.requires_grad


def with_setup_context(mt: Any, log: Log) -> Any:
    class Cube(mt.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(x: Any) -> Any:
            log.append("Cube.forward")
            return x**3

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            log.append("Cube.setup_context")
            (x,) = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            log.append("Cube.backward")
            return 3 * ctx.saved_tensors[0] ** 2 * g

    x = mt.tensor(2.0, requires_grad=True)
    Cube.apply(x).backward()
    return x.grad


def with_a_jvp(mt: Any, log: Log) -> Any:
    class Double(mt.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            log.append("Double.forward")
            return x * 2

        @staticmethod
        def jvp(ctx: Any, tangent: Any) -> Any:
            log.append("Double.jvp")
            return tangent * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            log.append("Double.backward")
            return g * 2

    x = mt.tensor(3.0, requires_grad=True)
    with mt.autograd.forward_ad.dual_level():
        y = Double.apply(mt.autograd.forward_ad.make_dual(x, mt.tensor(1.0)))
        y.backward()
    return x.grad


def with_a_written_argument(mt: Any, log: Log) -> Any:
    class AddOne(mt.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            log.append("AddOne.forward")
            x.add_(1.0)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            log.append("AddOne.backward")
            return g

    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    before = y._version
    AddOne.apply(y)
    y.sum().backward()
    return x.grad, before, y._version


def with_hooks(mt: Any, log: Log) -> Any:
    def on_tensor(gradient: Any) -> Any:
        log.append("on_tensor")
        return gradient * 0.5

    def before(gradients: Any) -> Any:
        log.append("before")
        return (gradients[0] + 1,)

    def after(sent: Any, arrived: Any) -> Any:
        log.append("after")
        return tuple(None if one is None else one * 2 for one in sent)

    def accumulated(leaf: Any) -> None:
        log.append("accumulated")
        leaf.grad = leaf.grad * 10

    x = mt.tensor([1.0, 2.0], requires_grad=True)
    x.register_post_accumulate_grad_hook(accumulated)
    y = x * 3
    y.register_hook(on_tensor)
    y.grad_fn.register_prehook(before)
    y.grad_fn.register_hook(after)
    y.sum().backward()
    return x.grad


def with_packed_tensors(mt: Any, log: Log) -> Any:
    def pack(tensor: Any) -> Any:
        log.append("pack")
        return tensor * 1

    def unpack(packed: Any) -> Any:
        log.append("unpack")
        return packed / 1

    x = mt.tensor([1.0, 2.0], requires_grad=True)
    with mt.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x**3
    y.sum().backward()
    return x.grad


def with_a_checkpoint(mt: Any, log: Log) -> Any:
    from importlib import import_module

    def block(x: Any) -> Any:
        log.append("block")
        return x * x * x

    x = mt.tensor([0.5, 1.0], requires_grad=True)
    checkpoint = import_module(f"{mt.__name__}.utils.checkpoint").checkpoint
    checkpoint(block, x, use_reentrant=False).sum().backward()
    return x.grad


def with_a_reentrant_checkpoint(mt: Any, log: Log) -> Any:
    from importlib import import_module

    def block(x: Any) -> Any:
        log.append("block")
        return x * x * x

    x = mt.tensor([0.5, 1.0], requires_grad=True)
    checkpoint = import_module(f"{mt.__name__}.utils.checkpoint").checkpoint
    checkpoint(block, x, use_reentrant=True).sum().backward()
    return x.grad


def with_a_function_in_a_function(mt: Any, log: Log) -> Any:
    inner = clip(mt, log)

    class Outer(mt.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            log.append("Outer.forward")
            y, mask = inner.apply(x, 0.0)
            ctx.save_for_backward(mask)
            return y + 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            log.append("Outer.backward")
            (mask,) = ctx.saved_tensors
            with mt.enable_grad():
                z, _ = inner.apply(g.detach().requires_grad_(), -100.0)
            return z.detach() * mask

    x = mt.tensor([-1.0, 2.0], requires_grad=True)
    Outer.apply(x).sum().backward()
    return x.grad


def with_a_backward_in_a_backward(mt: Any, log: Log) -> Any:
    class Implicit(mt.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            log.append("Implicit.forward")
            ctx.save_for_backward(x)
            return x.detach() ** 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            log.append("Implicit.backward")
            with mt.enable_grad():
                copy = ctx.saved_tensors[0].detach().requires_grad_()
                copy.register_hook(in_the_inner_pass)
                (slope,) = mt.autograd.grad(copy**2, copy)
            return g * slope

    def in_the_inner_pass(gradient: Any) -> None:
        log.append("in_the_inner_pass")

    x = mt.tensor(3.0, requires_grad=True)
    (Implicit.apply(x) * 2).backward()
    return x.grad


def with_an_error(mt: Any, log: Log) -> Any:
    def scaled(g: Any, factor: Any) -> Any:
        if factor > 1:
            raise ValueError(f"a factor of {factor}")
        return g * factor

    class Scale(mt.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            log.append("Scale.forward")
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            log.append("Scale.backward")
            return scaled(g, ctx.factor), None

    x = mt.tensor(3.0, requires_grad=True)
    try:
        Scale.apply(x, 2.0).backward()
    except ValueError as error:
        return str(error)


PROGRAMS: list[Program] = [
    with_several_outputs,
    with_setup_context,
    with_a_jvp,
    with_a_written_argument,
    with_hooks,
    with_packed_tensors,
    with_a_checkpoint,
    with_a_reentrant_checkpoint,
    with_a_function_in_a_function,
    with_a_backward_in_a_backward,
    with_an_error,
]
