"""Statements of a training loop that do nothing: a method that is not called, a new tensor in place of an update."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from microtape.basics.call_site import in_cell
from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.source import is_installed, place_in

_METHODS = ("zero_grad", "step", "zero_", "train", "eval", "detach_", "retain_grad", "backward", "update")


def never_called(program: Program) -> Iterator[Finding]:
    """A finding for each statement such as `optimizer.zero_grad`, without parentheses, in a file that has a pass."""
    files = {one.place.file for one in program.recording.passes if one.place is not None}
    for file, tree in program.trees:
        last = tree.body[-1] if tree.body and in_cell(file) else None  # its value is shown
        for one in ast.walk(tree) if file in files else ():
            match one:
                case ast.Expr(ast.Attribute(attr=method) as named) if method in _METHODS and one is not last:
                    place, text = place_in(program.recording, file, named), ast.unparse(named)
                    if not is_installed(place):
                        yield Finding(
                            "no effect", "error",
                            headline(f"{text} at {at(place)} does nothing: it is not called",
                                     f"{method} at {at(place)} does nothing: it is not called"),
                            (f"Without parentheses, {text} only names the method.",), f"Call it: {text}().", place,
                        )  # fmt: skip


def rebound_in_vain(program: Program) -> Iterator[Finding]:
    """A finding for each `for p in parameters: p = p - lr * p.grad`, which makes new tensors and updates nothing."""
    files = {one.place.file for one in program.recording.passes if one.place is not None}
    for file, tree in program.trees:
        loops = [one for one in ast.walk(tree) if isinstance(one, ast.For)] if file in files else []
        for loop in loops:
            variables = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
            for one in ast.walk(loop):
                match one:
                    case ast.Assign([ast.Name(name)], value) if name in variables and _reads_gradient(value, name):
                        place, text = place_in(program.recording, file, one), ast.unparse(one)
                        if _is_read_after(loop, one, name) or is_installed(place):
                            continue
                        yield Finding(
                            "no effect", "error",
                            headline(f"{text} at {at(place)} updates nothing: it makes a new tensor",
                                     f"The line {at(place)} updates nothing: it makes a new tensor"),
                            (f"{name} then names that tensor, until the loop goes on; the leaf stays as it was.",),
                            f"Write into the leaf, under no_grad: {_in_place(one) or f'{name} -= lr * {name}.grad'}.",
                            place,
                        )  # fmt: skip


def _reads_gradient(value: ast.expr, name: str) -> bool:
    return any(
        isinstance(one, ast.Attribute) and one.attr == "grad" and ast.unparse(one.value) == name
        for one in ast.walk(value)
    )


def _is_read_after(loop: ast.For, statement: ast.stmt, name: str) -> bool:
    """Whether the loop reads a variable behind a statement, such as to keep what it holds then."""
    names = (one for one in ast.walk(loop) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))
    return any(one.id == name and one.lineno > (statement.end_lineno or 0) for one in names)


def _in_place(assignment: ast.Assign) -> str:
    """`p -= lr * p.grad` for `p = p - lr * p.grad`; empty for what is not written so."""
    target, value = assignment.targets[0], assignment.value
    if not isinstance(value, ast.BinOp) or ast.unparse(value.left) != ast.unparse(target):
        return ""
    assert isinstance(target, ast.Name)
    return ast.unparse(ast.AugAssign(target, value.op, value.right))
