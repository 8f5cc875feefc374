"""A place in a recording's time: moving it runs nothing, and everything that was true there can be asked.

A `StepCursor` is immutable. Stepping gives another cursor on the same timeline, so stepping back is as cheap as
stepping on, and a view that was handed a cursor can compare it with the one before.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from microtape.recording.model.model import BackwardStep, Delivery, Recording, TensorRef, Value
from tui.time.naming import named, names
from tui.time.phases import Phase, PhaseKind, phases
from tui.time.timeline import Arrivals, Timeline

if TYPE_CHECKING:
    import numpy.typing as npt

State: TypeAlias = Literal["done", "current", "future", "made", "outside"]
"""Of a node: has run, has run just now, will run, was recorded by this pass itself, or has no part in it."""


LeafState: TypeAlias = Literal["no part", "none yet", "partial", "waiting", "complete"]
"""Of a leaf's gradient: waiting means that every term has come and AccumulateGrad has not run yet."""


@dataclass(frozen=True, slots=True)
class LeafStatus:
    """How far a leaf's gradient has come. `state` is the word for it, `grad` its `.grad` at this moment."""

    tensor: int
    state: LeafState
    arrived: int
    expected: int
    total: Value | None  # of what has arrived in this pass
    grad: Value | None
    captured: bool  # asked for by grad() or inputs=, so it may be returned rather than accumulated


