"""The block that keeps what runs in it off the tape: `with no_grad():`, or a function with such a decorator."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from microtape.recording.findings.program import Program
from microtape.recording.model.model import BorderRecord, Place
from microtape.recording.model.source import is_installed, place_in, text_of, tree_of


class _Block(NamedTuple):
    """Where it begins, its lines, and the functions that it calls, by the last part of their names."""

    begin: ast.expr
    lines: range
    calls: frozenset[str]


def quiet_block(program: Program, border: BorderRecord) -> Place | None:
    """Where the block begins in which a border lies; else the only one in which its function, or a layer, is called."""
    place, sources = border.place, program.recording.sources
    if border.kind not in ("no_grad", "inference_mode") or place is None or is_installed(place):
        return None
    around = [one for one in _blocks(sources.get(place.file, "")) if place.line in one.lines]
    if around:
        innermost = min(around, key=lambda one: len(one.lines))
        return place_in(program.recording, place.file, innermost.begin)
    function = place.function.rpartition(".")[2]
    every = [(file, one) for file, text in sources.items() for one in _blocks(text)]
    calling = [(file, one) for file, one in every if function in one.calls or (function == "forward" and one.calls)]
    if len(calling) != 1 or is_installed(found := place_in(program.recording, calling[0][0], calling[0][1].begin)):
        return None
    return found


@functools.lru_cache(maxsize=64)
def _blocks(source: str) -> Sequence[_Block]:
    return list(_found_in(tree_of(source) or ast.Module([], [])))


def _found_in(tree: ast.Module) -> Iterator[_Block]:
    for node in ast.walk(tree):
        match node:
            case ast.With() | ast.AsyncWith():
                begins = [item.context_expr for item in node.items]
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                begins = node.decorator_list
            case _:
                continue
        first = node.body[0].lineno
        for begin in begins:
            if _is_quiet(begin):
                inside = (one for statement in node.body for one in ast.walk(statement))
                called = (one.func for one in inside if isinstance(one, ast.Call))
                names = frozenset(text_of(one).rpartition(".")[2] for one in called)
                yield _Block(begin, range(first, (node.end_lineno or first) + 1), names)


def _is_quiet(expression: ast.expr) -> bool:
    """Whether this context or decorator turns grad mode off, as far as its name tells."""
    arguments = expression.args if isinstance(expression, ast.Call) else []
    name = text_of(expression.func if isinstance(expression, ast.Call) else expression).rpartition(".")[2]
    is_on = any(isinstance(one, ast.Constant) and one.value for one in arguments)
    return not is_on and ("no_grad" in name or name in ("inference_mode", "set_grad_enabled"))
