"""The user's names for tensors of a program with modules: variables, and the paths of parameters and buffers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import islice
from types import FrameType
from typing import Any, NamedTuple

from microtape.basics.module_scopes import program_module, program_path
from microtape.recording.writing.names.variable_names import Held, is_tensor, tensors_in_frames

_MOST = 20_000  # tensors of one module
_MOST_HIDDEN = 100  # of one container


class Kinds(NamedTuple):
    """What to look for: an engine's tensors and modules, and the classes whose objects give their tensors no name."""

    is_tensor: Callable[[Any], bool]
    modules: tuple[type, ...]
    nameless: tuple[type, ...]  # an optimiser, a data set: the tensors in it are known under better names


def our_kinds() -> Kinds:
    """The kinds of microtape's own engine; a namespace that the program has not imported has no objects."""
    data = _classes("microtape.utils.data", "DataLoader", "Dataset")
    return Kinds(
        is_tensor, _classes("microtape.nn", "Module"), _classes("microtape.optim", "Optimizer", "LRScheduler") + data
    )


def _classes(namespace: str, *names: str) -> tuple[type, ...]:
    module = sys.modules.get(namespace)
    return tuple([vars(module)[name] for name in names if name in vars(module)]) if module is not None else ()


def names_in_frames(frame: FrameType | None, kinds: Kinds) -> Iterator[tuple[str, Any]]:
    """(name, tensor) pairs: the paths of parameters in modules, then the user's variables, the innermost first.

    A program with one model thinks of `encoder.layers.3.weight`. With several, or where the path has one part only, the
    variable that holds the model comes first: `generator.fc.weight`, `layer.weight`.
    """
    found: dict[int, tuple[str, Any]] = {}

    def members(name: str, value: Any) -> list[tuple[str, Any]] | None:
        if issubclass(type(value), kinds.modules):
            value = program_module(value)
            known = found.get(id(value))
            if known is None or known[0] == "self":
                found[id(value)] = name, value
            return list(_in_containers(name, value, kinds))
        return [] if issubclass(type(value), kinds.nameless) else None

    variables = list(tensors_in_frames(frame, Held(kinds.is_tensor, members)))
    modules = _outermost(list(found.values()), kinds)
    for name, module in modules:
        for path, tensor in islice(_members(module, kinds), _MOST):
            path = program_path(path)
            is_clear = len(modules) == 1 and "." in path and not path[0].isdigit()
            yield path if is_clear else f"{name}.{path}", tensor
    yield from variables


def _members(module: Any, kinds: Kinds) -> Iterator[tuple[str, Any]]:
    """The tensors of a module with their paths: also plain attributes, and all paths of a part that it has twice."""
    yield from module.named_parameters()
    yield from module.named_buffers()
    for path, inner in module.named_modules():
        before = f"{path}." if path else ""
        yield from ((before + name, held) for name, held in vars(inner).items() if kinds.is_tensor(held))
        parts = list(inner._modules.items())
        if len({id(part) for _, part in parts}) < len(parts):
            for name, part in parts:
                yield from part.named_parameters(before + name) if part is not None else ()


def _in_containers(name: str, module: Any, kinds: Kinds) -> Iterator[tuple[str, Any]]:
    """The modules and tensors in plain lists and dicts of a module, where nobody looks for parameters."""
    for attribute, held in vars(module).items():
        if type(held) not in (list, tuple, dict) or attribute.startswith("_"):
            continue
        for key, one in islice(held.items() if type(held) is dict else enumerate(held), _MOST_HIDDEN):
            if type(key) in (int, str) and (kinds.is_tensor(one) or issubclass(type(one), kinds.modules)):
                yield f"{name}.{attribute}[{key!r}]", one


def _outermost(modules: list[tuple[str, Any]], kinds: Kinds) -> list[tuple[str, Any]]:
    """The modules with tensors that are not part of another one of them; a loss has no tensors."""
    inside = {id(inner) for _, module in modules for inner in module.modules() if inner is not module}
    return [(name, one) for name, one in modules if id(one) not in inside and next(_members(one, kinds), None)]
