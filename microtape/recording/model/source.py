"""The user's source text, as it was recorded."""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, TypeAlias

from microtape.recording.model.model import Place, Recording, TensorRef

Position: TypeAlias = tuple[int, int, int, int]
"""The first and last line, the first and last column of an expression: `Place[1:5]`."""
INSTALLED = ("site-packages", "dist-packages")
"""The folders of installed packages; the name of a file in one of them begins with it."""
_FACTORIES = ("zeros", "ones", "empty", "full", "rand", "new_")
"""How the names of functions begin that give a new tensor: also `zeros_like`, `new_full`."""
_FOLDS = ("sum", "prod", "reduce")
_PASSES = ("grad", "grad_and_value", "vjp", "hvp", "vhp", "jacobian", "hessian", "jacrev", "jacfwd")
"""Functions that run passes, whose operations have the place of the call."""

LIBRARIES = ("torch", "mt", "microtape", "F", "functional", "nn.functional", "torch.nn.functional", "mt.nn.functional")
"""How programs write the modules that have functions of tensors."""


def is_installed(place: Place | None) -> bool:
    """Whether a line belongs to an installed package, and so is not the user's to mend."""
    return place is not None and place.file.startswith(INSTALLED)


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


def text_of(node: ast.AST) -> str:
    """A part of a syntax tree as source text; empty if it is nested too deeply."""
    try:
        return ast.unparse(node)
    except RecursionError:
        return ""


@functools.lru_cache(maxsize=1024)
def only_expression(text: str) -> ast.expr | None:
    """The expression that a text is; None if it is something else."""
    tree = tree_of(text)
    only = tree.body[0] if tree is not None and len(tree.body) == 1 else None
    return only.value if isinstance(only, ast.Expr) else None


def two_names(text: str) -> tuple[str, str] | None:
    """The two different variables of `torch.equal(a, b)`, `a.equal(b)`, `a == b` or `a - b`."""
    match only_expression(text):
        case (
            ast.Call(args=[ast.Name(id=first), ast.Name(id=second), *_])
            | ast.Call(func=ast.Attribute(value=ast.Name(id=first)), args=[ast.Name(id=second), *_])
            | ast.Compare(left=ast.Name(id=first), comparators=[ast.Name(id=second)])
            | ast.BinOp(left=ast.Name(id=first), right=ast.Name(id=second))
        ) if first != second:
            return first, second
    return None


@functools.lru_cache(maxsize=256)
def loop_around(text: str, line: int, last: int = 0) -> tuple[int, int] | None:
    """The first and last line of the innermost loop around a line, or around all up to `last`; None without one."""
    loops = [one for one in ast.walk(tree_of(text) or ast.Module([], [])) if isinstance(one, ast.For | ast.While)]
    around = [(one.lineno, one.end_lineno or one.lineno) for one in loops]
    return max((one for one in around if one[0] <= line <= max(line, last) <= one[1]), default=None)


