"""What the program did before what, where the order of the tape does not tell."""

from __future__ import annotations

import re

from microtape.recording.findings.program import Program
from microtape.recording.model.model import Pass, Place
from microtape.recording.model.source import loop_around


def recorded_between(program: Program, node: int, earlier: Pass, later: Pass) -> bool:
    """Whether the program recorded a node after the earlier pass, for the later one.

    NB: on PyTorch, a node stands on the tape from the first pass on that reaches it. Two losses that are computed
    together and differentiated in turn look as if the second were computed in between; then the lines tell: its
    own, or that of the next operation on its way to the root that stands in the function of the passes.
    """
    first, second = earlier.place, later.place
    if node < earlier.tape or first is None or second is None or _function(first) != _function(second):
        return node >= earlier.tape
    place, evaluated = program.node(node).place, set(later.nodes)
    while place is not None and _function(place) != _function(first):
        user = next((one for one in program.users(node) if one in evaluated), None)
        node, place = (user, program.node(user).place) if user is not None else (node, None)
    if place is None:
        return True
    if first == second:
        start, end = loop_around(program.recording.sources.get(first.file, ""), first.line) or (0, place.line)
        return start <= place.line <= end
    return not place.line < first.line < second.line


def _function(place: Place) -> tuple[str, str]:
    """The file and the function that a place is in; a comprehension belongs to the function around it."""
    return place.file, re.sub(r"(\.<locals>\.)?<(\w+comp|genexpr)>$", "", place.function) or "<module>"
