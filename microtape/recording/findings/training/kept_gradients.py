"""What the source says that the program does itself with the `.grad` of leaves: keeps it, or puts another one there."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from microtape.recording.findings.program import Program
from microtape.recording.model.model import Place
from microtape.recording.model.source import INSTALLED, function_around, loop_around, place_in, tree_of

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_BY_ENGINES = re.compile(r"__\w+__|forward|backward|setup_context")
_STORES = ("append", "extend", "add", "add_", "copy_", "update", "put")
_COMPUTES = re.compile(
    "clone|detach|copy|deepcopy|numpy|asarray|array|cpu|cuda|to|float|double|half|flatten|ravel|view|reshape|view_as|"
    "squeeze|unsqueeze|mul|div|add|sub|cat|concatenate|stack|hstack|list|tuple|sorted|reversed"
)
"""What gives gradients of gradients: `norm` and `item` give a number, which may be only for a log."""


def puts_gradients(program: Program) -> bool:
    """Whether the program puts gradients of its own making into `.grad`, as `p.grad = projected[p]` does.

    A reset puts none there, nor does what scales or cuts off the one that is there.
    """
    return any(_puts(one) for one in _running(_texts(program)))


def keeps_gradients(program: Program, tensor: int, backward: Place, updates: Iterable[Place | None]) -> bool:
    """Whether the program keeps what a backward has left in the leaf's `.grad`, to use it in a way of its own.

    If the backward stands in a loop, then there. The lines of the updates use what is in `.grad` by then.
    """
    running = _around(program, backward)
    lines = {line for one in updates if one is not None for line in range(one.line, one.end_line + 1)}
    names = {name.rpartition(".")[2] for name in program.recording.tensors[tensor].names} | _looped_over(running)
    statements = (one for one in running if isinstance(one, ast.stmt | ast.Call) and one.lineno not in lines)
    return any(
        owner.split(".")[0] in names or owner.split(".")[-1] in names for one in statements for owner in _kept(one)
    )


def reset_between(program: Program, backward: Place, update: Place | None) -> Place | None:
    """The only call of `zero_grad` around a backward that does not stand beside the update; None if that is unclear."""
    around = {id(one) for one in _around(program, backward)}
    found = [
        (file, one.value)
        for file, text in program.recording.sources.items()
        for block in _blocks(tree_of(text) or ast.Module([], []))
        if update is None or file != update.file or update.line not in [one.lineno for one in block]
        for one in block
        if id(one) in around and isinstance(one, ast.Expr) and _resets(one.value)
    ]
    return place_in(program.recording, *found[0]) if len(found) == 1 else None


def _blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """The lists of statements that run one after the other."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(block := getattr(node, name, None), list):
                yield block


