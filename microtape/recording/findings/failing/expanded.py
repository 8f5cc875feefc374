"""Writes in place to a tensor that `expand` has made: its elements share their memory, and the write is refused."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import Place
from microtape.recording.model.source import assignments, expression, is_installed, place_in, text_of

_REFUSED = "more than one element of the written-to tensor refers to a single memory location"
_SHORT = 40  # characters of an expression
_EXPANDING = ("expand", "expand_as", "broadcast_to")
_SAME = ("requires_grad_", "detach")  # methods that copy nothing


class _Expanded(NamedTuple):
    """A variable that is given what `expand` returns."""

    place: Place
    target: str
    call: str
    is_parameter: bool


def expanded(program: Program) -> Iterator[Finding]:
    """A finding for a program that has failed so: with the line that expands, if there is only one."""
    error = program.recording.error
    if error is None or _REFUSED not in error.message:
        return
    raised = dict(error.places).get("raised")
    every = list(_every(program))
    written = expression(program.recording, raised)
    named = [one for one in every if _names(written, one.target)]
    found = named or [one for one in every if one.is_parameter]  # of a step, or of a loop's variable
    what = written if 0 < len(written) <= _SHORT else "The write"
    refusal = f"{what} at {at(raised)} would write a number for each of them to one place, and is refused."
    if len(found) != 1:
        yield Finding(
            "refused", "error", headline(f"A write to a tensor whose elements share their memory, at {at(raised)}"),
            ("It was expanded: its elements are one number in memory, shown several times.", refusal),
            "Give it memory of its own where it is expanded: .expand(...).clone(), or .repeat(...).", raised,
        )  # fmt: skip
        return
    one = found[0]
    yield Finding(
        "refused", "error",
        headline(f"{one.target} is expanded: its elements share their memory ({at(one.place)})",
                 f"The elements of an expanded tensor share their memory ({at(one.place)})"),
        (f"{one.call} at {at(one.place)} copies nothing: elements that it repeats are one number in memory.", refusal),
        f"Give each a number of its own: {one.call}.clone(). If one number is meant, keep that, and expand it where it "
        "is used.",
        one.place, None, None, None, None, (("used", raised),) if raised is not None else (),
    )  # fmt: skip


def _names(written: str, target: str) -> bool:
    return any(written.startswith(f"{target}{one}") for one in (" ", "[", ".", "+", "-", "*", "/"))


def _every(program: Program) -> Iterator[_Expanded]:
    recording = program.recording
    for file in recording.sources:
        for one in assignments(recording, file):
            place = place_in(recording, file, one)
            call, is_parameter = _call(one.value)
            if call is not None and not is_installed(place):
                yield _Expanded(place, text_of(one.targets[0]), text_of(call), is_parameter)


def _call(value: ast.expr) -> tuple[ast.Call | None, bool]:
    """The call of expand that an expression is, but for what copies nothing, and whether it is made a parameter."""
    match value:
        case ast.Call(ast.Name("Parameter") | ast.Attribute(attr="Parameter"), [inner, *_]):
            return _call(inner)[0], True
        case ast.Call(ast.Attribute(attr=attr)) if attr in _EXPANDING:
            return value, False
        case ast.Call(ast.Attribute(inner, attr)) if attr in _SAME:
            return _call(inner)[0], attr == "requires_grad_"
    return None, False
