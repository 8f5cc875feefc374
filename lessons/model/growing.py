"""A file that grows from lesson to lesson: pieces of Python are put into it, and what stands there stays.

A piece is a function, a method, an import, an assignment, the comment at the top of the file, or its
`if __name__ == "__main__":`. A piece replaces the one of the same name; one with a new name is added.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

TOP = "the comment at the top"
MAIN = "the main program"


class Piece(NamedTuple):
    """A part of a file, by its name and its lines. A method's name is `Class.method`."""

    name: str
    start: int  # an index into the lines
    end: int
    lines: tuple[str, ...]


def pieces(text: str) -> dict[str, Piece]:
    """The pieces of a file by their names, in the order of its lines. Raises SyntaxError if it is not Python."""
    lines = text.splitlines()
    return {one.name: one for one in _pieces(lines, ast.parse(text))}


def with_pieces(text: str, more: str) -> str:
    """A file with the pieces of another one put into it. Raises SyntaxError if one of the two is not Python."""
    for piece in pieces(more).values():
        text = _put(text, piece)
    return text


def changed(text: str, before: str) -> list[Piece]:
    """The pieces of a file that an earlier one does not have, or has otherwise."""
    known = pieces(before)
    return [one for name, one in pieces(text).items() if name not in known or known[name].lines != one.lines]


def grown(own: str, before: str, after: str) -> str:
    """What a learner goes on with: their own file, with what is new between two files of the course.

    Raises SyntaxError if the learner's file is not Python.
    """
    for piece in changed(after, before):
        own = _put(own, piece)
    return own


def _pieces(lines: list[str], tree: ast.Module) -> Iterator[Piece]:
    top = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    if top:
        yield _piece(lines, TOP, 0, top)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield _piece(lines, node.name, *_span(lines, node))
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    yield _piece(lines, f"{node.name}.{method.name}", *_span(lines, method))
        elif not _is_docstring(node):
            yield _piece(lines, _name(node), *_span(lines, node))


def _piece(lines: list[str], name: str, start: int, end: int) -> Piece:
    return Piece(name, start, end, tuple(lines[start:end]))


def _span(lines: list[str], node: ast.stmt) -> tuple[int, int]:
    """The lines of a statement, with its decorators and the comment right above it."""
    start = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))]) - 1
    indent = " " * node.col_offset
    while start and lines[start - 1].startswith(f"{indent}#"):
        start -= 1
    return start, node.end_lineno or node.lineno


def _name(node: ast.stmt) -> str:
    match node:
        case ast.FunctionDef(name=name):
            return name
        case ast.If(test=test) if "__name__" in ast.unparse(test):
            return MAIN
        case ast.Assign(targets=[target]):
            return ast.unparse(target)
    return ast.unparse(node)


def _is_assignment(piece: Piece) -> bool:
    return " = " in piece.lines[0] and not piece.lines[0].startswith((" ", "#"))


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _put(text: str, piece: Piece) -> str:
    lines, there = text.splitlines(), pieces(text)
    known = there.get(piece.name)
    owner, _, method = piece.name.partition(".") if piece.lines[0].startswith(" ") else ("", "", "")
    if known is not None and "class " in piece.lines[0]:
        pass  # its methods are pieces of their own
    elif known is not None:
        lines[known.start : known.end] = piece.lines
    elif piece.name == TOP:
        lines[:0] = [*piece.lines, "", ""]
    elif method and owner in there:
        end = there[owner].end
        lines[end:end] = ["", *piece.lines]
    elif method:
        pass  # it has come with its class
    elif piece.name.startswith(("import ", "from ")):
        at = max([one.end for one in there.values() if one.name.startswith(("import ", "from "))], default=None)
        if at is None:
            at = there[TOP].end if TOP in there else 0
            lines[at:at] = ["", *piece.lines]
        else:
            lines[at:at] = piece.lines
    else:
        at = there[MAIN].start if MAIN in there and piece.name != MAIN else len(lines)
        while at and not lines[at - 1].strip():
            at -= 1
        joins = _is_assignment(piece) and any(one.end == at and _is_assignment(one) for one in there.values())
        lines[at:at] = [*([] if joins else ["", ""]), *piece.lines]
    return "\n".join(lines) + "\n"
