"""Attributes that nothing reads: `layer.requires_grad = False` of a module, `p.require_grad`, `optimizer.lr = 1e-4`."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import Place, Recording, TensorRecord
from microtape.recording.model.source import INSTALLED, place_in, text_of, tree_of

_MISSPELT = ("require_grad", "require_grads", "requires_grads", "required_grad", "requiers_grad", "requries_grad")
_OF_GROUPS = ("lr", "learning_rate", "weight_decay", "momentum")
_OPTIMISERS = ("SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "SparseAdam", "RMSprop", "Adadelta", "Adagrad",
               "Rprop", "LBFGS", "ASGD")  # fmt: skip
_PARAMETER = re.compile(r".+\.(?!running_)\w*(weight|bias)\w*")
_OF_MODULES = ("modules", "children", "named_modules", "named_children")


class _Set(NamedTuple):
    """A statement that sets an attribute, and what it belongs to."""

    statement: ast.Assign
    owner: str
    attribute: str
    modules_of: str  # the owner is the variable of a loop over the modules in this one; else empty


def set_in_vain(program: Program) -> Iterator[Finding]:
    """One finding for each statement that gives a parameter, a module or an optimiser an attribute it does not have."""
    recording = program.recording
    for file, text in recording.sources.items():
        for one in _candidates(text) if not file.startswith(INSTALLED) else ():
            if not _is_read(recording, one):
                yield from _told(program, one, place_in(recording, file, one.statement))


@functools.lru_cache(maxsize=64)
def _candidates(source: str) -> Sequence[_Set]:
    """The statements that set such an attribute of something else than `self`."""
    if not any(name in source for name in (*_MISSPELT, ".requires_grad", *[f".{one}" for one in _OF_GROUPS])):
        return ()
    tree = tree_of(source) or ast.Module([], [])
    found = []
    for one in ast.walk(tree):
        match one:
            case ast.Assign([ast.Attribute(ast.Name() | ast.Attribute() as owner, name)]) if text_of(owner) != "self":
                if name in (*_MISSPELT, "requires_grad", *_OF_GROUPS):
                    found.append(_Set(one, text_of(owner), name, _modules_of(tree, one, text_of(owner))))
    return found


def _modules_of(tree: ast.Module, statement: ast.Assign, variable: str) -> str:
    """`model` for the variable of `for layer in list(model.children())[:3]`, if the statement stands in that loop."""
    for loop in ast.walk(tree):
        if isinstance(loop, ast.For) and any(each is statement for each in ast.walk(loop)):
            target = loop.target.elts[-1] if isinstance(loop.target, ast.Tuple) else loop.target
            if text_of(target) == variable:
                return _owner_of_modules(loop.iter)
    return ""


def _owner_of_modules(loop_over: ast.expr) -> str:
    match loop_over:
        case ast.Call(ast.Attribute(owner, name), []) if name in _OF_MODULES:
            return text_of(owner)
        case ast.Call(ast.Name("list" | "reversed" | "enumerate"), [inner, *_]) | ast.Subscript(inner):
            return _owner_of_modules(inner)
    return ""


def _is_read(recording: Recording, one: _Set) -> bool:
    """Whether something reads what is set here, or, unless it is of an optimiser, a class has such an attribute."""
    names = {each for text in recording.sources.values() for each in _read_or_defined(text)}
    if one.attribute in _OF_GROUPS:
        ending = f"{one.owner.rpartition('.')[2]}.{one.attribute}"
        return any(each == ending or each.endswith(f".{ending}") for each in names)
    return any(each.endswith(f".{one.attribute}") for each in names)


@functools.lru_cache(maxsize=64)
def _read_or_defined(source: str) -> Set[str]:
    """The attributes of these names that a source reads, as it writes them; those of its classes, as `self.lr`."""
    found = set()
    for one in ast.walk(tree_of(source) or ast.Module([], [])):
        match one:
            case ast.Attribute(ast.Name("self"), attribute) if isinstance(one.ctx, ast.Store):
                found.add(f"self.{attribute}")
            case ast.Attribute(attr=attribute) if isinstance(one.ctx, ast.Load):
                if attribute in (*_MISSPELT, *_OF_GROUPS):  # not requires_grad, which every parameter has
                    found.add(text_of(one))
            case ast.ClassDef(body=body):
                own = [each.name for each in body if isinstance(each, ast.FunctionDef)]
                own += [text_of(each.targets[0]) for each in body if isinstance(each, ast.Assign)]
                own += [text_of(each.target) for each in body if isinstance(each, ast.AnnAssign)]
                found.update(f"self.{name}" for name in own)
    return found


def _told(program: Program, one: _Set, place: Place) -> Iterator[Finding]:
    text, value = text_of(one.statement), one.statement.value
    if one.attribute in _OF_GROUPS:
        if _is_an_optimizer(program.recording, one.owner):
            key = "lr" if one.attribute == "learning_rate" else one.attribute
            yield _finding(
                place, text, f"the steps use param_groups[i][{key!r}]",
                (f"Python makes a new attribute {one.attribute} of {one.owner}, which its step does not read.",
                 f"The {key} of each group of parameters stays as it was."),
                f"Write for group in {one.owner}.param_groups: group[{key!r}] = {text_of(value)}.",
            )  # fmt: skip
    elif isinstance(value, ast.Constant) and isinstance(value.value, bool):
        leaves = _leaves_within(program.recording, one)
        if one.attribute in _MISSPELT:
            is_a_module = leaves or (
                not _may_be_a_parameter(program.recording, one) and _is_a_module(program.recording, one)
            )
            right = f"requires_grad_({value.value})" if is_a_module else f"requires_grad = {value.value}"
            yield _finding(
                place, text, f"the attribute is requires_grad, not {one.attribute}",
                (f"Python makes a new attribute {one.attribute}, which nothing reads.",
                 f"{one.owner}.requires_grad stays as it was."),
                f"Write {one.owner}.{right}.",
            )  # fmt: skip
        elif leaves and all(each.requires_grad != value.value for each in leaves):
            yield _of_a_module(program, one, place, leaves[0])


def _finding(place: Place, text: str, why: str, lines: tuple[str, ...], remedy: str) -> Finding:
    short = headline(f"{text} at {at(place)} does nothing: {why}", f"{at(place)} does nothing: {why}")
    return Finding("no effect", "warning", short, lines, remedy, place)


def _of_a_module(program: Program, one: _Set, place: Place, leaf: TensorRecord) -> Finding:
    name, value = program.tensor_name(leaf.id), text_of(one.statement.value)
    lines = [f"A module has no requires_grad; its parameters have, and that of {name} is {leaf.requires_grad}."]
    updates = [each for each in program.updated.get(leaf.id, ()) if each.change]
    if updates and value == "False":
        lines.append(f"{at(updates[0].place)} goes on to update {name}.")
    found = _finding(
        place, text_of(one.statement), f"{one.owner} is a module", tuple(lines),
        f"Write {one.owner}.requires_grad_({value}).",
    )  # fmt: skip
    return found._replace(tensor=leaf.id, node=leaf.node)


def _leaves_within(recording: Recording, one: _Set) -> list[TensorRecord]:
    """The parameters of the module that an attribute is set of, or of those of the module that a loop goes through.

    A module is known by the names of its parameters. The name of the only model is no part of them: it is known by what
    makes it, and then no other line may have frozen what is not recorded. Empty if it may be no module.
    """
    leaves = [each for each in recording.tensors if each.is_leaf and _PARAMETER.fullmatch(each.name)]
    if _may_be_a_parameter(recording, one):
        return []
    path = (one.modules_of or one.owner).removeprefix("self.").split(".")
    if within := [each for each in leaves if _is_within(each.name.split(".")[:-1], path)]:
        return within
    others = sum(text.count("requires_grad") for text in recording.sources.values())
    return leaves if len(path) == 1 and others == 1 and _is_a_module(recording, one) else []


def _may_be_a_parameter(recording: Recording, one: _Set) -> bool:
    return not one.modules_of and any(one.owner in _given(text) for text in recording.sources.values())


def _is_within(name: Sequence[str], path: Sequence[str]) -> bool:
    """Whether a path such as `model.head` leads to a part of a name, as far as both are known: `head` of `head.0`."""
    ends = [i for i, part in enumerate(name) if part == path[-1]]
    return any(
        all(one == other for one, other in zip(reversed(name[:i]), reversed(path[:-1]), strict=False)) for i in ends
    )


@functools.lru_cache(maxsize=64)
def _given(source: str) -> Set[str]:
    """The variables of loops and the arguments of functions, which may hold a parameter as well as a module."""
    nodes = [*ast.walk(tree_of(source) or ast.Module([], []))]
    targets = [one.target for one in nodes if isinstance(one, ast.For | ast.comprehension)]
    names = {each.id for one in targets for each in ast.walk(one) if isinstance(each, ast.Name)}
    return names | {one.arg for one in nodes if isinstance(one, ast.arg)}


def _is_a_module(recording: Recording, one: _Set) -> bool:
    """Whether all that a variable, or attribute, is assigned is made by a class of modules: of nn, or the program's."""
    if one.modules_of:
        return True
    names = (one.owner, f"self.{one.owner.rpartition('.')[2]}")
    made = [call for text in recording.sources.values() for target, call in _made(text) if target in names]
    own = {name for text in recording.sources.values() for name, bases in _classes(text) if "Module" in bases}
    return bool(made) and all(call in own or call.rpartition(".")[0].endswith("nn") for call in made)


