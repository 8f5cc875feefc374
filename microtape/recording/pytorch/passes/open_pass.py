"""A backward pass of torch that is being recorded, from hooks on its nodes.

A hook after each node is told what arrived at the node and what leaves it. What travels along an edge, and the sums in
the buffers, follow from that bit by bit: torch adds in the order in which the senders run. So the hook only notes these
values: see Note [What is noted, and what is made of it].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch._C._autograd import _get_sequence_nr as next_sequence_nr

from microtape.recording.model.model import BackwardStep, ErrorRecord, HookCall, Place, Value
from microtape.recording.pytorch.checks.checker import TorchChecker
from microtape.recording.pytorch.errors import hide_our_frames
from microtape.recording.pytorch.graph import Graph
from microtape.recording.pytorch.inside.call_stack import CallStack
from microtape.recording.pytorch.notes import LEAF, GraphNode
from microtape.recording.pytorch.passes.buffers import TorchSums, is_added_by_numpy
from microtape.recording.pytorch.passes.hooks import UserHooks
from microtape.recording.pytorch.passes.own_hooks import Hooks, OwnHook
from microtape.recording.pytorch.passes.pass_notes import Asked, PassNotes, StepNotes
from microtape.recording.pytorch.passes.request import (
    AccumulateGrad,
    Request,
    edge_of,
    is_leaf,
    is_transformed,
    keys_in,
)
from microtape.recording.pytorch.passes.schedule import Schedule
from microtape.recording.pytorch.reached import Reached
from microtape.recording.pytorch.reading.traced import is_compiling
from microtape.recording.pytorch.reading.values import ALWAYS_COPIED, Values, same_value, state_of
from microtape.recording.pytorch.tape import Tape
from microtape.recording.pytorch.tensors import Tensors, work_together

Fault = Callable[[Exception], None]
_FOUND_BY_ANOMALY_MODE = "returned nan values in its"
_Array = np.ndarray
_SEVERAL: Any = object()  # several gradients have arrived in a buffer


class _About:
    """What has to be known of a node when it has run."""

    def __init__(self) -> None:
        self.leaf: torch.Tensor | None = None
        self.grad_before: Value | None = None
        self.is_changed = False  # by hooks, before the node runs
        self.is_users = False  # its backward may write into what arrives
        self.has_hooks = False
        self.arrived: list[Value | None] | None = None  # of the program's own function, read before it runs


_USUAL = _About()


class OpenPass:
    """A pass from its start to its end."""

    def __init__(
        self,
        reached: Reached,
        tape: Tape,
        request: Request,
        index: int,
        place: Place | None,
        tensors: Tensors,
        fault: Fault,
        checker: TorchChecker | None,
        calls: CallStack,
        depth: int,
        frame: FrameType | None,
    ) -> None:
        self.request, self.index = request, index
        self.depth = depth  # how many passes run around this one
        self._reached, self._tape, self._tensors = reached, tape, tensors
        self._values: Values = tensors.values
        self._value, self._fault, self._checker = tensors.value, fault, checker
        roots = [edge_of(one) for one in request.outputs]
        self._roots = [node for node, _ in roots]  # held: nothing else holds the AccumulateGrad of a leaf
        graph = reached.walk(self._roots)
        self._nodes = graph.nodes  # until the pass ends
        tensors_asked = [one for one in (*request.outputs, *request.inputs) if isinstance(one, torch.Tensor)]
        reached.see_outputs(graph, tensors_asked)
        reached.see_variables(graph, frame)
        reached.adopt(graph)
        if torch.is_anomaly_enabled():
            hide_our_frames(graph.nodes.values())
        keys = graph.keys
        self.inputs = keys_in(graph, request.inputs)
        asked = zip(request.inputs, self.inputs, strict=True)
        if unreached := [one for one, (key, _) in asked if key is None and not is_transformed(one)]:
            nodes = [AccumulateGrad(one) if is_leaf(one) else edge_of(one)[0] for one in unreached]
            reached.adopt(reached.walk([one for one in nodes if one is not None]))  # torch 2.4 has edges without one
        root_keys = [(keys[id(node)], nr) for node, nr in roots]
        self.schedule = Schedule(graph.edges, root_keys, self.inputs, captures=not request.accumulate)
        self.leaves = {key: leaf for key, leaf in graph.leaves.items() if key in self.schedule.runs}
        grads = {key: self._value(leaf.grad) for key, leaf in self.leaves.items()}
        self._grads: dict[GraphNode, Value] = {key: grad for key, grad in grads.items() if grad is not None}
        self.notes = PassNotes(
            index,
            "backward" if request.accumulate else "grad",
            place,
            self.schedule,
            roots=[tensors.read(one) if isinstance(one, torch.Tensor) else None for one in request.outputs],
            seeds=[self._value(seed) for seed in request.seeds],
            grads=self._grads,
            reached=len(reached.log),
            retain_graph=request.keep_graph,
            create_graph=request.create_graph,
        )
        self.steps = self.notes.steps
        self._arriving: dict[Any, Value | None] = {}  # what is in each buffer, if it is one gradient; else _SEVERAL
        for edge, seed in zip(root_keys, self.notes.seeds, strict=True):
            self._arriving[edge] = seed if edge not in self._arriving else _SEVERAL
        self._sums = TorchSums(self.schedule, self._value)
        for edge, seed, known in zip(root_keys, request.seeds, self.notes.seeds, strict=True):
            if seed is not None and not (type(known) is _Array and is_added_by_numpy(seed)):
                self._sums.add(edge, seed)
        self._values.clear()
        self.made_until = next_sequence_nr()
        self._additions = 0  # to buffers, that the last node's gradients have led to
        self._have_graphs: dict[Any, bool] = {}  # with `create_graph`: whether what is in each buffer has one
        for edge, seed in zip(root_keys, request.seeds, strict=True):
            self._have_graphs[edge] = bool(self._have_graphs.get(edge)) or (seed is not None and seed.requires_grad)
        self.cut: ErrorRecord | None = None
        self.is_outer = False  # whether a pass runs inside of this one, perhaps through the same nodes
        self._own_hooks: list[tuple[Hooks, OwnHook]] = []  # with all hooks of the node that each is on
        self._leaf_steps: list[tuple[StepNotes, torch.Tensor, object]] = []
        self._hooks = UserHooks(self._value, self._values, calls)
        self.has_hooks = False  # whether the program has any
        try:
            self._listen(graph)
        except BaseException:
            self.stop_listening()
            raise

    # Hooks

    def _listen(self, graph: Graph) -> None:
        """Put a hook on every node that will run, after those of the program."""
        schedule, hooks, entries, ran = self.schedule, self._hooks, self._reached.entries, self._ran
        ours = self._own_hooks
        captures, nodes_were_read = not self.request.accumulate and bool(self.inputs), self.request.nodes_were_read
        for key in schedule.runs:
            node, entry = graph.nodes[key], entries[key]
            leaf = self.leaves.get(key) if key.sequence_nr == LEAF else None
            if captures and schedule.is_only_captured(key):
                hooks.watch_tensors(key, leaf)
                continue
            is_function = entry.about.kind == "function"
            about = _USUAL if leaf is None and not is_function else _About()
            hook = OwnHook(ran, key, about)
            hooks_of_node = node.register_hook(hook)
            ours.append((hooks_of_node, hook))
            if leaf is not None or key.outputs:
                hooks.watch_tensors(key, leaf)
            probe = nodes_were_read or (key.operation is None and leaf is None)
            names: tuple[str, ...] = ()
            if probe or len(hooks_of_node) > 1:  # the program may have put hooks on the node, or we came later
                names = hooks.watch_node(key, node, hooks_of_node, probe=probe)
            if names or entry.hooks:
                entry.hooks = names
            if names or key in hooks.changed:
                about = _About()
                about.is_changed, about.has_hooks = key in hooks.changed, bool(names)
                hooks_of_node[hook] = OwnHook(ran, key, about)
            if leaf is not None:
                about.leaf, about.grad_before = leaf, self._grads.get(key)
            if is_function:
                about.is_users = True
                before = OwnHook(self._arrives, key, about)
                ours.append((node.register_prehook(before), before))
        self.has_hooks = hooks.is_used

    def stop_listening(self) -> None:
        """Take all hooks away, and let go of everything that belongs to the program."""
        for hooks, ours in self._own_hooks:
            hooks.pop(ours, None)
        self._own_hooks = []
        self._hooks.restore()
        self._roots, self._nodes = [], {}
        self.leaves = {}
        self._leaf_steps.clear()
        self._arriving.clear()
        self._sums.clear()

    def _ran(self, key: GraphNode, about: _About, grad_inputs: Any, grad_outputs: Any) -> None:
        """The node has run. Runs inside of torch's engine: no exception of ours may leave."""
        if self.is_outer or self.cut is not None or is_compiling():
            return
        try:
            self._note(key, about, grad_inputs, grad_outputs)
        except Exception as error:
            self._fault(error)

    def _arrives(self, key: GraphNode, about: _About, grad_outputs: Any) -> None:
        """A function of the program's own is about to run, which may write into its gradients."""
        try:
            if not self.is_outer and self.cut is None and not is_compiling():
                known = [self._arriving.get((key, i)) for i in range(len(grad_outputs))]
                about.arrived = [
                    one if one is not None and one is not _SEVERAL and not about.is_changed else self._value(gradient)
                    for gradient, one in zip(grad_outputs, known, strict=True)
                ]
                self._values.clear()  # what it frees may be at the same address as what it returns
        except Exception as error:
            self._fault(error)

    def _note(self, key: GraphNode, about: _About, grad_inputs: Any, grad_outputs: Any) -> None:
        """Note what arrived at a node that has run, and what it has sent."""
        value, arriving = self._value, self._arriving
        calls = self._hooks.calls_of(key) if self.has_hooks else ()
        arrived: list[Value | None] = []
        for i, gradient in enumerate(grad_outputs):
            known = arriving.pop((key, i), None)
            if type(known) is not _Array or about.is_changed or gradient is None:
                seen = _seen_by_hooks(calls, about.grad_before) if calls and len(grad_outputs) == 1 else None
                known = self._arrived(about, i, known, gradient, seen)
            elif known.size > ALWAYS_COPIED and not about.is_users:
                self._values.note(gradient, known)
            arrived.append(known)
        sent: list[Value | None] = []
        step = StepNotes(key, arrived, sent)
        leaf = about.leaf
        if leaf is None:
            last, known = None, None
            passes_on = arrived[0] if arrived and not (about.is_users or about.has_hooks) else None
            for gradient, edge in zip(grad_inputs, self.schedule.edges[key], strict=False):
                if gradient is None:
                    known = None
                elif passes_on is not None and gradient is grad_outputs[0]:
                    known = passes_on
                elif gradient is not last:
                    known = value(gradient)
                last = gradient
                sent.append(known)
                if known is not None and edge[0] is not None:
                    arriving[edge] = known if edge not in arriving else _SEVERAL
                    if type(known) is not _Array or not is_added_by_numpy(gradient):
                        step.note_total(len(sent) - 1, self._sums.add(edge, gradient))
        else:
            step.grad_before, step.grad_after = about.grad_before, value(leaf.grad)
            self._leaf_steps.append((step, leaf, state_of(leaf.grad)))
        now = next_sequence_nr()
        if now != self.made_until:
            self._reached.note_computed(zip(grad_outputs, arrived, strict=True))
            self._reached.note_computed(zip(grad_inputs, sent, strict=False))
            self._note_made(key, now)
        if self.request.create_graph:
            self._count_additions(key, grad_inputs)
        if calls:
            step.calls = calls
        if about.is_changed:
            step.is_changed = True
        self.steps.append(step)
        self._values.clear()
        checker = self._checker
        if checker is not None and leaf is None and (key.called is not None or checker.only is not None):
            self._check(checker, step, (grad_inputs, grad_outputs))

    def _note_made(self, key: GraphNode, now: int) -> None:
        """Note that this node made what was made since the last one, but for the additions to buffers, which end that.

        They have graphs of their own with `create_graph`, and run after the hooks of the node that sends.
        """
        first, makers = self.made_until, self._reached.makers
        if self._additions and self.steps:
            until = min(first + self._additions, now)
            makers.add(self.depth, first, until, self.steps[-1].key, self.index)
            first = until
        if now != first:
            makers.add(self.depth, first, now, key, self.index)
        self.made_until = now

    def _count_additions(self, key: GraphNode, grad_inputs: Any) -> None:
        """Count the nodes that the engine will make when it adds what this node has sent to what is there."""
        self._additions = 0
        for gradient, edge in zip(grad_inputs, self.schedule.edges[key], strict=False):
            if gradient is not None and edge[0] is not None:
                before = self._have_graphs.get(edge)
                self._have_graphs[edge] = bool(before) or gradient.requires_grad
                self._additions += before is not None and self._have_graphs[edge]

    def _arrived(self, about: _About, i: int, known: Any, gradient: Any, seen: Value | None) -> Value | None:
        """What arrived at an output of the node, as hooks have `seen` it.

        One gradient that nobody could change is what was sent, and so `known`.
        """
        if gradient is None:
            return None
        if known is None or known is _SEVERAL or about.is_changed:
            if about.arrived is not None:
                seen = about.arrived[i]
            return seen if seen is not None else self._value(gradient)
        if not about.is_users:
            self._values.note(gradient, known)
        found: Value = known
        return found

    def _check(self, checker: TorchChecker, step: StepNotes, gradients: tuple[Any, Any]) -> None:
        """Check a node that has run by finite differences."""
        self._tape.number()
        record = BackwardStep(
            len(self.steps) - 1, self._tape.ids[step.key], tuple(step.arrived), (), tuple(step.sent), (), None, None,
            False, step.calls, (), None,
        )  # fmt: skip
        edges, create_graph = self.schedule.edges[step.key], self.request.create_graph
        checker.check(step.key, self.index, record, gradients, edges, create_graph=create_graph)
        self.made_until = next_sequence_nr()

    # The end

    def failed_node(self, message: str) -> GraphNode | None:
        """The node that was running when the pass failed."""
        if _FOUND_BY_ANOMALY_MODE in message and self.steps:  # after the hooks of the node
            return self.steps[-1].key
        done = self.done
        runs = (key for key in self.schedule.in_order() if not self.schedule.is_only_captured(key))
        return next((key for key in runs if key not in done), None)

    @property
    def done(self) -> set[GraphNode]:
        """The nodes that have run."""
        return {one.key for one in self.steps if not one.is_failed}

    def fail(self, key: GraphNode | None, error: ErrorRecord) -> None:
        """Note the step that failed."""
        if key is None:
            return
        if self.steps and key in self.done:
            self.steps[-1].error = error
            return
        calls = self._hooks.calls_of(key)
        seen = _seen_by_hooks(calls, None)
        step = StepNotes(key, [seen] if seen is not None else [], ())
        step.is_failed, step.calls, step.error = True, calls, error
        step.saved = self._reached.overwritten_since(key, self._nodes[key])
        self.steps.append(step)

    def capture(self, result: Any) -> None:
        """Note what `grad()` has returned, or the gradients of the tensors that `backward(inputs=)` asked for."""
        found = []
        for i, one in enumerate(self.request.inputs):
            if not isinstance(one, torch.Tensor):
                continue
            tensor = self._tensors.read(one)
            if self.request.accumulate:
                found.append(Asked(tensor, None, self.inputs[i]))
            else:
                found.append(Asked(tensor, self._value(result[i]) if result is not None else None, None))
        self.notes.asked = tuple(found)
        self._values.clear()

    def read_grads_again(self) -> None:
        """Read `.grad` at the end once more: a reducer averages it after the leaf's step, as DDP's, or takes it away.

        Where processes do not work together, the version tells.
        """
        always = work_together()
        for step, leaf, state in self._leaf_steps:
            if step.grad_after is not None and (always or state_of(leaf.grad) != state):
                now = self._value(leaf.grad)
                if (now is not None or always) and not same_value(now, step.grad_after):
                    step.grad_after = now
        self._values.clear()

    def finish(self, error: ErrorRecord | None) -> PassNotes:
        """What was noted, when the pass is over."""
        self.notes.error = error or self.cut
        return self.notes


def _seen_by_hooks(calls: Sequence[HookCall], grad_before: Value | None) -> Value | None:
    """What arrived at a node with one output, as its hooks saw it: the node and later hooks may have written into it.

    A hook of a leaf that runs after the accumulation is shown the gradient itself if there was none before.
    """
    for call in reversed(calls):
        if call.kind in ("tensor", "node pre"):
            return call.after
    first = next((call for call in calls if call.kind == "post accumulate"), None)
    return first.before if first is not None and grad_before is None else None
