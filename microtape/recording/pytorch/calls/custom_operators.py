"""Operators of `torch.library` with a backward of the program's, around which torch puts a Function of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_MADE_IN = "torch._library.autograd"


def operator_name(cls: Any) -> str:
    """The name of the operator whose gradients a Function computes, without its library; empty for other Functions."""
    operator = _variable(cls.forward, "op") if cls.__module__ == _MADE_IN else None
    return str(operator._schema.name).rpartition("::")[2] if operator is not None else ""


def backward_of(cls: Any) -> Any:
    """The program's own function in the backward of an operator; None for other Functions."""
    return getattr(_variable(cls.backward, "info"), "_backward_fn", None) if cls.__module__ == _MADE_IN else None


def own_arguments(args: Sequence[Any]) -> Sequence[Any]:
    """The arguments of a Function without those that torch has added for itself."""
    if not args or type(args[-1]).__module__ != _MADE_IN:
        return args
    return [one for one in args if type(one).__module__ != _MADE_IN]


def _variable(function: Any, name: str) -> Any:
    """What a function of torch's calls `name`, as does the one that it goes on to for lists of tensors."""
    while function is not None:
        free = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        if name in free:
            return free[name].cell_contents
        inner = free.get("orig_forward") or free.get("orig_backward")
        function = inner.cell_contents if inner is not None else None
    return None
