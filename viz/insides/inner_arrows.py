"""Which step uses the result of which other step, and the rank of each: a later call is below an earlier one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from microtape.recording.model.model import Operand, Recording, TensorRef
from viz.basics.graph import ArrowKind
from viz.insides.inner_boxes import MOST_PORTS
from viz.insides.walk import InnerStep, Insides


class Source(NamedTuple):
    """Where a value came from: a step, and which of its ports."""

    step: int
    port: int | None


class Flow(NamedTuple):
    """An arrow: from a source, or from a tensor that no step computed, to a step."""

    source: Source | TensorRef
    head: int
    port: int | None  # of the head
    kind: ArrowKind


_Memory: TypeAlias = tuple[int, int]  # the tensor that owns the memory, and a version that a write made


@dataclass
class FlowFinder:
    """Follows the values through the steps. A call knows the values of the calls around it, and of earlier calls."""

    recording: Recording
    scopes: list[dict[TensorRef | _Memory, Source]] = field(default_factory=lambda: [{}])
    open: list[int] = field(default_factory=list)  # the ids of the calls that run
    flows: list[Flow] = field(default_factory=list)
    ranks: dict[int, int] = field(default_factory=dict)
    _first: list[int] = field(default_factory=list)  # of each call that runs, the rank of its beginning
    _begun: list[int] = field(default_factory=list)  # and that step

    def follow(self, insides: Insides) -> None:
        """Find all flows and ranks."""
        last: InnerStep | None = None
        for one in insides.steps:
            while self.open and self.open[-1] not in [call.id for call in one.path]:
                self._leave((), None)  # a call without an end: it was cut short
            if one.step.kind == "enter":
                if last is not None and not self.open:
                    self.flows.append(Flow(Source(last.number, None), one.number, None, "next"))
                self._enter(one)
            else:
                self._step(one)
            last = one

    def _enter(self, one: InnerStep) -> None:
        given = [var.value for var in one.step.variables if not var.name.startswith("ctx.")]
        flows = list(self._uses(one, given, _ports(given)))
        below = [self.ranks[flow.source.step] for flow in flows if isinstance(flow.source, Source)]
        below += [self._first[-1]] if self.open else list(self.ranks.values())
        self.ranks[one.number] = max(below, default=-1) + 1
        flows = [flow for flow in flows if isinstance(flow.source, Source)]
        self.flows += flows
        self._hold(one, flows)
        self.scopes.append({})
        self.open.append(one.call.id)
        self._first.append(self.ranks[one.number])
        self._begun.append(one.number)
        self._define(one, given, _ports(given))

    def _step(self, one: InnerStep) -> None:
        step = one.step
        if step.kind == "unpack":
            used: Sequence[Operand] = self._saved(one)
        else:
            used = step.outputs if step.kind == "return" else step.operands
        flows = list(self._uses(one, used, _ports(used) if step.kind in ("return", "unpack") else False))
        if step.kind in ("unpack", "return"):
            flows = [flow for flow in flows if isinstance(flow.source, Source)]
        ranks = [self.ranks[flow.source.step] for flow in flows if isinstance(flow.source, Source)]
        if step.kind in ("return", "raise") and one.call.id in self.open:
            depth = self.open.index(one.call.id)
            ranks += [rank for number, rank in self.ranks.items() if number < one.number and rank >= self._first[depth]]
        first = self._first[-1] if self._first else -1
        self.ranks[one.number] = max([*ranks, first]) + 1
        self.flows += flows
        self._hold(one, flows)
        if step.kind == "return":
            self._leave(step.outputs, one)
        elif step.kind == "raise":
            if one.number:
                self.flows.append(Flow(Source(one.number - 1, None), one.number, None, "note"))
            self._leave((), None)
        else:
            self._define(one, step.outputs, _ports(step.outputs))

    def _hold(self, one: InnerStep, flows: Sequence[Flow]) -> None:
        """Hold a step at its rank by an invisible arrow, if no value does: Graphviz only knows equal ranks."""
        above = {flow.source.step for flow in flows if isinstance(flow.source, Source) and flow.kind != "value"}
        rank = self.ranks[one.number] - 1
        if self.open and all(self.ranks[step] != rank for step in above):
            number = max(
                (step for step, its in self.ranks.items() if its == rank and step >= self._begun[0]), default=None
            )
            if number is not None:
                self.flows.append(Flow(Source(number, None), one.number, None, "absent"))

    def _saved(self, one: InnerStep) -> list[Operand]:
        """What an unpacking gets, as it was saved; a hook may have made another tensor of it."""
        saved = self.recording.nodes[one.call.node].saved if one.call.node is not None else ()
        found = []
        for number, out in enumerate(one.step.outputs):
            known = out.ref is not None and self._find(out.ref) is not None
            found.append(out if known or number >= len(saved) else Operand(saved[number].ref, ""))
        return found

    def _uses(self, one: InnerStep, operands: Sequence[Operand], ports: bool) -> Iterator[Flow]:
        kind: ArrowKind = "value" if one.step.kind == "unpack" else "future"
        known: set[object] = set()
        for number, operand in enumerate(operands):
            if operand.ref is None:
                continue
            source = self._find(operand.ref) or operand.ref
            port = min(number, MOST_PORTS) if ports and one.step.kind == "return" else None
            if (source, port) not in known and (isinstance(source, Source) or self._is_worth_a_box(source)):
                known.add((source, port))
                yield Flow(source, one.number, port, kind)

    def _is_worth_a_box(self, ref: TensorRef) -> bool:
        """Whether to draw a tensor from outside: a number already stands in the title."""
        tensor = self.recording.tensors[ref.tensor]
        return tensor.name != "" or tensor.shape != ()

    def _define(self, one: InnerStep, outputs: Sequence[Operand], ports: bool) -> None:
        for number, out in enumerate(outputs):
            if out.ref is None:
                continue
            source = Source(one.number, min(number, MOST_PORTS) if ports else None)
            self.scopes[-1][out.ref] = source
            if one.step.in_place:
                self.scopes[-1][self._owner(out.ref.tensor), out.ref.version] = source

    def _leave(self, outputs: Sequence[Operand], end: InnerStep | None) -> None:
        """A call ends: the call around it goes on with what it returned. All else is known to later calls."""
        if not self.open:
            return
        self.open.pop()
        self._first.pop()
        self._begun.pop()
        scope = self.scopes.pop()
        self.scopes[0] |= {ref: source for ref, source in scope.items() if ref not in self.scopes[0] or not self.open}
        if end is not None:
            self._define(end, outputs, _ports(outputs))

    def _find(self, ref: TensorRef) -> Source | None:
        for scope in reversed(self.scopes):
            found = scope.get(ref) or scope.get((self._owner(ref.tensor), ref.version))
            if found is not None:
                return found
        return None

    def _owner(self, tensor: int) -> int:
        """The tensor whose memory a view shows."""
        base = self.recording.tensors[tensor].base
        return tensor if base is None else base


def _ports(values: Sequence[object]) -> bool:
    """Whether these are drawn as ports: a single value has none."""
    return len(values) > 1
