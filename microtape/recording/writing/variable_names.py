"""The user's names for tensors: the variables that hold them, else the target of the assignment that made them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, FrameType, GetSetDescriptorType, ModuleType, NoneType
from typing import Any, TypeGuard

import numpy as np

from microtape.basics.call_site import user_frame
from microtape.basics.fresh_stack import calling_frame
from microtape.recording.model.model import Place
from microtape.recording.model.source import Position, targets
from microtape.recording.writing.sources import Sources, source_of
from microtape.tape.tensor_state import TensorState

_MOST_ITEMS = 1000  # of one container; a longer one is skipped
_PLAIN = {
    id(kind)
    for kind in (bool, int, float, complex, str, bytes, NoneType, np.ndarray, type, ModuleType, BuiltinFunctionType)
}
"""Types that hold no tensor: most values in a namespace have one of these. By id: a metaclass may forbid hashing."""


def tensors_in_frames(frame: FrameType | None) -> Iterator[tuple[str, TensorState]]:
    """(name, tensor) pairs from the user's frames, the innermost first: variables, then the contents of variables.

    NB: before Python 3.13, looking at a function's variables keeps them alive until it returns.
    """
    seen_globals: set[int] = set()
    while frame is not None:
        yield from _in_namespace(frame.f_locals)
        if id(frame.f_globals) not in seen_globals and frame.f_locals is not frame.f_globals:
            seen_globals.add(id(frame.f_globals))
            yield from _in_namespace(frame.f_globals)
        frame = user_frame(calling_frame(frame))


def _in_namespace(namespace: dict[str, Any]) -> Iterator[tuple[str, TensorState]]:
    items = [(name, value) for name, value in list(namespace.items()) if id(type(value)) not in _PLAIN]
    variables = [(name, value) for name, value in items if type(name) is str and not name.startswith("__")]
    for name, value in variables:
        if _is_tensor(value):
            yield name, value
    for name, value in variables:
        if not _is_tensor(value):
            yield from _inside(name, value)


def _is_tensor(value: Any) -> TypeGuard[TensorState]:
    """Like `isinstance`, which would ask a proxy for its `__class__`, and so run the user's code."""
    return issubclass(type(value), TensorState)


def _inside(name: str, value: Any) -> Iterator[tuple[str, TensorState]]:
    """The tensors one level inside a list, tuple, dict or object (two for its own containers)."""
    for path, item in _items(name, value):
        if _is_tensor(item):
            yield path, item
        elif not path.startswith(name + "[") or issubclass(type(item), list | tuple | dict):
            for inner, tensor in _items(path, item):
                if _is_tensor(tensor):
                    yield inner, tensor


def _items(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The contents of a container or object, with the expression for each; values of plain types are left out.

    Methods of the built-in types are called on the value: a subclass may have replaced them.
    """
    kind = type(value)
    for sequence in (list, tuple):
        if issubclass(kind, sequence):
            if sequence.__len__(value) <= _MOST_ITEMS:
                found = enumerate(sequence.__iter__(value))
                yield from [(f"{name}[{i}]", item) for i, item in found if id(type(item)) not in _PLAIN]
            return
    if issubclass(kind, dict):
        for key, item in list(dict.items(value)) if dict.__len__(value) <= _MOST_ITEMS else ():
            if id(type(item)) not in _PLAIN and (type(key) is str or type(key) is int):
                yield f"{name}[{key!r}]", item
    elif not issubclass(kind, type | ModuleType):
        attributes = list(_attributes(value).items())
        yield from [(f"{name}.{key}", item) for key, item in attributes if id(type(item)) not in _PLAIN]


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


def assignment_target(place: Place, sources: Sources) -> str | None:
    """`y` if the call at `place` is the whole right side of `y = ...` (or `y += ...`), else None."""
    return _targets(sources.python_file(place.file)).get((place.line, place.end_line, place.column, place.end_column))


@functools.cache
def _targets(file: str) -> Mapping[Position, str]:
    return targets(source_of(file))
