"""Full backward hooks of a module: they see the gradients of its inputs and outputs together.

Note [Full backward hooks]
  A module's inputs pass through one node, its outputs through another, each an identity. Backward reaches the node of
  the outputs first, and the hook there keeps the gradients; when it reaches the node of the inputs, all gradients
  within the module are known, and the hook there calls the user's hooks with both.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from microtape.basics.call_site import user_stacklevel
from microtape.functions.function import Function
from microtape.tape.grad_mode import is_grad_enabled
from microtape.tape.node import Node
from microtape.tape.watch import call
from microtape.tensors.tensor import Tensor


class BackwardHookFunction(Function):
    """The identity on several tensors: one node whose hooks see all their gradients."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """The tensors, of any shapes."""
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """Their gradients."""
        return args


class BackwardHook:
    """The hooks of one call of a module; see Note [Full backward hooks]."""

    def __init__(self, module: Any, hooks: list[Callable[..., Any]], pre_hooks: list[Callable[..., Any]]) -> None:
        self._module, self._hooks, self._pre_hooks = module, hooks, pre_hooks
        self._grad_outputs: Any = None
        self._inputs = self._outputs = 0  # how many there are
        self._input_tensors: list[int] | None = None  # which of them are tensors; None: no gradient reaches them
        self._output_tensors: list[int] | None = None

    def on_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The module's arguments behind the node that calls the hooks."""
        self._inputs = len(args)
        through, self._input_tensors = _through_a_node(args, _named(self._at_inputs, self._hooks))
        return through

    def on_outputs(self, result: Any) -> Any:
        """The module's result, a tensor or a tuple, behind the node that keeps its gradients."""
        if not isinstance(result, Tensor | tuple):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(result)}",
                stacklevel=user_stacklevel(),
            )
        results = result if isinstance(result, tuple) else (result,)
        self._outputs = len(results)
        through, self._output_tensors = _through_a_node(results, _named(self._at_outputs, self._pre_hooks))
        return through if isinstance(result, tuple) else through[0]

    def _at_outputs(self, _: Any, grad_output: Sequence[Any]) -> Any:
        """Keep the gradients of the outputs, after the pre-hooks."""
        assert self._output_tensors is not None
        self._grad_outputs = _spread(grad_output, self._output_tensors, self._outputs)
        for hook in self._pre_hooks:
            returned = call("node post-hook", None, hook, self._module, self._grad_outputs)
            if returned is None:
                continue
            if len(returned) != self._outputs:
                raise RuntimeError(
                    "Backward pre hook returned an invalid number of grad_output, "
                    f"got {len(returned)}, but expected {self._outputs}"
                )
            self._grad_outputs = returned
        gradients = self._grad_outputs
        if self._input_tensors is None:
            self._run_without_inputs()
        return tuple([gradients[i] for i in self._output_tensors])

    def _run_without_inputs(self) -> None:
        """Call the hooks of a module none of whose inputs requires grad."""
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
            "require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module."
            "register_full_backward_hook for more details.",
            stacklevel=user_stacklevel(),
        )
        for hook in self._hooks:
            returned = call("node post-hook", None, hook, self._module, (None,) * self._inputs, self._grad_outputs)
            if returned is not None and not (isinstance(returned, tuple) and all(one is None for one in returned)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients."
                )
        self._grad_outputs = None

    def _at_inputs(self, grad_input: Sequence[Any], _: Any) -> Any:
        """Call the hooks with the gradients of the inputs and of the outputs."""
        if self._grad_outputs is None:  # a gradient that did not come through the outputs, as in a double backward
            return None
        assert self._input_tensors is not None
        gradients: Any = _spread(grad_input, self._input_tensors, self._inputs)
        for hook in self._hooks:
            returned = call("node post-hook", None, hook, self._module, gradients, self._grad_outputs)
            if returned is None:
                continue
            if len(returned) != self._inputs:
                raise RuntimeError(
                    "Backward hook returned an invalid number of grad_input, "
                    f"got {len(returned)}, but expected {self._inputs}"
                )
            gradients = returned
        self._grad_outputs = None
        return tuple([gradients[i] for i in self._input_tensors])


def _through_a_node(values: tuple[Any, ...], hook: Callable[..., Any]) -> tuple[tuple[Any, ...], list[int] | None]:
    """The values, the tensors among them behind a node with that hook, and their places; None if none requires grad."""
    places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    tensors = [values[i] for i in places]
    if not (is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)):
        return values, None
    passed = list(values)
    for i, tensor in zip(places, BackwardHookFunction.apply(*tensors), strict=True):
        passed[i] = tensor
    node: Node = next(passed[i].grad_fn for i in places if passed[i].requires_grad)
    node.register_hook(hook)
    return _like(values, passed), places


def _named(hook: Callable[..., Any], hooks: list[Callable[..., Any]]) -> Callable[..., Any]:
    """`hook` under the names of the user's hooks that it calls, as recordings show it."""

    def named(grad_inputs: Any, grad_outputs: Any) -> Any:
        return hook(grad_inputs, grad_outputs)

    names = [getattr(one, "__qualname__", type(one).__name__).rpartition("<locals>.")[2] for one in hooks]
    named.__qualname__ = ", ".join(names) or "for the module's hooks"
    return named


def _like(values: tuple[Any, ...], changed: list[Any]) -> tuple[Any, ...]:
    """A tuple of the class of `values`, which may be a named one."""
    return tuple(changed) if type(values) is tuple else type(values)(*changed)


def _spread(gradients: Sequence[Any], places: list[int], count: int) -> tuple[Any, ...]:
    """The gradients at their places in a tuple of that length, None elsewhere."""
    spread: list[Any] = [None] * count
    for i, gradient in zip(places, gradients, strict=True):
        spread[i] = gradient
    return tuple(spread)
