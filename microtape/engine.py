"""The backward engine: evaluates a graph's nodes one at a time, from the roots to the leaves.

In words: count for each node how many gradients will be delivered to it. Put the first gradients into the roots'
buffers. Then, until nothing is ready, take the ready node with the highest sequence number, give it what is in its
buffer, and deliver what it returns along its edges, where gradients add up. A node whose last delivery has come is
ready. That is all of `GraphTask.run`; the rest of this file is care.

Note [Who owns a gradient]
  The first gradient to arrive in a buffer is borrowed: somebody else may hold the same array. The first addition makes
  a new array, which the buffer owns, and later ones add into it in place. An AccumulateGrad takes over what is owned
  and copies what is borrowed.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.call_site import CallSite
from microtape.errors import GradientError
from microtape.grad_mode import mode
from microtape.hooks import run_hooks_after, run_hooks_before, run_post_accumulate_hooks
from microtape.node import Edge, Node
from microtape.ops.broadcast import unbroadcast
from microtape.tensor_state import TensorState
from microtape.watch import watch

next_task_id = itertools.count().__next__


class ReadyQueue:
    """Nodes that can run, the highest sequence number first; equal ones in the order in which they became ready."""

    __slots__ = ("arrivals", "heap")

    def __init__(self) -> None:
        self.heap: list[tuple[int, int, Node]] = []
        self.arrivals = itertools.count()

    def push(self, node: Node) -> None:
        """Add a node whose last delivery has come."""
        heapq.heappush(self.heap, (-node.sequence_nr, next(self.arrivals), node))

    def pop(self) -> Node:
        """Take the next node."""
        return heapq.heappop(self.heap)[2]

    def __len__(self) -> int:
        return len(self.heap)

    def nodes(self) -> list[Node]:
        """The waiting nodes, next one first."""
        return [node for _, _, node in sorted(self.heap)]


class GraphTask:
    """One call of backward: what is to be evaluated, and how far it has come.

    `capture` holds the edges whose gradients are asked for. With `accumulate=False` (`grad()`) the walk ends there;
    with True (`backward(inputs=)`) the nodes behind them run as well.
    """

    def __init__(
        self,
        roots: Sequence[Edge],
        gradients: Sequence[Any],
        *,
        keep_graph: bool,
        create_graph: bool,
        capture: Sequence[Edge] | None = None,
        accumulate: bool = True,
        root_tensors: Sequence[Any] = (),
        inputs: Sequence[Any] = (),
        call_site: CallSite | None = None,
    ) -> None:
        self.id = next_task_id()
        self.root_tensors = root_tensors
        self.inputs = inputs
        self.call_site = call_site
        self.tensor_type: type[TensorState] = type(root_tensors[0]) if root_tensors else TensorState
        self.roots = roots
        self.seeds = gradients
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.capture = capture
        self.accumulate = accumulate
        self.captured: dict[Edge, Any] = {}
        self.dependencies: dict[Node, int] = {}
        self.buffers: dict[Node, Any] = {}  # a gradient, or for a multi-output node the list of them
        self.owned: set[Edge] = set()  # see Note [Who owns a gradient]
        self.ready = ReadyQueue()
        self.needed: set[Node] | None = None  # with `capture`: the nodes that lead to what is asked for

    def run(self) -> None:
        """Evaluate every node that the roots reach (with `capture`: that leads to what is asked for)."""
        self.count_dependencies()
        self.seed()
        watcher = watch.watcher
        if watcher is not None:
            watcher.task_started(self)
        before, mode.enabled = mode.enabled, self.create_graph
        try:
            with np.errstate(all="ignore"):  # NaN and Inf are results here, as in torch
                while self.ready:
                    self.step(self.ready.pop())
        except BaseException as error:
            if watcher is not None:
                watcher.task_finished(self, error)
            raise
        finally:
            mode.enabled = before
        if watcher is not None:
            watcher.task_finished(self, None)

    def step(self, node: Node) -> None:
        """Evaluate one node: hooks, the node itself, checks, deliveries, freeing."""
        gradient = self.buffers.pop(node, None)
        if gradient is None and node.multi_output:
            gradient = [None] * node.output_count
        watcher = watch.watcher
        if node.hooks is not None:
            gradient = run_hooks_before(self, node, gradient)
        if self.capture is not None and not self.take_captured(node, gradient):
            return
        if watcher is not None:
            watcher.node_started(self, node, gradient)
        gradients = self.evaluate(node, gradient)
        if node.hooks is not None and node.hooks.post:
            gradients = run_hooks_after(self, node, gradients, gradient)
        for output, (edge, term) in enumerate(zip(node.next_edges, gradients, strict=True)):
            if edge[0] is not None:
                self.deliver(node, output, edge, term)
        freed = not self.keep_graph and node.release()
        if watcher is not None:
            watcher.node_finished(self, node, gradients, freed)

    def evaluate(self, node: Node, gradient: Any) -> Sequence[Any]:
        """The node's gradients, checked against what its edges expect."""
        if node.kind == "accumulate":
            if gradient is not None and not self.create_graph and (node, 0) not in self.owned:
                gradient = np.array(gradient)
            node.apply(gradient, self.create_graph)
            if node.hooks is not None and node.hooks.post_accumulate:
                run_post_accumulate_hooks(node, node.variable)  # type: ignore[attr-defined]
            return ()
        if node.kind == "operation" and (gradient is None or (node.multi_output and not any_defined(gradient))):
            return [None] * len(node.next_edges)  # Note [Undefined gradients]
        if node.kind == "operation" and gradient_is_complex(gradient):
            gradients: Sequence[Any] = [conjugate(term) for term in node.apply(conjugate(gradient), self.create_graph)]
        else:
            gradients = node.apply(gradient, self.create_graph)
        return [
            fitted(term, edge, node, i) if term is not None and edge[0] is not None else term
            for i, (edge, term) in enumerate(zip(node.next_edges, gradients, strict=True))
        ]

    def deliver(self, node: Node | None, output: int, edge: Edge, term: Any) -> None:
        """Add one gradient into the buffer behind `edge` and count the delivery; at the last the node is ready."""
        receiver, input_nr = edge
        left = self.dependencies.get(receiver, 0)  # type: ignore[arg-type]
        if not left:
            return  # not on a path to what is asked for
        assert receiver is not None
        before = total = None
        if term is not None:
            before, total = self.add(receiver, input_nr, edge, term)
        self.dependencies[receiver] = left = left - 1
        if watch.watcher is not None and node is not None:
            watch.watcher.delivered(self, node, output, term, before, total)
        if left == 0:
            self.ready.push(receiver)

    def add(self, receiver: Node, input_nr: int, edge: Edge, term: Any) -> tuple[Any, Any]:
        """Add `term` into the receiver's buffer. Returns the sum before and after; see Note [Who owns a gradient]."""
        if receiver.multi_output:
            slots = self.buffers.setdefault(receiver, [None] * receiver.output_count)
            before = slots[input_nr]
        else:
            slots, before = None, self.buffers.get(receiver)
        if before is None:
            total = term
        elif edge in self.owned:
            if watch.watcher is not None:
                before = before.copy()
            total = self.buffers[receiver] if slots is None else slots[input_nr]
            total += term
        else:
            total = before + term
            if type(total) is np.ndarray:
                self.owned.add(edge)
        if slots is None:
            self.buffers[receiver] = total
        else:
            slots[input_nr] = total
        return before, total

    def count_dependencies(self) -> None:
        """How many deliveries each node waits for, over the part of the graph that the roots reach."""
        dependencies = self.dependencies
        stack: list[Node] = []
        for node, _ in self.roots:
            assert node is not None
            if node not in dependencies:
                stack.append(node)
                dependencies[node] = 0
            dependencies[node] += 1
        if self.capture is not None:
            self.needed = self.leading_to_capture(stack)
        while stack:
            for node, _ in stack.pop().next_edges:
                if node is None or (self.needed is not None and node not in self.needed):
                    continue
                if node in dependencies:
                    dependencies[node] += 1
                else:
                    dependencies[node] = 1
                    stack.append(node)

    def leading_to_capture(self, roots: Sequence[Node]) -> set[Node]:
        """The nodes from which a captured edge can be reached, those edges' own nodes included."""
        order: list[Node] = []
        seen = set(roots)
        stack = list(roots)
        while stack:
            node = stack.pop()
            order.append(node)
            for following, _ in node.next_edges:
                if following is not None and following not in seen:
                    seen.add(following)
                    stack.append(following)
        needed: set[Node] = {node for node, _ in self.capture or () if node is not None}
        order.sort(key=lambda node: node.sequence_nr if node.kind != "accumulate" else -1)
        for node in order:  # edges lead to lower numbers, so what follows a node is decided before it
            if any([following in needed for following, _ in node.next_edges]):
                needed.add(node)
        return needed

    def seed(self) -> None:
        """Deliver the first gradients to the roots."""
        for edge, gradient in zip(self.roots, self.seeds, strict=True):
            self.deliver(None, 0, edge, gradient)

    def take_captured(self, node: Node, gradient: Any) -> bool:
        """Keep the gradients that were asked for. Returns whether the node is to run all the same."""
        assert self.needed is not None
        if node not in self.needed:
            return False
        asked = False
        for edge in self.capture or ():
            if edge[0] is node:
                asked = True
                self.captured[edge] = gradient[edge[1]] if node.multi_output and gradient is not None else gradient
        if not asked or self.accumulate:
            return True
        return any([following in self.needed for following, _ in node.next_edges])


