"""The arguments of a call of torch: its tensors, and its constants as short texts, `2.0` or `dim=1`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from microtape.recording.pytorch.reading.subclasses import PLAIN
from microtape.recording.writing.names.constant_arguments import constant_text, shortened

_SIMPLE = {int, float, bool, type(None), str, complex, slice, type(...), torch.dtype, torch.device}


def plain_arguments(args: Sequence[Any]) -> tuple[list[tuple[Any, int]], list[Any]] | None:
    """The plain tensors with their versions, and the constants, in their places; None if there are other arguments."""
    tensors: list[tuple[Any, int]] = []
    constants: list[Any] = []
    try:
        for one in args:
            kind = type(one)
            if kind is torch.Tensor or kind is torch.nn.Parameter:
                tensors.append((one, one._version))
                constants.append(None)
            elif kind in _SIMPLE:
                constants.append(one)
            else:
                return None
    except RuntimeError:  # an inference tensor has no version
        return None
    return tensors, constants


def are_constants(kwargs: Mapping[str, Any]) -> bool:
    """Whether none of the named arguments can hold a tensor, or asks for a write."""
    for one in kwargs.values():
        if type(one) not in _SIMPLE:
            return False
    return not kwargs.get("inplace")


def tensors_in(args: Sequence[Any], kwargs: dict[str, Any]) -> Iterator[Any]:
    """The tensors among the arguments, also those in lists, tuples and dicts."""
    for one in args:
        kind = type(one)
        if kind in PLAIN or isinstance(one, torch.Tensor):
            yield one
        elif kind is tuple or kind is list or isinstance(one, tuple | list):
            yield from tensors_in(one, {})
        elif kind is dict:
            yield from tensors_in(tuple(one.values()), {})
    if kwargs:
        yield from tensors_in(tuple(kwargs.values()), {})


def numbers_in(value: Any) -> Iterator[Any]:
    """The numbers and arrays in a value. Ints are left out: Python shares them, and they have no derivative."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from numbers_in(one)
    elif isinstance(value, float | complex) or type(value).__module__ == "numpy":
        yield value


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
