"""What a pass looks like over time: look-ups over a `Recording`, computed once. Nothing is run again.

A `PassTimeline` is a pass with an index for every question about it. A `Moment` is the pass after some of its steps:
which gradients have arrived at which node, and which have travelled along which edge. `steps_done` counts evaluated
nodes: at 0, backward has been called and has evaluated nothing yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from microtape.recording.model.cut_history import borders_by_output
from microtape.recording.model.model import (
    BackwardStep,
    BorderRecord,
    Delivery,
    FunctionRecord,
    Pass,
    Recording,
    TensorRef,
    Value,
)
from microtape.recording.moments.deliveries import Deliveries, Received
from microtape.recording.moments.ready_queues import ReadyQueues
from microtape.recording.moments.steps_by_node import steps_by_node
from microtape.recording.tables.columns import NONE
from microtape.recording.tables.fields import as_integers, inside, integers
from microtape.recording.tables.ids import ids_of

SEED = -1  # stands for the step of the first gradient, which no step delivered


class PassArrival(NamedTuple):
    """The last gradient that arrived in an input buffer of a node."""

    step: int  # the step that delivered it; SEED for the first gradient
    delivery: Delivery | None  # None for the seed
    total: Value | None  # the sum in the buffer, including it


@dataclass(frozen=True, eq=False)
class PassTimeline:
    """A pass of a recording. For a program that never called backward, `pass_` is None and there are no steps."""

    recording: Recording = field(repr=False)  # far too long for a log or an error message
    pass_index: int = 0  # which of `recording.passes`

    @cached_property
    def pass_(self) -> Pass | None:
        """The pass. Raises IndexError if the recording has passes, but not this one."""
        if not self.recording.passes and self.pass_index == 0:
            return None
        count = len(self.recording.passes)
        if not 0 <= self.pass_index < count:
            raise IndexError(f"there is no pass {self.pass_index}: the recording has {count}")
        return self.recording.passes[self.pass_index]

    @cached_property
    def steps(self) -> tuple[BackwardStep, ...]:
        """The evaluated nodes, in the order of evaluation."""
        return self.pass_.steps if self.pass_ else ()

    def at(self, steps_done: int | None = None) -> Moment:
        """The pass after that many steps. None is its end, where no step is current unless the last one failed.

        Raises:
            IndexError: there is no such step.
        """
        count = len(self.steps)
        if steps_done is None:
            last = self.steps[-1] if self.steps else None
            return Moment(self, count, last if last is not None and last.error is not None else None)
        if not 0 <= steps_done <= count:
            raise IndexError(f"there is no step {steps_done}: the pass has {count}")
        return Moment(self, steps_done, self.steps[steps_done - 1] if steps_done else None)

    def touched(self, steps_done: int) -> frozenset[int]:
        """The nodes that look different after that many steps (1 or more) from how they looked one step earlier."""
        found: set[int] = set()
        for step in self.steps[max(steps_done - 2, 0) : steps_done]:
            found |= {step.node, *step.made, *(one.node for one in step.deliveries)}
        return frozenset(found | (set(self.ready(steps_done)) ^ set(self.ready(steps_done - 1))))

    def ready(self, steps_done: int) -> tuple[int, ...]:
        """The ready queue after that many steps, next node first."""
        if not steps_done and self.pass_ is not None:
            return self.pass_.ready
        return self._queues.after(steps_done) if self._queues is not None else ()

    @cached_property
    def _queues(self) -> ReadyQueues | None:
        return ReadyQueues(self.recording, self.pass_, self.deliveries) if self.pass_ is not None else None

    @cached_property
    def step_of(self) -> Mapping[int, BackwardStep]:
        """Maps a node to the step that evaluated it."""
        return steps_by_node(self.steps)

    @cached_property
    def made_at(self) -> Mapping[int, int]:
        """Maps a node to the index of the step that recorded it (create_graph)."""
        sizes, made = inside(self.steps, "made")
        return dict(zip(as_integers(made).tolist(), np.repeat(np.arange(len(sizes)), sizes).tolist(), strict=True))

    @cached_property
    def nodes(self) -> Sequence[int]:
        """The nodes that the pass evaluates or records, and those that the program recorded since the previous pass."""
        nodes, pass_ = self.recording.nodes, self.pass_
        if pass_ is None:
            return ids_of(np.arange(len(nodes)))
        since = self.recording.passes[self.pass_index - 1].tape if self.pass_index else 0
        own = integers(nodes[since : pass_.tape], "pass_") == NONE
        is_here = np.zeros(len(nodes), bool)
        is_here[since : since + len(own)] = own
        is_here[as_integers(pass_.nodes)] = is_here[list(self.made_at)] = True
        return ids_of(np.flatnonzero(is_here))

    @cached_property
    def evaluates(self) -> frozenset[int]:
        """The nodes that the pass evaluates, from its first step to its last."""
        return frozenset(self.pass_.nodes) if self.pass_ else frozenset()

    @cached_property
    def seeds(self) -> Mapping[tuple[int, int], Value | None]:
        """Maps (node, output) to the first gradient."""
        if self.pass_ is None:
            return {}
        roots = zip(self.pass_.roots, self.pass_.seeds, strict=True)
        return {(root.node, root.input_nr): seed for root, seed in roots if root.node is not None}

    @cached_property
    def deliveries(self) -> Deliveries:
        """The gradients that the pass delivers."""
        return Deliveries.of(self.steps)

    def received(self, node: int) -> Received:
        """The gradients delivered to a node, in order, each with its step."""
        return self.deliveries.to(node)

    @cached_property
    def travelled(self) -> Mapping[tuple[int, int], tuple[int, Delivery]]:
        """Maps (node, index of the edge) to the step that sent a gradient along the edge, and that gradient."""
        return {(step.node, one.output): (step.index, one) for step in self.steps for one in step.deliveries}

    @cached_property
    def accumulated(self) -> Mapping[int, tuple[int, Value]]:
        """Maps a leaf tensor to the step that changed its `.grad`, and the new `.grad`."""
        found = {}
        for step in self.steps:
            variable = self.recording.nodes[step.node].variable
            if variable is not None and step.grad_after is not None:
                found[variable] = (step.index, step.grad_after)
        return found

    @cached_property
    def producer(self) -> Mapping[TensorRef, tuple[int, int]]:
        """Maps a tensor at a version to (the node that computed it, which of its outputs)."""
        nodes = self.recording.nodes
        return {ref: (node.id, k) for node in nodes for k, ref in enumerate(node.outputs) if ref is not None}

    @cached_property
    def savers(self) -> Mapping[TensorRef, tuple[int, ...]]:
        """Maps a tensor at a version to the nodes that saved it."""
        found: dict[TensorRef, dict[int, None]] = {}
        for node in self.recording.nodes:
            for one in node.saved:
                found.setdefault(one.ref, {})[node.id] = None
        return {ref: tuple(nodes) for ref, nodes in found.items()}

    @cached_property
    def functions(self) -> Mapping[int, FunctionRecord]:
        """Maps the node of a custom Function to its contract."""
        return {one.node: one for one in self.recording.functions}

    @cached_property
    def borders(self) -> Mapping[TensorRef, BorderRecord]:
        """Maps a tensor at a version to the border whose output it is."""
        return borders_by_output(self.recording)

    @cached_property
    def made_without_history(self) -> Mapping[int, TensorRef]:
        """Maps a tensor that was made at a border to its version there."""
        return {ref.tensor: ref for ref, border in reversed(list(self.borders.items())) if not border.in_place}

    @cached_property
    def written(self) -> Mapping[int, int]:
        """Maps a tensor to its version after the program's last recorded write to it before the pass."""
        tape = self.pass_.tape if self.pass_ else len(self.recording.nodes)
        found: dict[int, int] = {}
        for ref, (node, _) in self.producer.items():
            if node < tape:
                found[ref.tensor] = max(ref.version, found.get(ref.tensor, 0))
        return found