def _resets(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "zero_grad"


def _around(program: Program, backward: Place) -> Sequence[ast.AST]:
    """The code of the innermost loop around a backward in its function, with what that calls; else all that runs."""
    texts, text = _texts(program), program.recording.sources.get(backward.file, "")
    loop, function = loop_around(text, backward.line), function_around(text, backward.line)
    if loop is None or (function is not None and loop[0] <= function.lineno):
        return _running(texts)
    inside = ast.walk(tree_of(text) or ast.Module([], []))
    return _with_callees([one for one in inside if loop[0] <= _line(one) <= loop[1]], texts)


def _texts(program: Program) -> tuple[str, ...]:
    """The user's own files."""
    return tuple(text for file, text in program.recording.sources.items() if not file.startswith(INSTALLED))


def _line(node: ast.AST) -> int:
    return _line(node.target) if isinstance(node, ast.comprehension) else getattr(node, "lineno", 0)


@functools.lru_cache(maxsize=8)
def _running(texts: tuple[str, ...]) -> Sequence[ast.AST]:
    """The code of modules, and of the functions that are named by code that runs, or called by engines."""
    trees = [tree for text in texts if (tree := tree_of(text)) is not None]
    called = [one for one in _functions(texts) if _BY_ENGINES.fullmatch(one.name) or one.decorator_list]
    return _with_callees([node for one in (*trees, *called) for node in _own(one)], texts)


def _with_callees(nodes: Sequence[ast.AST], texts: tuple[str, ...]) -> Sequence[ast.AST]:
    """Code, and that of the functions whose names it contains, and of those that these name."""
    found, waiting = [], list(nodes)
    left = {id(one): one for one in _functions(texts)}
    while waiting:
        found += waiting
        names = {
            one.id if isinstance(one, ast.Name) else one.attr
            for one in waiting
            if isinstance(one, ast.Name | ast.Attribute)
        }
        named = [left.pop(id(one)) for one in [*left.values()] if one.name in names]
        waiting = [node for one in named for node in _own(one)]
    return found


@functools.lru_cache(maxsize=8)
def _functions(texts: tuple[str, ...]) -> Sequence[_Function]:
    trees = [tree for text in texts if (tree := tree_of(text)) is not None]
    return [one for tree in trees for one in ast.walk(tree) if isinstance(one, _Function)]


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one, without those of functions that are defined there."""
    for one in ast.iter_child_nodes(node):
        if not isinstance(one, _Function):
            yield one
            yield from _own(one)


def _looped_over(nodes: Iterable[ast.AST]) -> set[str]:
    """The variables of loops and comprehensions: what stands for one parameter after another."""
    loops = [one.target for one in nodes if isinstance(one, ast.For | ast.comprehension)]
    return {name.id for one in loops for name in ast.walk(one) if isinstance(name, ast.Name)}


def _puts(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=targets, value=value):
            fields = [field for one in targets if (field := _field(one))]
            return bool(fields) and not any(_is_reset(value) or _is_scaled(value, one) for one in fields)
        case ast.AugAssign(target=target, op=ast.Add() | ast.Sub()):
            return bool(_field(target))
        case ast.Call(func=ast.Attribute(value=owner, attr="copy_" | "add_" | "sub_" | "lerp_" | "set_")):
            return bool(_field(owner))
        case ast.Call(func=ast.Name("setattr"), args=[_, ast.Constant("grad" | "_grad"), value]):
            return not _is_reset(value)
    return False


def _field(target: ast.expr) -> str:
    """`p.grad` for itself, for `p.grad.data` and for `p.grad[i]`; empty for what is no `.grad`."""
    match target:
        case ast.Attribute(attr="grad" | "_grad"):
            return ast.unparse(target)
        case ast.Attribute(value=owner, attr="data") | ast.Subscript(value=owner):
            return _field(owner)
    return ""


def _is_reset(value: ast.expr) -> bool:
    match value:
        case ast.Constant(None):
            return True
        case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)):
            return name.startswith("zeros")
    return False


def _is_scaled(value: ast.expr, field: str) -> bool:
    """Whether a value is the gradient that a field holds, scaled, or changed by a function of it."""
    match value:
        case ast.BinOp(left, ast.Mult() | ast.Div(), right):
            parts = [left, right]
        case ast.Call(func, args):
            parts = [*args[:1], *([func.value] if isinstance(func, ast.Attribute) else [])]
        case _:
            return False
    return any(_field(one) == field or _is_scaled(one, field) for one in parts)


def _kept(node: ast.AST) -> Iterator[str]:
    """The owners of the gradients that a statement, or a call of `append` and the like, keeps: `p` for `p.grad`.

    What changes the owner itself is an update.
    """
    match node:
        case ast.Assign(targets=targets, value=value):
            into = [ast.unparse(one) for one in targets]
        case ast.AugAssign(target=target, value=value):
            into = [ast.unparse(target)]
        case ast.Return(value=ast.expr() as value):
            into = []
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args) if name in _STORES:
            into, value = [ast.unparse(owner)], ast.Tuple(args)
        case _:
            return
    for one in _owners(value):
        if not any(re.match(rf"{re.escape(one)}\b", changed) for changed in into):
            yield one


def _owners(value: ast.AST) -> Iterator[str]:
    """The owners of the gradients that a value is made of."""
    match value:
        case ast.Attribute(value=owner, attr="grad"):
            yield ast.unparse(owner)
        case ast.Attribute(value=inner, attr="data") | ast.Subscript(value=inner) | ast.Starred(value=inner):
            yield from _owners(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr=name), args=args) if _COMPUTES.fullmatch(name):
            yield from (one for part in (inner, *args) for one in _owners(part))
        case ast.Call(func=ast.Name(name), args=args) if _COMPUTES.fullmatch(name):
            yield from (one for part in args for one in _owners(part))
        case ast.BinOp(left=left, right=right):
            yield from (*_owners(left), *_owners(right))
        case ast.UnaryOp(operand=inner):
            yield from _owners(inner)
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*_owners(body), *_owners(orelse))
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
            yield from (one for part in parts for one in _owners(part))
        case ast.ListComp(elt=inner) | ast.GeneratorExp(elt=inner) | ast.SetComp(elt=inner) | ast.DictComp(value=inner):
            yield from _owners(inner)
