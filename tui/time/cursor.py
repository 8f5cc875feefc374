"""A position in a recording, and the state at that moment. Moving it runs no code of the program.

A `StepCursor` is immutable. A step returns another cursor on the same timeline, so a step back costs no more than a
step forward, and a view can compare a cursor with the previous one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from microtape.recording.model.contracts import output_name
from microtape.recording.model.model import BackwardStep, Delivery, Recording, TensorRef, Value
from tui.time.node_names import names, nodes_named, not_here
from tui.time.phases import Phase, PhaseKind, phases
from tui.time.timeline import Arrivals, Timeline

if TYPE_CHECKING:
    import numpy.typing as npt

State: TypeAlias = Literal["done", "current", "future", "made", "outside"]
"""The state of a node: has run, has just run, will run, was recorded by this pass itself, or is not part of it."""

LeafState: TypeAlias = Literal["no part", "none yet", "partial", "waiting", "complete"]
"""The state of a leaf's gradient. waiting: every term has arrived, and AccumulateGrad has not run yet."""


@dataclass(frozen=True, slots=True)
class LeafStatus:
    """How much of a leaf's gradient has arrived. `grad` is its `.grad` at this moment."""

    tensor: int
    state: LeafState
    arrived: int
    expected: int
    total: Value | None  # the sum of the terms that have arrived in this pass
    grad: Value | None
    captured: bool  # requested by grad() or inputs=, so grad() returns it instead of accumulating it


