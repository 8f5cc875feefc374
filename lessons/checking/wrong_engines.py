"""Wrong engines: the real engine with a single fault, a mistake that people make in an engine of their own.

A fault replaces a named function or method of `microtape` while a program runs, and one that would refuse what the
first one does. Everything else is the real engine, and so is the recording that it makes.
"""

from __future__ import annotations

import contextlib
import functools
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import microtape.backward.accumulate
import microtape.tape.fitting
import microtape.tape.saved
from microtape.backward.engine import GraphTask
from microtape.basics.call_site import LIBRARY_FILES
from microtape.tape.node import AccumulateGrad, Node
from microtape.tape.tensor_state import TensorState
from microtape.tensors.tensor import Tensor


class Replacement(NamedTuple):
    """A function, and how it becomes a wrong one."""

    owner: Any  # the class or module whose attribute is replaced
    attribute: str
    wrong: Callable[[Callable[..., Any]], Callable[..., Any]]  # from the right function to the wrong one


def overwrite(right: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient that arrives replaces the one in the buffer."""

    @functools.wraps(right)
    def deliver(self: GraphTask, term: Any, node: Node, output: int, receiver: Node, arrived: Any) -> None:
        if term is not None:
            held = self.buffers.get(receiver)
            if receiver.multi_output and held is not None:
                held[node.input_nrs[output]] = None
            else:
                self.buffers.pop(receiver, None)
        right(self, term, node, output, receiver, arrived)

    return deliver


def overwrite_grad(right: Callable[..., Any]) -> Callable[..., Any]:
    """A leaf drops its `.grad` before a new gradient is added."""

    @functools.wraps(right)
    def accumulate(self: Tensor, gradient: Any, create_graph: bool) -> None:
        self.grad = None
        right(self, gradient, create_graph)

    return accumulate


class ClosedQueue(deque[AccumulateGrad]):
    """A queue that accepts no nodes."""

    def append(self, node: AccumulateGrad) -> None:
        """Ignore the node."""


def in_order_of_arrival(right: Callable[..., Any]) -> Callable[..., Any]:
    """Nodes run in the order in which a gradient first arrives for them, even if more are to come."""

    @functools.wraps(right)
    def evaluate(self: GraphTask) -> None:
        self.waiting = [*reversed(self.dependencies), self.root]  # `dependencies` lists them in that order
        self.ready_leaves = ClosedQueue()
        self.evaluate_node = lambda node, gradient: _any_node(self, node, gradient)  # type: ignore[method-assign]
        right(self)

    return evaluate


def _any_node(task: GraphTask, node: Node, gradient: Any) -> Any:
    """Evaluate a node from the waiting list, whether it is a leaf's or not."""
    if not isinstance(node, AccumulateGrad):
        return GraphTask.evaluate_node(task, node, gradient)
    if gradient is not None:
        task.buffers[node] = gradient
    task.evaluate_leaf(node)
    return None


def not_unbroadcast(_: Callable[..., Any]) -> Callable[..., Any]:
    """A gradient is not summed over the dimensions that the forward pass stretched."""

    def unbroadcast(gradient: Any, shape: tuple[int, ...]) -> Any:
        return gradient

    return unbroadcast


def fits_as_it_is(_: Callable[..., Any]) -> Callable[..., Any]:
    """A leaf takes a gradient of another shape than its own."""

    def fitted(leaf: TensorState, gradient: Any, is_tensor: bool) -> Any:
        return gradient if is_tensor else np.array(gradient)

    return fitted


def versions_unchecked(_: Callable[..., Any]) -> Callable[..., Any]:
    """Saved tensors are not checked for later writes."""

    def check_unchanged(node: Node, index: int) -> None:
        return None

    return check_unchanged


FAULTS: dict[str, tuple[Replacement, ...]] = {
    "overwrite": (Replacement(GraphTask, "deliver", overwrite),),
    "overwrite_grad": (Replacement(Tensor, "accumulate", overwrite_grad),),
    "no_reverse_order": (Replacement(GraphTask, "evaluate", in_order_of_arrival),),
    "no_unbroadcast": (
        Replacement(microtape.tape.fitting, "unbroadcast", not_unbroadcast),
        Replacement(microtape.backward.accumulate, "fitted", fits_as_it_is),
    ),
    "no_version_check": (Replacement(microtape.tape.saved, "check_unchanged", versions_unchecked),),
}
"""The faults, by their names in `lessons.model.fault_names`."""


@contextlib.contextmanager
def injected(name: str) -> Iterator[None]:
    """Inside the `with` block, the engine has the fault of that name. Raises KeyError for an unknown name.

    This file then is a part of the engine: its variables are no names of the program's tensors.
    """
    with contextlib.ExitStack() as stack:
        LIBRARY_FILES.add(__file__)
        stack.callback(LIBRARY_FILES.discard, __file__)
        for owner, attribute, wrong in FAULTS[name]:
            right = getattr(owner, attribute)
            setattr(owner, attribute, wrong(right))
            stack.callback(setattr, owner, attribute, right)
        yield
