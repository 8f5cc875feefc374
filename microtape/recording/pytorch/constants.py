"""The constant arguments of a call of torch, as short texts: `2.0`, `dim=1`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from microtape.recording.writing.constant_arguments import constant_text, shortened


def constants_of(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts of the arguments that are no tensors, without those that have their default values."""
    if not kwargs and all(isinstance(one, torch.Tensor) for one in args):
        return ()
    names, defaults = _signature(function)
    found = []
    for i, one in enumerate(args):
        name = names[i] if i < len(names) else ""
        if not _is_left_out(one) and not (name and name in defaults and _same(defaults[name], one)):
            found.append(shortened(_text(one)))
    for name, one in kwargs.items():
        if not _is_left_out(one) and not (name in defaults and _same(defaults[name], one)):
            found.append(shortened(f"{name}={_text(one)}"))
    return tuple(found)


def _is_left_out(value: Any) -> bool:
    if value is None or value is False or isinstance(value, torch.Tensor):
        return True
    return isinstance(value, list | tuple) and any(isinstance(one, torch.Tensor) for one in value)


def _same(default: Any, value: Any) -> bool:
    return type(default) is type(value) and type(value) in (bool, int, float, str, tuple) and bool(default == value)


def _text(value: Any) -> str:
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    if isinstance(value, torch.Size):
        return constant_text(tuple(value))
    if isinstance(value, str):
        return str.__str__(value)
    return constant_text(value)


@functools.cache
def _signature(function: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The names of a function's arguments and their defaults, as far as Python knows them."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return (), {}
    defaults = {name: one.default for name, one in parameters.items() if one.default is not inspect.Parameter.empty}
    return tuple(parameters), defaults