@functools.lru_cache(maxsize=256)
def function_around(text: str, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The innermost function around a line; None if there is none."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    functions = [one for one in ast.walk(tree_of(text) or ast.Module([], [])) if isinstance(one, kinds)]
    around = [one for one in functions if one.lineno <= line <= (one.end_lineno or one.lineno)]
    return max(around, key=lambda one: one.lineno, default=None)


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


def assignments(recording: Recording, file: str) -> list[ast.Assign]:
    """The simple assignments of a file, in the order of its lines."""
    several = _assignments(recording.sources.get(file, "")).values()
    return sorted({id(one): one for each in several for one in each}.values(), key=lambda one: one.lineno)


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
    """The targets of the assignments to one variable in a source text, by the position of the assigned expression."""
    return {position: names[0] for position, names in assigned_names(text).items() if len(names) == 1}


@functools.lru_cache(maxsize=64)
def assigned_names(text: str) -> Mapping[Position, tuple[str, ...]]:
    """The targets of the assignments in a source text, by the position of the assigned expression.

    Several if it is unpacked; one of these is empty if it is no variable, or has the name of another. What the call of
    a class gives, as in `m = Normal(a, b)`, is no tensor that has been computed; what a pass gives, as in
    `(g,) = grad(y, x)`, is one of many that were.
    """
    tree = tree_of(text)
    if tree is None:  # not the text that ran
        return {}
    lines = text.split("\n")  # as the parser counts them: `splitlines` also splits at a form feed
    found: dict[Position, tuple[str, ...]] = {}
    for statement in ast.walk(tree):
        match statement:
            case ast.AugAssign(target=target):
                found[_position(statement, lines)] = (ast.unparse(target),)
            case ast.Assign(targets=[target, *_], value=value) | (
                ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value)
            ):
                found |= {_position(one, lines): names for one, names in _assigned(target, value)}
    return found


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, tuple[str, ...]]]:
    """The expressions of an assigned value that compute, each with its variables."""
    match target, value:
        case _ if _hides_operations(value):
            pass
        case ast.Tuple(elts=several) | ast.List(elts=several), ast.Tuple(elts=values) | ast.List(elts=values):
            names = _different(several)
            if len(several) == len(values) and not any(isinstance(one, ast.Starred) for one in [*several, *values]):
                yield from ((one, (name,)) for one, name in zip(values, names, strict=True) if name)
        case ast.Tuple(elts=several) | ast.List(elts=several), _:
            yield value, _different(several)
        case _ if name := _variable(target):
            yield value, (name,)


def _different(several: list[ast.expr]) -> tuple[str, ...]:
    """The variables of an assignment to several; empty for one that is assigned twice."""
    names = [_variable(one) for one in several]
    return tuple([one if names.count(one) == 1 else "" for one in names])


def _variable(target: ast.expr) -> str:
    """The text of a target that holds a value as it is; empty for others, and for what nobody asks for."""
    match target:
        case ast.Name() | ast.Attribute() | ast.Subscript(slice=ast.Constant(value=str())):  # a dictionary's entry
            name = ast.unparse(target)
            return name if name != "_" else ""
    return ""


def _hides_operations(value: ast.expr) -> bool:
    """Whether a value is what a class or a pass gives: a call also of what that gives, as in `grad(f)(x)`."""
    match value:
        case ast.Call(func=ast.Attribute(attr=word) | ast.Name(id=word)):
            return word[0].isupper() or word in _PASSES
        case ast.Call(func=ast.Call() as inner):
            return _hides_operations(inner)
    return False


@functools.lru_cache(maxsize=64)
def repeating(text: str) -> Set[Position]:
    """The expressions that may run one operation several times, each on the result of the last: `x[None, None]`."""
    tree = tree_of(text)
    lines = text.split("\n")
    return {
        _position(one, lines)
        for one in (ast.walk(tree) if tree is not None else ())
        if isinstance(one, ast.Subscript)
        or (isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in _FOLDS)
    }


@functools.lru_cache(maxsize=64)
def written_names(text: str) -> Mapping[Position, tuple[str]]:
    """The variables whose methods a source text calls, by the position of the call: `y` for `y.mul_(2)`."""
    tree = tree_of(text)
    lines = text.split("\n")
    return {
        _position(one, lines): (_variable(one.func.value),)
        for one in (ast.walk(tree) if tree is not None else ())
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)
    }


@functools.lru_cache(maxsize=64)
def filled_names(text: str) -> Mapping[Position, tuple[str]]:
    """The variables to whose parts the functions of a source text assign, by the position of the part: `y[0] = 1`.

    Only variables that hold what `zeros` and the like give: others may hold a view of what the assignment changes.
    """
    tree = tree_of(text)
    lines = text.split("\n")
    found: dict[Position, tuple[str]] = {}
    for function in ast.walk(tree) if tree is not None else ():
        if isinstance(function, ast.FunctionDef):
            inside = [*ast.walk(function)]
            bound = Counter(_bound(one) for one in inside)
            made = Counter(_made_whole(one) for one in inside)
            for one in inside:
                match one:
                    case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()) if 0 < bound[name] == made[name]:
                        found[_position(one, lines)] = (name,)
    return found


