"""The solution piece by piece: each piece adds one statement, so that learners can continue on their own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lessons.model.lesson import Exercise


def solution_pieces(exercise: Exercise) -> list[str]:
    """The functions that the learner completes, piece by piece: each piece shows one more statement of the solution.

    A statement that the exercise already contains adds no piece.
    """
    solution = exercise.solution.read_text(encoding="utf-8")
    given = {line.strip() for line in exercise.path.read_text(encoding="utf-8").splitlines()}
    lines = solution.splitlines()
    found = []
    for owner, function in _functions(ast.parse(solution)):
        statements = list(_statements(function.body))
        new = [
            number
            for number, (start, end) in enumerate(statements)
            if any(line.strip() not in given for line in lines[start - 1 : end])
        ]
        begin = function.decorator_list[0].lineno if function.decorator_list else function.lineno
        head = [] if owner is None else lines[owner.lineno - 1 : owner.lineno]
        for number in new:
            whole = number == new[-1]
            shown = head + lines[begin - 1 : statements[-1 if whole else number][1]]
            if not whole:
                following = lines[statements[number + 1][0] - 1]
                shown.append(f"{following[: len(following) - len(following.lstrip())]}...")
            found.append("\n".join(shown))
    return found


def solution_note(exercise: Exercise) -> str:
    """The explanation in the comment at the top of the solution, after its first paragraph."""
    text = exercise.solution.read_text(encoding="utf-8")
    comment = [line.removeprefix("#").strip() for line in text.partition("\n\n\n")[0].splitlines() if line[:1] == "#"]
    _, _, said = "\n".join(comment).partition("\n\n")
    return " ".join(said.split())


def _functions(tree: ast.Module) -> Iterator[tuple[ast.ClassDef | None, ast.FunctionDef]]:
    """Each function, and its class if it is a method."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield None, node
        elif isinstance(node, ast.ClassDef):
            yield from ((node, one) for one in node.body if isinstance(one, ast.FunctionDef))


def _statements(body: list[ast.stmt]) -> Iterator[tuple[int, int]]:
    """First and last line of each statement. The head of a compound statement goes with its first inner statement."""
    for statement in body:
        inner: list[ast.stmt] = getattr(statement, "body", [])
        if not inner:
            yield statement.lineno, statement.end_lineno or statement.lineno
            continue
        (_, end), *rest = _statements(inner)
        yield statement.lineno, end
        yield from rest
        for field in ("handlers", "orelse", "finalbody"):
            for other in getattr(statement, field, []):
                yield from _statements(other.body if isinstance(other, ast.ExceptHandler) else [other])
