"""Running hooks, in torch's order: tensor hooks, retain_grad, node pre-hooks, the node, then node post-hooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from microtape.errors import GradientError
from microtape.node import Node
from microtape.tensor_state import TensorState, as_array, new_tensor
from microtape.watch import watch

if TYPE_CHECKING:
    from microtape.engine import GraphTask


def run_hooks_before(task: GraphTask, node: Node, gradient: Any) -> Any:
    """Tensor hooks, retain_grad and pre-hooks of `node`; returns the gradient that the node is to see."""
    hooks = node.hooks
    assert hooks is not None
    gradients = list(gradient) if node.multi_output and gradient is not None else [gradient] * node.output_count
    for output_nr, tensor_hooks in hooks.tensor.items():
        for hook in list(tensor_hooks.values()):
            if gradients[output_nr] is not None:
                gradients[output_nr] = run_tensor_hook(task, hook, gradients[output_nr])
    for output_nr, reference in hooks.retain.items():
        tensor = reference()
        if tensor is not None and gradients[output_nr] is not None:
            retain(task, tensor, gradients[output_nr])
    for hook in list(hooks.pre.values()):
        gradients = run_pre_hook(task, hook, gradients)
    return gradients if node.multi_output else gradients[0]


def run_tensor_hook(task: GraphTask, hook: Any, gradient: Any) -> Any:
    """One hook of `Tensor.register_hook`: what it returns replaces the gradient."""
    returned = hook(wrap(task, gradient))
    result = gradient if returned is None else checked(task, hook, returned, gradient)
    tell(task, "tensor", hook, gradient, result)
    return result


def retain(task: GraphTask, tensor: TensorState, gradient: Any) -> None:
    """Add to the `.grad` of a result that asked for it; out of place, because the gradient travels on."""
    meta = tensor.meta
    assert meta is not None
    total = wrap(task, gradient)
    if meta.grad is not None:
        total = meta.grad + total
    elif not task.create_graph:
        total = new_tensor(type(tensor), as_array(gradient).copy())
    before, meta.grad = meta.grad, total
    tell(task, "retain_grad", tensor, before.array if before is not None else None, total.array)


def run_pre_hook(task: GraphTask, hook: Any, gradients: list[Any]) -> list[Any]:
    """One hook of `Node.register_prehook`."""
    returned = hook(tuple([wrap(task, gradient) for gradient in gradients]))
    if returned is None:
        return gradients
    values = checked_tuple(task, hook, returned, gradients)
    tell(task, "node pre", hook, gradients[0], values[0])
    return values


def run_hooks_after(task: GraphTask, node: Node, gradients: Sequence[Any], gradient: Any) -> Sequence[Any]:
    """The hooks of `Node.register_hook`: may replace the gradients that leave."""
    hooks = node.hooks
    assert hooks is not None
    arrived = gradient if node.multi_output else [gradient]
    outputs = tuple([wrap(task, one) for one in arrived])
    for hook in list(hooks.post.values()):
        returned = hook(tuple([wrap(task, one) for one in gradients]), outputs)
        if returned is not None:
            before, gradients = gradients, checked_tuple(task, hook, returned, gradients)
            tell(task, "node post", hook, before[0] if before else None, gradients[0] if gradients else None)
    return gradients


def run_post_accumulate_hooks(node: Node, tensor: Any) -> None:
    """The hooks of `Tensor.register_post_accumulate_grad_hook`, which see the leaf with its new `.grad`."""
    assert node.hooks is not None
    for hook in list(node.hooks.post_accumulate.values()):
        if hook(tensor) is not None:
            raise GradientError("Tensor post accumulate grad hooks should return None.")


def checked_tuple(task: GraphTask, hook: Any, returned: Any, expected: Sequence[Any]) -> list[Any]:
    """A hook's replacement for several gradients; raises as torch does where it does not match."""
    if not isinstance(returned, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(returned).__name__}'")
    if len(returned) != len(expected):
        raise GradientError(
            f"hook '{name_of(hook)}' has returned an incorrect number of values "
            f"(got {len(returned)}, but expected {len(expected)})"
        )
    return [None if new is None else checked(task, hook, new, old) for new, old in zip(returned, expected, strict=True)]


def checked(task: GraphTask, hook: Any, returned: Any, expected: Any) -> Any:
    """A hook's replacement for one gradient, as the engine carries it."""
    if not isinstance(returned, TensorState):
        raise TypeError(f"expected Variable, but hook returned '{type(returned).__name__}'")
    if expected is not None and returned.array.shape != expected.shape:
        raise GradientError(f"hook '{name_of(hook)}' has changed the size of value")
    if expected is not None and returned.array.dtype != expected.dtype:
        raise GradientError(
            f"hook '{name_of(hook)}' has changed the type of value (was {expected.dtype} got {returned.array.dtype})"
        )
    return returned if task.create_graph else returned.array


def wrap(task: GraphTask, gradient: Any) -> Any:
    """A gradient as the user's function sees it: always a Tensor."""
    if gradient is None or isinstance(gradient, TensorState):
        return gradient
    return new_tensor(task.tensor_type, as_array(gradient))


def tell(task: GraphTask, kind: str, hook: Any, before: Any, after: Any) -> None:
    """Let the observer know, if there is one."""
    if watch.watcher is not None:
        watch.watcher.hook_ran(task, kind, hook, before, after)


def name_of(hook: Any) -> str:
    """What to call a hook in a message."""
    return getattr(hook, "__qualname__", None) or type(hook).__qualname__
