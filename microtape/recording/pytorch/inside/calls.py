"""Calls of the program's functions: their notes, and the records that are made of them at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, cast

from torch.autograd.function import BackwardCFunction

from microtape.recording.model.calls import CallKind, CallRecord, CallStep, FunctionRecord, Variable
from microtape.recording.model.model import Pass
from microtape.recording.pytorch.calls.call_sites import is_library
from microtape.recording.pytorch.inside.contracts import FunctionNote
from microtape.recording.pytorch.inside.notebook import Notebook, is_tensor, numbered, version_in
from microtape.recording.pytorch.notes import GraphNode
from microtape.recording.pytorch.tape import Tape
from microtape.recording.writing.calls.call import Call, CallBudget, Kinds

_OWN = ("_dtype", "_fwd_used_autocast")  # attributes of ctx that torch's decorators set
_TIMES = count()


def attributes_of(value: Any) -> Sequence[tuple[str, Any]] | None:
    """The attributes that the program has set on a ctx; None for anything else."""
    if not issubclass(type(value), BackwardCFunction):
        return None
    return [(name, one) for name, one in vars(value).items() if name not in _OWN]


class TorchCall(Call):
    """One call. Tensors, nodes and other calls in its steps get their numbers when the record is made."""

    kinds = Kinds(is_tensor, version_in, attributes_of, is_library)

    def __init__(
        self, kind: str, function: Callable[..., Any] | Any, notebook: Notebook, depth: int, *,
        node: GraphNode | None, pass_: int | None, step: int | None, outer: TorchCall | None,
    ) -> None:  # fmt: skip
        tape: Any = notebook
        super().__init__(kind, function, tape, depth, node=cast("Any", node), pass_=pass_, step=step, outer=outer)
        self.time = next(_TIMES)

    def record_on(self, tape: Tape, numbers: dict[Call, int], node: int | None) -> CallRecord:
        """The record, with the numbers of this tape and of these calls."""
        steps = tuple([_numbered_step(one, tape, numbers) for one in (*self.first, *self.last)])
        return self._record(numbers, node, steps, self.count - len(steps))

    def record_without_steps(self, numbers: dict[Call, int]) -> CallRecord:
        """A record to which others can refer."""
        return self._record(numbers, None, (), 0)

    def _record(
        self, numbers: dict[Call, int], node: int | None, steps: tuple[CallStep, ...], left_out: int
    ) -> CallRecord:
        return CallRecord(
            id=numbers[self],
            kind=cast("CallKind", self.kind),
            name=self.name,
            node=node,
            pass_=self.pass_,
            step=self.step,
            outer=numbers.get(self.outer) if self.outer is not None else None,
            place=self.tape.sources.definition(self.code) if self.code is not None else None,
            steps=steps,
            left_out=left_out,
            left_out_at=len(self.first) if steps else 0,
            error=self.error,
        )


def _numbered_step(step: CallStep, tape: Tape, numbers: dict[Call, int]) -> CallStep:
    node: Any = step.node
    inner: Any = step.inner
    return step._replace(
        operands=tuple([numbered(one, tape) for one in step.operands]),
        outputs=tuple([numbered(one, tape) for one in step.outputs]),
        variables=tuple([Variable(one.name, numbered(one.value, tape)) for one in step.variables]),
        node=tape.ids.get(node) if node is not None else None,
        inner=numbers.get(inner) if isinstance(inner, Call) else inner,
    )


class TorchCalls:
    """The calls of one segment, and what its Functions promised.

    A call during a pass is kept here. The forward of a Function lies with its node, and dies with it: it is recorded if
    a pass reaches the node.
    """

    def __init__(self, budget: CallBudget) -> None:
        self.budget = budget
        self._kept: list[TorchCall] = []
        self.functions: list[FunctionRecord] = []
        self._records: tuple[CallRecord, ...] = ()

    def count(self, call: TorchCall) -> None:
        """Count a call for as long as it is kept."""
        self.budget.held.add(call)

    def keep(self, call: TorchCall) -> None:
        """Keep a call in this segment."""
        self._kept.append(call)

    def resolve(self, tape: Tape, passes: Sequence[Pass], taken: set[GraphNode]) -> None:
        """Make the records. A Function's forward belongs to the first segment that has `taken` its node."""
        functions: list[tuple[int, FunctionNote]] = []
        calls: dict[TorchCall, int | None] = dict.fromkeys(self._kept)  # -> the node, where a note says it
        for number, entry in enumerate(tape.nodes):
            note: FunctionNote | None = entry.node.inside
            if note is not None and entry.node not in taken:
                taken.add(entry.node)
                functions.append((number, note))
                calls.update((one, number if one.outer is None else None) for one in note.calls)
        ordered = sorted(calls, key=lambda one: one.time)
        numbers: dict[Call, int] = {one: i for i, one in enumerate(ordered)}
        ran = {(one.index, step.index): step.node for one in passes for step in one.steps}
        self._records = tuple([self._record(one, tape, numbers, calls[one], ran) for one in ordered])
        self.functions = list(self._functions(functions, tape))

    def _record(
        self, call: TorchCall, tape: Tape, numbers: dict[Call, int], node: int | None,
        ran: dict[tuple[int, int], int],
    ) -> CallRecord:  # fmt: skip
        with tape.faults.noting(f"what happened in {call.name}"):
            key: Any = call.node
            if call.pass_ is not None and call.step is not None and call.kind not in ("forward", "setup_context"):
                node = ran.get((call.pass_, call.step))
            if node is None and key is not None:
                node = tape.ids.get(key)
            return call.record_on(tape, numbers, node)
        return call.record_without_steps(numbers)

    def _functions(self, found: Sequence[tuple[int, FunctionNote]], tape: Tape) -> Iterator[FunctionRecord]:
        for number, note in found:
            with tape.faults.noting(f"the contract of %{number}"):
                yield note.record(number, tape)

    def records(self) -> tuple[CallRecord, ...]:
        """The records, after `resolve`."""
        return self._records
