"""The program's own hooks, watched while a pass runs: what each was given, and what it returned."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch

from microtape.recording.model.model import HookCall, Value
from microtape.recording.pytorch.node_text import hook_name
from microtape.recording.pytorch.tensors import GraphNode


class UserHooks:
    """Replaces hooks of the program by functions that call them, for the time of a pass."""

    def __init__(self, value: Callable[[Any], Value | None]) -> None:
        self._value = value
        self._replaced: list[tuple[Any, Any, Any]] = []  # (dict, key, the program's hook)
        self._calls: dict[GraphNode, list[HookCall]] = {}
        self._changed: set[GraphNode] = set()

    def watch(self, key: GraphNode, node: Any, handle: Any) -> tuple[str, ...]:
        """Watch the hooks of a node and of its outputs; `handle` is of our own. Returns the names of the node's."""
        self.watch_tensors(key, node)
        names = []
        pre = node.register_prehook(_nothing)
        try:
            for kind, ours in (("node pre", pre), ("node post", handle)):
                hooks = ours.hooks_dict_ref()
                if hooks is None or len(hooks) == 1:
                    continue
                for number, hook in list(hooks.items()):
                    if number != ours.id:
                        names.append(hook_name(hook))
                        self._replace(hooks, number, hook, key, kind)
                        if kind == "node pre":
                            self._changed.add(key)
        finally:
            pre.remove()
        return tuple(names)

    def watch_tensors(self, key: GraphNode, node: Any) -> None:
        """Watch the hooks of the tensors that a node computed, or of the leaf whose gradient it accumulates."""
        leaf = getattr(node, "variable", None) if node.name().endswith("AccumulateGrad") else None
        found = [leaf] if leaf is not None else [seen.tensor for seen, _ in key.outputs.values()]
        for tensor in found:
            if tensor is None:
                continue
            for kind, attribute in (
                ("tensor", "_backward_hooks"),
                ("post accumulate", "_post_accumulate_grad_hooks"),
            ):
                hooks = getattr(tensor, attribute, None)
                for number, hook in list(hooks.items()) if hooks else ():
                    self._replace(hooks, number, hook, key, kind)
                    if kind == "tensor":
                        self._changed.add(key)

    def _replace(self, hooks: Any, number: Any, hook: Any, key: GraphNode, kind: str) -> None:
        if isinstance(hook, _Watched):
            return  # by a pass that this one runs inside of
        self._replaced.append((hooks, number, hook))
        hooks[number] = _Watched(self, key, kind, hook)

    def read(self, kind: str, args: Any) -> Value | None:
        """The gradient that a hook was given; of several, the first."""
        one = args[0].grad if kind == "post accumulate" else args[0]
        return self._read(one)

    def _read(self, one: Any) -> Value | None:
        first = one[0] if isinstance(one, tuple | list) and one else one
        return self._value(first) if isinstance(first, torch.Tensor) else None

    def note(self, key: GraphNode, kind: str, hook: Any, before: Value | None, after: Value | None) -> None:
        """Note a call."""
        self._calls.setdefault(key, []).append(HookCall(kind, hook_name(hook), before, after))

    def changes(self, key: GraphNode) -> bool:
        """Whether hooks may have changed what arrives at the node."""
        return key in self._changed

    def calls_of(self, key: GraphNode) -> list[HookCall]:
        """The calls of hooks during the node's step."""
        return self._calls.pop(key, [])

    def restore(self) -> None:
        """Put the program's hooks back."""
        for hooks, number, hook in self._replaced:
            if isinstance(hooks.get(number), _Watched):
                hooks[number] = hook
        self._replaced.clear()


class _Watched:
    """A hook of the program that tells what it was given and what it returned. No fault of ours leaves it."""

    def __init__(self, hooks: UserHooks, key: GraphNode, kind: str, hook: Any) -> None:
        self._hooks, self._key, self._kind, self._hook = hooks, key, kind, hook

    def __call__(self, *args: Any) -> Any:
        before = self._read(args)
        result = self._hook(*args)
        after = self._read(args) if result is None else self._read((result,), "tensor")
        with contextlib.suppress(Exception):
            self._hooks.note(self._key, self._kind, self._hook, before, after)
        return result

    def _read(self, args: Any, kind: str | None = None) -> Value | None:
        with contextlib.suppress(Exception):
            return self._hooks.read(kind or self._kind, args)
        return None


def _nothing(*args: Any) -> None:
    """A hook that changes nothing."""
