"""A pass that is being recorded: its finished steps, and the state of the current one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from microtape.backward.engine import GraphTask
from microtape.recording.model.model import (
    CUT_SHORT,
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
from microtape.recording.writing.copies import copied, frozen, same_elements
from microtape.recording.writing.names.node_text import inner
from microtape.recording.writing.tape import Tape
from microtape.tape.node import AccumulateGrad, Node
from microtape.tape.packed_tensor import PackedTensor
from microtape.tape.tensor_state import TensorState, version_number


class LostPass:
    """A pass whose start could not be recorded: nothing is known of its steps."""

    def __init__(self, task: GraphTask, index: int) -> None:
        self.task, self.index = task, index
        self.node: int | None = None
        self.steps: list[BackwardStep] = []
        self.cut = ErrorRecord(CUT_SHORT, "", (), "")

    def finish(self, error: ErrorRecord | None) -> Pass | None:
        """None: there is nothing to show."""


class OpenPass:
    """A pass from its start to its end. The recorder calls `start`, `deliver` and `end` for each step."""

    def __init__(self, tape: Tape, task: GraphTask, index: int) -> None:
        self.tape, self.task, self.index = tape, task, index
        self.place: Place | None = tape.sources.place(task.call_site) if task.call_site is not None else None
        self.dependencies = {tape.ids[node]: count for node, count in task.dependencies.items()}
        self.ready = tuple([tape.ids[node] for node in task.ready_nodes()])
        self.length = len(tape.nodes)
        roots = [edge for edge in task.root.next_edges if edge[0] is not None]
        self.roots = tuple([EdgeRecord(tape.ids[node], input_nr) for node, input_nr in roots if node is not None])
        self.root_tensors = tuple(
            [tape.ref(output) if isinstance(output, TensorState) else None for output in task.outputs]
        )
        self.seeds = tuple([copied(seed) for seed in task.root.gradients])
        self.grads = tape.leaf_grads(self.dependencies)
        self.steps: list[BackwardStep] = []
        self.sums: dict[tuple[int, int], Value | None] = {}  # (node, input) -> the sum that has arrived
        for root, edge in zip(self.roots, roots, strict=True):
            if root.node is not None:
                self.sums[root.node, root.input_nr] = copied(task.buffered(edge))
        self.node: int | None = None
        self.hooks: list[HookCall] = []
        self.cut: ErrorRecord | None = None  # if the recorder failed: the pass is recorded only up to there
        self._clear()

    def _clear(self) -> None:
        self.grad_outputs: tuple[Value | None, ...] = ()
        self.saved: tuple[SavedUse, ...] = ()
        self.deliveries: list[Delivery] = []
        self.terms: dict[int, Value | None] = {}  # by output: what was delivered, un-broadcast and in the input's dtype
        self.copies: dict[int, tuple[Any, Value]] = {}  # id of an array -> (the array, to keep its id; its copy)
        self.grad_before: Value | None = None

    def copy(self, value: Any) -> Value | None:
        """A copy of an array or Tensor; the same object gets one copy in a step."""
        if value is None:
            return None
        known = self.copies.get(id(value))
        if known is None:
            made = copied(value)
            assert made is not None
            known = self.copies[id(value)] = (value, made)
        return known[1]

    def start(self, node: Node, gradient: Any) -> None:
        """`node` is about to run with this gradient, or list of gradients."""
        self._clear()
        number = self.node = self.tape.ids[node]
        self.current = node
        arrived = gradient if isinstance(gradient, list) else [gradient]
        runs_code = node.hooks is not None or node.kind == "function"  # of the user's, which may write to gradients
        if not runs_code:  # then it gets exactly the sums noted here
            for i, one in enumerate(arrived):
                total = self.sums.pop((number, i), None)
                if total is not None:
                    self.copies[id(one)] = (one, total)
        self.grad_outputs = tuple([self.copy(one) for one in arrived])
        if runs_code:
            self.copies.clear()
        saved = self.tape.nodes[number].saved
        if saved:
            self.saved = tuple(self._saved_uses(node))
        if node.kind == "accumulate":
            self.grad_before = _grad_of(node)

    def _saved_uses(self, node: Node) -> list[SavedUse]:
        """The tensors that the node is about to unpack: value, saved version, current version."""
        uses = []
        items = inner(node).saved or ()
        for i, record in self.tape.nodes[self.tape.ids[node]].saved:
            item = items[i] if i < len(items) else None
            if item is None:
                continue
            ref = record.ref
            value, now = self.tape.value_of(ref), ref.version
            if not isinstance(item, PackedTensor):  # only its hook could unpack that, and it has no version
                now = version_number(item)
                if value is None or now != ref.version:
                    value = frozen(item.array)
            uses.append(SavedUse(record.name, ref, value, now))
        return uses

    def deliver(self, node: Node, output: int, term: Any, total: Any) -> None:
        """A gradient of the node has travelled along one of its edges."""
        receiver, input_nr = node.next_nodes[output], node.input_nrs[output]
        assert receiver is not None
        target = self.tape.ids[receiver]
        buffer = target, input_nr
        before = self.sums.get(buffer)
        copy = self.terms[output] = self.copy(term)
        after = before if term is None else copy if before is None else copied(total)
        self.sums[buffer] = after
        left = self.task.dependencies[receiver]
        self.deliveries.append(Delivery(output, target, input_nr, copy, before, after, left))

    def end(self, gradients: Sequence[Any], freed: bool, error: ErrorRecord | None) -> None:
        """The node has finished, or failed."""
        assert self.node is not None
        terms = self.terms
        sent = [terms[i] if i in terms else self.copy(gradient) for i, gradient in enumerate(gradients)]
        self.steps.append(
            BackwardStep(
                len(self.steps),
                self.node,
                self.grad_outputs,
                self.saved,
                tuple(sent),
                tuple(self.deliveries),
                self.grad_before,
                self._grad_after(),
                freed,
                tuple(self.hooks),
                (),  # what it has made follows from the nodes
                error,
            )
        )
        self.node = None
        self.hooks = []
        self._clear()

    def _grad_after(self) -> Value | None:
        """The leaf's `.grad` now. If that was None before, it most likely is what has arrived, and copied already."""
        meta = self.current.variable.meta if isinstance(self.current, AccumulateGrad) else None
        if meta is None or meta.grad is None:
            return None
        if self.grad_before is None:
            (arrived,) = self.grad_outputs
            if arrived is not None and same_elements(arrived, meta.grad.array):
                return arrived
        return copied(meta.grad)

    def cut_short(self) -> None:
        """Forget the unfinished step, and record no more of them."""
        self.node = None
        self.hooks = []
        self._clear()

    def finish(self, error: ErrorRecord | None) -> Pass:
        """The pass so far; with an error, an unfinished step is the one that failed."""
        error = error or self.cut
        if self.node is not None and error is not None:
            self.end((), False, error)
        task = self.task
        return Pass(
            index=self.index,
            kind="backward" if task.accumulate else "grad",
            place=self.place,
            roots=self.roots,
            root_tensors=self.root_tensors,
            seeds=self.seeds,
            retain_graph=task.keep_graph,
            create_graph=task.create_graph,
            captures=self._captures(),
            tape=self.length,
            nodes=tuple(sorted(self.dependencies)),
            dependencies=self.dependencies,
            ready=self.ready,
            grads=self.grads,
            steps=tuple(self.steps),
            error=error,
        )

    def _captures(self) -> tuple[Capture, ...]:
        return tuple(
            Capture(self.tape.ref(tensor).tensor, copied(self.task.captured.get(edge)))
            for tensor, edge in zip(self.task.inputs, self.task.capture or (), strict=False)
            if isinstance(tensor, TensorState)
        )


def _grad_of(node: Node) -> Value | None:
    """The current `.grad` of an AccumulateGrad's leaf."""
    assert isinstance(node, AccumulateGrad)
    meta = node.variable.meta
    return copied(meta.grad) if meta is not None else None
