"""Grad mode: whether each thread records operations, and the context managers that switch it."""

from __future__ import annotations

import functools
import inspect
import sys
import threading
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any, ClassVar, TypeVar

from microtape.basics.call_site import user_stacklevel

__all__ = ["enable_grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]

_F = TypeVar("_F", bound=Callable[..., Any])


class _Mode(threading.local):
    enabled: bool = True
    forward_ad: bool = True  # whether operations pass tangents on; off in a Function's forward
    internal: bool = False  # whether the library computes for its own purposes, which observers do not see
    inference: bool = False  # inference mode: nothing is recorded, whatever `requested` says
    requested: bool = True  # what `no_grad`, `enable_grad` or `set_grad_enabled` asked for last
    saved_hooks: tuple[Any, ...] = ()  # the saved-tensor hooks in force, the innermost last; each is an observer
    saved_hooks_refusal: str | None = None  # if they are disabled: the message of the error
    in_user_code: bool = False  # whether a hook or a Function's backward is running: a backward is a nested one


mode = _Mode()


def is_grad_enabled() -> bool:
    """Whether operations on this thread are recorded; in inference mode, whether they would be without it."""
    return mode.requested if mode.inference else mode.enabled


def _set_recording(enabled: bool) -> None:
    """Switch recording on this thread on or off; in inference mode, for the time after it."""
    mode.enabled = enabled and not mode.inference
    mode.requested = enabled


class GradMode:
    """A context manager and decorator that switches grad mode while its body runs.

    On a generator or coroutine function, the decorator switches the mode only while the body itself runs, not while
    the generator is suspended.
    """

    left: bool
    """The mode that the last `__exit__` switched to. As in torch, an `__exit__` too many switches to it again."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self.previous: list[bool] = []

    def __enter__(self) -> None:
        self.previous.append(is_grad_enabled())
        _set_recording(self.enabled)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.previous:
            self.left = self.previous.pop()
        _set_recording(self.left)

    def fresh(self) -> GradMode:
        """A new context of the same kind, for one call of a decorated function."""
        return GradMode(self.enabled)

    def __call__(self, function: _F) -> _F:
        """Decorate `function`: the mode is switched while its body runs."""
        if inspect.isclass(function):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
                "functions or methods. To preserve the current behavior of class decoration, you can directly decorate "
                "the `__init__` method and nothing else.",
                FutureWarning,
                stacklevel=user_stacklevel(),
            )
        if inspect.isgeneratorfunction(function):
            return _while_running(function, self.fresh)  # type: ignore[return-value]
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run(*args: Any, **kwargs: Any) -> Any:
                return await _Awaited(function(*args, **kwargs), self.fresh)

            return run  # type: ignore[return-value]

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with self.fresh():
                return function(*args, **kwargs)

        return call  # type: ignore[return-value]


def _while_running(function: Callable[..., Any], context: Callable[[], GradMode]) -> Callable[..., Any]:
    @functools.wraps(function)
    def generate(*args: Any, **kwargs: Any) -> Any:
        return (yield from _steps(function(*args, **kwargs), context))

    return generate


def _steps(body: Any, context: Callable[[], GradMode]) -> Any:
    """Drive a generator or coroutine, inside the context while it runs and outside while it is suspended."""
    resume, argument = body.send, None
    while True:
        try:
            with context():
                value = resume(argument)
        except StopIteration as stop:
            return stop.value
        try:
            argument, resume = (yield value), body.send
        except GeneratorExit:
            with context():
                body.close()
            raise
        except BaseException:
            argument, resume = sys.exc_info()[1], body.throw


class _Awaited:
    def __init__(self, coroutine: Any, context: Callable[[], GradMode]) -> None:
        self.coroutine, self.context = coroutine, context

    def __await__(self) -> Any:
        return _steps(self.coroutine, self.context)


class _Switch(GradMode):
    """A fixed mode; as a decorator it works with and without parentheses."""

    to: ClassVar[bool]

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        """A context manager; or, as `@no_grad` without parentheses, the decorated function."""
        instance = super().__new__(cls)
        if function is None:
            return instance
        instance.__init__()  # type: ignore[misc]
        return instance(function)

    def __init__(self) -> None:
        super().__init__(self.to)


class no_grad(_Switch):  # noqa: N801 - torch's name
    """Operations inside are not recorded, and do not require grad. Also usable as `@no_grad()` and `@no_grad`."""

    to = left = False


class enable_grad(_Switch):  # noqa: N801 - torch's name
    """Operations inside are recorded, also within `no_grad`. Also usable as `@enable_grad()` and `@enable_grad`."""

    to = True


class set_grad_enabled(GradMode):  # noqa: N801 - torch's name
    """Switches recording on or off at once; as a context manager, switches back at the end. Also a decorator.

    Raises TypeError if `mode` is not a bool.
    """

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        super().__init__(mode)
        self.before = self.left = is_grad_enabled()
        _set_recording(self.enabled)

    def __enter__(self) -> None:
        self.previous.append(self.before)
        _set_recording(self.enabled)

    def __call__(self, function: _F) -> _F:
        """Decorate `function`: the mode is switched while it runs."""
        _set_recording(self.before)  # a decorator must not switch the mode where the function is defined
        return super().__call__(function)