@dataclass(frozen=True)
class StepCursor:
    """A moment of one pass: `position` counts the forward operations first, then the backward steps.

    A moment inside of the step that ends at `position` has `part`, the number of its last phase that is over; None is
    the step's end. Moving never fails: a cursor stops at either end. With `hides_next` nobody who asks the cursor is
    told what will run next, so that a reader can be asked to predict it.
    """

    timeline: Timeline
    position: int
    part: int | None = None
    hides_next: bool = False

    @classmethod
    def open(cls, recording: Recording, pass_index: int = 0) -> StepCursor:
        """Where a reader wants to begin: where backward was called, or where it failed."""
        return cls.on(Timeline(recording, pass_index))

    @classmethod
    def on(cls, timeline: Timeline) -> StepCursor:
        """The same on a timeline that is there already."""
        failed = timeline.pass_ is not None and timeline.pass_.error is not None
        return cls(timeline, timeline.last if failed else len(timeline.forward))

    @classmethod
    def after(cls, recording: Recording, steps: int, pass_index: int = 0) -> StepCursor:
        """After that many backward steps of the pass; 0 is before the first."""
        timeline = Timeline(recording, pass_index)
        return cls(timeline, len(timeline.forward) + min(max(steps, 0), len(timeline.steps)))

    # Moving

    def move(self, moments: int) -> StepCursor:
        """That many moments on, or back where negative. Out of the inside of a step, the first one leads to its end."""
        if self.part is not None and moments > 0:
            moments -= 1
        return self._at(min(max(self.position + moments, 0), self.timeline.last))

    def _at(self, position: int) -> StepCursor:
        return replace(self, position=position, part=None)

    def move_inside(self, by: Literal[1, -1]) -> StepCursor:
        """The next moment inside of a step, or the one before; among the user's operations, a whole one."""
        if by > 0:
            if self.part is None:
                return self.move(1)._enter(0)
            return self._enter(self.part + 1)
        if self.part is None:
            inner = len(self.phases) - 2
            return self._enter(inner) if inner >= 0 else self.move(-1)
        return self._enter(self.part - 1) if self.part else self.move(-1)

    def _enter(self, part: int) -> StepCursor:
        """The moment after that phase of the step that ends here; after the last one, the step's end."""
        return replace(self, part=part if part < len(self.phases) - 1 else None)

    def forward(self) -> StepCursor:
        """The next moment."""
        return self.move(1)

    def back(self) -> StepCursor:
        """The moment before."""
        return self.move(-1)

    def home(self) -> StepCursor:
        """Where backward was called; from there, before the first operation."""
        start = len(self.timeline.forward)
        return self._at(start if self.position > start else 0)

    def end(self) -> StepCursor:
        """After the last step."""
        return self._at(self.timeline.last)

    def to_pass(self, index: int) -> StepCursor:
        """Another pass of the recording, at its beginning. An index beyond the ends stops there."""
        index = min(max(index, 0), max(len(self.timeline.recording.passes) - 1, 0))
        if index == self.timeline.pass_index:
            return self
        return replace(StepCursor.on(self.timeline.of_pass(index)), hides_next=self.hides_next)

    def goto(self, target: str) -> StepCursor:
        """To the next moment of a node: by number (`12`, `%12`), line (`:7`), the user's name or the operation's.

        The search goes on from here and around the end. In the backward part it looks for the step that evaluates the
        node, in the forward part for the operation that records it; and in the other part where there is none.

        Raises:
            LookupError: nothing matches; the message is for the user.
        """
        found = self.find(target)
        moment = self.next_of(found)
        if moment is None:
            raise LookupError(f"{target.strip()!r} has no step in this pass" if found
                              else f"there is no {target.strip()!r} here")  # fmt: skip
        return self._at(moment)

    def next_of(self, nodes: Collection[int]) -> int | None:
        """The next moment of any of these nodes, as in `goto`; None where they have none."""
        forward, backward = self.timeline.moments_of(nodes)
        moments = (forward or backward) if self.is_forward else (backward or forward)
        return next((m for m in moments if m > self.position), moments[0]) if moments else None

    def to_moment(self, moment: int) -> StepCursor:
        """To the moment of that number; beyond the ends, to the end."""
        return self._at(min(max(moment, 0), self.timeline.last))

    def find(self, target: str) -> frozenset[int]:
        """The nodes that a text names, as in `goto`; none where it names nothing."""
        return named(self.timeline, target)

    def goto_node(self, node: int) -> StepCursor:
        """To the step that evaluates this node; where there is none, to the operation that records it, or nowhere."""
        try:
            return self.goto(f"%{node}")
        except LookupError:
            return self

    # Where we are

    @property
    def recording(self) -> Recording:
        """What the cursor is in."""
        return self.timeline.recording

    @property
    def is_forward(self) -> bool:
        """Among the user's operations, before backward was called."""
        return self.position < len(self.timeline.forward)

    @cached_property
    def steps_done(self) -> int:
        """How many backward steps have been done."""
        return max(self.position - len(self.timeline.forward), 0)

    @cached_property
    def step(self) -> BackwardStep | None:
        """The backward step that was just done."""
        return self.timeline.steps[self.steps_done - 1] if self.steps_done else None

    @cached_property
    def node(self) -> int | None:
        """The node of the step just done, or the operation just recorded; None before either begins."""
        if self.is_forward:
            return self.timeline.forward[self.position - 1] if self.position else None
        return self.step.node if self.step else None

    @property
    def next_node(self) -> int | None:
        """The node of the moment to come, None at the end."""
        if self.is_forward:
            return self.timeline.forward[self.position]
        return self.timeline.steps[self.steps_done].node if self.position < self.timeline.last else None

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """The moments inside of the step that ends here; none where there is no step."""
        return phases(self.timeline.node(self.step.node), self.step) if self.step else ()

    @property
    def phase(self) -> Phase | None:
        """The phase that is just over, None at the end of a step and outside of one."""
        return None if self.part is None else self.phases[self.part]

    def is_over(self, kind: PhaseKind) -> bool:
        """Whether the (last) phase of that kind is over, in the step that ends here."""
        if self.part is None:
            return True
        return all(phase.kind != kind for phase in self.phases[self.part + 1 :])

    @cached_property
    def deliveries(self) -> tuple[Delivery, ...]:
        """What the current step has delivered by now."""
        if self.step is None or self.part is None:
            return self.step.deliveries if self.step else ()
        return self.step.deliveries[: sum(one.kind == "deliver" for one in self.phases[: self.part + 1])]

    @property
    def focus(self) -> int | None:
        """The node to look at: the current one, else the one to come, else none."""
        return self.node if self.node is not None or self.hides_next else self.next_node

    @property
    def frontier(self) -> int:
        """The row where past meets future: backward has passed it and those below, the forward part those above it."""
        return self.timeline.forward_row[self.position] if self.is_forward else self.timeline.swept[self.steps_done]

    # What was true then

    def state(self, node: int) -> State:
        """What has become of a node by now."""
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
        """How many of the nodes that stand in these rows of the tape are done, or current."""
        runs = rows < self.frontier if self.is_forward else self.timeline.evaluated[rows] < self.steps_done
        return int(np.count_nonzero(runs))

    def exists(self, node: int) -> bool:
        """Whether the node has been recorded by now."""
        if (made := self.timeline.made_at.get(node)) is not None:
            return made < self.steps_done
        return not self.is_forward or self.timeline.row_of[node] < self.frontier

    @property
    def delivered_to(self) -> frozenset[int]:
        """The nodes that the current step handed a gradient to."""
        return frozenset(one.node for one in self.deliveries)

    @cached_property
    def ready(self) -> tuple[int, ...]:
        """The ready queue, next node first; in the order of the tape where what comes next is hidden."""
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
        """The nodes that have something in their buffer and wait for more, first come first."""
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
        """What has come into a node's input buffer, the seed included."""
        if self.is_forward:
            return Arrivals(self.timeline, node, 0)
        if self.part is None or self.step is None:
            return self.timeline.arrived(node, self.steps_done)
        before = self.timeline.arrived(node, self.steps_done - 1)
        now = sum(one.node == node for one in self.deliveries)
        return self.timeline.arrived(node, self.steps_done).first(len(before) + now)

    def dependencies_left(self, node: int) -> int:
        """How many deliveries the node still waits for."""
        arrived = self.arrived(node)
        dependencies = self.timeline.pass_.dependencies if self.timeline.pass_ else {}
        return arrived[-1].dependencies_left if arrived else dependencies.get(node, 0)

    def buffer(self, node: int) -> dict[int, Value | None]:
        """The sums in a node's input buffer by input number, or what was in it when the node ran."""
        found: dict[int, Value | None] = {}
        inputs = max(len(self.timeline.node(node).outputs), 1)
        for one in reversed(self.arrived(node)):  # the last sum of each; a weight may have had thousands of terms
            found.setdefault(one.input_nr, one.total)
            if len(found) == inputs:
                break
        return dict(sorted(found.items()))

    def has_run(self, node: int) -> bool:
        """Whether backward has evaluated the node by now."""
        at = self.timeline.evaluated_at(node)
        return at is not None and at < self.steps_done

    def gradient(self, node: int) -> Value | None:
        """The gradient of a node's (first) output so far; None where nothing has arrived."""
        ran = self.timeline.step_of[node] if self.has_run(node) else None
        outputs = tuple(self.buffer(node).values()) if ran is None else ran.grad_outputs
        return next((value for value in outputs if value is not None), None)

    def value(self, node: int) -> Value | None:
        """What a node's (first) output is, or the leaf's value; None before it was computed, and if it was not kept."""
        record = self.timeline.node(node)
        if record.variable is not None:
            return self.recording.value(self.timeline.leaf_ref.get(record.variable))
        return self.recording.value(record.outputs[0]) if record.outputs and self.exists(node) else None

    def leaf(self, tensor: int) -> LeafStatus:
        """How far the gradient of a leaf has come."""
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

    # What things are called

    def names(self, node: int) -> tuple[str, ...]:
        """All the user's names for a node's outputs, or for its leaf."""
        return names(self.timeline, node)

    def tensor_label(self, tensor: int) -> str:
        """The user's name for a tensor whatever its version, else the `%number` of its node."""
        record = self.recording.tensors[tensor]
        return record.name or ("a tensor" if record.node is None else f"%{record.node}")

    def tensor_name(self, ref: TensorRef) -> str:
        """A tensor's name: the user's, else the `%number` of the node that computed it, else nothing."""
        name = self.recording.tensors[ref.tensor].name
        made = self.timeline.made_by(ref)
        return name or ("" if made is None else f"%{made[0]}")
