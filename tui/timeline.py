"""What a pass looks like over time, worked out once so that every question at a position is answered at once.

A timeline counts moments. Moment 0 is before the user's first operation; then every operation is one moment, then every
evaluated node of the backward pass is one. The moment where they meet, `len(forward)`, is when backward has been called
and nothing has been evaluated yet.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from microtape.recording.model import BackwardStep, Delivery, NodeRecord, Pass, Recording, TensorRef, Value

SEED = -1  # the "step" that put the first gradient into a root's buffer
SNAPSHOT_EVERY = 64  # steps between two remembered sets of waiting nodes: the rest is replayed


class Arrival(NamedTuple):
    """A gradient that came into a node's input buffer: during which step (or as the SEED) and from which node."""

    step: int
    sender: int | None
    input_nr: int
    term: Value | None
    total: Value | None
    dependencies_left: int


@dataclass(frozen=True, eq=False)
class Timeline:
    """One pass of a recording with its tape: `rows` are node ids in tape order, everything else is looked up by them.

    A recording without any pass still has a timeline, of forward moments alone; its `pass_` is None.
    """

    recording: Recording = field(repr=False)  # whoever writes a cursor into a log does not want all of it
    pass_index: int

    @cached_property
    def pass_(self) -> Pass | None:
        """The pass, or None where the program never called backward."""
        return self.recording.passes[self.pass_index] if self.recording.passes else None

    @cached_property
    def steps(self) -> tuple[BackwardStep, ...]:
        """The evaluated nodes, in the order of evaluation."""
        return self.pass_.steps if self.pass_ else ()

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """The nodes it evaluates, those of the user's since the pass before, and those that it records itself."""
        if self.pass_ is None:
            return tuple(range(len(self.recording.nodes)))
        nodes, since = self.recording.nodes, self.recording.passes[self.pass_index - 1].tape if self.pass_index else 0
        own = (node for node in range(since, self.pass_.tape) if nodes[node].pass_ is None)
        return tuple(sorted({*self.pass_.nodes, *own, *self.made_at}))

    @cached_property
    def row_of(self) -> Mapping[int, int]:
        """Node id to index into `rows`."""
        return {node: row for row, node in enumerate(self.rows)}

    @cached_property
    def forward(self) -> tuple[int, ...]:
        """The operations before this pass began, in the order they ran."""
        return tuple(n for n in self.rows if self.node(n).kind != "accumulate" and n not in self.made_at)

    @property
    def last(self) -> int:
        """The last moment."""
        return len(self.forward) + len(self.steps)

    @cached_property
    def evaluated_at(self) -> Mapping[int, int]:
        """Node id to the index of the step that evaluated it."""
        return {step.node: index for index, step in enumerate(self.steps)}

    @cached_property
    def made_at(self) -> Mapping[int, int]:
        """Node id to the index of the step that recorded it (create_graph)."""
        return {node: index for index, step in enumerate(self.steps) for node in step.made}

    @cached_property
    def users(self) -> Mapping[int, tuple[int, ...]]:
        """Node id to the nodes that use its value, in tape order."""
        found: dict[int, dict[int, None]] = {}
        for node in self.rows:
            for edge in self.node(node).edges:
                if edge.node is not None:
                    found.setdefault(edge.node, {})[node] = None
        return {node: tuple(users) for node, users in found.items()}

    @cached_property
    def forward_row(self) -> tuple[int, ...]:
        """How many rows are there once the first n operations have run, for every n."""
        counts = [0, *(self.row_of[node] + 1 for node in self.forward)]
        counts[-1] = max(counts[-1], len(self.rows) - len(self.made_at))
        return tuple(counts)

    @cached_property
    def swept(self) -> tuple[int, ...]:
        """The topmost operation's row that backward has reached once n steps ran, for every n: it rises up the tape."""
        top, tops = len(self.rows), [len(self.rows)]
        for step in self.steps:
            if self.node(step.node).kind != "accumulate":
                top = min(top, self.row_of[step.node])
            tops.append(top)
        return tuple(tops)

    @cached_property
    def arrivals(self) -> Mapping[int, tuple[Arrival, ...]]:
        """Node id to what came into its buffer, in order."""
        found: dict[int, list[Arrival]] = {}
        if self.pass_ is not None:
            for root, seed in zip(self.pass_.roots, self.pass_.seeds, strict=True):
                if root.node is not None:
                    left = self.pass_.dependencies.get(root.node, 0)
                    found.setdefault(root.node, []).append(Arrival(SEED, None, root.input_nr, seed, seed, left))
        for index, step in enumerate(self.steps):
            for one in step.deliveries:
                found.setdefault(one.node, []).append(_arrival(index, step.node, one))
        return {node: tuple(arrived) for node, arrived in found.items()}

    def arrived(self, node: int, steps_done: int) -> tuple[Arrival, ...]:
        """What has come into the node's buffer after that many steps."""
        every = self.arrivals.get(node, ())
        return every[: bisect_left(every, steps_done, key=lambda one: one.step)]

    def waiting(self, steps_done: int) -> tuple[int, ...]:
        """The nodes that after that many steps have something in their buffer and wait for more, first come first."""
        start = steps_done // SNAPSHOT_EVERY
        found = dict.fromkeys(self._waiting_snapshots[start])
        for index in range(start * SNAPSHOT_EVERY, steps_done):
            self._update_waiting(found, index)
        return tuple(found)

    @cached_property
    def _waiting_snapshots(self) -> tuple[tuple[int, ...], ...]:
        roots = self.pass_.roots if self.pass_ else ()
        seeded = (root.node for root in roots if root.node is not None)
        found = dict.fromkeys(node for node in seeded if self.arrivals[node][0].dependencies_left)
        snapshots = [tuple(found)]
        for index in range(len(self.steps)):
            self._update_waiting(found, index)
            if (index + 1) % SNAPSHOT_EVERY == 0:
                snapshots.append(tuple(found))
        return tuple(snapshots)

    def _update_waiting(self, waiting: dict[int, None], step: int) -> None:
        for one in self.steps[step].deliveries:
            if one.dependencies_left:
                waiting[one.node] = None
            else:
                waiting.pop(one.node, None)

    @cached_property
    def collectors(self) -> tuple[int, ...]:
        """The ids of the tensors that collect a gradient: the leaves in tape order, then what else was asked for."""
        leaves = (self.node(node).variable for node in self.rows)
        asked = (capture.tensor for capture in self.pass_.captures) if self.pass_ else ()
        return tuple(dict.fromkeys([*(leaf for leaf in leaves if leaf is not None), *asked]))

    @cached_property
    def leaf_ref(self) -> Mapping[int, TensorRef]:
        """Leaf tensor id to the version that this tape's operations used first."""
        refs: dict[int, TensorRef] = {}
        for node in self.rows:
            for operand in self.node(node).operands:
                if operand.ref is not None and self.recording.tensors[operand.ref.tensor].is_leaf:
                    refs.setdefault(operand.ref.tensor, operand.ref)
        return refs

    @cached_property
    def producer(self) -> Mapping[TensorRef, int]:
        """Which node computed a tensor at that version."""
        return {ref: node.id for node in self.recording.nodes for ref in node.outputs if ref is not None}

    def node(self, node: int) -> NodeRecord:
        """The node's record."""
        return self.recording.nodes[node]


def _arrival(step: int, sender: int, one: Delivery) -> Arrival:
    return Arrival(step, sender, one.input_nr, one.term, one.total, one.dependencies_left)
