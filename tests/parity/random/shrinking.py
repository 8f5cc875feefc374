"""Shrinks a program that differs: first without most statements, then with simpler ones, as long as it still differs.

A candidate is kept if it is shorter and `fails` says that it still differs. Statements are dropped in halves, quarters
and so on (delta debugging), then each statement is replaced by simpler ones, made from its syntax tree.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.parity.random.program import Block, Program, Statement, compiled

Fails = Callable[[Program], bool]


def shrunk(program: Program, fails: Fails, budget: int = 1500) -> Program:
    """A smaller program that fails, after at most `budget` candidates."""
    left = [budget]
    improved = True
    while improved and left[0] > 0:
        improved = False
        for candidates in (_shorter, _simpler):
            found: Program | None = program
            while found is not None:
                found = next((one for one in candidates(program) if left[0] > 0 and _counted(left, fails, one)), None)
                if found is not None:
                    program, improved = found, True
    return program


def _counted(left: list[int], fails: Fails, candidate: Program) -> bool:
    left[0] -= 1
    return fails(candidate)


def _shorter(program: Program) -> Iterator[Program]:
    """The program without some of its statements: half of them, a quarter, ... one."""
    for place, statement in enumerate(program):
        if isinstance(statement, str) and (alias := re.fullmatch(r"(\w+) = (\w+)", statement)):
            yield program[:place] + tuple(_renamed(one, *alias.groups()) for one in program[place + 1 :])
    size = max(len(program) // 2, 1)
    while size:
        for start in range(len(program) - size, -1, -size):
            yield program[:start] + program[start + size :]
        size //= 2


def _renamed(statement: Statement, old: str, new: str) -> Statement:
    """The statement with another name."""
    if isinstance(statement, Block):
        body = tuple(_renamed(one, old, new) for one in statement.body)
        return Block(str(_renamed(statement.header, old, new)), body)
    return re.sub(rf"\b{old}\b", new, statement)


def _simpler(program: Program) -> Iterator[Program]:
    """The program with one statement replaced."""
    for place, statement in enumerate(program):
        for some in _instead(statement):
            yield program[:place] + some + program[place + 1 :]


def _instead(statement: Statement) -> Iterator[tuple[Statement, ...]]:
    """Simpler statements to put in the place of this one."""
    if isinstance(statement, Block):
        yield statement.body
        for body in _shorter(statement.body):
            yield (Block(statement.header, body),)
        for body in _simpler(statement.body):
            yield (Block(statement.header, body),)
    else:
        for source in _simpler_sources(statement):
            yield (source,)


def _simpler_sources(source: str) -> Iterator[str]:
    """Simpler sources: without a statement of a body, an argument, or part of an expression."""
    tree = ast.parse(source)
    seen = {ast.unparse(tree)}
    for place, node in enumerate(ast.walk(tree)):
        for field, value in ast.iter_fields(node):
            for change in _changes(node, field, value):
                other = copy.deepcopy(tree)
                twin = next(one for i, one in enumerate(ast.walk(other)) if i == place)
                setattr(twin, field, change)
                try:
                    written = ast.unparse(ast.fix_missing_locations(other))
                    compiled(written)
                except (SyntaxError, ValueError):
                    continue
                if written not in seen and len(written) <= len(source):
                    seen.add(written)
                    yield written


def _changes(node: ast.AST, field: str, value: Any) -> Iterator[Any]:
    """Simpler values of one field of a node of the syntax tree."""
    if isinstance(value, list) and field in ("body", "args", "keywords", "elts", "orelse", "decorator_list"):
        for i, one in enumerate(value):
            without = value[:i] + value[i + 1 :]
            if isinstance(one, ast.keyword) and one.arg == "dtype":
                continue  # most programs have one dtype
            if without or field != "body":
                yield without
            elif not isinstance(one, ast.Pass):
                yield [ast.Pass()]
            if field == "body" and isinstance(one, ast.With | ast.If):
                yield value[:i] + one.body + value[i + 1 :]
            if isinstance(one, ast.expr):
                for simple in _parts(one):
                    yield [*value[:i], simple, *value[i + 1 :]]
    elif isinstance(value, ast.expr) and not isinstance(node, ast.Attribute | ast.Call):
        yield from _parts(value)


def _parts(value: ast.expr) -> Iterator[ast.expr]:
    """Expressions inside of this one, and the simplest constants."""
    if isinstance(value, ast.BinOp):
        yield from (value.left, value.right)
    elif isinstance(value, ast.UnaryOp):
        yield value.operand
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and not _is_module(value.func.value):
        yield value.func.value
        yield from value.args
    elif isinstance(value, ast.Subscript | ast.Attribute):
        yield value.value
    elif isinstance(value, ast.List | ast.Tuple):
        yield from value.elts
    elif isinstance(value, ast.Constant) and isinstance(value.value, float) and value.value not in (1.0, 2.0):
        yield from (ast.Constant(1.0), ast.Constant(2.0))


def _is_module(value: ast.expr) -> bool:
    return isinstance(value, ast.Name | ast.Attribute) and ast.unparse(value).split(".")[0] in ("mt", "fw")
