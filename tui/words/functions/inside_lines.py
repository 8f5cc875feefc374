"""Lines about the user's functions that ran in a step: the trace of their steps, their titles, why there are none."""

from __future__ import annotations

from collections.abc import Iterator

from microtape.recording.model.calls import CallRecord
from tui.shell.spans import Line, Span, line, plain
from tui.time.calls import CallCursor
from tui.time.cursor import StepCursor
from tui.words.functions.inside import InsideWords

MOST_OP = 12  # characters of the column of operations
OLDER = "An older microtape made this recording: record the program again to step inside."
NOTHING = "None of your code ran in this step: {key} opens Functions, hooks, checkpoints."


def call_lines(cursor: CallCursor, width: int = 40, indent: str = "  ") -> Iterator[tuple[str, Line]]:
    """Every step of a call, as an indentation and a line; the calls that it made are indented below their step."""
    call, words = cursor.call, InsideWords(cursor, width)
    where = f"  {call.place.at}" if call.place is not None else ""
    yield indent, line(Span("inside ", "dim"), *called(call), Span(where, "dim"))
    ops = min(max((len(row.op) for row in words.rows), default=0), MOST_OP)
    for position, row in enumerate(words.rows):
        here = cursor.to(position)
        if words.gap and position == call.left_out_at:
            yield indent, line(Span(f"    {words.gap}", "dim"))
        place = here.step.place
        begin = line(f"{here.number:>3} ", Span(f"{place.at_line if place is not None else '':<9} ", "dim"),
                     Span(row.op.ljust(ops), "op"))  # fmt: skip
        operands = f" {row.operands}{' → ' if row.result else ''}" if row.operands else " "
        yield indent, line(*begin, operands, *row.result)
        if position == 0:
            for one in here.step.variables:
                if "." in one.name:
                    yield indent, line(" " * 14, Span(one.name, "name"), " = ", words.value(one.value))
        inner = here.inner()
        if inner is not None:
            yield from call_lines(inner, width, f"{indent}      ")


def heading(cursor: CallCursor, around: str) -> Line:
    """`Clip.apply(y, -1.0, 4.0) › Clip.backward`: where the user is; `around` is the expression of the outer step."""
    found: list[Span] = [Span(around, "strong")] if around else []
    for one in cursor.trail:
        found += [Span(" › ", "dim"), *called(one.call)]
    return line(*(found if around else found[1:]))


def called(call: CallRecord) -> Line:
    """`Clip.backward`, `halve (tensor hook)`."""
    told = call.kind in call.name or (call.kind == "backward" and call.name.endswith("vjp"))
    return line(Span(call.name, "op"), Span("" if told else f" ({call.kind})", "dim"))


def opens(cursor: CallCursor) -> str:
    """`what ran inside: Scale.backward, bad.py:15`."""
    place = cursor.step.place or cursor.call.place
    where = f", {place.at}" if place is not None else ""
    return f"what ran inside: {plain(called(cursor.call))}{where}"


def counted(cursor: CallCursor) -> str:
    """`call 1 of 2   inside 2/4`."""
    many = f"call {cursor.at + 1}/{len(cursor.calls)}   " if len(cursor.calls) > 1 else ""
    return f"{many}inside {cursor.number}/{cursor.count}"


def why_not(moment: StepCursor, key: str) -> str:
    """Why there is nothing to step into at a moment."""
    recording = moment.recording
    notes = [one for one in recording.notes if one.endswith("were not kept") or "calls of Functions" in one]
    record = moment.timeline.node(moment.node) if moment.node is not None else None
    hooks = moment.step.hooks if moment.step is not None else ()
    if record is not None and (record.kind == "function" or any(one.kind != "retain_grad" for one in hooks)):
        if not recording.calls and not recording.functions:
            return OLDER
        if notes:
            return f"What ran inside was not kept: {notes[0]}."
    return NOTHING.format(key=key)
