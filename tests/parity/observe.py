"""Run a program on one of the two modules and log observations of it.

A program is a function `program(mt, see)`, where `mt` is torch or microtape. It tells `see` what to compare:

    see(x, y.shape, "text")         tensors with all their flags, other objects by value
    see.value(x.grad)               only values, shape, dtype and requires_grad
    with see.raising(): ...         the exception or its absence; the program continues
    with see.order(loss): ...       which nodes are evaluated inside, in which order
    see.graph(loss)                 the nodes that `loss` reaches, and their edges

An exception that ends the program is compared too, with the line that raised it; and so are warnings.
"""

from __future__ import annotations

import itertools
import re
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Program = Callable[[Any, "See"], None]


class Value(NamedTuple):
    """The values of a tensor and its requires_grad."""

    array: np.ndarray
    requires_grad: bool

    def __repr__(self) -> str:
        return f"{self.array.tolist()} {self.array.dtype} {self.array.shape} rg={self.requires_grad}"


class Flags(NamedTuple):
    """The autograd attributes of a tensor."""

    is_leaf: bool
    version: int
    is_view: bool
    output_nr: int
    grad_fn: str | None
    retains_grad: bool


class Raised(NamedTuple):
    """An exception, and the outermost line of the program that it passed through."""

    type: type[BaseException]
    message: str
    line: int

    def __repr__(self) -> str:
        return f"{self.type.__name__} at {self.line}: {self.message}"


@dataclass
class Event:
    """One observation, and the line of the program that made it."""

    line: int
    seen: Any


class See:
    """Logs what a program observes, in `events`."""

    def __init__(self, mt: Any, file: str) -> None:
        self.mt = mt
        self.file = file
        self.events: list[Event] = []

    def __call__(self, *things: Any) -> None:
        self._add([self._describe(thing) for thing in things])

    def value(self, *tensors: Any) -> None:
        """Compare only values, shape, dtype and requires_grad."""
        self._add([None if tensor is None else self._value(tensor) for tensor in tensors])

    @contextmanager
    def raising(self, *, text: bool = True) -> Iterator[None]:
        """Compare the exception that the body raises; with `text=False`, only its type."""
        try:
            yield
        except Exception as error:
            raised = self._raised(error)
            self._add(raised if text else raised._replace(message=""))
        else:
            self._add("nothing was raised")

    @contextmanager
    def order(self, *roots: Any) -> Iterator[list[str]]:
        """Compare which of the nodes that `roots` reach run inside, in which order.

        Leaves that become ready together are compared as a set: torch takes them from a heap, in no particular order.
        """
        ran: list[str] = []
        handles = []
        for number, node in enumerate(reachable(roots)):
            label = f"{number} {node.name()}"
            handles.append(node.register_prehook(lambda gradients, label=label: ran.append(label)))
        try:
            yield ran
        finally:
            for handle in handles:
                handle.remove()
            self._add(_without_order_of_leaves(ran))

    def graph(self, *roots: Any) -> None:
        """Compare the nodes that `roots` reach, numbered in the order of discovery, and their edges."""
        nodes = reachable(roots)
        numbers = {id(node): number for number, node in enumerate(nodes)}
        self._add(
            [(node.name(), [(numbers.get(id(to)), input_nr) for to, input_nr in node.next_functions]) for node in nodes]
        )

    def _add(self, seen: Any) -> None:
        lines = [frame.lineno or 0 for frame in traceback.extract_stack() if frame.filename == self.file]
        self.events.append(Event(lines[-1] if lines else 0, seen))

    def _value(self, tensor: Any) -> Value:
        return Value(np.array(tensor.detach().numpy()), tensor.requires_grad)

    def _describe(self, thing: Any) -> Any:
        if isinstance(thing, self.mt.Tensor):
            return self._value(thing), Flags(
                thing.is_leaf,
                thing._version,
                thing._is_view(),
                thing.output_nr,
                thing.grad_fn.name() if thing.grad_fn is not None else None,
                thing.retains_grad,
            )
        if isinstance(thing, tuple | list):
            return [self._describe(one) for one in thing]
        if isinstance(thing, dict):
            return {key: self._describe(one) for key, one in thing.items()}
        if isinstance(thing, str):
            return as_microtape(thing)
        if isinstance(thing, bool | int | float | complex | None):
            return thing
        if hasattr(thing, "next_functions"):
            return f"node {thing.name()}"
        return str(thing).rpartition(".")[2]  # a dtype

    def _raised(self, error: BaseException) -> Raised:
        lines = [
            frame.lineno or 0 for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self.file
        ]
        message = getattr(error, "summary", None) or str(error)
        return Raised(type(error), as_microtape(message), lines[0] if lines else 0)


