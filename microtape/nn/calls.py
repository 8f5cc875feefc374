"""The call of a module: its forward function between its hooks, as a scope of the recording."""

from __future__ import annotations

import sys
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from microtape.basics.call_site import user_stacklevel
from microtape.basics.module_scopes import ModuleScopes
from microtape.nn.backward_hooks import BackwardHook
from microtape.nn.registry import Registry
from microtape.tape.node import RemovableHandle, add_hook
from microtape.tape.watch import watch

_scopes = ModuleScopes()


class _Hook(NamedTuple):
    function: Callable[..., Any]
    with_kwargs: bool
    always_call: bool = False


class Called(Registry):
    """Common: what `Module` does when it is called."""

    _forward_pre_hooks: OrderedDict[int, _Hook]
    _forward_hooks: OrderedDict[int, _Hook]
    _backward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _backward_hooks: OrderedDict[int, Callable[..., Any]]

    def forward(self, *input: Any) -> Any:
        """What the module computes, which a subclass defines. Call the module itself: this runs without its hooks."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call `forward` and the hooks; for the recorder, the call is a scope with the module's path as its name."""
        if watch.watcher is not None:
            with _scopes.of(self, sys._getframe(1)):
                return self._run(args, kwargs)
        if self._forward_pre_hooks or self._forward_hooks or self._backward_hooks or self._backward_pre_hooks:
            return self._run(args, kwargs)
        return self.forward(*args, **kwargs)

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call `forward` between the hooks."""
        pre_hooks, hooks, to_backward = self._forward_pre_hooks, self._forward_hooks, self._backward_hooks
        result, ran = None, set()
        try:
            for hook in list(pre_hooks.values()):
                args, kwargs = self._arguments_after(hook, args, kwargs)
            backward = None
            if to_backward or self._backward_pre_hooks:
                backward = BackwardHook(self, list(to_backward.values()), list(self._backward_pre_hooks.values()))
                args = backward.on_inputs(args)
            result = self.forward(*args, **kwargs)
            for key, hook in list(hooks.items()):
                ran.add(key)
                result = self._result_after(hook, args, kwargs, result)
            return result if backward is None else backward.on_outputs(result)
        except Exception:
            for key, hook in list(hooks.items()):
                if hook.always_call and key not in ran:
                    try:
                        result = self._result_after(hook, args, kwargs, result)
                    except Exception as error:
                        warnings.warn(
                            "module forward hook with ``always_call=True`` raised an exception that was silenced as "
                            f"another error was raised in forward: {error}",
                            stacklevel=user_stacklevel(),
                        )
            raise

    def _arguments_after(self, hook: _Hook, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The arguments for `forward`, after a forward pre-hook."""
        if not hook.with_kwargs:
            returned = hook.function(self, args)
            return (args if returned is None else returned if isinstance(returned, tuple) else (returned,)), kwargs
        returned = hook.function(self, args, kwargs)
        if returned is not None and not (isinstance(returned, tuple) and len(returned) == 2):
            raise RuntimeError(
                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {returned}."
            )
        return (args, kwargs) if returned is None else returned

    def _result_after(self, hook: _Hook, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
        """The result of the call, after a forward hook."""
        given = (args, kwargs) if hook.with_kwargs else (args,)
        returned = hook.function(self, *given, result)
        return result if returned is None else returned

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before each call of `forward`; `hook(module, args, kwargs)` if `with_kwargs`.

        What it returns, unless None, replaces the arguments: a tuple, or with `with_kwargs` a pair (args, kwargs).
        """
        return _added(self._forward_pre_hooks, _Hook(hook, with_kwargs), prepend)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args, result)` after each call of `forward`.

        With `with_kwargs` it gets (module, args, kwargs, result). What it returns, unless None, replaces the result.
        With `always_call` it runs even if `forward` raises an error.
        """
        return _added(self._forward_hooks, _Hook(hook, with_kwargs, always_call), prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` when backward has the gradients of the module's outputs, a tuple.

        What it returns, unless None, replaces these gradients.
        """
        return _added(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when backward has the gradients of the module's inputs.

        Both are tuples, with None for what is not a tensor. What it returns, unless None, replaces `grad_input`.
        """
        return _added(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Raise NotImplementedError: in PyTorch such a hook gets the gradients of the module's last operation only."""
        raise NotImplementedError("register_backward_hook is deprecated and not here: use register_full_backward_hook")


def _added(hooks: OrderedDict[int, Any], hook: Any, prepend: bool) -> RemovableHandle:
    handle = add_hook(hooks, hook)
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle
