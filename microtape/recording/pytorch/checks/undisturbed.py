"""Where calls of the program run again: the program notices nothing, and its own tensors stay as they are."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import overrides
from torch.autograd import graph

from microtape.recording.pytorch.calls.arguments import tensors_in
from microtape.recording.pytorch.calls.function_kinds import WRITES, kind_of
from microtape.recording.pytorch.reading.modes import WithoutDispatch

_torch: Any = torch
_stack: Any = overrides  # untyped
_Mode: Any = overrides.TorchFunctionMode
_SETS = ("grad", "data", "requires_grad")


class _OnThisThread(threading.local):
    """The guards inside of which this thread runs; the program's other threads run on as they are."""

    def __init__(self) -> None:
        self.guards: list[Guard] = []


_here = _OnThisThread()


def is_running_again() -> bool:
    """Whether a call runs again at this moment, so that nothing of it is to be recorded."""
    return bool(_here.guards)


class RefusedError(Exception):
    """A call would have changed something of the program's if it had run again."""


def check_pass(accumulate: bool) -> None:
    """Refuse a pass that would add to `.grad`. Raises RefusedError."""
    if accumulate:
        raise RefusedError("it calls backward(), which would add to .grad once more")


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Hides what runs inside from modes, hooks and recorders, and restores the random number generators.

    Nothing in here can write into a tensor that was not made in here.
    """
    above = _without_modes()
    guard = Guard()
    _here.guards.append(guard)
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(_random_states())
            stack.enter_context(WithoutDispatch())
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(torch.no_grad())
            if torch.is_anomaly_enabled():
                stack.enter_context(torch.autograd.set_detect_anomaly(False))
            if _torch._C._autograd._saved_tensors_hooks_is_enabled():  # those of the program would be called
                stack.enter_context(graph.saved_tensors_hooks(_itself, _itself))
            stack.enter_context(guard)
            yield
    finally:
        _here.guards.pop()
        for mode in reversed(above):
            _stack._push_mode(mode)


@contextlib.contextmanager
def one_run() -> Iterator[Guard]:
    """One run inside of `undisturbed`: the guard, to which every tensor made for the run is to be given."""
    guard = _here.guards[-1]
    try:
        yield guard
    finally:
        guard.forget()


def _itself(value: Any) -> Any:
    return value


def _without_modes() -> list[Any]:
    """Take all modes off torch's stack; the outermost comes last."""
    return [_stack._pop_mode() for _ in _stack._get_current_function_mode_stack()]


@contextlib.contextmanager
def _random_states() -> Iterator[None]:
    known, numbers, state = random.getstate(), np.random.get_state(), torch.get_rng_state()
    on_devices = _torch.cuda.get_rng_state_all() if _torch.cuda.is_initialized() else None
    try:
        yield
    finally:
        torch.set_rng_state(state)
        if on_devices is not None:
            torch.cuda.set_rng_state_all(on_devices)
        random.setstate(known)
        np.random.set_state(numbers)


class Guard(_Mode):  # type: ignore[misc]
    """Refuses writes into tensors that it has not seen being made."""

    def __init__(self) -> None:
        super().__init__()
        self._own: set[int] = set()  # storages
        self._held: list[Any] = []  # so that no address comes again

    def own(self, tensor: torch.Tensor) -> torch.Tensor:
        """Take a new tensor for one of ours."""
        self._own.add(_storage(tensor))
        self._held.append(tensor)
        return tensor

    def forget(self) -> None:
        """Hold nothing any more."""
        self._own.clear()
        self._held.clear()

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run the call, unless it writes into a tensor of the program's."""
        kwargs = kwargs or {}
        for one in _written(function, args, kwargs):
            if isinstance(one, torch.Tensor) and _storage(one) not in self._own:
                raise RefusedError("it writes into a tensor that is not its own")
        foreign = {_storage(one) for one in tensors_in(args, kwargs)} - self._own
        result = function(*args, **kwargs)
        for one in tensors_in((result,), {}):
            if _storage(one) not in foreign:
                self.own(one)
        return result


def _storage(tensor: torch.Tensor) -> int:
    """The address of a tensor's storage; its own where it has none, as if it were sparse."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (RuntimeError, NotImplementedError):
        return id(tensor)


def _written(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Iterator[Any]:
    """What a call overwrites."""
    name = getattr(function, "__name__", "")
    if name == "__set__":
        if getattr(function.__self__, "__name__", "") in _SETS:
            yield args[0]
    elif kind_of(function) == WRITES or name == "requires_grad_" or kwargs.get("inplace"):
        yield args[0] if args else None
    elif name in ("batch_norm", "instance_norm"):  # the running statistics, which it may write to
        yield from (args[i] if i < len(args) else None for i in (1, 2))
        yield from (kwargs.get(one) for one in ("running_mean", "running_var"))
    out = kwargs.get("out")
    if out is not None:
        yield from tensors_in((out,), {})