def reachable(roots: Any) -> list[Any]:
    """The nodes that these tensors reach, in an order determined by the edges of the graph alone."""
    nodes: list[Any] = []
    seen: set[int] = set()
    stack = [root.grad_fn for root in reversed(roots)]
    while stack:
        node = stack.pop()
        if node is not None and id(node) not in seen:
            seen.add(id(node))
            nodes.append(node)
            stack.extend(to for to, _ in reversed(node.next_functions))
    return nodes


def _without_order_of_leaves(ran: list[str]) -> list[str]:
    """The labels of nodes in the order in which they ran, those of neighbouring leaves sorted.

    A leaf runs as soon as it is ready, so neighbours became ready together.
    """
    found: list[str] = []
    for is_leaf, group in itertools.groupby(ran, key=lambda label: label.endswith("AccumulateGrad")):
        labels = list(group)
        found += sorted(labels) if is_leaf else labels
    return found


def as_microtape(text: str) -> str:
    """torch's text in microtape's wording."""
    text = re.sub(r" \(Triggered internally at .*\)$", "", text, flags=re.DOTALL)
    return re.sub(r"(?<![\w#])torch\.(?!nn\.utils)", "microtape.", text)


def run(program: Program, mt: Any, eyes: type[See] = See) -> list[Event]:
    """The observations of the program on this module, followed by its exception, if any, and its warnings."""
    see = eyes(mt, program.__code__.co_filename)
    if is_torch := mt.__name__ == "torch":
        mt.set_warn_always(True)  # it tells some warnings once in a process, and another test may have had them
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            program(mt, see)
        except Exception as error:
            see.events.append(Event(0, see._raised(error)))
        finally:
            mt.set_grad_enabled(True)
            if is_torch:
                mt.set_warn_always(False)
    texts = [f"{one.category.__name__}: {as_microtape(str(one.message))}" for one in warned]
    see.events.append(Event(0, texts))
    return see.events


def same(theirs: Any, ours: Any, tolerance: float = 1e-6) -> bool:
    """Whether two observations are equal: numbers nearly, exceptions in message and class (ours may be a subclass).

    The tolerance is that of float64.
    """
    if isinstance(theirs, Raised) and isinstance(ours, Raised):
        return matching_type(theirs.type, ours.type) and theirs[1:] == ours[1:]
    if isinstance(theirs, np.ndarray) and isinstance(ours, np.ndarray):
        if theirs.shape != ours.shape or theirs.dtype != ours.dtype:
            return False
        near = max(1e-5, tolerance) if theirs.dtype in (np.float32, np.complex64) else tolerance
        return bool(np.allclose(theirs, ours, rtol=near, atol=near, equal_nan=True))
    if type(theirs) is not type(ours):
        return False
    if isinstance(theirs, tuple | list):
        return len(theirs) == len(ours) and all(same(a, b, tolerance) for a, b in zip(theirs, ours, strict=True))
    if isinstance(theirs, dict):
        return list(theirs) == list(ours) and all(same(theirs[key], ours[key], tolerance) for key in theirs)
    if isinstance(theirs, float):
        return bool(np.isclose(theirs, ours, rtol=tolerance, atol=tolerance, equal_nan=True))
    return bool(theirs == ours)


def matching_type(theirs: type[BaseException], ours: type[BaseException]) -> bool:
    """Whether our class is theirs or a subclass of it, or for torch's own classes has the same name."""
    return issubclass(ours, theirs) or (theirs.__module__.startswith("torch") and ours.__name__ == theirs.__name__)


def differences(theirs: list[Event], ours: list[Event]) -> list[str]:
    """A text for each observation in which two runs of a program differ."""
    found = [
        f"line {a.line}:\n    torch     {a.seen!r}\n    microtape {b.seen!r}"
        for a, b in zip(theirs, ours, strict=False)
        if a.line != b.line or not same(a.seen, b.seen)
    ]
    if len(theirs) != len(ours):
        found.append(f"torch saw {len(theirs)} things, microtape {len(ours)}")
    return found
