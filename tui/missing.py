"""Why is this None? What keeps a gradient away from a tensor, and the line to look at."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from microtape.recording.model import Place, Recording
from microtape.recording.words import format_value
from tui.cursor import StepCursor
from tui.sentence import title
from tui.source import expression
from tui.spans import Line, Span, line


def why_none(cursor: StepCursor, node: int) -> Iterator[Line]:
    """Why no gradient has reached a node that is on the tape."""
    pass_, name = cursor.timeline.pass_, title(cursor, node)
    if pass_ is None or cursor.is_forward:
        yield line(*name, " has no gradient because backward has not run yet.")
        if pass_ is not None and pass_.place is not None:
            yield _look(cursor.recording, pass_.place)
    elif node in cursor.timeline.made_at:
        yield line(*name, " was recorded during backward; this pass computes no gradient of it.")
    elif node not in pass_.dependencies:
        roots = ", ".join(cursor.recording.label(root.node) for root in pass_.roots if root.node is not None)
        if pass_.captures:
            yield line(*name, f" is not on the way from {roots} to what was asked for, so backward left it out.")
        else:
            yield line(*name, f" has no gradient in this pass: {roots} was not computed from it.")
        place = cursor.timeline.node(node).place
        if place is not None:
            yield _look(cursor.recording, place)
    elif pass_.error is not None and cursor.position == cursor.timeline.last:
        yield line(*name, " has no gradient because the pass failed before it was reached.")
    elif cursor.has_run(node):
        yield line(*name, " received nothing but undefined gradients (None): what uses it has no derivative there.")
    else:
        left = cursor.dependencies_left(node)
        yield line(*name, f" has no gradient yet: backward has not come to it. It waits for {left} of its users.")


def why_no_grad(cursor: StepCursor, tensor: int) -> Iterator[Line]:
    """Why a tensor's `.grad` is None at the end of the program, whether it is on the tape or not."""
    recording = cursor.recording
    record = recording.tensors[tensor]
    name = Span(record.name or f"tensor {tensor}", "name")
    if record.grad is not None:
        yield line(name, ".grad is not None: it is ", Span(format_value(record.grad, 60), "gradient"))
    elif not record.requires_grad:
        assigned = _assignment(recording, record.name)
        yield line(name, " does not require a gradient, so none is computed for it.")
        if assigned is None:
            yield line(Span("A tensor of yours collects one if it is made with requires_grad=True.", "dim"))
        else:
            file, number, text, reason = assigned
            yield line(Span(f"{file}:{number}  ", "dim"), Span(text, "strong"))
            yield line(reason)
    elif not record.is_leaf and not record.retains_grad:
        passes_on = " was computed and is no leaf: backward passes its gradient on and does not keep it in .grad."
        yield line(name, passes_on)
        yield line(Span(f"To keep it, call {record.name or 'it'}.retain_grad() before backward.", "good"))
    elif record.node is not None:
        yield from why_none(cursor, record.node)
    else:
        yield line(name, " requires a gradient, and nothing that backward went through was computed from it.")


def _look(recording: Recording, place: Place) -> Line:
    return line(Span(f"{place.file}:{place.line}  ", "dim"), Span(expression(recording, place), "strong"))


def _assignment(recording: Recording, name: str) -> tuple[str, int, str, str] | None:
    """The only line that assigns to a variable, and what in that line keeps gradients out; None where it is unsure."""
    found = []
    for file, text in recording.sources.items():
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            continue
        blocks = [one for one in ast.walk(tree) if isinstance(one, ast.With)]
        quiet = [(one.lineno, one.end_lineno or one.lineno) for one in blocks
                 if any("no_grad" in ast.unparse(item) for item in one.items)]  # fmt: skip
        for one in ast.walk(tree):
            if isinstance(one, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in one.targets):
                found.append((file, one.lineno, ast.unparse(one), _reason(ast.unparse(one.value), one.lineno, quiet)))
    return found[0] if len(found) == 1 else None


def _reason(text: str, number: int, quiet: list[tuple[int, int]]) -> str:
    if ".detach()" in text or ".item()" in text or ".numpy()" in text:
        return "This line takes it off the tape: what is computed from it here is a constant to backward."
    if any(first <= number <= last for first, last in quiet):
        return "This line runs under no_grad: nothing that it computes is put on the tape."
    return "It is made without requires_grad=True, from nothing that requires a gradient."
