"""Custom differentiable operations: the class `Function` to subclass, and `once_differentiable`."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from microtape.basics.call_site import user_stacklevel
from microtape.functions.function_call import arguments_by_position, call_function
from microtape.functions.function_node import Context, FunctionNode, node_of
from microtape.tape.grad_mode import GradMode, mode
from microtape.tape.node import NO_EDGE, Node, next_sequence_nr
from microtape.tape.tensor_state import TensorState, edge_of, new_tensor, requires_grad
from microtape.tape.watch import call


class FunctionMeta(type):
    """Gives each Function class its own class of nodes."""

    node_class: type[FunctionNode]

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        cls.node_class = type(f"{name}Backward", (FunctionNode,), {"function": cls, "__module__": cls.__module__})
        cls.node_class.formula = namespace.get("formula", "")


class Function(metaclass=FunctionMeta):
    """A differentiable operation of your own.

    Write `forward(ctx, *args)` and `backward(ctx, *grad_outputs)` as static methods and call `YourFunction.apply(...)`.
    `forward` runs unrecorded. `backward` gets one gradient for each output, with the output's shape and dtype, and
    returns one for each argument: a Tensor of the argument's shape, or None. A gradient of a shape that the argument
    broadcasts to is summed, and one of another dtype is cast. The stepper shows the class attribute `formula`.

    Backward raises GradientError for the wrong number of gradients, a gradient of the wrong type or shape, and a
    gradient for an argument that is not a tensor.
    """

    clear_saved_tensors_on_access = False
    """Whether reading `ctx.saved_tensors` frees the saved tensors, so that a second read raises FreedGraphError."""

    boxed_grads_call = False
    """Whether `backward` gets its gradients as one list, `backward(ctx, grads)`, from which it may remove them."""

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs: `forward(ctx, *args)`, or `forward(*args)` if there is a `setup_context`.

        Returns a Tensor or a tuple; values in a tuple that are not Tensors have no gradient.
        """
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what backward needs, if `forward` has no ctx: `inputs` are its arguments, `output` its return value."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute the gradients of the arguments from those of the outputs; `vjp` is another name for it."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """For forward-mode AD, compute the outputs' tangents from the arguments' (None for one that is no tensor)."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.",
            DeprecationWarning,
            stacklevel=user_stacklevel(),
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise RuntimeError: call `apply` on the class instead."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @classmethod
    def differentiate(cls, ctx: Context, *grad_outputs: Any) -> Any:
        """Call the user's `backward` or `vjp`. Raises RuntimeError if the class has both."""
        if cls.backward is not Function.backward and cls.vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                "implement one of them."
            )
        gradients = (list(grad_outputs),) if cls.boxed_grads_call else grad_outputs
        backward = cls.vjp if cls.vjp is not Function.vjp else cls.backward
        return call("backward", node_of(ctx), backward, ctx, *gradients)

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` on the arguments and record the call. Returns what `forward` returned, with its history.

        Tensors inside lists, dicts or other containers are not differentiated. Raises TypeError for arguments that
        `forward` does not take and for keyword-only arguments, InPlaceError for an in-place write that autograd cannot
        record, and RuntimeError if a tensor that was marked dirty is not returned.
        """
        sets_up_context = cls.setup_context is not Function.setup_context
        if sets_up_context or kwargs:
            args = arguments_by_position(cls.forward, args, kwargs, has_ctx=not sets_up_context)
        return call_function(cls, args, sys._getframe(1), sets_up_context)


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `backward` that cannot be differentiated itself: double backward through it raises RuntimeError."""

    @functools.wraps(backward)
    def run(ctx: Any, *grad_outputs: Any) -> Any:
        with GradMode(False):
            returned = backward(ctx, *grad_outputs)
        if not mode.enabled or not any(isinstance(g, TensorState) and requires_grad(g) for g in grad_outputs):
            return returned
        blocked = _blocked(returned if isinstance(returned, tuple) else (returned,))
        return blocked if isinstance(returned, tuple) else blocked[0]

    run.once_differentiable = True  # type: ignore[attr-defined]
    return run


class Error(Node):
    """The node behind gradients that cannot be differentiated again."""

    kind = "error"
    multi_output = True

    def name(self) -> str:
        """The node's name as torch shows it."""
        return "torch::autograd::Error"

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """Raise RuntimeError."""
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def _blocked(gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    """The gradients with an Error node as their grad_fn. Its edges lead, as in torch, to leaves without any use."""
    leaves = [None if one is None else one.detach().requires_grad_() for one in gradients]
    node = Error()
    node.next_edges = [NO_EDGE if leaf is None else edge_of(leaf) for leaf in leaves]
    node.sequence_nr = next_sequence_nr()
    node.shape = [None if leaf is None else leaf.array.shape for leaf in leaves]
    node.dtype = [None if leaf is None else leaf.array.dtype for leaf in leaves]
    return tuple(
        [None if leaf is None else new_tensor(type(leaf), leaf.array, (node, i)) for i, leaf in enumerate(leaves)]
    )
