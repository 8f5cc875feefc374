"""Wrong engines: the real one, with one of its parts replaced by a mistake that people make when they write their own.

A fault is one replacement of one named function or method of `microtape`, made while a program runs and taken back
afterwards. Everything else is the engine that learners use, and so are the recordings that are made of it.
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
    """One mistake, and where it is made."""

    owner: Any  # the class or module whose attribute is replaced
    attribute: str
    wrong: Callable[[Callable[..., Any]], Callable[..., Any]]  # from the right function to the wrong one
    what: str  # said when it has been found


class Forgetful(dict[Node, Any]):
    """Buffers that look empty when something arrives for them, except for lists, which have to be there."""

    def get(self, node: Node, default: Any = None) -> Any:
        """What an earlier delivery has left, if it is a list."""
        held = super().get(node, default)
        return held if isinstance(held, list) else default


def overwrite(right: Callable[..., Any]) -> Callable[..., Any]:
    """What arrives takes the place of what a buffer holds."""

    @functools.wraps(right)
    def evaluate(self: GraphTask) -> None:
        self.buffers = Forgetful()
        self.summed = lambda buffer, held, term, *_: term  # type: ignore[method-assign]
        right(self)

    return evaluate


def overwrite_grad(right: Callable[..., Any]) -> Callable[..., Any]:
    """A leaf forgets its `.grad` before it takes a new one."""

    @functools.wraps(right)
    def accumulate(self: Tensor, gradient: Any, create_graph: bool) -> None:
        self.grad = None
        right(self, gradient, create_graph)

    return accumulate


class FullLine(deque[AccumulateGrad]):
    """A line that nobody else gets into."""

    def append(self, node: AccumulateGrad) -> None:
        """Turn the node away."""


def in_order_of_arrival(right: Callable[..., Any]) -> Callable[..., Any]:
    """Nodes run in the order in which something first arrives for them, whether or not all has come."""

    @functools.wraps(right)
    def evaluate(self: GraphTask) -> None:
        self.waiting = [*reversed(self.dependencies), self.root]  # they were counted in that order
        self.ready_leaves = FullLine()
        self.evaluate_node = lambda node: any_node(self, node)  # type: ignore[method-assign]
        right(self)

    return evaluate


def any_node(task: GraphTask, node: Node) -> tuple[Any, Any]:
    """Evaluate a node that stands in the line of the others, even if it is a leaf's."""
    if not isinstance(node, AccumulateGrad):
        return GraphTask.evaluate_node(task, node)
    task.evaluate_leaf(node)
    return None, None


def not_unbroadcast(_: Callable[..., Any]) -> Callable[..., Any]:
    """What was stretched on the way forward stays as large as it is."""

    def unbroadcast(gradient: Any, shape: tuple[int, ...]) -> Any:
        return gradient

    return unbroadcast


def versions_unchecked(_: Callable[..., Any]) -> Callable[..., Any]:
    """Nobody looks whether what was kept has been written to since."""

    def check_unchanged(node: Node, index: int) -> None:
        return None

    return check_unchanged


FAULTS: dict[str, Fault] = {
    "overwrite": Fault(
        GraphTask, "evaluate", overwrite,
        "It overwrites: where a second gradient arrives, the first is lost.",
    ),
    "overwrite_grad": Fault(
        Tensor, "accumulate", overwrite_grad,
        "It overwrites .grad: what an earlier backward left there is lost.",
    ),
    "no_reverse_order": Fault(
        GraphTask, "evaluate", in_order_of_arrival,
        "It does not rewind the tape: a row runs as soon as something has arrived, and what comes later is lost.",
    ),
    "no_unbroadcast": Fault(
        microtape.tape.fitting, "unbroadcast", not_unbroadcast,
        "It does not sum over what was stretched: the gradient has the shape of the result, not of the operand.",
    ),
    "no_version_check": Fault(
        microtape.tape.saved, "check_unchanged", versions_unchecked,
        "It does not look at versions: numbers that were written over are used as if nothing had happened.",
    ),
}  # fmt: skip


@contextlib.contextmanager
def injected(name: str) -> Iterator[None]:
    """While this lasts, the engine has the fault of that name. Raises KeyError where there is none."""
    fault = FAULTS[name]
    right = getattr(fault.owner, fault.attribute)
    setattr(fault.owner, fault.attribute, fault.wrong(right))
    try:
        yield
    finally:
        setattr(fault.owner, fault.attribute, right)
