"""Updates of the variable of a loop alone: `for p in parameters: p = p - lr * p.grad` makes new tensors."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.source import place_in, text_of, tree_of


def rebound_in_vain(program: Program) -> Iterator[Finding]:
    """A finding for each `for p in parameters: p = p - lr * p.grad`, which makes new tensors and updates nothing."""
    for file in program.files_with_passes:
        for one in _rebound(program.recording.sources[file]):
            place, name, text = place_in(program.recording, file, one), text_of(one.targets[0]), text_of(one)
            yield Finding(
                "no effect", "error",
                headline(f"{text} at {at(place)} updates nothing: it makes a new tensor",
                         f"The line {at(place)} updates nothing: it makes a new tensor"),
                (f"{name} then names that tensor, until the loop goes on; the leaf stays as it was.",),
                f"Write into the leaf, under no_grad: {_in_place(one) or f'{name} -= lr * {name}.grad'}.", place,
            )  # fmt: skip


@functools.lru_cache(maxsize=64)
def _rebound(source: str) -> Sequence[ast.Assign]:
    """The assignments of a step of descent to the variable of a loop, which does not read it afterwards."""
    found = {}
    for loop in ast.walk(tree_of(source) or ast.Module([], [])):
        if not isinstance(loop, ast.For):
            continue
        variables = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
        for one in ast.walk(loop):
            match one:
                case ast.Assign([ast.Name(name)], value) if name in variables and _reads_gradient(value, name):
                    if not _is_read_after(loop, one, name):
                        found[id(one)] = one
    return list(found.values())


def _reads_gradient(value: ast.expr, name: str) -> bool:
    return any(
        isinstance(one, ast.Attribute) and one.attr == "grad" and text_of(one.value) == name for one in ast.walk(value)
    )


def _is_read_after(loop: ast.For, statement: ast.stmt, name: str) -> bool:
    """Whether the loop reads a variable behind a statement, such as to keep what it holds then."""
    names = (one for one in ast.walk(loop) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))
    return any(one.id == name and one.lineno > (statement.end_lineno or 0) for one in names)


def _in_place(assignment: ast.Assign) -> str:
    """`p -= lr * p.grad` for `p = p - lr * p.grad`; empty for what is not written so."""
    target, value = assignment.targets[0], assignment.value
    if not isinstance(value, ast.BinOp) or text_of(value.left) != text_of(target):
        return ""
    assert isinstance(target, ast.Name)
    return text_of(ast.AugAssign(target, value.op, value.right))
