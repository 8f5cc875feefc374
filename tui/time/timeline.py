"""One pass over time, with indices that make the state at any moment quick to find.

A timeline counts moments. Moment 0 is before the user's first operation; then each operation is one moment, then each
evaluated node of the backward pass. At the moment `len(forward)`, backward has been called and nothing has been
evaluated yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np

from microtape.recording.model.model import NodeRecord, TensorRef, Value
from microtape.recording.model.versions import Versions
from microtape.recording.moments import moment
from microtape.recording.moments.moment import SEED
from microtape.recording.moments.uses import Uses
from microtape.recording.tables.columns import NONE
from microtape.recording.tables.fields import are, as_integers, inside, integers, picked
from microtape.recording.tables.ids import between, id_map, ids_of, small
from tui.time.lane_allocation import Rows
from tui.time.lanes import Lanes

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.int64]

KEPT = 60_000  # the most rows of all timelines that are kept
IN_FORWARD = ("forward", "setup_context", "jvp", "pack hook")  # calls that run when an operation is recorded
SNAPSHOT_EVERY = 64  # steps between two stored sets of waiting nodes; the steps between are replayed


class Arrival(NamedTuple):
    """A gradient that arrived in a node's input buffer, during a step (or as the SEED) and from a node."""

    step: int
    sender: int | None
    input_nr: int
    term: Value | None
    total: Value | None
    dependencies_left: int


class Arrivals(Sequence[Arrival]):
    """The first `count` gradients that arrived at a node, seeds first.

    Items are made on demand: a weight that is used at every time step has thousands of terms, and most callers need
    only the last.
    """

    def __init__(self, timeline: Timeline, node: int, count: int) -> None:
        self._timeline = timeline
        self._node = node
        self._seeds = timeline.seeded.get(node, ())
        self._count = count

    def first(self, count: int) -> Arrivals:
        """At most the first `count` of these gradients."""
        return Arrivals(self._timeline, self._node, min(count, self._count))

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> Arrival: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Arrival, ...]: ...
    def __getitem__(self, at: int | slice) -> Arrival | tuple[Arrival, ...]:
        if isinstance(at, slice):
            return tuple(self[i] for i in range(*at.indices(self._count)))
        at = at + self._count if at < 0 else at
        if not 0 <= at < self._count:
            raise IndexError(at)
        if at < len(self._seeds):
            return self._seeds[at]
        step, one = self._timeline.received(self._node)[at - len(self._seeds)]
        sender = self._timeline.steps[step].node
        return Arrival(step, sender, one.input_nr, one.term, one.total, one.dependencies_left)