@dataclass(frozen=True)
class StepCursor:
    """A moment of one pass: `position` counts the forward operations first, then the backward steps.

    `part` is set inside the step that ends at `position`: it is the index of the last phase that is over. None means
    the end of the step. Moving never fails; a cursor stops at either end. With `hides_next` the cursor does not reveal
    what runs next, so that a lesson can ask the reader to predict it.
    """

    timeline: Timeline
    position: int
    part: int | None = None
    hides_next: bool = False

    @classmethod
    def open(cls, recording: Recording, pass_index: int = 0) -> StepCursor:
        """The first moment to show: the call of backward or, if it failed, the failure."""
        return cls.on(Timeline(recording, pass_index))

    @classmethod
    def on(cls, timeline: Timeline) -> StepCursor:
        """Like `open`, on an existing timeline."""
        failed = timeline.pass_ is not None and timeline.pass_.has_failed
        return cls(timeline, timeline.last if failed else len(timeline.forward))

    @classmethod
    def after(cls, recording: Recording, steps: int, pass_index: int = 0) -> StepCursor:
        """After that many backward steps of the pass; 0 is before the first step."""
        timeline = Timeline(recording, pass_index)
        return cls(timeline, len(timeline.forward) + min(max(steps, 0), len(timeline.steps)))

    # Moving

    def move(self, moments: int) -> StepCursor:
        """Move forward, or back if negative. From inside a step, the first moment forward is the end of the step."""
        if self.part is not None and moments > 0:
            moments -= 1
        return self._at(min(max(self.position + moments, 0), self.timeline.last))

    def _at(self, position: int) -> StepCursor:
        return replace(self, position=position, part=None)

    def move_inside(self, by: Literal[1, -1]) -> StepCursor:
        """The next or previous moment inside a step; in the forward part, a whole operation."""
        if by > 0:
            if self.part is None:
                return self.move(1)._enter(0)
            return self._enter(self.part + 1)
        if self.part is None:
            inner = len(self.phases) - 2
            return self._enter(inner) if inner >= 0 else self.move(-1)
        return self._enter(self.part - 1) if self.part else self.move(-1)

    def _enter(self, part: int) -> StepCursor:
        """The moment after that phase of the step; after its last phase, the step's end."""
        return replace(self, part=part if part < len(self.phases) - 1 else None)

    def forward(self) -> StepCursor:
        """The next moment."""
        return self.move(1)

    def back(self) -> StepCursor:
        """The previous moment."""
        return self.move(-1)

    def home(self) -> StepCursor:
        """The call of backward; from there, the moment before the first operation."""
        start = len(self.timeline.forward)
        return self._at(start if self.position > start else 0)

    def end(self) -> StepCursor:
        """The moment after the last step."""
        return self._at(self.timeline.last)

    def to_pass(self, index: int) -> StepCursor:
        """Another pass of the recording, at the moment where `open` begins. The index is clamped."""
        index = min(max(index, 0), max(len(self.timeline.recording.passes) - 1, 0))
        if index == self.timeline.pass_index:
            return self
        return replace(StepCursor.on(self.timeline.of_pass(index)), hides_next=self.hides_next)

    def goto(self, target: str) -> StepCursor:
        """The next moment of a node: by number (`12`, `%12`), line (`:7`), name, module (`encoder.2`) or operation.

        The search starts here and wraps around. In the backward part it looks for the step that evaluates the node, in
        the forward part for the operation that records it; without a match, in the other part.

        Raises:
            LookupError: nothing matches; the message is for the user.
        """
        found = self.find(target)
        moment = self.next_of(found)
        if moment is None:
            raise LookupError(f"{target.strip()!r} has no step in this pass" if found
                              else not_here(self.timeline, target))  # fmt: skip
        return self._at(moment)

    def next_of(self, nodes: Collection[int]) -> int | None:
        """The next moment of any of these nodes, as in `goto`; None if they have none."""
        moments = self.moments_of(nodes)
        return next((m for m in moments if m > self.position), moments[0]) if moments else None

    def moments_of(self, nodes: Collection[int]) -> Sequence[int]:
        """The moments of these nodes, ascending, in this part of the pass (forward or backward), else in the other."""
        forward, backward = self.timeline.moments_of(nodes)
        return (forward or backward) if self.is_forward else (backward or forward)

    def to_moment(self, moment: int) -> StepCursor:
        """The moment with that number, clamped to the first and the last."""
        return self._at(min(max(moment, 0), self.timeline.last))

    def find(self, target: str) -> frozenset[int]:
        """The nodes that a text names, as in `goto`; empty if it names nothing."""
        return nodes_named(self.timeline, target)

    def goto_node(self, node: int) -> StepCursor:
        """The step that evaluates this node, else the operation that records it, else the cursor itself."""
        try:
            return self.goto(f"%{node}")
        except LookupError:
            return self

    # The moment

    @property
    def recording(self) -> Recording:
        """The recording of the timeline."""
        return self.timeline.recording

    @property
    def is_forward(self) -> bool:
        """Whether the moment is in the forward part, before backward was called."""
        return self.position < len(self.timeline.forward)

    @cached_property
    def steps_done(self) -> int:
        """The number of backward steps done."""
        return max(self.position - len(self.timeline.forward), 0)

    @cached_property
    def step(self) -> BackwardStep | None:
        """The backward step just done."""
        return self.timeline.steps[self.steps_done - 1] if self.steps_done else None

    @cached_property
    def node(self) -> int | None:
        """The node of the step just done, or the operation just recorded; None before either begins."""
        if self.is_forward:
            return self.timeline.forward[self.position - 1] if self.position else None
        return self.step.node if self.step else None

    @property
    def next_node(self) -> int | None:
        """The node of the next moment, None at the end."""
        if self.is_forward:
            return self.timeline.forward[self.position]
        return self.timeline.steps[self.steps_done].node if self.position < self.timeline.last else None

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """The phases of the current step; empty without a step."""
        return phases(self.timeline.node(self.step.node), self.step) if self.step else ()

    @property
    def phase(self) -> Phase | None:
        """The phase just done; None at the end of a step and outside a step."""
        return None if self.part is None else self.phases[self.part]

    def is_over(self, kind: PhaseKind) -> bool:
        """Whether the (last) phase of that kind is over in the current step."""
        if self.part is None:
            return True
        return all(phase.kind != kind for phase in self.phases[self.part + 1 :])

    @cached_property
    def deliveries(self) -> tuple[Delivery, ...]:
        """The deliveries of the current step so far."""
        if self.step is None or self.part is None:
            return self.step.deliveries if self.step else ()
        return self.step.deliveries[: sum(one.kind == "deliver" for one in self.phases[: self.part + 1])]

    @property
    def focus(self) -> int | None:
        """The node to show: the current one, else the next one, else None."""
        return self.node if self.node is not None or self.hides_next else self.next_node

    @property
    def frontier(self) -> int:
        """The row between past and future. In backward, it and the rows below are past; in forward, the rows above."""
        timeline = self.timeline
        return int(timeline.forward_row[self.position] if self.is_forward else timeline.swept[self.steps_done])

    # The state at this moment

    def state(self, node: int) -> State:
        """The state of a node."""
        timeline = self.timeline
        if node == self.node:
            return "current"
        if (made := timeline.made_at.get(node)) is not None:
            return "made" if made < self.steps_done else "future"
        if self.is_forward:
            return "done" if timeline.row_of[node] < self.frontier else "future"
        evaluated = timeline.evaluated_at(node)
        if evaluated is not None:
            return "done" if evaluated < self.steps_done else "future"
        return "future" if timeline.pass_ and node in timeline.pass_.dependencies else "outside"

    def count_done(self, rows: npt.NDArray[np.int64]) -> int:
        """How many nodes of these rows of the tape are done or current."""
        runs = rows < self.frontier if self.is_forward else self.timeline.evaluated[rows] < self.steps_done
        return int(np.count_nonzero(runs))

    def exists(self, node: int) -> bool:
        """Whether the node has been recorded."""
        if (made := self.timeline.made_at.get(node)) is not None:
            return made < self.steps_done
        row = self.timeline.row_of.get(node)  # None: it belongs to the pass around this one
        return not self.is_forward or row is None or row < self.frontier

    @property
    def delivered_to(self) -> frozenset[int]:
        """The nodes to which the current step has delivered."""
        return frozenset(one.node for one in self.deliveries)

    @cached_property
    def ready(self) -> tuple[int, ...]:
        """The ready queue, next node first; in tape order if the next node is hidden."""
        if self.is_forward or self.timeline.pass_ is None:
            return ()
        queue = self.timeline.ready(self.steps_done)
        if self.step is not None and self.part is not None:
            before = self.timeline.ready(self.steps_done - 1)
            here = {*before, *(one.node for one in self.deliveries if not one.dependencies_left)}
            queue = tuple(node for node in queue if node in here)
        return tuple(sorted(queue)) if self.hides_next else queue

    @property
    def waiting(self) -> tuple[int, ...]:
        """The nodes that have received some terms and wait for more, in order of their first arrival."""
        if self.part is None:
            return self.timeline.waiting(self.steps_done)
        found = dict.fromkeys(self.timeline.waiting(self.steps_done - 1))
        for one in self.deliveries:
            if one.dependencies_left:
                found[one.node] = None
            else:
                found.pop(one.node, None)
        return tuple(found)

    def arrived(self, node: int) -> Arrivals:
        """The gradients that have arrived in a node's input buffer, the seed included."""
        if self.is_forward:
            return Arrivals(self.timeline, node, 0)
        if self.part is None or self.step is None:
            return self.timeline.arrived(node, self.steps_done)
        before = self.timeline.arrived(node, self.steps_done - 1)
        now = sum(one.node == node for one in self.deliveries)
        return self.timeline.arrived(node, self.steps_done).first(len(before) + now)

    def dependencies_left(self, node: int) -> int:
        """The number of deliveries for which the node still waits."""
        arrived = self.arrived(node)
        dependencies = self.timeline.pass_.dependencies if self.timeline.pass_ else {}
        return arrived[-1].dependencies_left if arrived else dependencies.get(node, 0)

    def buffer(self, node: int) -> dict[int, Value | None]:
        """The sums in a node's input buffer, by input number; once the node has run, the sums that it received."""
        found: dict[int, Value | None] = {}
        inputs = max(len(self.timeline.node(node).outputs), 1)
        for one in reversed(self.arrived(node)):  # the last sum of each input; a weight may have thousands of terms
            found.setdefault(one.input_nr, one.total)
            if len(found) == inputs:
                break
        return dict(sorted(found.items()))

    def has_run(self, node: int) -> bool:
        """Whether backward has evaluated the node."""
        at = self.timeline.evaluated_at(node)
        return at is not None and at < self.steps_done

    def output_shown(self, node: int) -> int:
        """The number of the output whose gradient stands for the node's: the first for which one has arrived."""
        if len(self.timeline.node(node).outputs) < 2:
            return 0
        return min((one.input_nr for one in self.arrived(node) if one.term is not None), default=0)

    def gradient(self, node: int) -> Value | None:
        """The gradient so far of the output that `output_shown` chooses; None if nothing has arrived."""
        number = self.output_shown(node)
        if not self.has_run(node):
            return self.buffer(node).get(number)
        outputs = self.timeline.step_of[node].grad_outputs
        return outputs[number] if number < len(outputs) else None

    def value(self, node: int) -> Value | None:
        """The value of a node's (first) output or of its leaf; None if it is not computed yet or was not kept."""
        record = self.timeline.node(node)
        if record.variable is not None:
            return self.recording.value(self.timeline.leaf_ref.get(record.variable))
        return self.recording.value(record.outputs[0]) if record.outputs and self.exists(node) else None

    def overwritten(self, node: int) -> Value | None:
        """The value that an in-place operation has overwritten; None for other operations or if it was not kept."""
        record = self.timeline.node(node)
        if not record.in_place or not record.operands or not self.exists(node):
            return None
        written = record.operands[0].ref
        if record.kind == "function":  # it may have written to another argument
            result = record.outputs[0].tensor if record.outputs and record.outputs[0] is not None else None
            refs = [one.ref for one in record.operands if one.ref is not None]
            written = next((ref for ref in refs if ref.tensor == result), None)
        return self.recording.value(written)

    def leaf(self, tensor: int) -> LeafStatus:
        """How much of a leaf's gradient has arrived."""
        record, pass_ = self.recording.tensors[tensor], self.timeline.pass_
        node = record.node
        if pass_ is None or node is None:
            return LeafStatus(tensor, "no part", 0, 0, None, None, captured=False)
        captured = any(capture.tensor == tensor for capture in pass_.captures)
        arrived, left = self.arrived(node), self.dependencies_left(node)
        grad = pass_.grads.get(tensor)
        state: LeafState = "partial"
        if node not in pass_.dependencies:
            state = "no part"
        elif self.has_run(node) and (node != self.node or self.part is None):
            state = "complete"
            grad = self.timeline.step_of[node].grad_after if record.is_leaf else grad
        elif not arrived:
            state = "none yet"
        elif not left:
            state = "complete" if captured and pass_.kind == "grad" else "waiting"
        return LeafStatus(tensor, state, len(arrived), len(arrived) + left, self.gradient(node), grad, captured)

    # Names

    def names(self, node: int) -> tuple[str, ...]:
        """All the user's names for a node's outputs, or for its leaf."""
        return names(self.timeline, node)

    def output_name(self, node: int, number: int) -> str:
        """The user's name for an output of a node, else `output 1`."""
        function = self.timeline.functions.get(node)
        return output_name(self.recording, self.timeline.node(node), number, function) or f"output {number}"

    def tensor_label(self, tensor: int) -> str:
        """The user's name for a tensor at any version, else the `%number` of its node."""
        record = self.recording.tensors[tensor]
        return record.name or ("a tensor" if record.node is None else f"%{record.node}")

    def tensor_name(self, ref: TensorRef) -> str:
        """A tensor's name: the user's, else the `%number` of the node that computed it, else empty."""
        name = self.recording.tensors[ref.tensor].name
        made = self.timeline.made_by(ref)
        return name or ("" if made is None else f"%{made[0]}")
