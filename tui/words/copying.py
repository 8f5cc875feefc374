"""The texts that can be copied at a moment: values, gradients, formulas, lines, sentences; each with a name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from microtape.recording.model.formatting import format_value
from microtape.recording.model.model import Value
from microtape.recording.model.source import expression, source_lines
from tui.shell.spans import plain
from tui.time.arrays import arrays_of, exact_text
from tui.time.cursor import StepCursor
from tui.words.sentence import sentence
from tui.words.worked_rule import filled_formula, worked_rule

MOST_LEAVES = 200  # in the list; other leaves can be copied as the current node


class Copyable(NamedTuple):
    """Something that can be copied: a text, or a value whose digits are written out only when it is copied."""

    what: str  # "the gradient of x"
    words: str = ""
    value: Value | None = None

    @property
    def text(self) -> str:
        """The text that is copied."""
        return self.words if self.value is None else exact_text(self.value)

    @property
    def shown(self) -> str:
        """The text in the list."""
        return " ".join(self.words.split()) if self.value is None else format_value(self.value, 60)


def copyables(cursor: StepCursor) -> Iterator[Copyable]:
    """The copyable texts of the current node, of its line, and of every leaf that has a `.grad`."""
    yield Copyable("the sentence", plain(sentence(cursor)))
    if cursor.focus is not None:
        yield from _of_node(cursor, cursor.focus)
    for tensor in cursor.timeline.collectors[:MOST_LEAVES]:
        grad = cursor.leaf(tensor).grad
        if grad is not None:
            yield Copyable(f"{cursor.tensor_label(tensor)}.grad", value=grad)


def _of_node(cursor: StepCursor, number: int) -> Iterator[Copyable]:
    node = cursor.timeline.node(number)
    label = cursor.recording.label(number)
    for name, value in arrays_of(cursor, number):
        if name == ".grad" and node.variable in cursor.timeline.collectors[:MOST_LEAVES]:
            continue  # listed with the leaves
        known = {"gradient": f"gradient of {label}", "value": f"value of {label}", ".grad": f"{label}.grad"}
        yield Copyable(
            known.get(name, f"the gradient sent {name}" if name.startswith("to ") else f"the {name}"), value=value
        )
    if node.formula:
        yield Copyable("the formula", " ".join(node.formula.split()))
    if here := filled_formula(cursor, node):
        yield Copyable("the formula with your names", here)
    if cursor.step is not None and cursor.node == number:
        for one in cursor.deliveries:
            found = worked_rule(cursor, cursor.step, one.output)
            if found is not None:
                numbers = f" = {found.numbers}" if found.numbers else ""
                yield Copyable(f"the rule for {cursor.recording.label(one.node)}", found.text + numbers)
    if node.place is not None:
        yield Copyable("the expression", expression(cursor.recording, node.place))
        text = source_lines(cursor.recording, node.place.file)[node.place.line - 1 : node.place.end_line]
        yield Copyable("its line of source", "\n".join(text).strip())
        yield Copyable("its place", node.place.at)
