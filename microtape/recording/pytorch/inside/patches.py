"""Stands in front of what torch calls of a Function by itself: backward, jvp, and what its ctx is asked."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.autograd import function as torch_function

from microtape.basics.replaced import Replaced
from microtape.recording.pytorch.calls.call_sites import is_library
from microtape.recording.pytorch.calls.custom_operators import backward_of
from microtape.recording.pytorch.inside.call_stack import CallStack
from microtape.recording.pytorch.inside.traces import Trace
from microtape.recording.writing.calls.call import code_of, is_users

_Node: Any = torch_function.BackwardCFunction
_Ctx: Any = torch_function.FunctionCtx
_Function: Any = torch.autograd.Function
_Hooks: Any = torch.autograd.graph.saved_tensors_hooks
_DEEPEST = 4


class Patches:
    """A context in which the call stack is told of these."""

    def __init__(self, calls: CallStack) -> None:
        self._calls = calls
        self._inside = contextlib.ExitStack()

    def __enter__(self) -> None:
        for name in ("apply", "apply_boxed"):
            if name in vars(_Node):
                self._replace(_Node, name, _backward)
        self._replace(_Node, "apply_jvp", _jvp)
        self._replace(_Node, "saved_tensors", _saved_tensors)
        self._replace(_Ctx, "set_materialize_grads", _set_materialize_grads)
        self._replace(_Hooks, "__enter__", _enter)

    def _replace(self, owner: Any, name: str, standing_in: Callable[[CallStack, Replaced], Any]) -> None:
        replaced = Replaced(owner, name)
        self._inside.callback(replaced.put(standing_in(self._calls, replaced)).restore)

    def __exit__(self, *error: object) -> None:
        self._inside.close()


def _backward(calls: CallStack, replaced: Replaced) -> Callable[..., Any]:
    def apply(self: Any, *args: Any) -> Any:
        if calls.is_off:
            return replaced.before(self, *args)
        cls = self._forward_cls
        user = backward_of(cls) or (cls.vjp if cls.vjp is not _Function.vjp else cls.backward)
        if not is_users(user, is_library):
            with _following(calls, self):
                return replaced.before(self, *args)
        key = calls.recorder.tensors.node(self)
        with calls.recorder.operations.hearing():
            return calls.call("backward", key, user, (self, *args), lambda: replaced.before(self, *args))

    return apply


@contextlib.contextmanager
def _following(calls: CallStack, ctx: Any) -> Any:
    """Follow the function that a reentrant checkpoint runs again; torch's other Functions do no such thing."""
    function = vars(ctx).get("run_function")
    if function is None:
        yield
        return
    note_recomputation(calls, function)
    trace = Trace.put_on(Trace(calls, None))
    try:
        with calls.recorder.operations.hearing():
            yield
    finally:
        if trace is not None:
            trace.remove()


def _jvp(calls: CallStack, replaced: Replaced) -> Callable[..., Any]:
    def apply_jvp(self: Any, *args: Any) -> Any:
        function = self._forward_cls.jvp
        return calls.call("jvp", None, function, (self, *args), lambda: replaced.before(self, *args))

    return apply_jvp


def _saved_tensors(calls: CallStack, replaced: Replaced) -> property:
    def saved_tensors(self: Any) -> Any:
        found = replaced.before.__get__(self)
        if calls.innermost is not None and not is_library(sys._getframe(1).f_code.co_filename):
            calls.note("unpack", "saved_tensors", (), found)
        return found

    return property(saved_tensors)


def _set_materialize_grads(calls: CallStack, replaced: Replaced) -> Callable[..., Any]:
    def set_materialize_grads(self: Any, value: bool) -> None:
        replaced.before(self, value)
        if value:
            calls.unmaterialized.discard(self)
        else:
            calls.unmaterialized.add(self)

    return set_materialize_grads


def _enter(calls: CallStack, replaced: Replaced) -> Callable[..., Any]:
    def enter(self: Any) -> Any:
        if not calls.is_off:
            with calls.faults.noting("the unpack hook of a saved tensor"):
                _note_hooks(calls, self.unpack_hook)
        return replaced.before(self)

    return enter


def _note_hooks(calls: CallStack, unpack: Any) -> None:
    """Note the code that runs when a saved tensor is unpacked: a hook of the program's, or a checkpointed function."""
    if is_users(unpack, is_library):
        code = code_of(unpack, is_library)
        if code is not None:
            calls.codes[code] = "unpack hook"
        return
    frame = _held(unpack, "recompute_fn", _DEEPEST)
    recompute = getattr(frame, "recompute_fn", None)
    function = _free_variables(recompute).get("fn")
    if function is not None:
        note_recomputation(calls, function)


def note_recomputation(calls: CallStack, function: Any) -> None:
    """Note the code of a checkpointed function."""
    if isinstance(function, torch.nn.Module):
        function = type(function).forward
    code = code_of(function, is_library)
    if code is not None and not is_library(code.co_filename):
        calls.codes[code] = "recomputation"


def _free_variables(function: Any) -> dict[str, Any]:
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    found = {}
    for name, cell in zip(code.co_freevars, cells, strict=True) if code is not None and cells else ():
        with contextlib.suppress(ValueError):  # not assigned yet
            found[name] = cell.cell_contents
    return found


def _held(function: Any, attribute: str, depth: int) -> Any:
    """The first object with this attribute that a function of torch's, or one within it, refers to."""
    for one in _free_variables(function).values():
        if hasattr(type(one), "__name__") and attribute in getattr(one, "__dict__", ()):
            return one
        if depth and (found := _held(one, attribute, depth - 1)) is not None:
            return found
    return None
