"""A backward pass of torch that is being recorded, from hooks on its nodes.

A hook after each node is told what arrived at the node and what leaves it. What travels along an edge, and the sums in
the buffers, follow from that bit by bit: torch adds in the order in which the senders run.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch._C._autograd import _get_sequence_nr as next_sequence_nr

from microtape.recording.model.model import (
    BackwardStep,
    Capture,
    Delivery,
    EdgeRecord,
    ErrorRecord,
    Pass,
    Place,
    SavedUse,
    Value,
)
from microtape.recording.pytorch.buffers import Buffers
from microtape.recording.pytorch.hooks import UserHooks
from microtape.recording.pytorch.tape import Graph, Tape
from microtape.recording.pytorch.tensors import LEAF, GraphNode

Fault = Callable[[Exception], None]


class Request(NamedTuple):
    """The arguments of torch's engine."""

    outputs: Sequence[Any]  # tensors or GradientEdges
    seeds: Sequence[Any]
    keep_graph: bool
    create_graph: bool
    inputs: Sequence[Any]
    accumulate: bool


class OpenPass:
    """A pass from its start to its end."""

    def __init__(
        self, tape: Tape, request: Request, index: int, place: Place | None, value: Callable[[Any], Value | None],
        end_step: Callable[[], None], fault: Fault,
    ) -> None:  # fmt: skip
        self.tape, self.request, self.index, self.place = tape, request, index, place
        self._value, self._end_step, self._fault = value, end_step, fault
        roots = [edge_of(one) for one in request.outputs]
        graph = tape.walk([node for node, _ in roots])
        tape.adopt(graph)
        self.length = len(tape.nodes)
        keys = {id(node): key for key, node in graph.nodes.items()}
        self.root_keys = [(keys[id(node)], nr) for node, nr in roots]
        self.inputs = [(keys.get(id(node)), nr) for node, nr in map(edge_of, request.inputs)]
        needed = _needed(graph, self.inputs) if request.inputs else set(graph.nodes)
        self.edges = {key: edges for key, edges in graph.edges.items() if key in needed}
        left: dict[GraphNode, int] = dict.fromkeys([key for key, _ in self.root_keys if key in needed], 0)
        expected: dict[tuple[GraphNode, int], int] = {}
        for edges in self.edges.values():
            for to, nr in edges:
                if to is not None and to in needed:
                    left[to] = left.get(to, 0) + 1
                    expected[to, nr] = expected.get((to, nr), 0) + 1
        for edge in self.root_keys:
            expected[edge] = expected.get(edge, 0) + 1
        self.left = left
        self.dependencies = {tape.ids[key]: count for key, count in left.items()}
        self.nodes = tuple(sorted(tape.ids[key] for key in left))
        self.ready_now = [key for key in dict.fromkeys(key for key, _ in self.root_keys) if left.get(key) == 0]
        self.ready = tuple([tape.ids[key] for key in sorted(self.ready_now, key=_priority)])
        self.seeds = tuple([value(seed) for seed in request.seeds])
        self.root_tensors = tuple(
            [tape.ref_of(one) if isinstance(one, torch.Tensor) else None for one in request.outputs]
        )
        self.leaves = {key: leaf for key, leaf in graph.leaves.items() if key in left}
        self.grads = {}
        for key, leaf in self.leaves.items():
            if (grad := value(leaf.grad)) is not None:
                self.grads[self._leaf_number(key)] = grad
        self.buffers = Buffers(expected, value)
        for edge, seed, known in zip(self.root_keys, request.seeds, self.seeds, strict=True):
            self.buffers.add(edge, seed, known)
        end_step()
        self.steps: list[BackwardStep] = []
        self.done: set[GraphNode] = set()
        self.made_until = next_sequence_nr()
        self.captures: tuple[Capture, ...] = ()
        self.cut: ErrorRecord | None = None
        self._captured = set(self.inputs) if not request.accumulate else set()
        self._handles: list[Any] = []
        self._hooks = UserHooks(value)
        self._listen(graph)

    def _leaf_number(self, key: GraphNode) -> int:
        number = self.tape.nodes[self.tape.ids[key]].variable
        assert number is not None
        return number

    # Hooks

    def _listen(self, graph: Graph) -> None:
        """Put a hook on every node that will run, after those of the program."""
        for key in self.left:
            node = graph.nodes[key]
            if self._is_only_captured(key):
                self._hooks.watch_tensors(key, node)
                continue
            entry = self.tape.nodes[self.tape.ids[key]]
            handle = node.register_hook(functools.partial(self._ran, key))
            self._handles.append(handle)
            entry.hooks = self._hooks.watch(key, node, handle)

    def _is_only_captured(self, key: GraphNode) -> bool:
        """Whether `grad()` asks for what arrives at the node, and for nothing behind it: then it does not run."""
        if not any(to is key for to, _ in self._captured):
            return False
        return not any(to is not None and to in self.left for to, _ in self.edges[key])

    def stop_listening(self) -> None:
        """Take all hooks away, and let go of everything that belongs to the program."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._hooks.restore()
        self.leaves = {}
        self.buffers.clear()

    def _ran(self, key: GraphNode, grad_inputs: Any, grad_outputs: Any) -> None:
        """The node has run. Runs inside of torch's engine: no exception of ours may leave."""
        try:
            if self.cut is None and not torch.compiler.is_compiling():
                with torch._C.DisableTorchFunctionSubclass():
                    self._end(key, grad_inputs, grad_outputs, None)
        except Exception as error:
            self._fault(error)

    def _end(self, key: GraphNode, grad_inputs: Any, grad_outputs: Any, error: ErrorRecord | None) -> None:
        number = self.tape.ids[key]
        entry = self.tape.nodes[number]
        arrived = []
        for i, gradient in enumerate(grad_outputs):
            known = self.buffers.take((key, i), changed=self._hooks.changes(key))
            arrived.append(known if known is not None and gradient is not None else self._value(gradient))
            self._fill_in(key, i, arrived[-1])
        sent = [self._value(one) for one in grad_inputs] if key.sequence_nr != LEAF else []
        deliveries = [] if error is not None else self._deliver(key, grad_inputs, sent)
        leaf = self.leaves.get(key)
        grad_before = self.grads.get(self._leaf_number(key)) if leaf is not None else None
        now = next_sequence_nr()
        if now != self.made_until:
            self.tape.made.append((self.made_until, now, self.index, number))
            self.made_until = now
        self.steps.append(
            BackwardStep(
                index=len(self.steps),
                node=number,
                grad_outputs=tuple(arrived),
                saved=tuple([self._use(one) for one in entry.saved]),
                grad_inputs=tuple(sent),
                deliveries=tuple(deliveries),
                grad_before=grad_before,
                grad_after=self._value(leaf.grad) if leaf is not None and error is None else None,
                freed=not self.request.keep_graph and bool(entry.saved) and error is None,
                hooks=tuple(self._hooks.calls_of(key)),
                made=(),
                error=error,
            )
        )
        self.done.add(key)
        self._end_step()

    def _use(self, saved: Any) -> SavedUse:
        ref = self.tape.ref((saved.tensor, saved.version))
        return SavedUse(saved.name, ref, saved.tensor.values.get(saved.version), saved.now)

    def _deliver(self, key: GraphNode, grad_inputs: Any, sent: Sequence[Value | None]) -> list[Delivery]:
        found: list[Delivery] = []
        for output, ((to, input_nr), gradient, term) in enumerate(
            zip(self.edges[key], grad_inputs, sent, strict=False)
        ):
            if to is None or to not in self.left:
                continue
            before = self.buffers.sum_in((to, input_nr))
            total = self.buffers.add((to, input_nr), gradient, term, (len(self.steps), len(found)))
            self.left[to] -= 1
            if self.left[to] == 0:
                self.ready_now.append(to)
            found.append(Delivery(output, self.tape.ids[to], input_nr, term, before, total, self.left[to]))
        return found

    def _fill_in(self, key: GraphNode, input_nr: int, arrived: Value | None) -> None:
        """A sum that was too large to be added up again is known when it arrives."""
        where = self.buffers.open_sum((key, input_nr))
        if where is None or self._hooks.changes(key):
            return
        step, position = where
        deliveries = list(self.steps[step].deliveries)
        deliveries[position] = deliveries[position]._replace(total=arrived)
        self.steps[step] = self.steps[step]._replace(deliveries=tuple(deliveries))

    # The end

    def failing(self) -> GraphNode | None:
        """The node that was running when the pass failed: the first in the ready queue."""
        waiting = [one for one in self.ready_now if one not in self.done and not self._is_only_captured(one)]
        return min(waiting, key=_priority, default=None)

    def fail(self, error: ErrorRecord) -> None:
        """Note the step that failed."""
        key = self.failing()
        if key is not None:
            count = max([1, *(nr + 1 for nr in key.outputs)])
            arrived = [self.buffers.sum_in((key, i)) for i in range(count)]
            number = self.tape.ids[key]
            entry = self.tape.nodes[number]
            self.steps.append(
                BackwardStep(
                    len(self.steps), number, tuple(arrived), tuple([self._use(one) for one in entry.saved]), (), (),
                    None, None, False, tuple(self._hooks.calls_of(key)), (), error,
                )
            )  # fmt: skip

    def capture(self, result: Any) -> None:
        """Note what `grad()` has returned, or the gradients of the leaves that `backward(inputs=)` asked for."""
        found = []
        for i, one in enumerate(self.request.inputs):
            if not isinstance(one, torch.Tensor):
                continue
            gradient = one.grad if self.request.accumulate else result[i] if result is not None else None
            found.append(Capture(self.tape.ref_of(one).tensor, self._value(gradient)))
        self.captures = tuple(found)
        self._end_step()

    def read_grads_again(self) -> None:
        """Read `.grad` at the end once more: a reducer such as DDP's averages it after the leaf's step."""
        leaves = {self.tape.ids[key]: leaf for key, leaf in self.leaves.items()}
        for i, step in enumerate(self.steps):
            leaf = leaves.get(step.node)
            if leaf is not None and step.grad_after is not None:
                now = self._value(leaf.grad)
                if now is not None and not _same(now, step.grad_after):
                    self.steps[i] = step._replace(grad_after=now)
        self._end_step()

    def finish(self, error: ErrorRecord | None) -> Pass:
        """The pass so far."""
        return Pass(
            index=self.index,
            kind="backward" if self.request.accumulate else "grad",
            place=self.place,
            roots=tuple([EdgeRecord(self.tape.ids[key], nr) for key, nr in self.root_keys]),
            root_tensors=self.root_tensors,
            seeds=self.seeds,
            retain_graph=self.request.keep_graph,
            create_graph=self.request.create_graph,
            captures=self.captures,
            tape=self.length,
            nodes=self.nodes,
            dependencies=self.dependencies,
            ready=self.ready,
            grads=self.grads,
            steps=tuple(self.steps),
            error=error or self.cut,
        )


