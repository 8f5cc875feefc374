"""A sum of two variables of which one was assigned to the other: the way around a layer leads nowhere."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import Place
from microtape.recording.model.source import (
    expression,
    function_around,
    is_installed,
    only_expression,
    place_in,
    text_of,
)


def added_to_itself(program: Program) -> Iterator[Finding]:
    """`residual = x` after `x = layer(x)`, and then `x + residual`: the layer's input is not added."""
    told: set[Place] = set()
    for node in program.doing("add"):
        place, refs = node.place, [one.ref for one in node.operands[:2]]
        if len(refs) < 2 or refs[0] is None or refs[0] != refs[1] or place is None or place in told:
            continue
        names = _names(expression(program.recording, place)) if not is_installed(place) else None
        assigned = _assigned(program.recording.sources[place.file], place.line, names) if names is not None else None
        if names is None or assigned is None:
            continue
        told.add(place)
        line = place_in(program.recording, place.file, assigned)
        target, source = text_of(assigned.targets[0]), text_of(assigned.value)
        yield Finding(
            "no effect", "warning",
            headline(f"{' + '.join(names)} at {at(place)} adds a tensor to itself",
                     f"A tensor is added to itself at {at(place)}"),
            (f"{target} is {source} since {at(line)}: it is no earlier value, but the same tensor.",
             "So the sum is twice the tensor, and what came before is not part of it."),
            f"Keep the earlier value: assign {target} before {source} gets its new value.",
            place, node=node.id, tensor=program.tensor_of(node), others=(("assigned", line),),
        )  # fmt: skip


def _names(text: str) -> tuple[str, str] | None:
    """The two variables of `a + b`, if they are two."""
    match only_expression(text):
        case ast.BinOp(ast.Name(first), ast.Add(), ast.Name(second)) if first != second:
            return first, second
    return None


@functools.lru_cache(maxsize=256)
def _assigned(text: str, line: int, names: tuple[str, str]) -> ast.Assign | None:
    """The last statement before a line, in its function, that assigns one of two variables to the other."""
    function = function_around(text, line)
    found = None
    for one in ast.walk(function) if function is not None else ():
        match one:
            case ast.Assign([ast.Name(target)], ast.Name(source)) if {target, source} == {*names}:
                if one.lineno < line and (found is None or one.lineno > found.lineno):
                    found = one
    return found
