"""What the program did before what, where the order of the tape does not tell."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from microtape.recording.findings.program import Program
from microtape.recording.model.model import Pass, Place, Recording
from microtape.recording.model.source import (
    INSTALLED,
    expression,
    function_around,
    loop_around,
    only_expression,
    place_in,
    tree_of,
)

_MOST_CALLERS = 8
_Called = ast.Name | ast.Attribute


def recorded_between(program: Program, node: int, earlier: Pass, later: Pass) -> bool | None:
    """Whether the program recorded a node after the earlier pass, for the later one; None if that is unknown.

    NB: on PyTorch, a node stands on the tape from the first pass on that reaches it. Two losses that are computed
    together and differentiated in turn look as if the second were computed in between; then the lines tell: its
    own, or that of the next operation on its way to the root that stands in the function of the passes. If the losses
    are computed elsewhere and given to that function, the line that calls it tells, if only one does, once for a pass.
    """
    first, second = earlier.place, later.place
    if node < earlier.tape or first is None or second is None or _function(first) != _function(second):
        return node >= earlier.tape
    evaluated = set(later.nodes)
    for _ in range(_MOST_CALLERS):
        place = _on_the_way(program, node, evaluated, first)
        if place is not None and first != second:
            return not place.line < first.line < second.line
        if place is not None:
            loop = loop_around(program.recording.sources.get(first.file, ""), first.line)
            start, end = loop or (0, place.line)
            return start <= place.line <= end
        if first != second:
            return None
        if (is_computed := _computes_loss(program.recording, first)) is not None:
            return is_computed
        call = _only_call(program.recording, first)
        if call is None or _loop_in_function(program.recording, first) is not None:
            return None
        first = second = call
    return None


def _on_the_way(program: Program, node: int, evaluated: set[int], first: Place) -> Place | None:
    """The place of the first operation, from a node on to the root of its pass, that stands in a line's function."""
    place = program.node(node).place
    while place is not None and _function(place) != _function(first):
        user = next((one for one in program.users(node) if one in evaluated), None)
        node, place = (user, program.node(user).place) if user is not None else (node, None)
    return place


def _computes_loss(recording: Recording, backward: Place) -> bool | None:
    """Whether a line differentiates what the statements around it compute, by a call: in the loop that it stands in.

    False for the variable of a loop over what exists, `for loss in losses: loss.backward()`; but what a call gives one
    by one may be computed meanwhile. None if the source does not tell, as of a parameter.
    """
    match only_expression(expression(recording, backward)):
        case ast.Call(func=ast.Attribute(ast.Name(name), "backward")) | ast.Call(args=[ast.Name(name), *_]):
            pass
        case ast.Call(func=ast.Attribute(ast.Call(), "backward")):
            return True
        case _:
            return None
    function = function_around(recording.sources.get(backward.file, ""), backward.line)
    loop = _loop_in_function(recording, backward)
    for one in ast.walk(loop or function or ast.Module([], [])):
        if isinstance(one, ast.Assign) and name in _names_in(*one.targets):
            return True if any(isinstance(part, ast.Call) for part in ast.walk(one.value)) else None
    if isinstance(loop, ast.For) and name in _names_in(loop.target):
        over = loop.iter
        lists = over.args if isinstance(over, ast.Call) and ast.unparse(over.func) in ("enumerate", "zip") else [over]
        return False if all(isinstance(one, ast.Name | ast.Attribute | ast.List | ast.Tuple) for one in lists) else None
    return None


def _loop_in_function(recording: Recording, place: Place) -> ast.For | ast.While | None:
    """The innermost loop around a line, in the function that the line stands in."""
    text = recording.sources.get(place.file, "")
    within = function_around(text, place.line) or tree_of(text) or ast.Module([], [])
    loops = [one for one in ast.walk(within) if isinstance(one, ast.For | ast.While)]
    around = [one for one in loops if one.lineno <= place.line <= (one.end_lineno or one.lineno)]
    return max(around, key=lambda one: one.lineno, default=None)


def _names_in(*nodes: ast.expr) -> set[str]:
    return {one.id for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name)}


def _only_call(recording: Recording, place: Place) -> Place | None:
    """The line that calls the function of a place, if nothing else in the program names that function."""
    function = place.function
    is_method, name = "." in function.rpartition("<locals>.")[2], function.rpartition(".")[2]
    kind = ast.Attribute if is_method else ast.Name
    found = []
    for file, text in recording.sources.items():
        if not file.startswith(INSTALLED):
            found += [(file, *one) for one in _uses(text) if isinstance(one[0], kind) and _name(one[0]) == name]
    if len(found) != 1:
        return None
    file, _, call, caller = found[0]
    return place_in(recording, file, call, caller) if call is not None else None


def _name(used: _Called) -> str:
    return used.id if isinstance(used, ast.Name) else used.attr


@functools.lru_cache(maxsize=16)
def _uses(text: str) -> list[tuple[_Called, ast.Call | None, str]]:
    """The uses of names in a source text: each with its call, if it is what is called, and the function around it."""
    return list(_uses_in(tree_of(text) or ast.Module([], []), "", "<module>"))


def _uses_in(node: ast.AST, prefix: str, function: str) -> Iterator[tuple[_Called, ast.Call | None, str]]:
    for one in ast.iter_child_nodes(node):
        match one:
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                yield from _uses_in(one, f"{prefix}{name}.<locals>.", f"{prefix}{name}")
            case ast.ClassDef(name):
                yield from _uses_in(one, f"{prefix}{name}.", function)
            case ast.Name() | ast.Attribute():
                yield one, node if isinstance(node, ast.Call) and node.func is one else None, function
                yield from _uses_in(one, prefix, function)
            case _:
                yield from _uses_in(one, prefix, function)


def _function(place: Place) -> tuple[str, str]:
    """The file and the function that a place is in; a comprehension belongs to the function around it."""
    return place.file, re.sub(r"(\.<locals>\.)?<(\w+comp|genexpr)>$", "", place.function) or "<module>"
