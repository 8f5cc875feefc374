"""Hooks of ours on torch's nodes, without the handle that torch makes for each.

A handle takes longer than all the rest of `register_hook`, and a pass puts a hook on each of its nodes. Torch asks
`_register_hook` to add a hook to the dict of a node; for hooks of ours, it is answered here.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch

from microtape.basics.replaced import Replaced

Hooks = OrderedDict[Any, Callable[..., Any]]
_Function: Any = torch.autograd.Function
_NAME = "_register_hook"


class OwnHook(functools.partial[None]):
    """A hook of a recorder, not the program's: a method, and what it needs to know of the node."""

    __slots__ = ()


class OwnHooks:
    """A context in which `register_hook` of a node, if it is given a hook of ours, returns the dict of its hooks.

    The hook is its own key in that dict.
    """

    def __init__(self) -> None:
        self._replaced = Replaced(_Function, _NAME)

    def __enter__(self) -> None:
        replaced = self._replaced

        def register_hook(hooks: Hooks | None, hook: Any) -> tuple[Hooks, Any]:
            if type(hook) is not OwnHook:
                found: tuple[Hooks, Any] = replaced.before(hooks, hook)
                return found
            if hooks is None:
                hooks = OrderedDict()
            hooks[hook] = hook
            return hooks, hooks

        replaced.put(staticmethod(register_hook))

    def __exit__(self, *error: object) -> None:
        self._replaced.restore()
