"""Explains why a gradient is None: the cause, and the source line to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from microtape.recording.findings.cuts import reason_of
from microtape.recording.model.cut_history import borders_by_output, crossing, cut_off, used_in_forwards
from microtape.recording.model.formatting import format_value
from microtape.recording.model.model import BorderRecord, Place, Recording
from microtape.recording.model.source import expression, only_assignment
from microtape.recording.model.undifferentiable import why_undifferentiable
from tui.shell.spans import Line, Span, line
from tui.time.cursor import StepCursor
from tui.words.titles import title

FEW = 3  # lines


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
            yield line(*name, f" is not on a path from {roots} to a requested gradient, so backward skipped it.")
        else:
            yield line(*name, f" has no gradient in this pass: {roots} was not computed from it.")
        record = cursor.timeline.node(node)
        border = cut_off(cursor.recording, node, record.variable, pass_.nodes)
        if border is not None:
            yield from _ends(cursor.recording, border)
        elif record.place is not None:
            yield _look(cursor.recording, record.place)
        elif record.variable is not None:
            yield from made_at(cursor.recording, cursor.recording.tensors[record.variable].name)
    elif pass_.error is not None and cursor.position == cursor.timeline.last:
        ended = "the pass failed" if pass_.has_failed else "the recording of this pass ends"
        yield line(*name, f" has no gradient because {ended} before it was reached.")
        yield from _lines_of(cursor, [step.node for step in cursor.timeline.steps[-1:]])
    elif cursor.has_run(node):
        yield line(
            *name, " received only undefined gradients (None): the operations that use it have no derivative there."
        )
        yield from _lines_of(cursor, cursor.timeline.uses.users_of(node))
    else:
        left = cursor.dependencies_left(node)
        terms = "term" if left == 1 else "terms"
        yield line(*name, f" has no gradient yet: backward has not reached it. It waits for {left} more {terms}.")
        users = cursor.timeline.uses.users_of(node)
        yield from _lines_of(cursor, [one for one in users if one in pass_.dependencies and not cursor.has_run(one)])


def _lines_of(cursor: StepCursor, nodes: Sequence[int]) -> Iterator[Line]:
    """The expressions of the last few of these nodes, which backward visits first."""
    places = dict.fromkeys(cursor.timeline.node(node).place for node in reversed(nodes))
    for place in [one for one in places if one is not None][:FEW]:
        yield _look(cursor.recording, place)


def why_no_grad(cursor: StepCursor, tensor: int) -> Iterator[Line]:
    """Why a tensor's `.grad` is None at the end of the program, whether it is on the tape or not."""
    recording = cursor.recording
    record = recording.tensors[tensor]
    name = Span(record.name or f"tensor {tensor}", "name")
    if record.grad is not None:
        yield line(name, ".grad is not None: it is ", Span(format_value(record.grad, 60), "gradient"))
    elif record.node is not None and (
        reason := why_undifferentiable(recording, recording.nodes[record.node], record.output_nr)
    ):
        op = Span(f"%{record.node} {recording.nodes[record.node].op}", "op")
        yield line(name, " is an output of ", op, f" that gets no gradient: {reason}.")
        yield from _lines_of(cursor, [record.node])
    elif not record.requires_grad:
        yield line(name, " does not require a gradient, so none is computed for it.")
        yield from _no_history(recording, tensor)
    elif not record.is_leaf and not record.retains_grad:
        passes_on = " is not a leaf: backward passes its gradient on and does not store it in .grad."
        yield line(name, passes_on)
        yield line(Span(f"To keep it, call {record.name or 'it'}.retain_grad() before backward.", "good"))
    elif record.node is not None:
        yield from why_none(cursor, record.node)
    else:
        yield line(name, " requires a gradient, but nothing that backward visited was computed from it.")
        evaluated = cursor.timeline.pass_.nodes if cursor.timeline.pass_ is not None else ()
        border = cut_off(recording, None, tensor, evaluated)
        if border is not None:
            yield from _ends(recording, border)
        elif (inside := used_in_forwards(recording).get(tensor)) is not None:
            call, step = inside
            yield line("It is used in ", Span(call.name, "op"), ", which runs off the tape:")
            if step.place is not None:
                yield _look(recording, step.place)
            yield line("Only the arguments of a Function get gradients.")
        else:
            yield from made_at(recording, record.name)


def _look(recording: Recording, place: Place) -> Line:
    return line(Span(f"{place.at}  ", "dim"), Span(expression(recording, place), "strong"))


def _ends(recording: Recording, border: BorderRecord) -> Iterator[Line]:
    """The place where the history of a value ends, although its result is used."""
    yield line("A value computed from it is used, but its history ends here:")
    if border.place is not None:
        yield _look(recording, border.place)
    yield _reason(border)


def _no_history(recording: Recording, tensor: int) -> Iterator[Line]:
    """Where a tensor lost its history, and the operation that left the tape; else the line that created it."""
    by_output = borders_by_output(recording)
    border = next((one for ref, one in by_output.items() if ref.tensor == tensor), None)
    if border is None:
        yield from made_at(recording, recording.tensors[tensor].name)
        yield line(Span("To get a gradient, create the tensor with requires_grad=True.", "dim"))
        return
    for one in dict.fromkeys((border, crossing(border, by_output))):
        if one.place is not None:
            yield _look(recording, one.place)
        yield _reason(one)


def made_at(recording: Recording, name: str) -> Iterator[Line]:
    """The line that assigns to a variable, if it is unique."""
    place = only_assignment(recording, name)
    if place is not None:
        yield _look(recording, place)


def _reason(border: BorderRecord) -> Line:
    """Why history ends at a border."""
    if border.kind == "constant":
        return line("It was computed from a value that was already off the tape, because of:")
    return line(f"This {reason_of(border)}.")
