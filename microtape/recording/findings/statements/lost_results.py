"""A result that nobody keeps: `scores.masked_fill(mask, -inf)`, as a statement, leaves `scores` as it was."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from microtape.basics.call_site import in_cell
from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import Place
from microtape.recording.model.source import INSTALLED, LIBRARIES, place_in, text_of, tree_of
from microtape.recording.tables.fields import field

_NEVER_WRITE = frozenset({
    "abs", "acos", "acosh", "add", "addcdiv", "addcmul", "addmm", "asin", "asinh", "atan", "atanh", "baddbmm",
    "ceil", "clamp", "clip", "clone", "contiguous", "cos", "cosh", "cumprod", "cumsum", "detach", "div", "divide",
    "dropout", "erf", "erfc", "exp", "exp2", "expand", "expm1", "flatten", "floor", "gather", "gelu", "hardshrink",
    "index_add", "index_copy", "index_fill", "index_put", "index_select", "layer_norm", "leaky_relu", "lerp", "log",
    "log10", "log1p", "log2", "log_softmax", "logit", "masked_fill", "masked_scatter", "masked_select", "movedim",
    "mul", "multiply", "nan_to_num", "neg", "normalize", "permute", "pow", "prelu", "reciprocal", "relu", "reshape",
    "round", "rsqrt", "scatter", "scatter_add", "scatter_reduce", "sigmoid", "sign", "silu", "sin", "sinh",
    "softmax", "softplus", "sqrt", "square", "squeeze", "sub", "subtract", "t", "tan", "tanh", "transpose", "tril",
    "triu", "trunc", "unsqueeze", "view", "where",
})  # fmt: skip
"""Methods and functions that make a new tensor, or a view, and leave what they are given as it is.

Not those that modules have as well, whose `to`, `half` and so on move the module itself.
"""

_WITHOUT_TWIN = ("detach", "clone", "contiguous", "view", "reshape", "flatten", "expand", "permute", "movedim",
                 "gather", "where")  # fmt: skip
"""Of these, such as have no twin that writes in place."""


class _Statement(NamedTuple):
    """A call of one of these, or of a layer, that stands alone."""

    call: ast.Call
    name: str
    variable: str  # whose method it is, or the first argument of a function or a layer
    after: Sequence[ast.stmt]  # in the same block: if one of these ran, then the statement did


def lost_results(program: Program) -> Iterator[Finding]:
    """A finding for each statement that computes a new tensor of a variable, which is used later as it was."""
    recording = program.recording
    statements = [
        (file, one)
        for file, text in recording.sources.items()
        if not file.startswith(INSTALLED)
        for one in _statements(text, is_cell=bool(in_cell(file)))
    ]
    if not statements:
        return
    tensors: dict[str, list[int]] = {}
    for number, names in enumerate(field(recording.tensors, "names")):
        for name in names:
            tensors.setdefault(name, []).append(number)
    lines = _recorded_lines(program)
    for file, one in statements:
        place = place_in(recording, file, one.call)
        if _is_about_a_leaf(one):
            yield _finding(one, place, f"Write in place: {_in_place(one)}.")
            continue
        use = _use(one, {line for other, line in lines if other == file}) if one.variable in tensors else None
        if use is not None:
            found = _finding(one, place, f"Assign the result: {one.variable} = {text_of(one.call)}.")
            yield _used(program, found, one, place_in(recording, file, use), tensors[one.variable])


@functools.lru_cache(maxsize=64)
def _statements(source: str, *, is_cell: bool) -> Sequence[_Statement]:
    """All such calls in a source text. The last line of a notebook's cell shows its result: it is none."""
    tree = tree_of(source) or ast.Module([], [])
    last = tree.body[-1] if is_cell and tree.body else None
    layers, sets, found = _layers(tree), _sets(tree), []
    for block, is_loop in _blocks(tree):
        for i, one in enumerate(block):
            if not isinstance(one, ast.Expr) or not isinstance(call := one.value, ast.Call) or one is last:
                continue
            name, given = _function(call, layers)
            variable = text_of(given) if isinstance(given, ast.Name | ast.Attribute) else ""
            if variable and variable not in sets and not _may_write(call):
                after = [*block[i + 1 :], *(block[:i] if is_loop else ())]
                found.append(_Statement(call, name, variable, after))
    return found


def _function(call: ast.Call, layers: Set[str]) -> tuple[str, ast.expr | None]:
    """The name of what is called, and the tensor of which it makes another, if it is known to do that."""
    first = call.args[0] if call.args else None
    if text_of(call.func) in layers:
        return text_of(call.func), first
    match call.func:
        case ast.Attribute(owner, name) if name in _NEVER_WRITE:
            return name, first if text_of(owner) in LIBRARIES else owner
    return "", None


