"""Names of torch's nodes: the short word, the formula, the names of what is saved."""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

import torch

from microtape.recording.model.model import NodeKind
from microtape.tape.node import Node
from microtape.tape.saved_attributes import OPERAND_NAMES, OTHER_NAMES

_NUMBER = re.compile(r"Backward\d*$")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class About(NamedTuple):
    """What nodes of one type have in common."""

    name: str  # as torch shows it
    op: str
    kind: NodeKind
    formula: str
    saved: tuple[tuple[str, str], ...]  # (attribute, the name in the formula) of what may be a saved tensor


@functools.cache
def about(kind: Any, name: str) -> About:
    """What nodes of this type and name have in common."""
    short = name.rpartition("::")[2]
    formula, operands = _formulas().get(short, ("", {}))
    if short == "AccumulateGrad":
        return About(short, "accumulate", "accumulate", "", ())
    if issubclass(kind, torch.autograd.function.BackwardCFunction):
        return About(short, short.removesuffix("Backward"), "function", "", ())
    saved = [
        (attribute, operands.get(attribute.removeprefix("_saved_"), attribute.removeprefix("_saved_")))
        for attribute in dir(kind)
        if attribute.startswith("_saved_") and hasattr(kind, f"_raw{attribute}")
    ]
    saved.sort(key=lambda one: one[1])
    if short == "CopySlices":
        return About(short, "write into view", "copy_slices", "", tuple(saved))
    node_kind: NodeKind = "error" if short in ("Error", "NotImplemented", "DelayedError") else "operation"
    return About(short, _CAPITAL.sub("_", _NUMBER.sub("", short)).lower(), node_kind, formula, tuple(saved))


@functools.cache
def _formulas() -> dict[str, tuple[str, dict[str, str]]]:
    """By torch's name of a node: the formula of microtape's own, and its names for torch's saved attributes."""
    found = {}
    waiting: list[Any] = [Node]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.formula:
            names = OPERAND_NAMES | OTHER_NAMES.get(kind.__name__, {})
            found[kind.__name__] = kind.formula, {names.get(name, name): name for name in kind.saved_names}
    return found


def hook_names(hooks: Any) -> tuple[str, ...]:
    """The names of the functions in a dict of hooks; none if there is no dict."""
    return tuple(map(hook_name, hooks.values())) if hooks else ()


def hook_name(hook: Any) -> str:
    """The name of a hook: a function's own, else its class's."""
    while isinstance(hook, functools.partial):
        hook = hook.func
    name = getattr(hook, "__qualname__", None)
    return name if isinstance(name, str) else type(hook).__qualname__
