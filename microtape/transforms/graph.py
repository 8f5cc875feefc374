"""Following a backward pass from outside: hooks on several tensors, callbacks at its end, version counters."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from microtape.backward.engine import GraphTask
from microtape.backward.probe import current_task, will_run
from microtape.tape.node import Node, RemovableHandle
from microtape.tape.tensor_state import edge_of, ensure_version
from microtape.tensors.tensor import Tensor


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a write to the memory of one or more tensors that autograd could not see: adds 1 to their `_version`.

    Raises RuntimeError for an argument that is not a tensor or an iterable of tensors.
    """
    tensors = (tensor,) if isinstance(tensor, Tensor) else tensor
    if not isinstance(tensors, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for one in tensors:
        if not isinstance(one, Tensor):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
        ensure_version(one).bump()


class _unsafe_preserve_version_counter:  # noqa: N801 - torch's name
    """A context in which writes to these tensors are not counted: backward cannot notice them, and may be wrong."""

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]) -> None:
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        if not isinstance(self.tensors, tuple):
            raise AssertionError("Expected tensors to be a tuple")
        self.numbers = [ensure_version(tensor).number for tensor in self.tensors]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        for tensor, number in zip(self.tensors, self.numbers, strict=True):
            ensure_version(tensor).number = number


class _MultiHandle(RemovableHandle):
    """The handle of a hook on several tensors."""

    def __init__(self, handles: Iterable[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Unregister the hook."""
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[[Any], None], *, mode: str = "all"
) -> RemovableHandle:
    """Call `fn` once in each backward that computes gradients of these tensors. Returns a handle to remove the hook.

    With "all", `fn(gradients)` runs after the last of these gradients; gradients that the backward does not compute are
    None. With "any", `fn(gradient)` runs after the first. Passes inside of one another and in several threads are told
    apart.

    Raises ValueError for another mode. NB: as in torch, "all" does not wait for a tensor that is the only root of the
    pass, and a `grad()` with respect to a leaf among the tensors raises RuntimeError.
    """
    if mode == "any":
        hook = _FirstGradientHook(fn)
        return _MultiHandle([tensor.register_hook(hook) for tensor in tensors if tensor.requires_grad])
    if mode != "all":
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    nodes = []
    for tensor in tensors:
        node, _ = edge_of(tensor)
        if node is None:
            raise AssertionError("Expected gradient function to be set")
        nodes.append(node)
    waiting = _AllGradientsHook(nodes, fn)
    return _MultiHandle(
        [tensor.register_hook(functools.partial(waiting.arrived, i)) for i, tensor in enumerate(tensors)]
    )


class _FirstGradientHook:
    """A hook on several tensors that calls `fn` with the first gradient of each pass."""

    def __init__(self, fn: Callable[[Any], None]) -> None:
        self.fn = fn
        self.lock = threading.Lock()
        self.seen: weakref.WeakSet[GraphTask] = weakref.WeakSet()
        functools.update_wrapper(self, fn)

    def __call__(self, gradient: Any) -> None:
        task = current_task()
        assert task is not None
        with self.lock:
            if task in self.seen:
                return
            self.seen.add(task)
        self.fn(gradient)


class _AllGradientsHook:
    """A hook on several tensors that calls `fn` with the last of the gradients that a pass computes of them."""

    def __init__(self, nodes: list[Node], fn: Callable[[Any], None]) -> None:
        self.nodes, self.fn = nodes, fn
        self.lock = threading.Lock()
        self.gradients: weakref.WeakKeyDictionary[GraphTask, dict[int, Any]] = weakref.WeakKeyDictionary()

    def arrived(self, index: int, gradient: Any) -> None:
        """Take the gradient of the tensor at `index`, and call `fn` if it was the last."""
        task = current_task()
        assert task is not None
        with self.lock:
            found = self.gradients.setdefault(task, {})
            found[index] = gradient
            if len(found) != sum([will_run(task, node) for node in self.nodes]):
                return
            del self.gradients[task]
        self.fn([found.get(i) for i in range(len(self.nodes))])


def queue_callback(callback: Callable[[], None]) -> None:
    """Call `callback()` when the present call of backward has evaluated its last node.

    Callbacks run in the order in which they were queued, and may queue more. An exception in a callback ends the
    backward. Raises RuntimeError outside of backward.
    """
    task = current_task()
    if task is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    task.callbacks.append(callback)


__all__ = ["increment_version", "queue_callback", "register_multi_grad_hook"]
