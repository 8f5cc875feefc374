"""The backward engine: evaluates a graph's nodes one at a time, from the roots to the leaves.

In words: count for each node how many gradients will be delivered to it. Put the first gradients into the roots'
buffers. Then, until nothing is ready, take the ready node with the highest sequence number, give it what is in its
buffer, and deliver what it returns along its edges, where gradients add up. A node whose last delivery has come is
ready. That is all of `GraphTask.evaluate`; the rest of this file is care.

Note [The ready queue]
  Numbers fall along every edge, so of the nodes that have not run the one with the highest number is always ready:
  to sort them once does what a queue would do. Only where a user has set numbers by hand may it have to wait for
  another, and then the nodes do go through a queue, before the first one runs. AccumulateGrad nodes come before all
  others, in the order in which they became ready, so they stand in a line of their own.

Note [Who owns a gradient]
  The first gradient to arrive in a buffer is borrowed: somebody else may hold the same array. The first addition makes
  an array that the buffer owns, and later ones add into it in place. An AccumulateGrad takes over what is owned and
  copies what is borrowed. What a formula of ours returns is *fresh*, held by nobody else, unless it is the very
  gradient that arrived or a view: the first addition uses its memory, and an AccumulateGrad takes it over as well. So
  large arrays are rarely copied, and new memory, which costs more than an addition, is rarely asked for.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from operator import attrgetter
from typing import Any

import numpy as np

from microtape.backward.accumulate import accumulate_grad
from microtape.backward.hooks import run_hooks_after, run_hooks_before, run_tensor_hooks
from microtape.basics.call_site import CallSite
from microtape.tape.fitting import conjugate, fit_gradient, fit_gradients
from microtape.tape.grad_mode import mode
from microtape.tape.node import AccumulateGrad, Edge, Node
from microtape.tape.saved import unpack
from microtape.tape.tangents import carries_tangents
from microtape.tape.tensor_state import TensorState, as_number
from microtape.tape.watch import watch

_float32, _float64 = np.dtype(np.float32), np.dtype(np.float64)
_ndarray = np.ndarray
_sequence_nr = attrgetter("sequence_nr")

_next_task_id = itertools.count().__next__


class GraphRoot(Node):
    """The node above the roots: its edges lead to them, and its gradients are the first ones."""

    __slots__ = ("gradients",)
    sequence_nr = 2**63 - 1  # it comes before all others
    dtype = hooks = code = None
    saved = ()

    def __init__(self, roots: Sequence[Edge], gradients: Sequence[Any]) -> None:
        self.next_edges = roots
        self.gradients = gradients


class GraphTask:
    """One call of backward: what is to be evaluated, and how far it has come.

    `capture` holds the edges whose gradients are asked for. With `accumulate=False` (`grad()`) the walk ends there;
    with True (`backward(inputs=)`) the nodes behind them run as well. `gradients` are the first ones, Tensors.
    `outputs` and `inputs` are what the user gave: tensors, or edges that stand for them.
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
        tensor_type: type[TensorState],
        outputs: Sequence[Any] = (),
        inputs: Sequence[Any] = (),
        call_site: CallSite | None = None,
    ) -> None:
        self.id = _next_task_id()
        self.outputs = outputs
        self.inputs = inputs
        self.call_site = call_site
        self.tensor_type = tensor_type
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.as_tensors = (
            create_graph or carries_tangents()
        )  # what is recorded, or carries tangents, travels as Tensors
        self.root = GraphRoot(roots, gradients if self.as_tensors else [as_number(one.array) for one in gradients])
        self.callbacks: list[Callable[[], None]] = []  # to be called at the end; they may add more
        self.capture = capture
        self.accumulate = accumulate
        self.captures: dict[Node, list[Edge]] = {}
        for edge in capture or ():
            if edge[0] is not None:
                self.captures.setdefault(edge[0], []).append(edge)
        self.captured: dict[Edge, Any] = {}
        self.dependencies: dict[Node, int] = {}
        self.buffers: dict[Node, Any] = {}  # a gradient, or for a multi-output node the list of them
        self.owned: set[Edge | Node] = set()  # buffers that may be added into; see Note [Who owns a gradient]
        self.ready_leaves: deque[AccumulateGrad] = deque()  # which come before all others
        self.waiting: list[Node] = []  # the others, the next one last; see Note [The ready queue]
        self.started = False  # whether the first gradients are where they belong, and watchers know
        self.stops: set[Node] = set()  # with `capture`: the nodes at which the walk may end
        self.to_run: set[Node] = set()  # with `capture`: the nodes that lead to what is asked for

    def run(self) -> None:
        """Evaluate every node that the roots reach (with `capture`: that leads to what is asked for)."""
        self.count_dependencies()
        watcher = watch.watcher
        before, mode.enabled = mode.enabled, self.create_graph and not mode.inference
        try:
            with np.errstate(all="ignore"):  # NaN and Inf are results here, as in torch
                self.evaluate()
                while self.callbacks:
                    self.callbacks.pop(0)()
        except BaseException as error:
            if watcher is not None and self.started:
                watcher.task_finished(self, error)
            raise
        finally:
            mode.enabled = before
        if watcher is not None:
            watcher.task_finished(self, None)

    def evaluate(self) -> None:
        """Rewind the tape: evaluate each node when all its gradients have arrived, and deliver what it returns."""
        waiting, ready_leaves, dependencies = self.waiting, self.ready_leaves, self.dependencies
        while waiting:
            node = waiting.pop()
            gradient, gradients = self.evaluate_node(node)
            if gradients is None:
                continue  # `grad()` asked for the gradient that arrives here, and for nothing behind it
            for output, receiver in enumerate(node.next_nodes):
                if receiver in dependencies:
                    self.deliver(gradients[output], node, output, receiver, gradient)
            freed = not self.keep_graph and node.release()
            if watch.watcher is not None:
                self.tell_finished(node, gradients, freed)
            while ready_leaves:
                self.evaluate_leaf(ready_leaves.popleft())

    def evaluate_node(self, node: Node) -> tuple[Any, Sequence[Any] | None]:
        """Give the node what is in its buffer. Returns the gradient that it saw, and the gradients of its inputs."""
        gradient, dtype = self.buffers.pop(node, None), node.dtype
        if (
            (dtype is _float32 or dtype is _float64)
            and gradient is not None
            and node.hooks is None
            and watch.watcher is None
            and node not in self.stops
        ):
            return gradient, node.apply(gradient, self.as_tensors)  # as nearly always: one real output, nobody looks
        return self.evaluate_slow_path(node, gradient)

    def deliver(self, term: Any, node: Node, output: int, receiver: Any, arrived: Any) -> None:
        """Add `term`, which `node` has made of what `arrived`, to the receiver's buffer. A complete leaf is ready."""
        buffers, dependencies = self.buffers, self.dependencies
        dependencies[receiver] = left = dependencies[receiver] - 1
        if term is not None:  # else it counts as delivered all the same; see Note [Undefined gradients]
            array = term.array if self.as_tensors else term
            if array.shape != receiver.shape or array.dtype is not receiver.dtype:
                term = self.fit(term, node, output)
            held = buffers.get(receiver)
            if held is None:
                buffers[receiver] = term
            elif receiver in self.owned:
                held += term
            elif type(held) is list:
                input_nr = node.input_nrs[output]
                held[input_nr] = self.add_to_buffer((receiver, input_nr), held[input_nr], term, node, arrived)
            else:
                buffers[receiver] = self.add_to_buffer(receiver, held, term, node, arrived)
        if watch.watcher is not None:
            total = self.buffered((receiver, node.input_nrs[output]))
            watch.watcher.delivered(self, node, output, term, total)
        if not left and type(receiver) is AccumulateGrad:
            if is_fresh(node, term, arrived) and buffers[receiver] is term:
                self.owned.add(receiver)
            self.ready_leaves.append(receiver)

    def tell_finished(self, node: Node, gradients: Sequence[Any], freed: bool) -> None:
        """Let the observer know that a node is done; of the root, that the pass begins."""
        assert watch.watcher is not None
        if node is not self.root:
            watch.watcher.node_finished(self, node, gradients, freed)
        else:
            self.started = True
            watch.watcher.task_started(self)

    def evaluate_leaf(self, node: AccumulateGrad) -> None:
        """Evaluate an AccumulateGrad node, which delivers nothing."""
        gradient, watcher = self.buffers.pop(node, None), watch.watcher
        if node.hooks is None and watcher is None and node not in self.stops:
            accumulate_grad(node, gradient, self.create_graph, owned=node in self.owned)
            return
        gradient, gradients = self.evaluate_slow_path(node, gradient)
        if gradients is not None and watcher is not None:
            watcher.node_finished(self, node, gradients, False)

    def evaluate_slow_path(self, node: Node, gradient: Any) -> tuple[Any, Sequence[Any] | None]:
        """What `evaluate_node` does, for any node: with hooks, captures, several outputs, or somebody who watches."""
        if node is self.root:
            return None, self.root.gradients
        watcher = watch.watcher
        if gradient is None and node.multi_output:
            gradient = [None] * node.output_count
        if node in self.stops and not self.capture_gradients(node, gradient):
            return gradient, None
        if node.hooks is not None:
            gradient = run_hooks_before(self, node, gradient)
        arrived = gradient
        if node.kind == "function":
            gradient = node.materialized(gradient, self.as_tensors)  # type: ignore[attr-defined]
        if watcher is not None:
            watcher.node_started(self, node, gradient)
        gradients = self.gradients_of(node, gradient)
        if node.hooks is not None and node.hooks.post:
            gradients = run_hooks_after(self, node, fit_gradients(node, self.wanted(node, gradients)), arrived)
        return gradient, gradients

    def wanted(self, node: Node, gradients: Sequence[Any]) -> Sequence[Any]:
        """A node's gradients as its hooks see them: without those that a built-in operation need not compute."""
        if node.kind == "function":
            return gradients
        receivers = zip(node.next_nodes, gradients, strict=True)
        return [term if receiver in self.dependencies else None for receiver, term in receivers]

    def gradients_of(self, node: Node, gradient: Any) -> Sequence[Any]:
        """The gradients of the node's inputs; for an AccumulateGrad, none."""
        if isinstance(node, AccumulateGrad):
            accumulate_grad(node, gradient, self.create_graph, owned=node in self.owned)
            return ()
        if node.kind == "function":
            return fit_gradients(node, node.apply(gradient, self.as_tensors))  # also where nothing is wanted
        if gradient is None or (node.multi_output and all([one is None for one in gradient])):
            if node.saved_names:
                unpack(node, False)  # what was freed or overwritten is an error all the same
            return [None] * len(node.next_nodes)  # Note [Undefined gradients]
        if node.multi_output or gradient.dtype.kind == "c":
            return conjugate(node.apply(conjugate(gradient), self.as_tensors))  # type: ignore[no-any-return]
        return node.apply(gradient, self.as_tensors)

    def fit(self, term: Any, node: Node, output: int) -> Any:
        """`term`, which goes along this edge of `node`, as its receiver expects it."""
        receiver = node.next_nodes[output]
        assert receiver is not None
        if not receiver.multi_output:
            return fit_gradient(node, output, term, receiver.shape, receiver.dtype)
        if receiver not in self.buffers:
            self.buffers[receiver] = [None] * receiver.output_count
        return fit_gradient(node, output, term, *receiver.output_spec(node.input_nrs[output]))

    def add_to_buffer(self, buffer: Edge | Node, held: Any, term: Any, node: Node, arrived: Any) -> Any:
        """What a buffer holds and one more term, which `node` has made; see Note [Who owns a gradient]."""
        if held is None:
            return term
        if type(held) is not _ndarray or not held.ndim:  # a Tensor, or a number, which does not change
            return held + term
        if buffer in self.owned:
            held += term
            return held
        self.owned.add(buffer)
        if not is_fresh(node, term, arrived):
            return held + term
        term += held
        return term

    def buffered(self, edge: Edge) -> Any:
        """What has been added up behind `edge` so far."""
        node, input_nr = edge
        if node not in self.buffers:
            return None
        held = self.buffers[node]
        return held[input_nr] if isinstance(held, list) else held

    def ready_nodes(self) -> list[Node]:
        """The nodes that can run, the next one first."""
        return [node for node in (*self.ready_leaves, *reversed(self.waiting)) if not self.dependencies[node]]

    def count_dependencies(self) -> None:
        """How many deliveries each node waits for, over the part of the graph that the roots reach."""
        wanted = None if self.capture is None else self.needed_nodes()
        dependencies: dict[Any, int] = {None: 0}  # an edge to nowhere is counted too, so as not to ask each time
        nodes: list[Any] = [self.root]
        for node in nodes:  # it grows on the way
            for receiver in node.next_nodes:
                if receiver in dependencies:
                    dependencies[receiver] += 1
                elif wanted is None or receiver in wanted:
                    dependencies[receiver] = 1
                    if type(receiver) is not AccumulateGrad:
                        nodes.append(receiver)
        del dependencies[None]
        self.dependencies = dependencies
        if Node.renumbered:
            _sort_as_queue(nodes, dependencies)
        else:
            nodes.sort(key=_sequence_nr)
        self.waiting = nodes

    def needed_nodes(self) -> set[Node]:
        """With `capture`: the nodes that have to run, and those whose gradients are asked for."""
        self.to_run = self.nodes_to_run()
        self.stops = set(self.captures)
        if len(self.root.next_nodes) == 1:  # as in torch, a single root's hooks run in any case
            self.stops.update(node for node in self.root.next_nodes if node is not None)
        return self.to_run | self.stops

    def nodes_to_run(self) -> set[Node]:
        """The nodes that have to run: what leads to a captured edge and, if that is to accumulate, its own node."""
        users: dict[Node, list[Node]] = {}  # of each node: those that deliver to it
        nodes: list[Node] = [self.root]
        for node in nodes:  # it grows on the way
            for receiver in node.next_nodes:
                if receiver in users:
                    users[receiver].append(node)
                elif receiver is not None:
                    users[receiver] = [node]
                    nodes.append(receiver)
        to_run = set(self.captures) if self.accumulate else set()
        leading = list(self.captures)
        for node in leading:  # so does this
            for user in users.get(node, ()):
                if user not in to_run:
                    to_run.add(user)
                    leading.append(user)
        return to_run

    def capture_gradients(self, node: Node, gradient: Any) -> bool:
        """Keep the gradients that were asked for at this node. Returns whether the node is to run.

        As in torch, what is kept has been through the tensor hooks if the walk ends here, and has not if it goes on.
        """
        runs = node in self.to_run
        if not runs and node.hooks is not None:
            gradient = run_tensor_hooks(self, node, gradient)
        for edge in self.captures.get(node, ()):
            self.captured[edge] = gradient[edge[1]] if node.multi_output else gradient
        return runs


def _sort_as_queue(nodes: list[Node], dependencies: Mapping[Node, int]) -> None:
    """Sort the nodes as a queue would let them go: each when it is ready, of those the highest number first.

    The last one is the first to go.
    """
    left = {node: dependencies.get(node, 0) for node in nodes}  # nobody delivers to the root
    ready = [node for node, count in left.items() if not count]
    nodes.clear()
    while ready:
        node = heappop(ready)  # Node.__lt__ compares the numbers
        nodes.append(node)
        for receiver in node.next_nodes:
            if receiver is not None and receiver in left:
                left[receiver] -= 1
                if not left[receiver]:
                    heappush(ready, receiver)
    nodes.reverse()


def is_fresh(node: Node, term: Any, arrived: Any) -> bool:
    """Whether nobody else holds the array that `node` has made of `arrived`; see Note [Who owns a gradient]."""
    return (
        type(term) is _ndarray
        and term.base is None
        and term is not arrived
        and arrived is not None  # the first gradients are the caller's
        and node.kind == "operation"
        and node.hooks is None
        and watch.watcher is None
    )
