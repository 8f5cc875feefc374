"""Where a program makes a variable, or a part of a module that is known by its path: `model.blocks.0.weight`."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from microtape.recording.model.model import Place, Recording
from microtape.recording.model.source import only_assignment, place_in, tree_of

_CONTAINERS = ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "OrderedDict", "dict",
               "list", "tuple")  # fmt: skip
_SAME = ("to", "cuda", "cpu", "double", "float", "half", "bfloat16", "train", "eval", "requires_grad_", "apply")
"""Methods that return their module."""
_WRAPPERS = ("compile", "DataParallel", "DistributedDataParallel")
_REGISTERS = ("register_parameter", "register_module", "add_module")


class _Made(NamedTuple):
    """An expression that makes something, and what there is to show: the statement, or one of several elements."""

    file: str
    shown: ast.stmt | ast.expr
    value: ast.expr


class _Class(NamedTuple):
    file: str
    tree: ast.ClassDef
    attributes: Mapping[str, list[tuple[ast.stmt, ast.expr]]]


def made_at(recording: Recording, name: str, part: str = "") -> Place | None:
    """Where a variable is assigned; of a path, the innermost part whose line is certain, but none within `part`.

    A path is followed from class to class, since several classes may have an attribute of the same name. It begins with
    a variable, or with an attribute of the only model; what is neither, such as the variable of a loop, is left out.
    """
    if (place := only_assignment(recording, name)) is not None:
        return place
    parts = _parts(name)
    if "." not in name:  # an element of a list or dict, which is not followed, or nothing that is known
        return only_assignment(recording, parts[0]) if len(parts) > 1 else None
    given: _Made | None = None
    for start, first in enumerate(parts[:-1]):
        if beginnings := _beginnings(recording, first):
            ways = [_followed(recording, one, parts[start + 1 :]) for one in beginnings]
            longest = [one for one in ways if len(one) == max(map(len, ways))]
            shown = longest[0][: max(len(_parts(part)) - start, 1) if part else None][-1]
            if len(longest) == 1 and _is_given(recording, shown):
                given = given or shown  # unless a class has the next part
                continue
            return place_in(recording, shown.file, shown.shown) if len(longest) == 1 else None
    return place_in(recording, given.file, given.shown) if given is not None else None


def _is_given(recording: Recording, made: _Made) -> bool:
    """Whether a statement makes nothing, but keeps an argument of its function: `self.net = net`."""
    if not isinstance(made.value, ast.Name):
        return False
    functions = ast.walk(tree_of(recording.sources[made.file]) or ast.Module([], []))
    around = (
        one
        for one in functions
        if isinstance(one, ast.FunctionDef) and one.lineno <= made.shown.lineno <= (one.end_lineno or one.lineno)
    )
    arguments = (arg.arg for one in around for arg in ast.walk(one.args) if isinstance(arg, ast.arg))
    return made.value.id in arguments


def _parts(name: str) -> list[str]:
    """`model`, `layers`, `1` and `bias` for `model.layers[1].bias`."""
    return re.sub(r"\[['\"]?(\w+)['\"]?\]", r".\1", name).split(".")


def _beginnings(recording: Recording, name: str) -> list[_Made]:
    """What may make the first part of a path; of attributes, only those of classes that variables hold, if any do."""
    classes = [one for several in _classes(recording).values() for one in several]
    attributes = [(each.tree.name, made) for each in classes if (made := _attribute(recording, each, name)) is not None]
    variables = [one for file in recording.sources for one in _variables(recording.sources[file], file)]
    models = {_called(one.value) for _, one in variables}
    known = [made for owner, made in attributes if owner in models] or [made for _, made in attributes]
    own = [one for target, one in variables if target == name]
    unique = {(one.file, one.shown.lineno): one for one in known}  # a subclass may have it of its base
    return [*unique.values(), *(own if len(own) == 1 else [])]


def _followed(recording: Recording, made: _Made, path: list[str]) -> list[_Made]:
    """What makes the beginning of a path, and each further part of it, as far as that is known."""
    way = [made]
    for part in path:
        element = _element(way[-1].value, part)
        inner = _Made(way[-1].file, element, element) if element is not None else None
        if inner is None and (owner := _class_named(recording, _called(way[-1].value), way[-1].file)) is not None:
            inner = _attribute(recording, owner, part)
        if inner is None:
            break
        way.append(inner)
    return way


def _element(value: ast.expr, key: str) -> ast.expr | None:
    """What makes an element of a container that is written down, by its number or its key."""
    match value:
        case ast.ListComp(elt=one) | ast.GeneratorExp(elt=one) | ast.DictComp(value=one):
            return one
        case ast.BinOp(left=ast.List(elts=[one]), op=ast.Mult()):
            return one
        case ast.Dict(keys=keys, values=values):
            return next((v for k, v in zip(keys, values, strict=True) if _is_text(k, key)), None)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return _of_several(elements, key)
        case ast.Call(args=args, keywords=keywords) if _called(value) in _CONTAINERS:
            for keyword in keywords:
                if keyword.arg == key:
                    return keyword.value
            match args:
                case [ast.Starred(value=only)]:
                    return _element(only, key)
                case [ast.List() | ast.Tuple() | ast.Dict() | ast.Call() | ast.ListComp() | ast.GeneratorExp() as only]:
                    return _element(only, key) or _of_several(args, key)
            return _of_several(args, key)
    return None


def _of_several(elements: list[ast.expr], key: str) -> ast.expr | None:
    for one in elements:
        match one:
            case ast.Tuple(elts=[name, value]) if _is_text(name, key):
                return value
    is_known = key.isdigit() and int(key) < len(elements)
    return elements[int(key)] if is_known and not any(isinstance(one, ast.Starred) for one in elements) else None


def _is_text(node: ast.expr | None, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text


def _attribute(recording: Recording, owner: _Class, name: str, depth: int = 8) -> _Made | None:
    """What makes an attribute of a class, or of a base of it, if it is one statement."""
    found = [_Made(owner.file, shown, value) for shown, value in owner.attributes.get(name, ())]
    if found or not depth:
        return found[0] if len(found) == 1 else None
    bases = [_class_named(recording, ast.unparse(one).rpartition(".")[2], owner.file) for one in owner.tree.bases]
    inherited = (_attribute(recording, one, name, depth - 1) for one in bases if one is not None)
    return next((one for one in inherited if one is not None), None)


def _attributes(owner: ast.ClassDef) -> Mapping[str, list[tuple[ast.stmt, ast.expr]]]:
    """The statements of a class that give an attribute a value, by its name."""
    found: dict[str, list[tuple[ast.stmt, ast.expr]]] = {}
    for one in ast.walk(owner):
        match one:
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(attr=register), args=[ast.Constant(value=str(key)), value])
            ):
                if register in _REGISTERS:
                    found.setdefault(key, []).append((one, value))
            case ast.Assign() | ast.AnnAssign():
                for target, value in _assigned(one):
                    match target:
                        case ast.Attribute(value=ast.Name(id="self"), attr=attr) if not _is_none_or_again(
                            value, target
                        ):
                            found.setdefault(attr, []).append((one, value))
    return found


@functools.lru_cache(maxsize=64)
def _variables(text: str, file: str) -> list[tuple[str, _Made]]:
    """The variables of a source text that are assigned what a class, or a container, gives."""
    found: list[tuple[str, _Made]] = []
    nodes = ast.walk(tree_of(text) or ast.Module([], []))
    for one in (one for one in nodes if isinstance(one, ast.Assign | ast.AnnAssign)):
        for target, value in _assigned(one):
            makes = _called(value)
            if isinstance(target, ast.Name) and (makes[:1].isupper() or isinstance(value, ast.List | ast.Dict)):
                found.append((target.id, _Made(file, one, value)))
    return found


def _assigned(statement: ast.Assign | ast.AnnAssign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment, each with its value, if that is known."""
    several = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in several:
        match target, statement.value:
            case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
                yield from zip(targets, values, strict=True)
            case _, ast.expr() as value:
                yield target, value


