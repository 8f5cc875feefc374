"""Generators that were run through before: `parameters = model.parameters()` gives them only once."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.source import place_in, text_of, tree_of

_GENERATORS = ("parameters", "named_parameters", "buffers", "modules", "named_modules", "children")


def used_up(program: Program) -> Iterator[Finding]:
    """A finding for each second use of `parameters = model.parameters()`, which gives them only once."""
    for file in program.files_with_passes:
        for made, again, is_first in _used_again(program.recording.sources[file]):
            place, name, text = place_in(program.recording, file, again), again.id, text_of(made.value)
            yield Finding(
                "no effect", "warning",
                headline(f"{name} is used up at {at(place)}: {text} gives them once",
                         f"{name} is used up at {at(place)}"),
                (f"{text} is a generator: what runs through it first takes all there is.",
                 f"{at(place)} gets nothing{' from the second time on' if is_first else ''}."),
                f"Keep them in a list: {name} = list({text}).", place,
                others=(("made", place_in(program.recording, file, made)),),
            )  # fmt: skip


@functools.lru_cache(maxsize=64)
def _used_again(source: str) -> Sequence[tuple[ast.Assign, ast.Name, bool]]:
    """Where variables are made that hold such a generator, and used again; and whether that is the first use, too."""
    tree = tree_of(source) or ast.Module([], [])
    found: list[tuple[ast.Assign, ast.Name, bool]] = []
    for body in [tree.body, *[one.body for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]]:
        inside = list(_in_scope(body))
        written = [one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
        for made in inside:
            match made:
                case ast.Assign([ast.Name(name)], value) if _is_generator(value):
                    uses = [one for one in _uses(inside, name) if one.lineno > made.lineno]
                    further = [one for one in uses[1:] if not _excludes(inside, uses[0], one)]
                    again = further[:1] or [one for one in uses[:1] if _is_repeated(inside, one, made)]
                    if written.count(name) == 1 and not _is_a_list(inside, name):
                        found += [(made, one, one is uses[0]) for one in again]
    return found


def _is_generator(value: ast.expr) -> bool:
    """Whether this is `model.parameters()` or the like, or a part of them: `filter(is_trained, model.parameters())`."""
    match value:
        case ast.Call(ast.Attribute(attr=method), []):
            return method in _GENERATORS
        case ast.Call(ast.Name("filter"), [_, inner]) | ast.GeneratorExp(generators=[ast.comprehension(iter=inner)]):
            return _is_generator(inner)
    return False


def _in_scope(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """All that runs in a function, or in a module, and in none that it defines."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        one = waiting.pop(0)
        yield one
        if not isinstance(one, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            waiting[:0] = ast.iter_child_nodes(one)


def _uses(inside: Sequence[ast.AST], name: str) -> list[ast.Name]:
    """Where a variable is run through: an argument of a call, or what a loop runs over."""
    found: list[ast.expr] = []
    for one in inside:
        if isinstance(one, ast.Call) and text_of(one.func) not in ("print", "isinstance", "type", "id", "next"):
            found += [*one.args, *[each.value for each in one.keywords]]
        elif isinstance(one, ast.For | ast.comprehension):
            found.append(one.iter)
    return [one for one in found if isinstance(one, ast.Name) and one.id == name]


def _is_a_list(inside: Sequence[ast.AST], name: str) -> bool:
    """Whether the program asks for a length or an element, which no generator has: another class has such a method."""
    for one in inside:
        match one:
            case ast.Subscript(ast.Name(other)) | ast.Call(ast.Name("len"), [ast.Name(other)]) if other == name:
                return True
    return False


def _excludes(inside: Sequence[ast.AST], first: ast.Name, second: ast.Name) -> bool:
    """Whether a program that has come to the first use of a variable does not come to the second: `if ... else ...`."""
    for one in inside:
        branches = [one.body, one.orelse] if isinstance(one, ast.If) else []
        if isinstance(one, ast.Match):
            branches = [case.body for case in one.cases]
        own = next((branch for branch in branches if _holds(branch, first)), None)
        if own is not None and not _holds(own, second):
            ends = any(isinstance(each, ast.Return | ast.Raise | ast.Continue | ast.Break) for each in own)
            if ends or any(_holds(branch, second) for branch in branches):
                return True
    return False


def _holds(block: Sequence[ast.stmt], node: ast.AST) -> bool:
    return any(each is node for one in block for each in ast.walk(one))


def _is_repeated(inside: Sequence[ast.AST], use: ast.Name, made: ast.Assign) -> bool:
    """Whether a loop that does not make the generator anew comes to its use again."""
    loops = [one for one in inside if isinstance(one, ast.For | ast.While)]
    return any(_holds(one.body, use) and not _holds(one.body, made) for one in loops)
