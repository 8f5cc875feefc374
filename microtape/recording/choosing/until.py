"""Finds the pass where something happens: a NaN, an error, or a condition that comes true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from microtape.recording.choosing.condition import Condition, Facts
from microtape.recording.model.model import BackwardStep, Recording, TensorRef, Value
from microtape.recording.model.summary import has_nan


@dataclass(frozen=True, slots=True)
class Until:
    """What to look for in the passes."""

    text: str
    condition: Condition | None  # None for the words "nan" and "error"

    @classmethod
    def read(cls, text: str) -> Until:
        """Read `nan`, `error` or a condition such as `grad.max() > 10`.

        Raises:
            ExpressionError: `text` is none of these; the message is for the user.
        """
        text = text.strip()
        return cls(text, None if text in ("nan", "error") else Condition.read(text))

    def happens_in(self, recording: Recording, pass_index: int) -> bool:
        """Whether it happens in a pass, or in an operation since the previous pass."""
        one = recording.passes[pass_index]
        if self.text == "error":
            return one.has_failed
        if self.condition is None:
            return any(has_nan(value) for value in _values(recording, pass_index))
        return any(self.condition.holds(Facts.of(recording, *moment)) for moment in _moments(recording, pass_index))

    def never(self, count: int) -> str:
        """A sentence's end that says it never happened: `computed no NaN in its 7 passes`."""
        passes = "its only pass" if count == 1 else f"its {count} passes"
        if self.text == "nan":
            return f"computed no NaN in {passes}"
        if self.text == "error":
            return "did not fail"
        return f"never had {self.text} in {passes}"


def _moments(recording: Recording, pass_index: int) -> Iterator[tuple[int, BackwardStep | None, TensorRef | None]]:
    """The node, step and tensor of each operation of a pass, then of each of its steps."""
    for node in _operations(recording, pass_index):
        yield node, None, next(iter(recording.nodes[node].outputs), None)
    for step in recording.passes[pass_index].steps:
        record = recording.nodes[step.node]
        if record.variable is None:
            yield step.node, step, next(iter(record.outputs), None)
        else:
            versions = recording.tensors[record.variable].values
            yield step.node, step, TensorRef(record.variable, max(versions, default=0))


def _operations(recording: Recording, pass_index: int) -> range:
    before = recording.passes[pass_index - 1].tape if pass_index else 0
    return range(before, recording.passes[pass_index].tape)


def _values(recording: Recording, pass_index: int) -> Iterator[Value | None]:
    """Everything that was computed for a pass: results, then gradients."""
    for node in _operations(recording, pass_index):
        yield from (recording.value(ref) for ref in recording.nodes[node].outputs)
    for step in recording.passes[pass_index].steps:
        yield from (one.term for one in step.deliveries)