def _is_none_or_again(value: ast.expr, target: ast.Attribute) -> bool:
    """Whether an assignment makes nothing new: `self.net = None`, or `self.net = self.net.cuda()`."""
    inner = (one.attr for one in ast.walk(value) if isinstance(one, ast.Attribute) and _is_self(one.value))
    return (isinstance(value, ast.Constant) and value.value is None) or target.attr in inner


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _called(value: ast.expr) -> str:
    """The last name of the class or function that makes a value: `Linear` for `nn.Linear(2, 3).to(device)`."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Call() as inner, attr=attr)) if attr in _SAME:
            return _called(inner)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[ast.Call() as inner, *_]):
            return _called(inner) if name in _WRAPPERS else name
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name
    return ""


def _class_named(recording: Recording, name: str, file: str) -> _Class | None:
    """The class of this name in a file, else in all of them; None if there are several."""
    several = _classes(recording).get(name, ())
    near = [one for one in several if one.file == file] or several
    return near[0] if len(near) == 1 else None


def _classes(recording: Recording) -> Mapping[str, list[_Class]]:
    """The classes of all files, by name."""
    found: dict[str, list[_Class]] = {}
    for file, text in recording.sources.items():
        for one in _classes_of(text, file):
            found.setdefault(one.tree.name, []).append(one)
    return found


@functools.lru_cache(maxsize=64)
def _classes_of(text: str, file: str) -> list[_Class]:
    nodes = ast.walk(tree_of(text) or ast.Module([], []))
    return [_Class(file, one, _attributes(one)) for one in nodes if isinstance(one, ast.ClassDef)]
