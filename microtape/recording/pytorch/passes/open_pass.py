"""A backward pass of torch that is being recorded, from hooks on its nodes.

A hook after each node is told what arrived at the node and what leaves it. What travels along an edge, and the sums in
the buffers, follow from that bit by bit: torch adds in the order in which the senders run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch._C._autograd import _get_sequence_nr as next_sequence_nr

from microtape.recording.model.model import (
    BackwardStep,
    Capture,
    Delivery,
    EdgeRecord,
    ErrorRecord,
    HookCall,
    Pass,
    Place,
    SavedUse,
    Value,
)
from microtape.recording.pytorch.checks.checker import TorchChecker
from microtape.recording.pytorch.inside.call_stack import CallStack
from microtape.recording.pytorch.notes import LEAF, GraphNode
from microtape.recording.pytorch.passes.buffers import Buffers
from microtape.recording.pytorch.passes.hooks import OwnHook, UserHooks
from microtape.recording.pytorch.passes.request import Request, edge_of
from microtape.recording.pytorch.passes.schedule import Schedule
from microtape.recording.pytorch.reading.values import Values, state_of
from microtape.recording.pytorch.tape import Tape
from microtape.recording.pytorch.tape_entries import Graph, NodeEntry

Fault = Callable[[Exception], None]
_is_compiling = torch.compiler.is_compiling
_FOUND_BY_ANOMALY_MODE = "returned nan values in its"


class _Running(OwnHook):
    """Our hook on a node, and what is needed of the node when it has run."""

    __slots__ = ("arrived", "edges", "entry", "grad_before", "is_changed", "is_users", "key", "leaf", "number", "ran")

    def __init__(self, ran: Callable[..., None], key: GraphNode, number: int, entry: NodeEntry) -> None:
        self.ran = ran
        self.key, self.number, self.entry = key, number, entry
        self.edges: list[tuple[int, GraphNode, int, int]] = []  # (output, receiver, its number, which input)
        self.leaf: torch.Tensor | None = None
        self.grad_before: Value | None = None
        self.is_changed = False  # by hooks, before the node runs
        self.is_users = entry.about.kind == "function"  # its backward may write into what arrives
        self.arrived: list[Value | None] | None = None  # of the program's own function, read before it runs

    def __call__(self, grad_inputs: Any, grad_outputs: Any) -> None:
        self.ran(self, grad_inputs, grad_outputs)


class _Arriving(OwnHook):
    """Our hook before a node."""

    def __init__(self, arrives: Callable[..., None], running: _Running) -> None:
        self.arrives, self.running = arrives, running

    def __call__(self, grad_outputs: Any) -> None:
        self.arrives(self.running, grad_outputs)


class OpenPass:
    """A pass from its start to its end."""

    def __init__(
        self,
        tape: Tape,
        request: Request,
        index: int,
        place: Place | None,
        value: Callable[[Any], Value | None],
        values: Values,
        fault: Fault,
        checker: TorchChecker | None,
        calls: CallStack,
    ) -> None:
        self.tape, self.request, self.index, self.place = tape, request, index, place
        self._value, self._note, self._end_step, self._fault = value, values.note, values.clear, fault
        self._checker = checker
        roots = [edge_of(one) for one in request.outputs]
        self._roots = [node for node, _ in roots]  # held: nothing else holds the AccumulateGrad of a leaf
        graph = tape.walk(self._roots)
        tape.see_outputs(graph, [one for one in (*request.outputs, *request.inputs) if isinstance(one, torch.Tensor)])
        tape.adopt(graph)
        keys = graph.keys
        if unreached := [node for one in request.inputs if id(node := edge_of(one)[0]) not in keys]:
            tape.adopt(tape.walk(unreached))
        self.length = len(tape.nodes)
        self.root_keys = [(keys[id(node)], nr) for node, nr in roots]
        self.inputs = [(keys.get(id(node)), nr) for node, nr in map(edge_of, request.inputs)]
        self.schedule = schedule = Schedule(graph.edges, self.root_keys, self.inputs, captures=not request.accumulate)
        self.dependencies = {tape.ids[key]: count for key, count in schedule.left.items()}
        self.nodes = tuple(sorted(self.dependencies))
        self.ready = tuple([tape.ids[key] for key in schedule.ready()])
        self.seeds = tuple([value(seed) for seed in request.seeds])
        self.root_tensors = tuple(
            [tape.ref_of(one) if isinstance(one, torch.Tensor) else None for one in request.outputs]
        )
        self.leaves = {key: leaf for key, leaf in graph.leaves.items() if key in schedule.left}
        self.grads = {}
        for key, leaf in self.leaves.items():
            if (grad := value(leaf.grad)) is not None:
                self.grads[self._leaf_number(key)] = grad
        self.buffers = Buffers(schedule.expected, value)
        for edge, seed, known in zip(self.root_keys, request.seeds, self.seeds, strict=True):
            self.buffers.add(edge, seed, known)
        values.clear()
        self.steps: list[BackwardStep] = []
        self.done: set[GraphNode] = set()
        self.made_until = next_sequence_nr()
        self.captures: tuple[Capture, ...] = ()
        self.cut: ErrorRecord | None = None
        self.is_outer = False  # whether a pass runs inside of this one, perhaps through the same nodes
        self._handles: list[Any] = []
        self._states: dict[int, object] = {}  # leaf -> which memory its gradient had after its step, and the version
        self._hooks = UserHooks(value, values, calls)
        try:
            self._listen(graph)
        except BaseException:
            self.stop_listening()
            raise

    def _leaf_number(self, key: GraphNode) -> int:
        number = self.tape.nodes[self.tape.ids[key]].variable
        assert number is not None
        return number

    # Hooks

    def _listen(self, graph: Graph) -> None:
        """Put a hook on every node that will run, after those of the program."""
        schedule = self.schedule
        for key in schedule.left:
            node = graph.nodes[key]
            if schedule.is_only_captured(key):
                self._hooks.watch_tensors(key, self.leaves.get(key))
                continue
            number = self.tape.ids[key]
            running = _Running(self._ran, key, number, self.tape.nodes[number])
            for output, (to, input_nr) in enumerate(schedule.edges[key]):
                if to is not None and to in schedule.left:
                    running.edges.append((output, to, self.tape.ids[to], input_nr))
            handle = node.register_hook(running)
            self._handles.append(handle)
            leaf = self.leaves.get(key)
            if leaf is not None:
                running.grad_before = self.grads.get(self._leaf_number(key))
                running.leaf = leaf
            self._hooks.watch_tensors(key, leaf)
            running.entry.hooks = self._hooks.watch_node(key, node, handle, probe=self._may_have_prehooks(key))
            running.is_changed = self._hooks.changes(key)
            if running.is_users:
                self._handles.append(node.register_prehook(_Arriving(self._arrives, running)))

    def _may_have_prehooks(self, key: GraphNode) -> bool:
        """Whether the program may have put hooks on a node: then it has looked at nodes, or we came later."""
        return self.request.nodes_were_read or (key.operation is None and key.sequence_nr != LEAF)

    def stop_listening(self) -> None:
        """Take all hooks away, and let go of everything that belongs to the program."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._hooks.restore()
        self._roots = []
        self.leaves = {}
        self.buffers.clear()

    def _ran(self, running: _Running, grad_inputs: Any, grad_outputs: Any) -> None:
        """The node has run. Runs inside of torch's engine: no exception of ours may leave."""
        try:
            if not self.is_outer and self.cut is None and not _is_compiling():
                self._end(running, grad_inputs, grad_outputs)
        except Exception as error:
            self._fault(error)

    def _arrives(self, running: _Running, grad_outputs: Any) -> None:
        """A function of the program's own is about to run, which may write into its gradients."""
        try:
            if not self.is_outer and self.cut is None and not _is_compiling():
                known = [self.buffers.sum_in((running.key, i)) for i in range(len(grad_outputs))]
                running.arrived = [
                    sum_ if sum_ is not None and not running.is_changed else self._value(gradient)
                    for gradient, sum_ in zip(grad_outputs, known, strict=True)
                ]
                self._end_step()  # what it frees may be at the same address as what it returns
        except Exception as error:
            self._fault(error)

    def _end(self, running: _Running, grad_inputs: Any, grad_outputs: Any) -> None:
        key, value = running.key, self._value
        calls = self._hooks.calls_of(key)
        arrived: list[Value | None] = []
        for i, gradient in enumerate(grad_outputs):
            found = self.buffers.pop((key, i))
            if gradient is None:
                arrived.append(None)
            elif found is None or running.is_changed or found.value is None:
                seen = _seen_by_hooks(calls, running.grad_before) if len(grad_outputs) == 1 else None
                if running.arrived is not None:
                    seen = running.arrived[i]
                arrived.append(seen if seen is not None else value(gradient))
                if found is not None and found.open is not None and not running.is_changed:
                    self._fill_in(found.open, arrived[-1])
            else:
                arrived.append(found.value)
                if not running.is_users:
                    self._note(gradient, found.value)
        leaf = running.leaf
        sent: list[Value | None] = []
        deliveries: list[Delivery] = []
        if leaf is None:
            last, known = None, None
            for gradient in grad_inputs:
                if gradient is None:
                    known = None
                elif grad_outputs and gradient is grad_outputs[0] and not (running.is_users or running.entry.hooks):
                    known = arrived[0]
                elif gradient is not last:
                    known = value(gradient)
                last = gradient
                sent.append(known)
            for output, to, number, input_nr in running.edges:
                deliveries.append(self._deliver(output, to, number, input_nr, grad_inputs[output], sent[output],
                                                len(deliveries)))  # fmt: skip
        now = next_sequence_nr()
        if now != self.made_until:
            self.tape.note_computed(zip(grad_outputs, arrived, strict=True))
            self.tape.note_computed(zip(grad_inputs, sent, strict=False))
            self.tape.note_made(self.made_until, now, self.index, running.number)
            self.made_until = now
        grad_after = None
        if leaf is not None:
            grad_after = value(leaf.grad)
            self._states[running.number] = state_of(leaf.grad)
        self.steps.append(
            BackwardStep(
                len(self.steps), running.number, tuple(arrived), self._uses(running.entry), tuple(sent),
                tuple(deliveries), running.grad_before, grad_after,
                not self.request.keep_graph and bool(running.entry.saved),
                calls, (), None,
            )
        )  # fmt: skip
        self.done.add(key)
        self._end_step()
        checker = self._checker
        if checker is not None and leaf is None and (key.called is not None or checker.only is not None):
            edges, create_graph = self.schedule.edges[key], self.request.create_graph
            checker.check(
                key, self.index, self.steps[-1], (grad_inputs, grad_outputs), edges, create_graph=create_graph
            )
            self.made_until = next_sequence_nr()

    def _uses(self, entry: NodeEntry) -> tuple[SavedUse, ...]:
        if not entry.saved:
            return ()
        tape = self.tape
        return tuple(
            [SavedUse(name, tape.ref((seen, version)), seen.values.get(version), now)
             for name, seen, version, now in entry.saved]
        )  # fmt: skip

    def _deliver(
        self, output: int, to: GraphNode, number: int, input_nr: int, gradient: Any, term: Value | None, position: int
    ) -> Delivery:
        """A gradient travels along an edge."""
        left = self.schedule.left[to] = self.schedule.left[to] - 1
        before, total = self.buffers.add((to, input_nr), gradient, term, (len(self.steps), position))
        return Delivery(output, number, input_nr, term, before, total, left)

    def _fill_in(self, where: tuple[int, int], arrived: Value | None) -> None:
        """A sum that was too large to be added up again is known when it arrives."""
        step, position = where
        deliveries = list(self.steps[step].deliveries)
        deliveries[position] = deliveries[position]._replace(total=arrived)
        self.steps[step] = self.steps[step]._replace(deliveries=tuple(deliveries))

    # The end

    def failed_node(self, message: str) -> GraphNode | None:
        """The node that was running when the pass failed: the first that has not run of those that torch runs."""
        if _FOUND_BY_ANOMALY_MODE in message and self.steps:  # after the hooks of the node
            return self.tape.nodes[self.steps[-1].node].node
        runs = (key for key in self.schedule.in_order() if not self.schedule.is_only_captured(key))
        return next((key for key in runs if key not in self.done), None)

    def fail(self, key: GraphNode | None, error: ErrorRecord) -> None:
        """Note the step that failed."""
        if key is None:
            return
        if key in self.done:
            self.steps[-1] = self.steps[-1]._replace(error=error, deliveries=())
            return
        count = max([1, *(nr + 1 for nr in key.outputs)])
        arrived = [found.value if (found := self.buffers.pop((key, i))) is not None else None for i in range(count)]
        number = self.tape.ids[key]
        entry = self.tape.nodes[number]
        calls = self._hooks.calls_of(key)
        if count == 1 and (seen := _seen_by_hooks(calls, None)) is not None:
            arrived = [seen]
        self.steps.append(
            BackwardStep(
                len(self.steps), number, tuple(arrived), self._uses(entry), (), (),
                None, None, False, calls, (), error,
            )
        )  # fmt: skip

    def capture(self, result: Any) -> None:
        """Note what `grad()` has returned, or the gradients of the tensors that `backward(inputs=)` asked for."""
        found = []
        for i, one in enumerate(self.request.inputs):
            if not isinstance(one, torch.Tensor):
                continue
            if self.request.accumulate:
                value = self._added(*self.inputs[i])
            else:
                value = self._value(result[i]) if result is not None else None
            found.append(Capture(self.tape.ref_of(one).tensor, value))
        self.captures = tuple(found)
        self._end_step()

    def _added(self, key: GraphNode | None, output_nr: int) -> Value | None:
        """The gradient that has arrived at an output of a node, and was added to a `.grad`."""
        if key is None or key not in self.tape.ids:
            return None
        number = self.tape.ids[key]
        for step in self.steps:
            if step.node == number:
                return step.grad_outputs[output_nr] if output_nr < len(step.grad_outputs) else None
        return self.buffers.sum_in((key, output_nr))

    def read_grads_again(self) -> None:
        """Read `.grad` at the end once more: a reducer such as DDP's averages it after the leaf's step.

        Where processes work together, memory is written without a new version; elsewhere the version tells.
        """
        leaves = {self.tape.ids[key]: leaf for key, leaf in self.leaves.items()}
        always = torch.distributed.is_available() and torch.distributed.is_initialized()
        for i, step in enumerate(self.steps):
            leaf = leaves.get(step.node)
            if leaf is None or step.grad_after is None:
                continue
            if always or state_of(leaf.grad) != self._states.get(step.node):
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


def _seen_by_hooks(calls: Sequence[HookCall], grad_before: Value | None) -> Value | None:
    """What arrived at a node with one output, as its hooks saw it: the node and later hooks may have written into it.

    A hook of a leaf that runs after the accumulation is shown the gradient itself if there was none before.
    """
    for call in reversed(calls):
        if call.kind in ("tensor", "node pre"):
            return call.after
    first = next((call for call in calls if call.kind == "post accumulate"), None)
    return first.before if first is not None and grad_before is None else None


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return one == other if type(one) is type(other) else False