def any_defined(gradients: Sequence[Any]) -> bool:
    """Whether any of a multi-output node's gradients has arrived."""
    return gradients is not None and any([gradient is not None for gradient in gradients])


def gradient_is_complex(gradient: Any) -> bool:
    """Whether the formulas have to be conjugated; see `conjugate`."""
    first = gradient if not isinstance(gradient, list) else next(one for one in gradient if one is not None)
    return first.dtype.kind == "c"  # type: ignore[no-any-return]


def conjugate(gradient: Any) -> Any:
    """The complex conjugate, of one gradient or a list of them.

    torch's gradient of a real loss L is ∂L/∂z̄, which turns g · f′(x) into g · conj(f′(x)). Conjugating what goes into
    a formula and what comes out of it does that for every holomorphic operation at once.
    """
    if isinstance(gradient, list):
        return [conjugate(one) for one in gradient]
    return gradient.conj() if gradient is not None and gradient.dtype.kind == "c" else gradient


def fitted(term: Any, edge: Edge, node: Node, index: int) -> Any:
    """`term` in the shape and dtype that the edge's node expects: broadcasting is undone here, once for all formulas.

    Raises GradientError where the shape cannot be reduced to what is expected.
    """
    receiver = edge[0]
    assert receiver is not None
    shape, dtype = receiver.output_spec(edge[1])
    if term.shape != shape:
        if not is_expandable(shape, term.shape):
            raise GradientError(
                f"Function {node.name()} returned an invalid gradient at index {index} - got {list(term.shape)} but "
                f"expected shape compatible with {list(shape)}",
                ("forward", node.call_site),
            )
        term = unbroadcast(term, shape)
    if term.dtype != dtype:
        term = cast(term, dtype)
    return term


def is_expandable(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether an array of this shape broadcasts to `to`."""
    return len(shape) <= len(to) and all(
        size in (1, wanted) for size, wanted in zip(reversed(shape), reversed(to), strict=False)
    )


def cast(term: Any, dtype: Any) -> Any:
    """A gradient in its input's dtype: the real part, where that is real."""
    if term.dtype.kind == "c" and dtype.kind != "c":
        term = term.real
    return term.astype(dtype) if isinstance(term, np.ndarray | np.generic) else term.to(dtype)
