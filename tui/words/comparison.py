"""Differences between two recordings in words: what differs, where, and by how much."""

from __future__ import annotations

import math
from pathlib import Path, PurePath
from typing import Any

from microtape.recording.comparing.courses import CourseDifference
from microtape.recording.comparing.differences import Comparison, Difference, Pair
from microtape.recording.comparing.measuring import worst
from microtape.recording.model.formatting import format_different, format_number, format_shape, format_value
from microtape.recording.model.formula import index_text
from microtape.recording.model.model import Place, Recording, TensorRef, Value
from microtape.recording.model.source import expression

VALUE = 30  # characters of a value
SOURCE = 40  # characters of an expression


def names_of(a: str, b: str) -> tuple[str, str]:
    """What to call two files in a sentence: their names, as long as these differ."""
    short = Path(a).name, Path(b).name
    if short[0] != short[1]:
        return short
    return (a, b) if a != b else ("the first", "the second")


class Words:
    """Writes the differences of a comparison, in which the recordings have these names."""

    def __init__(self, comparison: Comparison, names: tuple[str, str], *, ascii: bool = False) -> None:
        self.comparison = comparison
        self.names = names
        self._ascii = ascii
        self._recordings = comparison.a, comparison.b

    def sentence(self, one: Difference) -> str:
        """`pass 1, step 3, MulBackward0 at train.py:12 `w * x`: the gradient for w is 0.51 in a, 0.49 in b`."""
        where = ", ".join(part for part in (self.time(one), self.node(one.nodes)) if part)
        return f"{where}: {self.what(one)}" if where else self.what(one)

    def of_course(self, one: CourseDifference) -> str:
        """`at pass 300: the gradient of w has the norm 2.0 in a.tape, 2.5 in b.tape, relative 0.2`."""
        about = f"at pass {one.pass_ + 1:,}: the {one.kind}" + (f" of {one.parameter}" if one.parameter else "")
        if one.statistic == "shape":
            return f"{about} has another shape"
        its = f" has the {one.statistic}" if one.statistic else " is"
        a, b = ("not there" if each is None else format_number(each) for each in (one.a, one.b))
        apart = "" if math.isinf(one.relative) else f", relative {format_number(one.relative, 2)}"
        return f"{about}{its} {a} in {self.names[0]}, {b} in {self.names[1]}{apart}"

    def time(self, one: Difference) -> str:
        """`pass 1, step 3`, `pass 2`, `forward`; the step of b too, if it is another one."""
        if one.passes is None:
            return "" if one.kind == "error" else "forward"
        number = self.comparison.a.passes[one.passes[0]].index + 1
        its = self.comparison.b.passes[one.passes[1]].index + 1
        which = f"pass {number}" if number == its else f"pass {number} (in {self.names[1]} pass {its})"
        if one.steps is None or one.kind == "error":
            return f"forward of {which}" if one.kind in ("input", "value") else which
        step, its_step = one.steps
        if step is None or its_step is None:
            return which if step is its_step else f"{which}, step {(step or its_step or 0) + 1}"
        other = f" (in {self.names[1]} step {its_step + 1})" if its_step != step else ""
        return f"{which}, step {step + 1}{other}"

    def node(self, nodes: Pair | None) -> str:
        """`MulBackward0 at train.py:12 `w * x``, as it is in a."""
        return "" if nodes is None else node_text(self.comparison.a, nodes[0])

    def what(self, one: Difference, *, update: bool = True) -> str:
        """`the gradient for w is 0.51 in a.tape, 0.49 in b.tape at [0, 3], relative 4e-2`.

        With `update`, an operand that differs has the line where it was updated.
        """
        if one.kind == "error":
            return f"{'the program' if one.passes is None else 'it'} {self._ends(one)}"
        if one.kind == "not evaluated":
            only = self.names[1 if one.steps is not None and one.steps[0] is None else 0]
            return f"gets a gradient only in {only}"
        return f"{self._subject(one)}{self._updated(one) if update else ''} {self.apart(one)}"

    def apart(self, one: Difference) -> str:
        """`is 0.51 in a.tape, 0.49 in b.tape at [0, 3], relative 4e-2`."""
        a, b = self.names
        if one.measured.how == "shape" and one.a is not None and one.b is not None:
            shapes = [format_shape(value.shape, ascii=self._ascii) for value in (one.a, one.b)]
            return f"has the shape {shapes[0]} in {a}, {shapes[1]} in {b}"
        if one.a is None or one.b is None:
            return f"is {self._value(one.a)} in {a}, {self._value(one.b)} in {b}"
        found = worst(one.a, one.b)
        x, y = format_different(found.a, found.b)
        relative = f", relative {format_number(one.measured.relative, 2)}" if one.measured.absolute else ""
        if math.isinf(one.measured.absolute):
            relative = ""
        where = f" at {index_text(found.element)}" if found.element else ""
        verb = "has" if found.statistic in ("NaN", "Inf", "-Inf") else "is"
        x = f"the {found.statistic} {x}" if found.statistic and verb == "is" else x
        of = f" {found.statistic}" if verb == "has" else ""
        return f"{verb} {x}{of} in {a}, {y}{of} in {b}{where}{relative}"

    def _value(self, value: Value | None) -> str:
        return format_value(value, VALUE, ascii=self._ascii)

    def _subject(self, one: Difference) -> str:
        if one.kind == "input":
            return f"its operand {self._name(one.tensors) or self._computed(one.tensors) or one.number + 1}"
        if one.kind == "value":
            name = self._name(one.tensors)
            return f"its result {name}" if name else "its result" if one.number == 0 else f"its result {one.number + 1}"
        if one.kind == "grad before":
            return f"{self._name(one.tensors) or 'its leaf'}.grad before the pass"
        if one.kind == "grad":
            return f"{self._name(one.tensors) or 'its leaf'}.grad"
        if one.kind == "seed":
            return "the first gradient"
        if one.kind == "sent":
            return f"the gradient for {self._receiver(one)}"
        if one.kind == "captured":
            return f"the gradient of {self._name(one.tensors) or f'input {one.number + 1}'} that is returned"
        of = f"the gradient of output {one.number}" if one.number else "the gradient"
        return f"{of} that arrives" if one.kind == "arrived" else f"{of} summed up so far"

    def _name(self, tensors: tuple[TensorRef, TensorRef] | None) -> str:
        """The user's name for a tensor, in a."""
        return self.comparison.a.tensors[tensors[0].tensor].name if tensors is not None else ""

    def _updated(self, one: Difference) -> str:
        """`, updated at train.py:14,` for a leaf that was written to since the pass before."""
        if one.kind != "input" or one.passes is None or one.tensors is None or not one.passes[0]:
            return ""
        a, tensor = self.comparison.a, one.tensors[0].tensor
        begun = a.passes[one.passes[0] - 1].index + 1
        places = [u.place for u in a.updates if u.tensor == tensor and u.passes == begun and u.place is not None]
        return f", updated at {PurePath(places[-1].file).name}:{places[-1].line}," if places else ""

    def _computed(self, tensors: tuple[TensorRef, TensorRef] | None) -> str:
        """The expression that computed a tensor, in a: `h.std(0)`."""
        a = self.comparison.a
        node = a.tensors[tensors[0].tensor].node if tensors is not None else None
        text = _source(a, a.nodes[node].place) if node is not None else ""
        return f"`{text}`" if text else ""

    def _receiver(self, one: Difference) -> str:
        """What is at the other end of the edge: its user's name, else the expression or the node."""
        assert one.nodes is not None
        a = self.comparison.a
        to = a.nodes[one.nodes[0]].edges[one.number].node
        if to is None:
            return f"input {one.number + 1}"
        label = a.label(to)
        return label if label[0] != "%" else _source(a, a.nodes[to].place) or a.nodes[to].name

    def _ends(self, one: Difference) -> str:
        ends = []
        for at, (recording, name) in enumerate(zip(self._recordings, self.names, strict=True)):
            error = recording.error if one.passes is None else recording.passes[one.passes[at]].error
            step = one.steps[at] if one.steps is not None and one.passes is not None else None
            where = ""
            if step is not None and one.passes is not None:
                where = f" at {node_text(recording, recording.passes[one.passes[at]].steps[step].node)}"
            ends.append(f"runs to its end in {name}" if error is None else f"fails in {name}{where}: {_error(error)}")
        return f"{ends[0]}; {ends[1]}"


def node_text(recording: Recording, node: int) -> str:
    """`MulBackward0 at train.py:12 `w * x``; a leaf by its name."""
    record = recording.nodes[node]
    if record.variable is not None:
        label = recording.label(node)
        return f"{record.name} of {label}" if label[0] != "%" else record.name
    where = f" at {record.place.at_name}" if record.place is not None else ""
    text = _source(recording, record.place)
    return f"{record.name}{where} `{text}`" if text else f"{record.name}{where}"


def _source(recording: Recording, place: Place | None) -> str:
    text = expression(recording, place)
    return text if len(text) <= SOURCE else f"{text[: SOURCE - 3]}..."


def _error(error: Any) -> str:
    first = error.message.splitlines()[0] if error.message else ""
    return f"{error.type}: {first}" if first else str(error.type)
