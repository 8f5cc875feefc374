"""Running hooks, in torch's order: tensor hooks, retain_grad, node pre-hooks, the node, then node post-hooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from microtape.errors import GradientError
from microtape.tape.inference import mark_if_inference
from microtape.tape.node import AccumulateGrad, Node
from microtape.tape.saved import type_name
from microtape.tape.tensor_state import TensorState, as_array, new_tensor
from microtape.tape.watch import call, watch

if TYPE_CHECKING:
    from microtape.backward.engine import GraphTask


def run_hooks_before(task: GraphTask, node: Node, gradient: Any) -> Any:
    """Run the tensor hooks, retain_grad and pre-hooks of `node`. Returns the gradient for the node.

    Raises TypeError or GradientError if a hook returns a value that cannot replace the gradient.
    """
    hooks = node.hooks
    assert hooks is not None
    task.owned.discard(node)  # a hook may keep a reference to the gradient
    gradient = run_tensor_hooks(task, node, gradient)
    if not hooks.pre:
        return gradient
    gradients = gradient if node.multi_output else [gradient]
    for hook in list(hooks.pre.values()):
        before, gradients = (
            gradients,
            _replaced(task, hook, call("node pre-hook", node, hook, _as_tensors(task, gradients)), gradients),
        )
        _tell_watcher(task, "node pre", hook, before[0], gradients[0])
    return gradients if node.multi_output else gradients[0]


def run_tensor_hooks(task: GraphTask, node: Node, gradient: Any) -> Any:
    """Run the hooks of the tensors that `node` computed, and retain_grad. Returns the gradient after the hooks."""
    hooks = node.hooks
    assert hooks is not None
    gradients = list(gradient) if node.multi_output else [gradient]
    for output_nr, tensor_hooks in list(hooks.tensor.items()):
        for hook in list(tensor_hooks.values()):
            before = gradients[output_nr]
            returned = call("tensor hook", node, hook, _as_tensor(task, before))
            gradients[output_nr] = before if returned is None else _checked(task, hook, returned, before)
            _tell_watcher(task, "tensor", hook, before, gradients[output_nr])
    for output_nr, reference in list(hooks.retain.items()):
        tensor = reference()
        if tensor is not None and gradients[output_nr] is not None:
            _retain_grad(task, tensor, gradients[output_nr])
    return gradients if node.multi_output else gradients[0]


def _retain_grad(task: GraphTask, tensor: TensorState, gradient: Any) -> None:
    """Add to the `.grad` of a result with `retain_grad`; out of place, because backward still uses the gradient."""
    meta = tensor.meta
    assert meta is not None
    before = meta.grad
    if before is not None:
        meta.grad = before + _as_tensor(task, gradient)
    elif task.as_tensors:
        meta.grad = gradient.clone()
    else:
        meta.grad = mark_if_inference(new_tensor(type(tensor), np.array(gradient, order="C")))
    _tell_watcher(task, "retain_grad", tensor, before, meta.grad)


def run_hooks_after(task: GraphTask, node: Node, gradients: Sequence[Any], gradient: Any) -> Sequence[Any]:
    """Run the hooks of `Node.register_hook`. Returns the node's gradients, which a hook may have replaced."""
    hooks = node.hooks
    assert hooks is not None
    gradients = [writable(each) for each in gradients]
    arrived = _as_tensors(task, gradient if node.multi_output else [gradient])
    for hook in list(hooks.post.values()):
        returned = call("node post-hook", node, hook, _as_tensors(task, gradients), arrived)
        before, gradients = gradients, _replaced(task, hook, returned, gradients)
        _tell_watcher(task, "node post", hook, before[0] if before else None, gradients[0] if gradients else None)
    return gradients


def shared_with_grad(task: GraphTask, node: AccumulateGrad, gradient: Any) -> Any:
    """`gradient` as an array that becomes the leaf's `.grad`, if that is None, and that post-hooks see as well.

    As in torch, a write to `.grad` in a hook of the leaf is then seen by them. If other hooks have seen the gradient,
    and may have kept it, the leaf gets a copy.
    """
    hooks = node.hooks
    assert hooks is not None
    if any(hooks.tensor.values()) or hooks.pre or task.as_tensors or gradient is None:
        return gradient
    task.owned.add(node)
    return np.array(gradient)


def writable(gradient: Any) -> Any:
    """A gradient that the engine holds as a number, or broadcast, as an array that hooks can write to.

    An array with repeated elements keeps them: as in torch, only operations such as `zero_` may write to it.
    """
    if isinstance(gradient, list):
        return [writable(each) for each in gradient]
    if isinstance(gradient, np.generic):
        return np.array(gradient)
    if not isinstance(gradient, np.ndarray) or gradient.flags.writeable:
        return gradient
    once = gradient[tuple([slice(None if stride else 1) for stride in gradient.strides])].copy()
    strides = [new if old else 0 for new, old in zip(once.strides, gradient.strides, strict=True)]
    return np.lib.stride_tricks.as_strided(once, gradient.shape, strides)


def _replaced(task: GraphTask, hook: Any, returned: Any, gradients: Sequence[Any]) -> Sequence[Any]:
    """The gradients after a hook: those it `returned`, or `gradients` if that is None. Raises as torch does."""
    if returned is None:
        return gradients
    if not isinstance(returned, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(returned).__name__}'")
    if len(returned) != len(gradients):
        raise GradientError(
            f"hook '{_hook_name(hook)}' has returned an incorrect number of values "
            f"(got {len(returned)}, but expected {len(gradients)})"
        )
    return [
        None if new is None else _checked(task, hook, new, old) for new, old in zip(returned, gradients, strict=True)
    ]


def _checked(task: GraphTask, hook: Any, returned: Any, expected: Any) -> Any:
    """A hook's replacement for one gradient, checked against the old one, as a Tensor or array as the task needs."""
    if expected is None:
        raise GradientError("can't replace a None gradient with a non-None value")
    if not isinstance(returned, TensorState):
        raise TypeError(f"expected Variable, but hook returned '{type(returned).__name__}'")
    if returned.array.dtype != expected.dtype:
        raise GradientError(
            f"hook '{_hook_name(hook)}' has changed the type of value "
            f"(was {type_name(expected.dtype)} got {type_name(returned.array.dtype)})"
        )
    if returned.array.shape != expected.shape:
        raise GradientError(f"hook '{_hook_name(hook)}' has changed the size of value")
    return returned if task.as_tensors else returned.array


def _as_tensors(task: GraphTask, gradients: Sequence[Any]) -> tuple[Any, ...]:
    """Gradients as hooks see them."""
    return tuple([_as_tensor(task, gradient) for gradient in gradients])


def _as_tensor(task: GraphTask, gradient: Any) -> Any:
    """A gradient as hooks see it: a Tensor or None."""
    if gradient is None or isinstance(gradient, TensorState):
        return gradient
    return new_tensor(task.tensor_type, as_array(gradient))


def _tell_watcher(task: GraphTask, kind: str, hook: Any, before: Any, after: Any) -> None:
    """Tell the observer, if there is one, that a hook ran."""
    if (watcher := watch.watcher) is not None:
        watcher.hook_ran(task, kind, hook, before, after)


def _hook_name(hook: Any) -> str:
    """A hook's name in messages."""
    return getattr(hook, "__name__", None) or type(hook).__name__