@functools.lru_cache(maxsize=64)
def _classes(source: str) -> Sequence[tuple[str, Sequence[str]]]:
    """The classes of a source, each with the last names of its bases."""
    return [
        (one.name, [text_of(base).rpartition(".")[2] for base in one.bases])
        for one in ast.walk(tree_of(source) or ast.Module([], [])) if isinstance(one, ast.ClassDef)
    ]  # fmt: skip


@functools.lru_cache(maxsize=64)
def _made(source: str) -> Sequence[tuple[str, str]]:
    """What a source assigns to what, by the name of what is called; empty for other values."""
    found = []
    nodes = ast.walk(tree_of(source) or ast.Module([], []))
    for one in [each for each in nodes if isinstance(each, ast.Assign)]:
        for target in one.targets:
            match target, one.value:
                case ast.Tuple(several), ast.Tuple(values) if len(several) == len(values):
                    found += [(text_of(each), _call(value)) for each, value in zip(several, values, strict=True)]
                case ast.Tuple(several), _:
                    found += [(text_of(each), "") for each in several]
                case _:
                    found.append((text_of(target), _call(one.value)))
    return found


def _call(value: ast.expr) -> str:
    return text_of(value.func) if isinstance(value, ast.Call) else ""


def _is_an_optimizer(recording: Recording, variable: str) -> bool:
    """Whether all that is assigned to a variable is made by a class of optimisers, and none of the program's own."""
    made = [call for text in recording.sources.values() for target, call in _made(text) if target == variable]
    kinds = [call.rpartition(".")[2] for call in made]
    own = {name for text in recording.sources.values() for name, _ in _classes(text)}
    return bool(kinds) and all(kind in _OPTIMISERS and kind not in own for kind in kinds)
