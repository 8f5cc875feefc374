"""The backward engine: evaluates a graph's nodes one at a time, from the roots to the leaves.

In words: count how many gradients each node will receive. Deliver the first gradients to the buffers of the roots.
Then, as long as a node is left, take the one with the highest sequence number, give it the gradient in its buffer, and
deliver the gradients that it returns along its edges. A buffer sums what is delivered to it. By the time a node is
taken, all its gradients have arrived. That is the whole algorithm, and it is `GraphTask.evaluate`; the rest of this
file handles hooks, captured gradients, several outputs, observers, and the memory of gradients.

Note [The ready queue]
  Sequence numbers fall along every edge, so among the nodes that have not run, the one with the highest number is
  always ready: sorting the nodes once gives the order in which a priority queue would release them. Only if a user has
  set sequence numbers by hand can the highest one have to wait, and then the nodes are sorted by such a queue, before
  the first node runs. AccumulateGrad nodes run as soon as they are ready, before all others, in the order in which
  they became ready; `ready_leaves` holds them. NB: torch's queue, a heap, takes leaves that are ready together in an
  order that depends on how many they are.

Note [Who owns a gradient]
  The first gradient in a buffer is *borrowed*: other code may hold the same array. The first addition makes an array
  that the buffer *owns*, and later additions are made in place. An AccumulateGrad node keeps an owned array and copies
  a borrowed one. An array that a built-in gradient formula returns is *fresh*, which means that only the engine holds
  it, unless it is the incoming gradient itself or a view. The first addition reuses the memory of a fresh array, and an
  AccumulateGrad node keeps it. Large arrays are therefore rarely copied, and new memory is rarely allocated: an
  allocation costs more than an addition.
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
from microtape.backward.hooks import run_hooks_after, run_hooks_before, run_tensor_hooks, shared_with_grad, writable
from microtape.basics.call_site import CallSite
from microtape.tape.fitting import conjugate, fit_gradient, fit_gradients
from microtape.tape.grad_mode import mode
from microtape.tape.node import AccumulateGrad, Edge, Node
from microtape.tape.saved import unpack
from microtape.tape.tangents import carries_tangents
from microtape.tape.tensor_state import TensorState, as_number
from microtape.tape.thread_state import UserCode, run_here_or_on_fresh_stack
from microtape.tape.watch import Watcher, watch

_float32, _float64 = np.dtype(np.float32), np.dtype(np.float64)
_ndarray = np.ndarray
_sequence_nr = attrgetter("sequence_nr")

_next_task_id = itertools.count().__next__


class GraphRoot(Node):
    """The node above the roots: its edges lead to the roots, and its gradients are the first gradients."""

    __slots__ = ("gradients",)
    sequence_nr = 2**63 - 1  # runs first
    dtype = hooks = code = None
    saved = ()

    def __init__(self, roots: Sequence[Edge], gradients: Sequence[Any]) -> None:
        self.next_edges = roots
        self.gradients = gradients


class GraphTask:
    """One call of backward: which nodes have to be evaluated, and how far the evaluation has come.

    `roots` are the edges where backward starts and `gradients` the first gradients, one Tensor for each root.
    `capture` holds the edges whose gradients are requested. With `accumulate=False` (`grad()`) the pass ends at these
    edges; with `accumulate=True` (`backward(inputs=)`) the nodes that they lead to run as well. `outputs` and `inputs`
    are the tensors, or the edges in their place, that the user passed.
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
        self.as_tensors = create_graph or carries_tangents()  # otherwise gradients are arrays
        self.root = GraphRoot(roots, gradients if self.as_tensors else [as_number(first.array) for first in gradients])
        self.callbacks: list[Callable[[], None]] = []  # called when all nodes have run; a callback may add more
        self.capture = capture
        self.accumulate = accumulate
        self.captures: dict[Node, list[Edge]] = {}
        for edge in capture or ():
            if edge[0] is not None:
                self.captures.setdefault(edge[0], []).append(edge)
        self.captured: dict[Edge, Any] = {}
        self.dependencies: dict[Node, int] = {}
        self.buffers: dict[Node, Any] = {}  # the sum so far; a list: Note [Several outputs]
        self.owned: set[Edge | Node] = set()  # the owned buffers; see Note [Who owns a gradient]
        self.ready_leaves: deque[AccumulateGrad] = deque()  # run before all others, in this order
        self.waiting: list[Node] = []  # all others, the next one last; see Note [The ready queue]
        self.started = False  # whether the first gradients have been delivered
        self.stops: set[Node] = set()  # with `capture`: the nodes at which the pass may end
        self.to_run: set[Node] = set()  # with `capture`: the nodes that lead to a captured edge

    def run(self) -> None:
        """Evaluate every node that the roots reach (with `capture`: every such node that leads to a captured edge)."""
        self.count_dependencies()
        watcher = watch.watcher
        before, mode.enabled = mode.enabled, self.create_graph and not mode.inference
        try:
            with np.errstate(all="ignore"):  # Note [NaN and Inf are results]
                run_here_or_on_fresh_stack(self.evaluate_and_call_back)
        except BaseException as error:
            if watcher is not None and self.started:
                watcher.task_finished(self, error)
            raise
        finally:
            mode.enabled = before
        if watcher is not None:
            watcher.task_finished(self, None)

    def evaluate_and_call_back(self) -> None:
        """Evaluate the nodes, then call the callbacks, which may add more."""
        self.evaluate()
        if self.callbacks:
            with UserCode():
                while self.callbacks:
                    self.callbacks.pop(0)()

    def evaluate(self) -> None:
        """Rewind the tape: evaluate each node once all its gradients have arrived, and deliver those it returns."""
        waiting, ready_leaves, dependencies = self.waiting, self.ready_leaves, self.dependencies
        while waiting:
            node = waiting.pop()
            gradient = self.buffers.pop(node, None)
            gradients = self.evaluate_node(node, gradient)
            if gradients is None:
                continue  # `grad()` captured the gradient that arrived here and needs no more
            output = 0
            for receiver in node.next_nodes:
                if receiver in dependencies:
                    self.deliver(gradients[output], node, output, receiver, gradient)
                output += 1  # noqa: SIM113 - enumerate takes 4 % longer
            freed = not self.keep_graph and node.release()
            if (watcher := watch.watcher) is not None:  # read once: another thread may stop watching at any time
                self.tell_finished(watcher, node, gradients, freed)
            while ready_leaves:
                self.evaluate_leaf(ready_leaves.popleft())

    def evaluate_node(self, node: Node, gradient: Any) -> Sequence[Any] | None:
        """Run the node on the sum of the gradients that have arrived. Returns the gradients of its inputs.

        Returns None if the pass ends at this node.
        """
        dtype = node.dtype
        if (
            (dtype is _float32 or dtype is _float64)
            and gradient is not None
            and node.hooks is None
            and watch.watcher is None
            and node not in self.stops
        ):
            return node.apply(gradient, self.as_tensors)  # the fast path: one real output, no hooks
        return self.evaluate_slow_path(node, gradient)

    def deliver(self, term: Any, node: Node, output: int, receiver: Any, arrived: Any) -> None:
        """Add `term` to the receiver's buffer. A leaf that has received its last gradient becomes ready.

        `node` computed `term` for its edge number `output` from the gradient that `arrived` there.
        """
        buffers, dependencies = self.buffers, self.dependencies
        dependencies[receiver] = remaining = dependencies[receiver] - 1
        if term is not None:  # None counts as delivered, too; see Note [Undefined gradients]
            array = term.array if self.as_tensors else term
            if array.shape != receiver.shape or array.dtype is not receiver.dtype:
                term = self.fit(term, node, output)
            buffer = buffers.get(receiver)
            if buffer is None:
                buffers[receiver] = term
            elif receiver in self.owned:
                buffer += term
            elif type(buffer) is list:  # Note [Several outputs]
                input_nr = node.input_nrs[output]
                buffer[input_nr] = self.summed((receiver, input_nr), buffer[input_nr], term, node, arrived)
            else:
                buffers[receiver] = self.summed(receiver, buffer, term, node, arrived)
        if (watcher := watch.watcher) is not None:
            total = self.buffered((receiver, node.input_nrs[output]))
            watcher.delivered(self, node, output, term, total)
        if not remaining and type(receiver) is AccumulateGrad:
            if is_fresh(node, term, arrived) and buffers[receiver] is term:
                self.owned.add(receiver)
            self.ready_leaves.append(receiver)

    def tell_finished(self, watcher: Watcher, node: Node, gradients: Sequence[Any], freed: bool) -> None:
        """Tell the observer that a node has run; if it is the root, that the pass begins."""
        if node is not self.root:
            watcher.node_finished(self, node, gradients, freed)
        else:
            self.started = True
            watcher.task_started(self)

    def evaluate_leaf(self, node: AccumulateGrad) -> None:
        """Evaluate an AccumulateGrad node: it adds to its leaf's `.grad` and delivers nothing."""
        gradient, watcher = self.buffers.pop(node, None), watch.watcher
        if node.hooks is None and watcher is None and node not in self.stops:
            accumulate_grad(node, gradient, self.as_tensors, owned=node in self.owned)
            return
        gradients = self.evaluate_slow_path(node, gradient)
        if gradients is not None and watcher is not None:
            watcher.node_finished(self, node, gradients, False)

    def evaluate_slow_path(self, node: Node, gradient: Any) -> Sequence[Any] | None:
        """`evaluate_node` in other cases: hooks, captures, observers, several outputs, other dtypes, no gradient."""
        if node.hooks is None and node.kind != "function":
            return self.evaluate_with_hooks(node, gradient)
        with UserCode():
            return self.evaluate_with_hooks(node, gradient)

    def evaluate_with_hooks(self, node: Node, gradient: Any) -> Sequence[Any] | None:
        """Capture the gradient, run the node and its hooks, and tell the observer, as far as each is wanted."""
        if node is self.root:
            return self.root.gradients
        watcher = watch.watcher
        if gradient is None and node.multi_output:
            gradient = [None] * node.output_count
        if node.hooks is not None or node.kind == "function":
            gradient = writable(gradient)  # before it is captured: the caller gets what is written to it
        if node in self.stops and not self.capture_gradients(node, gradient):
            return None
        if node.hooks is not None:
            gradient = run_hooks_before(self, node, gradient)
            if node.hooks.post and isinstance(node, AccumulateGrad):
                gradient = shared_with_grad(self, node, gradient)
        arrived = gradient
        if node.kind == "function":
            gradient = node.materialized(gradient, self.as_tensors)  # type: ignore[attr-defined]
        if watcher is not None:
            watcher.node_started(self, node, gradient)
        gradients = self.gradients_of(node, gradient)
        if node.hooks is not None and node.hooks.post:
            gradients = run_hooks_after(self, node, fit_gradients(node, self.seen_by_hooks(node, gradients)), arrived)
        return gradients

    def seen_by_hooks(self, node: Node, gradients: Sequence[Any]) -> Sequence[Any]:
        """A node's gradients as its hooks see them: None for those that no node receives, but as in torch not for all.

        A Function and an identity return what they like, and the formula of a list of tensors computes all its
        gradients or none.
        """
        needed = [receiver in self.dependencies for receiver in node.next_nodes]
        if node.kind == "function" or node.hides_none or (node.all_or_none and any(needed)):
            return gradients
        return [term if need else None for term, need in zip(gradients, needed, strict=True)]

    def gradients_of(self, node: Node, gradient: Any) -> Sequence[Any]:
        """Run the node: the gradients of its inputs, an empty tuple for an AccumulateGrad node."""
        if isinstance(node, AccumulateGrad):
            accumulate_grad(node, gradient, self.as_tensors, owned=node in self.owned)
            return ()
        if node.kind == "function":
            return fit_gradients(node, node.apply(gradient, self.as_tensors))  # checked even if no gradient is needed
        if gradient is None or (node.multi_output and all([part is None for part in gradient])):
            if node.saved_names:
                unpack(node, False)  # saved tensors that were freed or overwritten are an error even so
            return [None] * len(node.next_nodes)  # Note [Undefined gradients]
        if node.multi_output or gradient.dtype.kind == "c":
            return conjugate(node.apply(conjugate(gradient), self.as_tensors))  # type: ignore[no-any-return]
        return node.apply(gradient, self.as_tensors)

    def fit(self, term: Any, node: Node, output: int) -> Any:
        """`term` in the shape and dtype that the receiver on edge number `output` of `node` expects."""
        receiver = node.next_nodes[output]
        assert receiver is not None
        if not receiver.multi_output:
            return fit_gradient(node, output, term, receiver.shape, receiver.dtype)
        if receiver not in self.buffers:
            self.buffers[receiver] = [None] * receiver.output_count
        return fit_gradient(node, output, term, *receiver.output_spec(node.input_nrs[output]))

    def summed(self, key: Edge | Node, buffer: Any, term: Any, node: Node, arrived: Any) -> Any:
        """The sum of a buffer, known in `owned` by its `key`, and of `term`; see Note [Who owns a gradient]."""
        if buffer is None:
            return term
        if type(buffer) is not _ndarray or not buffer.ndim:  # Tensors are summed out of place, numbers are immutable
            return buffer + term
        if key in self.owned:
            buffer += term
            return buffer
        self.owned.add(key)
        if not is_fresh(node, term, arrived):
            return buffer + term
        term += buffer
        return term

    def buffered(self, edge: Edge) -> Any:
        """The sum of the gradients that have arrived along edges equal to `edge`; None if there is none."""
        node, input_nr = edge
        if node not in self.buffers:
            return None
        buffer = self.buffers[node]
        return buffer[input_nr] if isinstance(buffer, list) else buffer  # Note [Several outputs]

    def ready_nodes(self) -> list[Node]:
        """The nodes that all gradients have arrived for, the next one to run first."""
        return [node for node in (*self.ready_leaves, *reversed(self.waiting)) if not self.dependencies[node]]

    def count_dependencies(self) -> None:
        """Count the deliveries to each node that the roots reach, and sort the nodes in the order of evaluation."""
        needed = None if self.capture is None else self.needed_nodes()
        dependencies: dict[Any, int] = {None: 0}  # counts the edges that lead to no node, which saves a test
        nodes: list[Any] = [self.root]
        for node in nodes:  # the list grows during the iteration
            for receiver in node.next_nodes:
                if receiver in dependencies:
                    dependencies[receiver] += 1
                elif needed is None or receiver in needed:
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
        """With `capture`: the nodes that have to run, and the nodes that captured edges lead to."""
        self.to_run = self.nodes_to_run()
        self.stops = set(self.captures)
        if len(self.root.next_nodes) == 1:  # as in torch, a single root's hooks run in any case
            self.stops.update(node for node in self.root.next_nodes if node is not None)
        return self.to_run | self.stops

    def nodes_to_run(self) -> set[Node]:
        """The nodes that lead to a captured edge, and with `accumulate` the nodes that captured edges lead to."""
        senders: dict[Node, list[Node]] = {}  # of each node, the nodes that deliver to it
        nodes: list[Node] = [self.root]
        for node in nodes:  # the list grows during the iteration
            for receiver in node.next_nodes:
                if receiver in senders:
                    senders[receiver].append(node)
                elif receiver is not None:
                    senders[receiver] = [node]
                    nodes.append(receiver)
        to_run = set(self.captures) if self.accumulate else set()
        leading = list(self.captures)
        for node in leading:  # this list grows, too
            for sender in senders.get(node, ()):
                if sender not in to_run:
                    to_run.add(sender)
                    leading.append(sender)
        return to_run

    def capture_gradients(self, node: Node, gradient: Any) -> bool:
        """Keep the gradients of the captured edges that lead to this node. Returns whether the node has to run.

        As in torch, tensor hooks have run on the captured gradients if the pass ends here, and have not if it goes on.
        """
        runs = node in self.to_run
        if not runs and node.hooks is not None:
            gradient = run_tensor_hooks(self, node, gradient)
        for edge in self.captures.get(node, ()):
            self.captured[edge] = gradient[edge[1]] if node.multi_output else gradient
        return runs


def _sort_as_queue(nodes: list[Node], dependencies: Mapping[Node, int]) -> None:
    """Sort the nodes as a priority queue would release them: of the ready nodes, the highest sequence number first.

    The first node to run is the last of the list. See Note [The ready queue].
    """
    remaining = {node: dependencies.get(node, 0) for node in nodes}  # 0: nothing is delivered to the root
    ready = [node for node, count in remaining.items() if not count]
    nodes.clear()
    while ready:
        node = heappop(ready)  # Node.__lt__ compares sequence numbers
        nodes.append(node)
        for receiver in node.next_nodes:
            if receiver is not None and receiver in remaining:
                remaining[receiver] -= 1
                if not remaining[receiver]:
                    heappush(ready, receiver)
    nodes.reverse()


def is_fresh(node: Node, term: Any, arrived: Any) -> bool:
    """Whether only the engine holds `term`, which `node` computed from `arrived`; see Note [Who owns a gradient]."""
    return (
        type(term) is _ndarray
        and term.base is None
        and term is not arrived
        and arrived is not None  # None: from the root, whose gradients are the caller's
        and node.kind == "operation"
        and node.hooks is None
        and watch.watcher is None
    )
