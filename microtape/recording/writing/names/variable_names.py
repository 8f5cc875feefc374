"""The user's names for tensors: the variables that hold them, else the target of the assignment that made them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Iterator
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, GetSetDescriptorType, ModuleType, NoneType
from typing import Any, NamedTuple, TypeGuard, TypeVar

import numpy as np

from microtape.basics.call_site import names_of_shell, user_frame
from microtape.basics.fresh_stack import calling_frame
from microtape.recording.model.model import Place
from microtape.recording.model.source import targets, tree_of
from microtape.recording.writing.names.sources import Sources, text_of
from microtape.tape.tensor_state import TensorState

_MOST_ITEMS = 1000  # of one container; a longer one is skipped
_PLAIN = {
    id(kind)
    for kind in (bool, int, float, complex, str, bytes, NoneType, np.ndarray, type, ModuleType, BuiltinFunctionType)
}
"""Types that hold no tensor: most values in a namespace have one of these. By id: a metaclass may forbid hashing."""
_OURS = "microtape.recording."
_module_of = type.__dict__["__module__"].__get__
_CONTAINERS = (list, tuple, dict)
_WITHOUT_CONTENTS = (type, ModuleType)
_Key = TypeVar("_Key")


class Held(NamedTuple):
    """Which values are tensors, and the contents of objects that hold theirs in a way of their own."""

    is_tensor: Callable[[Any], bool]
    members: Callable[[str, Any], list[tuple[str, Any]] | None]  # None: look at its items or attributes


def tensors_in_frames(frame: FrameType | None, held: Held) -> Iterator[tuple[str, Any]]:
    """(name, tensor) pairs from the user's frames, the innermost first: variables, then the contents of variables.

    A loop variable still holds a tensor when its loop is over. The list's name for it, `Ws[2]`, is better than `W`, so
    such variables come last.

    NB: before Python 3.13, looking at a function's variables keeps them alive until it returns.
    """
    frames: list[FrameType] = []
    while frame is not None:
        frames.append(frame)
        frame = user_frame(calling_frame(frame)) if not _is_program(frame) else None
    finished = {(one.f_code.co_filename, _scope(one.f_code)): _finished_loops(one) for one in frames}
    seen_globals: set[int] = set()
    last: list[tuple[str, Any]] = []
    for one in frames:
        file, scope = one.f_code.co_filename, _scope(one.f_code)
        yield from _in_namespace(one.f_locals, finished[file, scope], last, held)
        if id(one.f_globals) not in seen_globals and one.f_locals is not one.f_globals:
            seen_globals.add(id(one.f_globals))
            yield from _in_namespace(one.f_globals, finished.get((file, _MODULE), _NO_NAMES), last, held)
    yield from last


def _is_program(frame: FrameType) -> bool:
    """Whether a frame runs the program's own file, or a cell: those around it belong to what has started it."""
    return frame.f_globals.get("__name__") == "__main__" and frame.f_locals is frame.f_globals


def _in_namespace(
    namespace: dict[str, Any], finished: frozenset[str], last: list[tuple[str, Any]], held: Held
) -> Iterator[tuple[str, Any]]:
    """The tensors of one namespace; those in variables of finished loops are only appended to `last`."""
    others = []
    not_theirs = names_of_shell(namespace)
    for name, value in _not_plain(namespace.items()):
        if type(name) is not str or name.startswith("__") or name in not_theirs or _is_empty(value):
            continue
        if not held.is_tensor(value):
            others.append((name, value))
        elif name in finished:
            last.append((name, value))
        else:
            yield name, value
    for name, value in others:
        yield from _inside(name, value, held)


def _not_plain(pairs: Iterable[tuple[_Key, Any]]) -> list[tuple[_Key, Any]]:
    """The pairs whose second is not plain."""
    return [pair for pair in pairs if id(type(pair[1])) not in _PLAIN]


def is_tensor(value: Any) -> TypeGuard[TensorState]:
    """Like `isinstance`, which would ask a proxy for its `__class__`, and so run the user's code."""
    return issubclass(type(value), TensorState)


def _is_empty(value: Any) -> bool:
    """Whether the value has no contents: a function without attributes, a class, a module."""
    kind = type(value)
    return not value.__dict__ if kind is FunctionType else issubclass(kind, _WITHOUT_CONTENTS)


