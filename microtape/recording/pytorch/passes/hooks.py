"""The program's own hooks, watched while a pass runs: what each was given, and what it returned."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch

from microtape.recording.model.model import HookCall, Value
from microtape.recording.pytorch.inside.call_stack import CallStack
from microtape.recording.pytorch.node_text import hook_name
from microtape.recording.pytorch.notes import GraphNode, SeenTensor
from microtape.recording.pytorch.passes.own_hooks import Hooks, OwnHook

_KINDS = {
    "tensor": "tensor hook",
    "node pre": "node pre-hook",
    "node post": "node post-hook",
    "post accumulate": "post-accumulate hook",
}
"""The kinds of hooks as kinds of calls."""


class UserHooks:
    """Replaces hooks of the program by functions that call them, for the time of a pass."""

    def __init__(self, value: Callable[[Any], Value | None], recorder: object, calls: CallStack) -> None:
        self._value = value
        self.calls = calls
        self.recorder = recorder
        self._replaced: list[tuple[Any, Any, Any]] = []  # (dict, key, the program's hook)
        self._calls: dict[GraphNode, list[HookCall]] = {}
        self.changed: set[GraphNode] = set()  # the nodes at which hooks may change what arrives
        self._retained: dict[GraphNode, list[tuple[SeenTensor, Value | None]]] = {}  # with .grad before the pass

    def watch_node(self, key: GraphNode, node: Any, hooks: Hooks, *, probe: bool) -> tuple[str, ...]:
        """Watch the hooks of a node. Returns their names.

        Only with a hook of ours torch tells of others; `probe` says whether to ask for those that run before the node.
        """
        names = self._watch_all(key, hooks, "node post")
        if not probe:
            return names
        hook = OwnHook(_nothing)
        before = node.register_prehook(hook)
        try:
            return (*self._watch_all(key, before, "node pre"), *names)
        finally:
            before.pop(hook, None)

    def _watch_all(self, key: GraphNode, hooks: Hooks, kind: str) -> tuple[str, ...]:
        if len(hooks) == 1:
            return ()
        names = []
        for number, hook in list(hooks.items()):
            if not isinstance(hook, OwnHook):
                names.append(_name(hook))
                self._replace(hooks, number, hook, key, kind)
                if kind == "node pre":
                    self.changed.add(key)
        return tuple(names)

    def watch_tensors(self, key: GraphNode, leaf: torch.Tensor | None) -> None:
        """Watch the hooks of the tensors that a node computed, or of the leaf whose gradient it accumulates."""
        if leaf is not None:
            self._watch_tensor_hooks(key, leaf._backward_hooks)
            after = getattr(leaf, "_post_accumulate_grad_hooks", None)
            for number, hook in list(after.items()) if after else ():
                self._replace(after, number, hook, key, "post accumulate")
            return
        for left in key.left_hooks:
            self._watch_tensor_hooks(key, left)
        for seen, _ in key.outputs.values():
            tensor = seen.object() if seen.object is not None else None
            if tensor is not None:
                self._watch_tensor_hooks(key, tensor._backward_hooks)
                if tensor.retains_grad:
                    self._retained.setdefault(key, []).append((seen, self._value(tensor.grad)))

    def _watch_tensor_hooks(self, key: GraphNode, hooks: Any) -> None:
        if hooks:
            for number, hook in list(hooks.items()):
                self._replace(hooks, number, hook, key, "tensor")
            self.changed.add(key)

    def _replace(self, hooks: Any, number: Any, hook: Any, key: GraphNode, kind: str) -> None:
        if isinstance(hook, _Watched) and hook.recorder is self.recorder:
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
        self._calls.setdefault(key, []).append(HookCall(kind, _name(hook), before, after))

    @property
    def is_used(self) -> bool:
        """Whether any hook of the program's is watched."""
        return bool(self._replaced or self._retained or self.changed)

    def calls_of(self, key: GraphNode) -> tuple[HookCall, ...]:
        """The calls of hooks during the node's step.

        A tensor that the pass has freed meanwhile retains nothing. It must not be held until here: in torch 2.8,
        that of a weak reference is an empty object after torch has freed the tensor.
        """
        for seen, before in self._retained.pop(key, ()) if self._retained else ():
            if (tensor := seen.tensor) is None:
                continue
            self._calls.setdefault(key, []).append(
                HookCall("retain_grad", type(tensor).__name__, before, self._value(tensor.grad))
            )
        return tuple(self._calls.pop(key, ())) if self._calls else ()

    def restore(self) -> None:
        """Put the program's hooks back."""
        for hooks, number, hook in self._replaced:
            if number in hooks:  # else the program has removed it
                hooks[number] = hook
        self._replaced.clear()
        self._retained.clear()


class _Watched:
    """A hook of the program that tells what it was given and what it returned. No fault of ours leaves it."""

    def __init__(self, hooks: UserHooks, key: GraphNode, kind: str, hook: Any) -> None:
        self._hooks, self._key, self._kind, self.hook = hooks, key, kind, hook
        self.recorder = hooks.recorder
        if hasattr(hook, "__name__"):  # torch's errors name the hook
            self.__name__ = hook.__name__

    def __call__(self, *args: Any) -> Any:
        before = self._read(args)
        hook = self.hook
        result = self._hooks.calls.call(_KINDS[self._kind], self._key, _programs(hook), args, lambda: hook(*args))
        after = self._read(args) if result is None else self._read((result,), "tensor")
        with contextlib.suppress(Exception):
            self._hooks.note(self._key, self._kind, self.hook, before, after)
        return result

    def _read(self, args: Any, kind: str | None = None) -> Value | None:
        with contextlib.suppress(Exception):
            return self._hooks.read(kind or self._kind, args)
        return None


def _programs(hook: Any) -> Any:
    """The program's hook, also if another recorder watches it."""
    while isinstance(hook, _Watched):
        hook = hook.hook
    return hook


def _name(hook: Any) -> str:
    return hook_name(_programs(hook))


def _nothing(*args: Any) -> None:
    """A hook that changes nothing."""
