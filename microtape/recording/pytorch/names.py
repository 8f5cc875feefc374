"""The user's names for tensors of PyTorch: variables, and the paths of parameters and buffers in modules."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch

from microtape.recording.writing.variable_names import Held, tensors_in_frames

_MOST = 20_000  # parameters of one module
_MOST_HIDDEN = 100  # of one list


def names_in_frames(frame: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """(name, tensor) pairs: the paths of parameters in modules, then the user's variables, the innermost first.

    A program with one model thinks of `encoder.layers.3.weight`. With several, or where the path has one part only, the
    variable that holds the model comes first: `generator.fc.weight`, `layer.weight`.
    """
    found: dict[int, tuple[str, torch.nn.Module]] = {}

    def members(name: str, value: Any) -> list[tuple[str, Any]] | None:
        if issubclass(type(value), torch.nn.Module):
            known = found.get(id(value))
            if known is None or known[0] == "self":
                found[id(value)] = name, value
            return list(_in_lists(name, value))
        return [] if issubclass(type(value), _WITHOUT_NAMES) else None

    variables = list(tensors_in_frames(frame, Held(is_tensor, members)))
    modules = _outermost(list(found.values()))
    for name, module in modules:
        for path, tensor in [*module.named_parameters(), *module.named_buffers()][:_MOST]:
            is_clear = len(modules) == 1 and "." in path and not path[0].isdigit()
            yield path if is_clear else f"{name}.{path}", tensor
    yield from variables


def _in_lists(name: str, module: torch.nn.Module) -> Iterator[tuple[str, Any]]:
    """The modules and tensors in plain lists of a module, where torch does not look for parameters."""
    for key, held in vars(module).items():
        if type(held) is list and not key.startswith("_"):
            for i, one in enumerate(held[:_MOST_HIDDEN]):
                if issubclass(type(one), torch.nn.Module | torch.Tensor):
                    yield f"{name}.{key}[{i}]", one


_WITHOUT_NAMES = (torch.optim.Optimizer, torch.utils.data.DataLoader, torch.utils.data.Dataset)


def _outermost(modules: list[tuple[str, torch.nn.Module]]) -> list[tuple[str, torch.nn.Module]]:
    """The modules that are not part of another one of them. A module that holds no tensor, such as a loss, is none."""
    inside = {id(inner) for _, module in modules for inner in module.modules() if inner is not module}
    return [(name, module) for name, module in modules if id(module) not in inside and _holds_tensors(module)]


def _holds_tensors(module: torch.nn.Module) -> bool:
    return any(True for _ in itertools.chain(module.parameters(), module.buffers()))


def is_tensor(value: Any) -> bool:
    """Like `isinstance`, which would ask a proxy for its `__class__`."""
    return issubclass(type(value), torch.Tensor)
