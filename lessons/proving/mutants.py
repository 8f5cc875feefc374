"""Mutation testing: every variant of a right program with one small mistake.

A check that passes such a mutant would also pass a learner's mistake. The mutations imitate what learners do: they use
another operator, swap two operands, omit a sum, a transposition or a minus, forget an argument, or return nothing.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

Alternative: TypeAlias = tuple[str, ast.AST]

OTHER_OPERATOR: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
}
OTHER_COMPARISON: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
REMOVABLE = (
    ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Continue, ast.Break, ast.Delete, ast.If, ast.For, ast.While
)  # fmt: skip
COMMUTATIVE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)


class Mutant(NamedTuple):
    """A program with one mistake."""

    line: int  # of the right program
    mistake: str
    text: str


def mutants(source: str) -> list[Mutant]:
    """Every variant of this program with one small mistake, without duplicates, in the order of the lines.

    Code under `if __name__ == "__main__"` and docstrings are not mutated.
    """
    tree = ast.parse(source)
    tree.body = [statement for statement in tree.body if not _is_main(statement)]
    for holder in ast.walk(tree):
        if isinstance(holder, ast.FunctionDef | ast.ClassDef | ast.Module) and ast.get_docstring(holder) is not None:
            holder.body = holder.body[1:] or [ast.Pass()]
    right = ast.unparse(tree)
    modules = {alias.asname or alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    found: dict[str, Mutant] = {}
    for holder, field, index, node in _places(tree):
        for mistake, other in _alternatives(node, modules):
            _put(holder, field, index, other)
            text = ast.unparse(ast.fix_missing_locations(copy.deepcopy(tree)))
            if text != right:
                found.setdefault(text, Mutant(getattr(node, "lineno", 0), mistake, text + "\n"))
        _put(holder, field, index, node)
    return sorted(found.values(), key=lambda mutant: mutant.line)


def _places(tree: ast.Module) -> list[tuple[ast.AST, str, int | None, ast.AST]]:
    """Every node with its place in the tree, where another node can be put."""
    places: list[tuple[ast.AST, str, int | None, ast.AST]] = []
    for holder in ast.walk(tree):
        for field, value in ast.iter_fields(holder):
            if isinstance(value, ast.AST):
                places.append((holder, field, None, value))
            elif isinstance(value, list) and field != "decorator_list":
                places.extend((holder, field, i, item) for i, item in enumerate(value) if isinstance(item, ast.AST))
    return places


def _put(holder: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(holder, field, node)
    else:
        getattr(holder, field)[index] = node


def _alternatives(node: ast.AST, modules: set[str]) -> Iterator[Alternative]:
    """The nodes that a mistake could put in this node's place, each with a description."""
    match node:
        case ast.BinOp():
            yield from _of_operation(node)
        case ast.UnaryOp(operand=operand) if not isinstance(operand, ast.Constant):
            yield f"without {ast.unparse(node).removesuffix(ast.unparse(operand))!r}", operand
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in OTHER_COMPARISON:
            other = ast.Compare(left, [OTHER_COMPARISON[type(operator)]()], [right])
            yield f"`{ast.unparse(other)}` for `{ast.unparse(node)}`", other
        case ast.BoolOp(op=operator, values=[first, second]):
            yield (
                "`or` for `and`, or the other way round",
                ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), [first, second]),
            )
            yield f"only `{ast.unparse(first)}`", first
            yield f"only `{ast.unparse(second)}`", second
        case ast.IfExp(body=body, orelse=orelse):
            yield f"always `{ast.unparse(body)}`", body
            yield f"always `{ast.unparse(orelse)}`", orelse
        case ast.Attribute(value=value, attr="T" | "grad_fn"):
            yield f"without .{node.attr}", value
        case ast.Call():
            yield from _of_call(node, modules)
        case ast.Tuple(elts=[first, second], ctx=ast.Load()):
            yield f"`{ast.unparse(node)}` the other way round", ast.Tuple([second, first], ast.Load())
        case ast.Constant(value=value):
            yield from _of_constant(value)
        case ast.stmt():
            yield from _of_statement(node)


def _of_operation(node: ast.BinOp) -> Iterator[Alternative]:
    left, right = node.left, node.right
    if not isinstance(node.op, COMMUTATIVE):
        yield f"`{ast.unparse(node)}` the other way round", ast.BinOp(right, node.op, left)
    yield f"only the first of `{ast.unparse(node)}`", left
    yield f"only the second of `{ast.unparse(node)}`", right
    if type(node.op) in OTHER_OPERATOR:
        other = ast.BinOp(left, OTHER_OPERATOR[type(node.op)](), right)
        yield f"`{ast.unparse(other)}` for `{ast.unparse(node)}`", other


def _of_call(node: ast.Call, modules: set[str]) -> Iterator[Alternative]:
    name = ast.unparse(node.func)
    if isinstance(node.func, ast.Attribute) and name.partition(".")[0] not in modules:
        yield f"without .{node.func.attr}()", node.func.value
    elif len(node.args) == 1:
        yield f"without {name}()", node.args[0]
    if len(node.args) == 2:
        yield f"the arguments of {name} the other way round", ast.Call(node.func, node.args[::-1], node.keywords)
    for i, keyword in enumerate(node.keywords):
        yield (
            f"without {keyword.arg}= in {name}",
            ast.Call(node.func, node.args, [*node.keywords[:i], *node.keywords[i + 1 :]]),
        )


def _of_constant(value: object) -> Iterator[Alternative]:
    if isinstance(value, bool):
        yield f"{not value} for {value}", ast.Constant(not value)
    elif isinstance(value, int | float):
        yield f"{value + 1} for {value}", ast.Constant(value + 1)
        if value not in (0, 1):
            yield f"{value - 1} for {value}", ast.Constant(value - 1)
    elif isinstance(value, str) and value:
        yield f"another text for {value!r}", ast.Constant(f"{value}?")


def _of_statement(node: ast.stmt) -> Iterator[Alternative]:
    line = ast.unparse(node).partition("\n")[0]
    match node:
        case ast.AugAssign(target=target, value=value):
            yield (
                f"`=` for `{ast.unparse(ast.AugAssign(target, node.op, ast.Name('')))}`".rstrip(),
                ast.Assign([target], value),
            )
        case ast.Return(value=ast.Tuple(elts=elements)):
            for i, element in enumerate(elements):
                fewer = [*elements[:i], ast.Constant(None), *elements[i + 1 :]]
                yield f"None for `{ast.unparse(element)}`", ast.Return(ast.Tuple(fewer, ast.Load()))
        case ast.With(body=body):
            yield f"without `{line}`", ast.If(ast.Constant(True), body, [])
        case ast.If(test=test, body=body, orelse=orelse):
            yield f"not `{line}`", ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
            yield f"`{line}` or not", ast.If(ast.Constant(True), body, [])
    if isinstance(node, REMOVABLE):
        yield f"without `{line}`", ast.Pass()


def _is_main(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)
