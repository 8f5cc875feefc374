"""Wrong engines: the real engine with a single fault, a mistake that people make in an engine of their own.

A fault replaces one named function or method of `microtape` while a program runs. Everything else is the real engine,
and so is the recording that it makes.
"""

from __future__ import annotations

import contextlib
import functools
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import microtape.tape.fitting
import microtape.tape.saved
from microtape.backward.engine import GraphTask
from microtape.tape.node import AccumulateGrad, Node
from microtape.tensors.tensor import Tensor


class Fault(NamedTuple):
    """One mistake, and the function that has it."""

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


def versions_unchecked(_: Callable[..., Any]) -> Callable[..., Any]:
    """Saved tensors are not checked for later writes."""

    def check_unchanged(node: Node, index: int) -> None:
        return None

    return check_unchanged


FAULTS: dict[str, Fault] = {
    "overwrite": Fault(GraphTask, "deliver", overwrite),
    "overwrite_grad": Fault(Tensor, "accumulate", overwrite_grad),
    "no_reverse_order": Fault(GraphTask, "evaluate", in_order_of_arrival),
    "no_unbroadcast": Fault(microtape.tape.fitting, "unbroadcast", not_unbroadcast),
    "no_version_check": Fault(microtape.tape.saved, "check_unchanged", versions_unchecked),
}
"""The faults, by their names in `lessons.model.fault_names`."""


@contextlib.contextmanager
def injected(name: str) -> Iterator[None]:
    """Inside the `with` block, the engine has the fault of that name. Raises KeyError for an unknown name."""
    fault = FAULTS[name]
    right = getattr(fault.owner, fault.attribute)
    setattr(fault.owner, fault.attribute, fault.wrong(right))
    try:
        yield
    finally:
        setattr(fault.owner, fault.attribute, right)