def edge_of(output: Any) -> tuple[Any, int]:
    """The node that computed an output, or accumulates its gradient, and which of the node's outputs it is."""
    if not isinstance(output, torch.Tensor):
        return output.node, output.output_nr
    if output.grad_fn is not None:
        return output.grad_fn, output.output_nr
    return torch.autograd.graph.get_gradient_edge(output).node, 0


def has_graph(output: Any) -> bool:
    """Whether a pass can begin at an output."""
    if not isinstance(output, torch.Tensor):
        return True
    return output.grad_fn is not None or (output.requires_grad and output.is_leaf and not _is_wrapped(output))


_is_wrapped: Callable[[Any], bool] = torch._C._functorch.is_functorch_wrapped_tensor


def _needed(graph: Graph, inputs: Sequence[tuple[GraphNode | None, int]]) -> set[GraphNode]:
    """The nodes from which some path leads to an input, and the inputs' own."""
    targets = {key for key, _ in inputs if key is not None}
    users: dict[GraphNode, list[GraphNode]] = {}
    for key, edges in graph.edges.items():
        for to, _ in edges:
            if to is not None:
                users.setdefault(to, []).append(key)
    needed, waiting = set(targets), list(targets)
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in needed:
                needed.add(user)
                waiting.append(user)
    return needed


def _priority(key: GraphNode) -> int:
    return -key.sequence_nr


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return one == other if type(one) is type(other) else False