def _layers(tree: ast.Module) -> set[str]:
    """The attributes that hold a layer, such as `self.norm`, which does not write in place.

    A script may call a layer of its own in vain, to give a lazy one its shape, and a chain of them for its hooks.
    """
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Attribute() as target], ast.Call(ast.Attribute(owner, name)) as made):
                is_layer = text_of(owner) in ("nn", "torch.nn", "mt.nn") and name[0].isupper()
                if is_layer and not name.startswith(("Lazy", "Sequential", "Module")) and not _may_write(made):
                    found.add(text_of(target))
    return found


def _sets(tree: ast.Module) -> set[str]:
    """The variables that hold a set, which has an `add` of its own."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Assign([target], ast.Set() | ast.SetComp() | ast.Call(ast.Name("set"))):
                found.add(text_of(target))
            case ast.AnnAssign(target, value=ast.Set() | ast.SetComp() | ast.Call(ast.Name("set"))):
                found.add(text_of(target))
    return found


def _blocks(tree: ast.Module) -> Iterator[tuple[list[ast.stmt], bool]]:
    """All blocks of statements, each with whether a loop runs it again."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield value, name == "body" and isinstance(node, ast.For | ast.While)


def _may_write(call: ast.Call) -> bool:
    """Whether it may have been told to write in place: by `inplace=True`, perhaps without the name, or by `out=`."""
    has_flag = any(isinstance(one, ast.Constant) and one.value is True for one in call.args)
    return has_flag or any(one.arg in ("inplace", "out") for one in call.keywords)


def _recorded_lines(program: Program) -> set[tuple[str, int]]:
    """The lines that have surely run, by file."""
    recording = program.recording
    places = [*field(recording.nodes, "place"), *[one.place for one in recording.passes]]
    places += [one.place for one in recording.borders]
    return {(place.file, place.line) for place in places if place is not None}


def _use(statement: _Statement, lines: Set[int]) -> ast.expr | None:
    """Where the variable is used after a statement, before it is written to, if that has run: a line of these."""
    for i, later in enumerate(statement.after):
        used = [one for one in _variables(later, statement.variable) if isinstance(one.ctx, ast.Load)]
        if used and not all(lines.isdisjoint(_lines_of(one)) for one in statement.after[i:]):
            return used[0]
        if used or any(_variables(later, statement.variable)):
            return None
    return None


def _lines_of(statement: ast.stmt) -> range:
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def _variables(statement: ast.stmt, variable: str) -> Iterator[ast.Name | ast.Attribute]:
    """Where a statement, or one inside of it, reads or assigns a variable."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name | ast.Attribute) and text_of(node) == variable:
            yield node


def _is_about_a_leaf(statement: _Statement) -> bool:
    """Whether this is such as `p.grad.clamp(-1, 1)`, which was surely to be written in place, whatever follows."""
    return statement.variable.endswith((".data", ".grad")) and statement.name not in _WITHOUT_TWIN


def _in_place(statement: _Statement) -> str:
    """`p.grad.clamp_(-1, 1)` for `p.grad.clamp(-1, 1)`."""
    method = f"{statement.variable}.{statement.name}"
    return text_of(statement.call).replace(f"{method}(", f"{method}_(", 1)


def _finding(statement: _Statement, place: Place, remedy: str) -> Finding:
    name, text, variable, where = statement.name, text_of(statement.call), statement.variable, at(place)
    return Finding(
        "no effect", "warning",
        headline(
            f"{text} at {where} is lost: {variable} stays as it was",
            f"The result of {name} at {where} is lost: {variable} stays as it was",
            f"The result of {name} at {where} is lost",
        ),
        (f"{name} makes a new tensor, which {where} keeps nowhere.",), remedy, place,
    )  # fmt: skip


def _used(program: Program, finding: Finding, statement: _Statement, use: Place, tensors: Sequence[int]) -> Finding:
    """The same with the line that uses the variable as it was, and the operation that does."""
    cuts_in_vain = statement.name == "detach" and any(one.has_failed for one in program.recording.passes)
    node = next((each for tensor in tensors for each in program.readers.get(tensor, ())), None)
    return finding._replace(
        severity="error" if cuts_in_vain else "warning",
        explanation=(*finding.explanation, f"{at(use)} uses {statement.variable} as it was before."),
        pass_=program.pass_after(node) if node is not None else None,
        node=node,
        tensor=program.tensor_of(program.node(node)) if node is not None else None,
        others=(("used", use),),
    )