def _bound(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
    return ""


def _made_whole(node: ast.AST) -> str:
    """The variable to which a statement assigns a tensor that is no view."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr=word) | ast.Name(id=word))):
            return name if word.startswith(_FACTORIES) else ""
    return ""


@functools.lru_cache(maxsize=64)
def holders(text: str) -> Mapping[Position, tuple[str, bool]]:
    """The variables that hold what an expression gave, and whether it is alone: not in a list, a tuple or a dict."""
    tree = tree_of(text)
    found: dict[Position, tuple[str, bool]] = {}
    lines = text.split("\n")
    for statement in ast.walk(tree) if tree is not None else ():
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.NamedExpr) and statement.value is not None:
            several = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            found |= {_position(one, lines): held for one, held in _held(several[0], statement.value)}
    return found


def _held(target: ast.expr, value: ast.expr, is_alone: bool = True) -> Iterator[tuple[ast.expr, tuple[str, bool]]]:
    """The expressions whose results an assignment keeps, each with the variable."""
    match target, value:
        case ast.Tuple() | ast.List(), ast.Tuple() | ast.List() if len(target.elts) == len(value.elts):
            for pair in zip(target.elts, value.elts, strict=True):
                yield from _held(*pair)
        case ast.Subscript(), _:
            yield from _held(target.value, value, is_alone=False)
        case ast.Name() | ast.Attribute(), _:
            yield from ((one, (ast.unparse(target), is_alone and one is value)) for one in _kept(value))


def _kept(value: ast.expr) -> Iterator[ast.expr]:
    """The expressions whose results a value is, or consists of."""
    match value:
        case ast.List(elts=inner) | ast.Tuple(elts=inner) | ast.Dict(values=inner):
            pass
        case ast.ListComp(elt=one) | ast.GeneratorExp(elt=one) | ast.DictComp(value=one):
            inner = [one]
        case ast.IfExp(body=one, orelse=other):
            inner = [one, other]
        case ast.Call(func=ast.Name(id="list" | "tuple" | "dict"), args=inner):
            pass
        case _:
            yield value
            return
    for one in inner:
        yield from _kept(one)


def _position(node: Any, lines: list[str]) -> Position:
    def characters(line: int, column: int) -> int:
        return len(lines[line - 1].encode()[:column].decode(errors="replace"))

    return (
        node.lineno,
        node.end_lineno,
        characters(node.lineno, node.col_offset),
        characters(node.end_lineno, node.end_col_offset),
    )


# Operands without a name: `y.sum()` in `x / y.sum()`, `x - y` in `net(x - y)`


def written_operands(recording: Recording) -> Mapping[TensorRef, str]:
    """The texts of operands of arithmetic, and of the only argument of a call that takes nothing else from outside."""
    found: dict[TensorRef, str] = {}
    given: dict[Place, set[TensorRef]] = {}  # operands that no recorded operation has computed, by call
    computed = {output for node in recording.nodes for output in node.outputs}
    for node in recording.nodes:
        refs = [one.ref for one in node.operands]
        if node.place is None:
            continue
        if len(refs) == 2 and len(node.edges) == 2:
            for ref, text in zip(refs, _sides(expression(recording, node.place)), strict=False):
                if ref is not None:
                    found.setdefault(ref, text)
        given.setdefault(node.place, set()).update(
            one for one in refs if one is not None and one not in computed and not recording.tensors[one.tensor].name
        )
    for place, several in given.items():
        if len(several) == 1 and (argument := _only_argument(expression(recording, place))):
            found.setdefault(several.pop(), argument)
    return found


def _sides(text: str) -> tuple[str, ...]:
    """The two sides of arithmetic, which computes element by element."""
    top = only_expression(text)
    if not isinstance(top, ast.BinOp) or isinstance(top.op, ast.MatMult):
        return ()
    return ast.unparse(top.left), ast.unparse(top.right)


def _only_argument(text: str) -> str:
    """The only argument of a call, if it is computed there: else it has a name."""
    top = only_expression(text)
    if not isinstance(top, ast.Call) or len(top.args) != 1 or top.keywords:
        return ""
    return ast.unparse(top.args[0]) if isinstance(top.args[0], ast.BinOp | ast.Call) else ""
