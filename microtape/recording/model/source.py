"""The user's source text, as it was recorded."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from microtape.recording.model.model import Place, Recording

Position: TypeAlias = tuple[int, int, int, int]
"""The first and last line, the first and last column of an expression: `Place[1:5]`."""
INSTALLED = ("site-packages", "dist-packages")
"""The folders of installed packages; the name of a file in one of them begins with it."""


def source_lines(recording: Recording, file: str) -> list[str]:
    """The lines of a file as it was recorded; none if it was not recorded."""
    return list(_lines(recording.sources.get(file, "")))


@functools.lru_cache(maxsize=8)
def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.splitlines())


def whole_lines(recording: Recording, place: Place) -> str:
    """The whole lines of a place, without the first one's indentation; empty if their source was not recorded."""
    return "\n".join(_lines(recording.sources.get(place.file, ""))[place.line - 1 : place.end_line]).strip()


def expression(recording: Recording, place: Place | None) -> str:
    """The expression at a place, on one line; empty if its source was not recorded."""
    if place is None:
        return ""
    text = list(_lines(recording.sources.get(place.file, ""))[place.line - 1 : place.end_line])
    if not text:
        return ""
    text[-1] = text[-1][: place.end_column]
    text[0] = text[0][place.column :]
    return " ".join(part.strip() for part in text)


@functools.lru_cache(maxsize=64)
def tree_of(text: str) -> ast.Module | None:
    """The syntax tree of a source text; None if it is no Python, or nested too deeply."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def definition_line(lines: Sequence[str], first: int) -> int:
    """The line of a function's `def`, if its code begins at the line `first`: that of its first decorator, if any."""
    if first <= len(lines) and lines[first - 1].lstrip().startswith("@"):
        following = enumerate(lines[first:], first + 1)
        return next((at for at, line in following if line.lstrip().startswith(("def ", "async def "))), first)
    return first


def only_assignment(recording: Recording, name: str) -> Place | None:
    """The statement that assigns to a variable, or to an attribute such as `self.w`, if there is only one."""
    found = [
        place_in(recording, file, one)
        for file, text in recording.sources.items()
        for one in _assignments(text).get(name, ())
    ]
    return found[0] if len(found) == 1 else None


@functools.lru_cache(maxsize=64)
def _assignments(text: str) -> Mapping[str, Sequence[ast.Assign]]:
    """The assignments in a source text, by what they assign to."""
    found: dict[str, list[ast.Assign]] = {}
    for one in ast.walk(tree_of(text) or ast.Module([], [])):
        if isinstance(one, ast.Assign):
            for target in {ast.unparse(target) for target in one.targets}:
                found.setdefault(target, []).append(one)
    return found


def place_in(recording: Recording, file: str, node: ast.stmt | ast.expr, function: str = "") -> Place:
    """The place of a statement or expression of a file's syntax tree."""
    return Place(file, *_position(node, recording.sources[file].split("\n")), function)


@functools.lru_cache(maxsize=64)
def targets(text: str) -> Mapping[Position, str]:
    """The targets of the simple assignments in a source text, by the position of the assigned expression."""
    tree = tree_of(text)
    if tree is None:  # not the text that ran
        return {}
    lines = text.split("\n")  # as the parser counts them: `splitlines` also splits at a form feed
    found: dict[Position, str] = {}
    for statement in ast.walk(tree):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
        elif isinstance(statement, ast.AugAssign):
            target = statement.target
            found[_position(statement, lines)] = ast.unparse(target)
            continue
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target, value = statement.target, statement.value
        else:
            continue
        if isinstance(target, ast.Name | ast.Attribute):
            found[_position(value, lines)] = ast.unparse(target)
    return found


def _position(node: Any, lines: list[str]) -> Position:
    def characters(line: int, column: int) -> int:
        return len(lines[line - 1].encode()[:column].decode(errors="replace"))

    return (
        node.lineno,
        node.end_lineno,
        characters(node.lineno, node.col_offset),
        characters(node.end_lineno, node.end_col_offset),
    )
