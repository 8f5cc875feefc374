"""The older form of checkpointing: a Function whose backward runs the function again, and backward through that run."""

from __future__ import annotations

import warnings
from typing import Any

from microtape.backward.probe import running_steps
from microtape.basics.call_site import user_stacklevel
from microtape.functions.function import Function
from microtape.functions.function_node import node_of
from microtape.random import default_generator
from microtape.tape.grad_mode import GradMode
from microtape.tape.watch import call
from microtape.tensors.differentiate import backward
from microtape.tensors.tensor import Tensor


class CheckpointFunction(Function):
    """`CheckpointFunction.apply(function, preserve_rng_state, *args)`; see `checkpoint`."""

    formula = "z = f(x)    ∂x = backward through f, run again"

    @staticmethod
    def forward(ctx: Any, function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        """Run the function without recording it, and save its inputs."""
        if not any(one.requires_grad for one in args if isinstance(one, Tensor)):
            warnings.warn(
                "None of the inputs have requires_grad=True. Gradients will be None",
                UserWarning,
                stacklevel=user_stacklevel(),
            )
        ctx.run_function = function
        ctx.random = default_generator.get_state() if preserve_rng_state else None
        ctx.places = [i for i, one in enumerate(args) if isinstance(one, Tensor)]
        ctx.others = [None if isinstance(one, Tensor) else one for one in args]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with GradMode(False):
            return call("forward", node_of(ctx), function, *args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Run the function again on detached inputs, this time recorded, and backward through that recording."""
        # A hook of a captured gradient may go on with a backward of its own, if the pass ends there.
        if any(task.capture is not None and node in task.to_run for task, node in running_steps()):
            raise RuntimeError(
                "When use_reentrant=True, microtape.utils.checkpoint is incompatible with .grad() or passing an "
                "`inputs` parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or "
                "call .backward() without passing the `inputs` argument."
            )
        args = list(ctx.others)
        for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[place] = tensor.detach().requires_grad_(tensor.requires_grad)
        before = default_generator.get_state()
        try:
            if ctx.random is not None:
                default_generator.set_state(ctx.random)
            with GradMode(True):
                outputs = call("recomputation", node_of(ctx), ctx.run_function, *args)
        finally:
            if ctx.random is not None:
                default_generator.set_state(before)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [
            (output, grad)
            for output, grad in zip(outputs, grads, strict=True)
            if isinstance(output, Tensor) and output.requires_grad
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([output for output, _ in pairs], [grad for _, grad in pairs])
        return (None, None, *(one.grad if isinstance(one, Tensor) else None for one in args))
