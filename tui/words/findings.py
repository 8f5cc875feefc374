"""Findings in words: a line each, the whole explanation, and, where NaN or infinity only passed through, its origin."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from microtape.recording.findings import Finding, Severity
from microtape.recording.model.formatting import format_value
from microtape.recording.model.formula import index_of_largest, index_text
from microtape.recording.model.model import Place, Recording, Value
from microtape.recording.model.source import expression
from microtape.recording.model.summary import is_finite
from tui.shell.lesson_names import lesson_of_error, lesson_on_kind
from tui.shell.spans import Line, Role, Span, line, sentence_list
from tui.time.cursor import StepCursor
from tui.words.titles import title

SIGNS: Mapping[Severity, str] = {"error": "✗", "warning": "!", "notice": "·"}
ASCII_SIGNS: Mapping[Severity, str] = {"error": "x", "warning": "!", "notice": "."}
ROLES: Mapping[Severity, Role] = {"error": "bad", "warning": "warn", "notice": "dim"}
NUMBER = 40  # characters of a value


def sign(finding: Finding, *, ascii: bool = False) -> str:
    """The sign of the finding's severity."""
    return (ASCII_SIGNS if ascii else SIGNS)[finding.severity]


def finding_line(finding: Finding, *, ascii: bool = False) -> Line:
    """`✗ W gets no gradient: h.detach() at none.py:6 cuts it off`."""
    return line(Span(sign(finding, ascii=ascii), ROLES[finding.severity]), " ", Span(finding.headline, "strong"))


def row_of(finding: Finding, *, ascii: bool = False) -> Line:
    """A row of the list: sign, kind, headline, and the line unless the headline names it."""
    place = _where(finding.place)
    where = "" if not place or place in finding.headline else f"  {place}"
    return line(
        Span(f"{sign(finding, ascii=ascii)} {finding.kind:<12} ", ROLES[finding.severity]),
        finding.headline,
        Span(where, "dim"),
    )


def explained(recording: Recording, finding: Finding, *, ascii: bool = False) -> Iterator[Line]:
    """Headline, the culprit's line, explanation, the other lines that matter, remedy, lesson."""
    yield finding_line(finding, ascii=ascii)
    if finding.place is not None:
        yield _source(recording, "", finding.place)
    yield from (line(sentence) for sentence in finding.explanation)
    for role, place in finding.others:
        if place != finding.place:
            yield _source(recording, role, place)
    yield line(Span(f"Remedy: {finding.remedy}", "good"))
    if lesson := lesson_line(recording, finding):
        yield line(Span(lesson, "dim"))


def lesson_line(recording: Recording, finding: Finding) -> str:
    """`Lesson 17 is about this: microtape learn in_place`; empty if no lesson is."""
    if finding.kind in ("failed", "refused"):
        return lesson_of_error(recording)
    return lesson_on_kind(finding.kind)


class Carried(NamedTuple):
    """How NaN or infinity came to a node where it does not begin."""

    lines: tuple[Line, ...]
    origins: tuple[Finding, ...]  # where it begins


def findings_at(cursor: StepCursor, node: int, found: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings about a node, in the pass of this moment."""
    return tuple(one for one in found if node in one.culprits and one.pass_ == cursor.timeline.pass_index)


def carried(cursor: StepCursor, node: int, found: Sequence[Finding]) -> Carried | None:
    """Where the NaN or infinity of a node comes from; None if the node has none, or is an origin."""
    if findings_at(cursor, node, found):
        return None
    lines = tuple(_value_carried(cursor, node)) or tuple(_gradient_carried(cursor, node))
    if not lines:
        return None
    origins = [one for one in found if one.kind in ("nan", "infinity") and node in one.spread]
    here = [one for one in origins if cursor.timeline.pass_index in _passes_around(cursor.recording, one)]
    return Carried(lines, tuple(here))


def _passes_around(recording: Recording, finding: Finding) -> set[int | None]:
    """The pass of a finding, and those around it: it may be about a node that the step of another pass has made."""
    found, node = {finding.pass_}, finding.node
    while node is not None and (made := recording.nodes[node]).made_by is not None and made.made_by < node:
        found.add(made.pass_)
        node = made.made_by
    return found


def _value_carried(cursor: StepCursor, node: int) -> Iterator[Line]:
    """Which operands brought it, for a value."""
    value = cursor.value(node)
    if is_finite(value):
        return
    recording, record = cursor.recording, cursor.timeline.node(node)
    yield line("The value of ", *title(cursor, node), " is ", Span(_worst(value), "value"), ".")
    for operand in record.operands:
        came = recording.value(operand.ref)
        if operand.ref is None or is_finite(came):
            continue
        made = cursor.timeline.made_by(operand.ref)
        name = recording.tensors[operand.ref.tensor].name or (f"%{made[0]}" if made is not None else "an operand")
        place = cursor.timeline.node(made[0]).place if made is not None else None
        begin = line("It came in with ", Span(name, "name"), " = ", Span(_worst(came), "value"))
        if place is None:
            yield line(*begin, ".")
        else:
            yield line(*begin, ", computed by")
            yield _source(recording, "", place)


def _gradient_carried(cursor: StepCursor, node: int) -> Iterator[Line]:
    """Which nodes sent it, for a gradient."""
    gradient = cursor.gradient(node)
    if is_finite(gradient):
        return
    senders = dict.fromkeys(
        one.sender for one in cursor.arrived(node) if one.sender is not None and not is_finite(one.term)
    )
    sent = line(" was sent by ", *sentence_list(title(cursor, one) for one in senders)) if senders else line(" came in")
    yield line("The gradient of ", *title(cursor, node), " is ", Span(_worst(gradient), "gradient"), "; it", *sent, ".")


def _worst(value: Value | None) -> str:
    """`nan at [2]`: the first number that is not finite."""
    if not isinstance(value, np.ndarray):
        return format_value(value, NUMBER)
    index = index_of_largest(np.where(np.isfinite(value), 0, value)) if value.ndim else ()
    where = f" at {index_text(index)}" if index and math.prod(value.shape) > 1 else ""
    return f"{value[index]}{where}"


def _source(recording: Recording, role: str, place: Place) -> Line:
    return line(
        Span(f"{role}  " if role else "", "label"),
        Span(f"{_where(place)}  ", "dim"),
        Span(expression(recording, place), "strong"),
    )


def _where(place: Place | None) -> str:
    return place.at if place is not None else ""