def _inside(name: str, value: Any, held: Held) -> Iterator[tuple[str, Any]]:
    """The tensors one level inside a list, tuple, dict or object (two for its own containers)."""
    members = held.members(name, value)
    for path, item in _items(name, value) if members is None else members:
        if held.is_tensor(item):
            yield path, item
        elif _is_empty(item):
            continue
        elif (inside := held.members(path, item)) is not None:
            for inner, one in inside:
                if held.is_tensor(one):
                    yield inner, one
                else:
                    held.members(inner, one)  # notes a module under this name
        elif not path.startswith(name + "[") or issubclass(type(item), _CONTAINERS):
            for inner, tensor in _items(path, item):
                if held.is_tensor(tensor):
                    yield inner, tensor


def _items(name: str, value: Any) -> list[tuple[str, Any]]:
    """The contents of a container or object, with the expression for each; plain values are left out.

    Methods of the built-in types are called on the value: a subclass may have replaced them.
    """
    kind = type(value)
    if str(_module_of(kind)).startswith(_OURS):  # a recorder that the program made knows all tensors by itself
        return []
    for sequence in (list, tuple):
        if issubclass(kind, sequence):
            if sequence.__len__(value) > _MOST_ITEMS:
                return []
            return [(f"{name}[{i}]", item) for i, item in _not_plain(enumerate(sequence.__iter__(value)))]
    if issubclass(kind, dict):
        if dict.__len__(value) > _MOST_ITEMS:
            return []
        pairs = _not_plain(dict.items(value))
        return [(f"{name}[{key!r}]", item) for key, item in pairs if type(key) is str or type(key) is int]
    return [(f"{name}.{key}", item) for key, item in _not_plain(_attributes(value).items())]


def _attributes(value: Any) -> dict[str, Any]:
    """The `__dict__` of an object, read without its class's `__getattribute__`; empty if it has none."""
    descriptor = _dict_descriptor(type(value))
    found = descriptor.__get__(value) if descriptor is not None else None
    return found if type(found) is dict else {}


def _dict_descriptor(kind: type) -> Any:
    for one in type.__dict__["__mro__"].__get__(kind):
        descriptor = type.__dict__["__dict__"].__get__(one).get("__dict__")
        if descriptor is not None:
            return descriptor if type(descriptor) is GetSetDescriptorType else None
    return None


_NO_NAMES = frozenset[str]()
_MODULE = 0  # the scope of a module's own code; that of a function is its first line


class _Loop(NamedTuple):
    """A `for` statement: its scope, the names that it binds, and the lines of its body."""

    scope: int
    names: frozenset[str]
    lines: range


def _scope(code: CodeType) -> int:
    return _MODULE if code.co_name == "<module>" else code.co_firstlineno


def _finished_loops(frame: FrameType) -> frozenset[str]:
    """The variables of the frame's `for` loops, except the loops that it is in."""
    scope = _scope(frame.f_code)
    loops = [one for one in _loops(text_of(frame.f_code.co_filename)) if one.scope == scope]
    if not loops:
        return _NO_NAMES
    running = [one.names for one in loops if frame.f_lineno in one.lines]
    return frozenset[str]().union(*(one.names for one in loops)).difference(*running)


def assignment_target(place: Place, sources: Sources) -> str | None:
    """`y` if the call at `place` is the whole right side of `y = ...` (or `y += ...`), else None."""
    return targets(sources.text(place.file)).get(place[1:5])


@functools.cache
def _loops(text: str) -> tuple[_Loop, ...]:
    """The `for` loops in a source."""
    tree = tree_of(text)
    if tree is None:
        return ()
    found = []
    within: list[tuple[ast.AST, int]] = [(tree, _MODULE)]
    while within:
        outer, scope = within.pop()
        for one in ast.iter_child_nodes(outer):
            inner = scope
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = min([one.lineno, *(decorator.lineno for decorator in one.decorator_list)])
            elif isinstance(one, ast.For):
                names = frozenset(name.id for name in ast.walk(one.target) if isinstance(name, ast.Name))
                found.append(_Loop(scope, names, range(one.lineno, (one.body[-1].end_lineno or one.lineno) + 1)))
            within.append((one, inner))
    return tuple(found)
