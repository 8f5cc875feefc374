"""What was noted of a pass while it ran, and the record that is made of it. See Note [What is noted, ...]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

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
from microtape.recording.pytorch.graph import NodeEdge
from microtape.recording.pytorch.notes import GraphNode, Version
from microtape.recording.pytorch.passes.buffers import Sums
from microtape.recording.pytorch.passes.schedule import Schedule
from microtape.recording.pytorch.saved import Saved
from microtape.recording.pytorch.tape import Tape

_NONE: Mapping[int, Value | None] = {}


class StepNotes:
    """What was noted of a node that ran, or failed. What few steps have is the class's for all others."""

    __slots__ = ("__dict__", "arrived", "key", "sent")

    totals = _NONE  # by output: the sum in the receiver's buffer, where numpy cannot add
    calls: tuple[HookCall, ...] = ()
    is_changed = False  # whether hooks may have changed what arrived
    grad_before: Value | None = None
    grad_after: Value | None = None
    is_failed = False  # whether it failed before it had sent anything
    saved: Sequence[Saved] | None = None  # what it had saved, if some of it was overwritten since it was read
    error: ErrorRecord | None = None

    def __init__(self, key: GraphNode, arrived: Sequence[Value | None], sent: Sequence[Value | None]) -> None:
        self.key, self.arrived, self.sent = key, arrived, sent

    def note_total(self, output: int, total: Value | None) -> None:
        """Note a sum that numpy cannot add up; None: it will be known when it arrives."""
        self.totals = {**self.totals, output: total}


class Asked(NamedTuple):
    """A gradient that the program asked for: of this tensor."""

    tensor: Version
    value: Value | None
    edge: NodeEdge | None  # in the place of the value: where it arrives


class PassNotes:
    """A pass that has ended, or has come so far."""

    def __init__(
        self,
        index: int,
        kind: Literal["backward", "grad"],
        place: Place | None,
        schedule: Schedule,
        *,
        roots: Sequence[Version | None],
        seeds: Sequence[Value | None],
        grads: Mapping[GraphNode, Value],
        reached: int,
        retain_graph: bool,
        create_graph: bool,
    ) -> None:
        self.index, self.kind, self.place = index, kind, place
        self.retain_graph, self.create_graph = retain_graph, create_graph
        self.steps: list[StepNotes] = []
        self.asked: tuple[Asked, ...] = ()
        self.error: ErrorRecord | None = None
        self._schedule = schedule
        self.seeds = seeds
        self._roots, self._grads = roots, grads
        self._reached = reached  # how much was in the log of what was reached when it began
        self._record: Pass | None = None

    @property
    def has_failed(self) -> bool:
        """Whether it ended with an exception."""
        return self.error is not None and self.error.type != CUT_SHORT

    def record(self, tape: Tape) -> Pass:
        """The record of a pass that has ended, with the numbers of this tape, on which all is numbered."""
        if self._record is None:
            self._record = self.record_so_far(tape)
        return self._record

    def record_so_far(self, tape: Tape) -> Pass:
        """The record of a pass that may go on."""
        schedule, ids = self._schedule, tape.ids
        left = schedule.dependencies()
        dependencies = {ids[key]: count for key, count in left.items()}
        ready = tuple([ids[key] for key in schedule.ready(left)])
        maker = _Steps(self, tape, left)
        for edge, seed in zip(schedule.roots, self.seeds, strict=True):
            maker.sums.add(edge, seed)
        for step in self.steps:
            maker.add(step)
        return Pass(
            index=self.index,
            kind=self.kind,
            place=self.place,
            roots=tuple([EdgeRecord(ids[key], nr) for key, nr in schedule.roots]),
            root_tensors=tuple([tape.ref(one) if one is not None else None for one in self._roots]),
            seeds=tuple(self.seeds),
            retain_graph=self.retain_graph,
            create_graph=self.create_graph,
            captures=tuple([Capture(tape.ref(one.tensor).tensor, maker.captured(one)) for one in self.asked]),
            tape=tape.length_at(self._reached),
            nodes=tuple(sorted(dependencies)),
            dependencies=dependencies,
            ready=ready,
            grads={tape.nodes[ids[key]].variable: grad for key, grad in self._grads.items()},  # type: ignore[misc]
            steps=tuple(maker.steps),
            error=self.error,
        )


class _Steps:
    """Makes the records of the steps of a pass."""

    def __init__(self, notes: PassNotes, tape: Tape, left: dict[GraphNode, int]) -> None:
        self._notes, self._tape, self._left = notes, tape, left
        self._edges, self._runs = notes._schedule.edges, notes._schedule.runs
        self.sums = Sums()
        self.steps: list[BackwardStep] = []
        self._last: dict[NodeEdge, tuple[int, int]] = {}  # the last delivery into a buffer, if its sum is not known

    def add(self, step: StepNotes) -> None:
        """Add the next step."""
        tape = self._tape
        number = tape.ids[step.key]
        entry = tape.nodes[number]
        saved = step.saved if step.saved is not None else entry.saved
        uses = tuple([SavedUse(one.name, tape.ref((one.tensor, one.version)), one.value, one.now) for one in saved])
        arrived = step.arrived
        if step.is_failed:
            known = [self.sums.pop((step.key, i)) for i in range(max([1, *(nr + 1 for nr in step.key.outputs)]))]
            arrived = step.arrived if len(known) == len(step.arrived) == 1 else known
        else:
            for i, value in enumerate(arrived):
                self._arrive((step.key, i), value, step)
        deliveries: Sequence[Delivery] = ()
        if step.sent and (not step.is_failed) and step.error is None:
            deliveries = self._deliver(step)
        frees = not self._notes.retain_graph and bool(entry.saved) and not step.is_failed
        self.steps.append(
            BackwardStep(
                len(self.steps), number, tuple(arrived), uses, tuple(step.sent), tuple(deliveries), step.grad_before,
                step.grad_after, frees, step.calls, (), step.error,
            )
        )  # fmt: skip

    def _arrive(self, buffer: NodeEdge, value: Value | None, step: StepNotes) -> None:
        """A sum that was not added up is known when it arrives."""
        self.sums.pop(buffer)
        last = self._last.pop(buffer, None)
        if last is not None and value is not None and not step.is_changed:
            index, position = last
            deliveries = list(self.steps[index].deliveries)
            deliveries[position] = deliveries[position]._replace(total=value)
            self.steps[index] = self.steps[index]._replace(deliveries=tuple(deliveries))

    def _deliver(self, step: StepNotes) -> list[Delivery]:
        """Gradients travel along the node's edges."""
        found: list[Delivery] = []
        for output, edge in enumerate(self._edges[step.key]):
            to, input_nr = edge
            if to is None or to not in self._runs:
                continue
            left = self._left[to] = self._left[to] - 1
            term = step.sent[output]
            if output in step.totals:
                before, total = self.sums.put(edge, term, step.totals[output])
            else:
                before, total = self.sums.add(edge, term)
            if total is None and term is not None:
                self._last[edge] = len(self.steps), len(found)
            found.append(Delivery(output, self._tape.ids[to], input_nr, term, before, total, left))
        return found

    def captured(self, asked: Asked) -> Value | None:
        """The value of a gradient that was asked for."""
        if asked.edge is None:
            return asked.value
        key, output_nr = asked.edge
        number = self._tape.ids.get(key) if key is not None else None
        for step in self.steps:
            if step.node == number:
                return step.grad_outputs[output_nr] if output_nr < len(step.grad_outputs) else None
        return self.sums.sum_in(asked.edge)