@dataclass(frozen=True, eq=False)
class Timeline(moment.PassTimeline):
    """One pass of a recording with its tape: `rows` are node ids in tape order, and everything else is indexed by node.

    A recording without passes still has a timeline, with forward moments only; its `pass_` is None. The base class has
    the indices that pictures use too.
    """

    recent: dict[int, Timeline] = field(default_factory=dict, repr=False)
    """Pass index -> timeline, for recently shown passes of the recording. Their timelines share this dict."""
    known: dict[object, Any] = field(default_factory=dict, repr=False)
    """What other modules have worked out of this timeline, and keep for the next time."""

    def __post_init__(self) -> None:
        self.recent[self.pass_index] = self

    def of_pass(self, index: int) -> Timeline:
        """The timeline of another pass; that of a recently shown pass still has its indices."""
        recent = self.recent
        found = recent.pop(index, None) or Timeline(self.recording, index, recent)
        recent[index] = found  # the most recent is last
        while len(recent) > 1 and sum(len(one.rows) for one in recent.values()) > KEPT:
            del recent[next(iter(recent))]
        return found

    @property
    def rows(self) -> Sequence[int]:
        """The nodes on this pass's tape: evaluated by it, recorded since the previous pass, or recorded by it."""
        return self.nodes

    @cached_property
    def row_of(self) -> Mapping[int, int]:
        """Node id to index into `rows`."""
        return id_map(self._tape, np.arange(len(self.rows)))

    @cached_property
    def lanes(self) -> Lanes:
        """The lanes beside the tape, with one row per node."""
        return Lanes.of(self.recording.nodes, Rows.single(self.rows), self.uses)

    @cached_property
    def uses(self) -> Uses:
        """Which node of the tape uses which value."""
        return Uses.of(self.recording.nodes, self.rows)

    @cached_property
    def versions(self) -> Versions:
        """The versions in the recording, which all of its timelines share."""
        known = (one for one in self.recent.values() if "versions" in vars(one))
        return next((one.versions for one in known), None) or Versions(self.recording)

    @cached_property
    def forward(self) -> Sequence[int]:
        """The operations recorded before this pass began, in execution order."""
        return ids_of(self._tape[self._is_forward])

    @cached_property
    def forward_at(self) -> Mapping[int, int]:
        """Node id to the moment that records it, for operations."""
        return id_map(as_integers(self.forward), np.arange(1, len(self.forward) + 1))

    def moments_of(self, nodes: Iterable[int]) -> tuple[list[int], list[int]]:
        """The moments that record these nodes, and those that evaluate them; ascending."""
        start, forward_at, step_of = len(self.forward), self.forward_at, self.step_of
        nodes = tuple(nodes)
        forward = sorted(forward_at[node] for node in nodes if node in forward_at)
        return forward, sorted(start + step_of[node].index + 1 for node in nodes if node in step_of)

    @cached_property
    def calls(self) -> Mapping[int, tuple[int, ...]]:
        """Moment to the calls of the user's functions in it, by their index in `Recording.calls`; in order of time."""
        found: dict[int, list[int]] = {}
        index, start = self.pass_.index if self.pass_ is not None else None, len(self.forward)
        calls = self.recording.calls
        for one in calls:
            if not one.steps:
                continue  # the recording ends before its function has begun
            is_inner = (
                one.outer is not None and calls[one.outer].pass_ == one.pass_
            )  # its step in that call leads to it
            if one.kind in IN_FORWARD and one.node is not None and one.node in self.forward_at:
                found.setdefault(self.forward_at[one.node], []).append(one.id)
            elif one.pass_ is not None and one.pass_ == index and one.step is not None and not is_inner:
                found.setdefault(min(start + one.step + 1, self.last), []).append(one.id)
        return {moment: tuple(calls) for moment, calls in found.items()}

    @property
    def last(self) -> int:
        """The last moment."""
        return len(self.forward) + len(self.steps)

    def evaluated_at(self, node: int) -> int | None:
        """The index of the step that evaluates the node, or None."""
        step = self.step_of.get(node)
        return None if step is None else step.index

    @cached_property
    def by_name(self) -> Mapping[str, frozenset[int]]:
        """The user's names to the nodes of the tape that have them."""
        tensors, found = self.recording.tensors, dict[str, set[int]]()
        for node in self.rows:
            record = self.node(node)
            outputs = (ref.tensor for ref in record.outputs if ref is not None)
            for tensor in outputs if record.variable is None else (record.variable,):
                for name in tensors[tensor].names:
                    found.setdefault(name, set()).add(node)
        return {name: frozenset(nodes) for name, nodes in found.items()}

    @cached_property
    def forward_row(self) -> Integers:
        """For every n, the number of rows after the first n operations."""
        counts = np.append(0, np.flatnonzero(self._is_forward) + 1)
        counts[-1] = max(counts[-1], len(self.rows) - len(self.made_at))
        return small(counts)

    @cached_property
    def swept(self) -> Integers:
        """For every n, the topmost row of an operation that backward has reached after n steps."""
        reached = np.where(self._is_leaf[self._step_rows], len(self.rows), self._step_rows)
        return small(np.minimum.accumulate(np.append(len(self.rows), reached)))

    @property
    def leaf_steps(self) -> Integers:
        """The indices of the steps that evaluate leaves."""
        return np.flatnonzero(self._is_leaf[self._step_rows])

    @cached_property
    def evaluated(self) -> Integers:
        """For each row, the index of the step that evaluates its node.

        It is beyond all steps for a node that is not evaluated or that the pass records itself.
        """
        found = np.full(len(self.rows), len(self.steps))
        found[self._step_rows] = np.arange(len(self.steps))
        found[self._is_made] = len(self.steps)
        return small(found)

    # The columns from which these are computed

    @cached_property
    def _tape(self) -> Integers:
        """The nodes of the rows."""
        return small(np.array(self.rows, np.int64))

    @cached_property
    def _is_leaf(self) -> npt.NDArray[np.bool_]:
        """For each row, whether it is that of a leaf."""
        return are(picked(self.recording.nodes, self.rows), "kind", "accumulate")

    @cached_property
    def _is_made(self) -> npt.NDArray[np.bool_]:
        """For each row, whether the pass itself records its node."""
        return np.isin(self._tape, list(self.made_at))

    @cached_property
    def _is_forward(self) -> npt.NDArray[np.bool_]:
        """For each row, whether it is that of an operation recorded before this pass began."""
        return ~self._is_leaf & ~self._is_made

    @cached_property
    def _step_rows(self) -> Integers:
        """For each step, the row of its node."""
        return small(np.searchsorted(self._tape, small(integers(self.steps, "node"))))

    @cached_property
    def seeded(self) -> Mapping[int, tuple[Arrival, ...]]:
        """Node id to the seeds in its buffer."""
        found: dict[int, tuple[Arrival, ...]] = {}
        if self.pass_ is not None:
            for root, seed in zip(self.pass_.roots, self.pass_.seeds, strict=True):
                if root.node is not None:
                    left = self.pass_.dependencies.get(root.node, 0)
                    arrival = Arrival(SEED, None, root.input_nr, seed, seed, left)
                    found[root.node] = (*found.get(root.node, ()), arrival)
        return found

    def arrived(self, node: int, steps_done: int) -> Arrivals:
        """The gradients that have arrived in the node's buffer after that many steps."""
        came = self.received(node).before(steps_done) if steps_done else 0
        return Arrivals(self, node, len(self.seeded.get(node, ())) + came)

    def waiting(self, steps_done: int) -> tuple[int, ...]:
        """After that many steps, the nodes with a partly filled buffer, in order of their first arrival."""
        start, snapshots = steps_done // SNAPSHOT_EVERY, self._waiting_snapshots
        while len(snapshots) <= start:
            found = dict.fromkeys(snapshots[-1])
            self._update_waiting(found, (len(snapshots) - 1) * SNAPSHOT_EVERY, len(snapshots) * SNAPSHOT_EVERY)
            snapshots.append(tuple(found))
        found = dict.fromkeys(snapshots[start])
        self._update_waiting(found, start * SNAPSHOT_EVERY, steps_done)
        return tuple(found)

    @cached_property
    def _waiting_snapshots(self) -> list[tuple[int, ...]]:
        """The waiting nodes after every `SNAPSHOT_EVERY` steps, as far as requested."""
        roots = self.pass_.roots if self.pass_ else ()
        seeded = (root.node for root in roots if root.node is not None)
        return [tuple(dict.fromkeys(node for node in seeded if self.seeded[node][0].dependencies_left))]

    def _update_waiting(self, waiting: dict[int, None], start: int, stop: int) -> None:
        """Apply the steps from `start` up to, not including, `stop`."""
        sent = self.deliveries
        some = between(sent.step, start, stop)
        for node, left in zip(sent.node[some].tolist(), sent.left[some].tolist(), strict=True):
            if left:
                waiting[node] = None
            else:
                waiting.pop(node, None)

    def prepare(self) -> None:
        """Build the indices that the first step needs, before the user waits for it."""
        for node in self.rows[:1]:
            self.arrived(node, len(self.steps))
        self.waiting(len(self.steps))
        self.ready(len(self.steps))

    def made_by(self, ref: TensorRef) -> tuple[int, int] | None:
        """The node that computed a tensor at a version, and the index of its output.

        Usually the tensor's own node answers this; after a write in place, an earlier one.
        """
        nodes, last = self.recording.nodes, self.recording.tensors[ref.tensor].node
        for node in (*(() if last is None else (last,)), *self._makers.get(ref.tensor, ())):
            if ref in nodes[node].outputs:
                return node, nodes[node].outputs.index(ref)
        return None

    @cached_property
    def _makers(self) -> Mapping[int, list[int]]:
        """Tensor to the nodes that computed it at some version, the last one first: all but its own node."""
        found: dict[int, list[int]] = {}
        sizes, outputs = inside(self.recording.nodes, "outputs")
        tensor, node = integers(outputs, "tensor"), np.repeat(np.arange(len(sizes)), sizes)
        tensor, node = tensor[tensor != NONE], node[tensor != NONE]
        earlier = np.flatnonzero(integers(self.recording.tensors, "node")[tensor] != node)[::-1]
        for one, maker in zip(tensor[earlier].tolist(), node[earlier].tolist(), strict=True):
            found.setdefault(one, []).append(maker)
        return found

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """The tensors whose AccumulateGrad the pass evaluates, in tape order."""
        leaf = integers(picked(self.recording.nodes, self.pass_.nodes if self.pass_ else ()), "variable")
        return tuple(leaf[leaf != NONE].tolist())

    @property
    def operations(self) -> int:
        """How many operations the pass evaluates."""
        return len(self.pass_.nodes) - len(self.leaves) if self.pass_ else 0

    @cached_property
    def collectors(self) -> tuple[int, ...]:
        """The ids of the tensors that collect a gradient: the leaves in tape order, then other requested tensors."""
        leaves = (self.node(node).variable for node in compress(self.rows, self._is_leaf.tolist()))
        asked = (capture.tensor for capture in self.pass_.captures) if self.pass_ else ()
        return tuple(dict.fromkeys([*(leaf for leaf in leaves if leaf is not None), *asked]))

    @cached_property
    def leaf_ref(self) -> Mapping[int, TensorRef]:
        """Leaf tensor id to the version that this tape's operations used first, for leaves that have a row.

        Of a leaf that no operation uses, the version that the pass begins at.
        """
        nodes, refs = self.recording.nodes, dict[int, TensorRef]()
        wanted = {nodes[node].variable for node in compress(self.rows, self._is_leaf.tolist())}
        for node in self.rows:
            for ref, _ in nodes[node].operands:
                if ref is not None and ref.tensor in wanted:
                    refs[ref.tensor] = ref
                    wanted.remove(ref.tensor)
            if not wanted:
                break
        roots = self.pass_.root_tensors if self.pass_ is not None else ()
        return {ref.tensor: ref for ref in roots if ref is not None and ref.tensor in wanted} | refs

    def node(self, node: int) -> NodeRecord:
        """The node's record."""
        return self.recording.nodes[node]