@dataclass(frozen=True, eq=False, slots=True)
class Moment:
    """A pass after `steps_done` steps."""

    timeline: PassTimeline
    steps_done: int
    current: BackwardStep | None  # the step just taken, or the one that failed

    @property
    def recording(self) -> Recording:
        """The recording that this is a moment of."""
        return self.timeline.recording

    @property
    def pass_(self) -> Pass | None:
        """The pass that this is a moment of; None if the program never called backward."""
        return self.timeline.pass_

    @property
    def failed(self) -> BackwardStep | None:
        """The step that raised, if it was the last one taken."""
        last = self.timeline.steps[self.steps_done - 1] if self.steps_done else None
        return last if last is not None and last.error is not None else None

    @property
    def ready(self) -> tuple[int, ...]:
        """The ready queue, next node first."""
        return self.timeline.ready(self.steps_done)

    def step_of(self, node: int) -> BackwardStep | None:
        """The step that evaluated the node, if it has been taken."""
        step = self.timeline.step_of.get(node)
        return step if step is not None and step.index < self.steps_done else None

    def is_there(self, node: int) -> bool:
        """Whether the node has been recorded yet; with create_graph, backward itself records some later."""
        return self.timeline.made_at.get(node, -1) < self.steps_done

    def arrived(self, node: int, output: int) -> PassArrival | None:
        """The last gradient that arrived in the node's buffer for `output`, with the sum there."""
        came = self.timeline.received(node)
        for i in range(came.before(self.steps_done) - 1, -1, -1):
            step, one = came[i]
            if one.input_nr == output:
                return PassArrival(step, one, one.total)
        seeds = self.timeline.seeds
        return PassArrival(SEED, None, seeds[node, output]) if (node, output) in seeds else None

    def travelled(self, node: int, edge: int) -> Delivery | None:
        """The gradient that has gone along one of the node's edges."""
        found = self.timeline.travelled.get((node, edge))
        return found[1] if found is not None and found[0] < self.steps_done else None

    def waits_for(self, node: int) -> int:
        """How many gradients the node still waits for."""
        came = self.timeline.received(node)
        count = came.before(self.steps_done)
        if count:
            return came[count - 1][1].dependencies_left
        return self.pass_.dependencies.get(node, 0) if self.pass_ else 0

    def grad(self, tensor: int) -> Value | None:
        """The `.grad` of a leaf now; without any pass, as it was when the recording was made."""
        if self.pass_ is None:
            return self.recording.tensors[tensor].grad
        found = self.timeline.accumulated.get(tensor)
        return found[1] if found is not None and found[0] < self.steps_done else self.pass_.grads.get(tensor)
