"""The names of nodes, and of single outputs of nodes, in running text."""

from __future__ import annotations

from tui.shell.spans import Line, Span, line
from tui.time.cursor import StepCursor


def title(cursor: StepCursor, node: int) -> Line:
    """The name of a node in running text: `x` for a leaf, `h (%12)` or `%12 mul` for an operation."""
    record = cursor.timeline.node(node)
    label = cursor.recording.label(node)
    if record.variable is not None:
        return line(Span(label, "leaf"))
    return line(Span(f"%{node} {record.op}", "op")) if label[0] == "%" else line(Span(label, "name"), f" (%{node})")


def output_title(cursor: StepCursor, node: int, number: int, *, numbered: bool = False) -> Line:
    """Like `title`; of a node with several outputs only this one: `z (%3)`, or `output 1 of %3 split`.

    If it is to be `numbered`: `z (output 0 of %3 Clip)`.
    """
    record = cursor.timeline.node(node)
    if len(record.outputs) < 2:
        return title(cursor, node)
    name, which = cursor.output_name(node, number), f"output {number}"
    of = line(f"{which} of ", Span(f"%{node} {record.op}", "op"))
    if name == which:
        return of
    return line(Span(name, "name"), " (", *of, ")") if numbered else line(Span(name, "name"), f" (%{node})")
