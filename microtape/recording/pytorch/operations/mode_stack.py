"""torch's stack of function modes: ours is put on it, and taken off it wherever it lies.

A mode costs something at each call of torch, even one that does nothing. While the recorder sleeps it is therefore off
the stack. During a call that a mode sees, torch itself holds it, and puts it back afterwards: then it is taken off
later. It lies beneath the modes of the program's own, which do not see what it does, and which the end of their `with`
takes off the top.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any

from torch import overrides
from torch.utils._device import DeviceContext

from microtape.basics.replaced import Replaced
from microtape.recording.pytorch.reading.traced import is_traced

_stack: Any = overrides  # untyped
_Mode: Any = overrides.TorchFunctionMode
_WITH_FAST_PATHS = ("torch.nn.modules.activation", "torch.nn.modules.transformer")


class RecorderMode(_Mode):  # type: ignore[misc]
    """A mode of a recorder's."""


class StackedMode:
    """A context in which a mode may be on the stack."""

    def __init__(self, mode: overrides.TorchFunctionMode) -> None:
        self.mode = mode
        self._is_on = False  # or held by torch during a call
        self._wanted = False
        self._is_hidden = False

    def __enter__(self) -> None:
        self.put_on()

    def __exit__(self, *error: object) -> None:
        self.take_off()

    def put_on(self) -> None:
        """Put the mode on the stack."""
        self._wanted = True
        if not self._is_on and not self._is_hidden:
            _put_beneath(self.mode)
            self._is_on = True

    def take_off(self) -> None:
        """Take the mode off the stack, now or at a later `settle`."""
        self._wanted = False
        self.settle()

    def hide(self) -> None:
        """Keep the mode off the stack until `show`, unless torch holds it."""
        if not self._is_on or remove(self.mode):
            self._is_on, self._is_hidden = False, True

    def show(self) -> None:
        """Put a hidden mode back on the stack, if it is wanted there."""
        self._is_hidden = False
        if self._wanted:
            self.put_on()

    def settle(self) -> None:
        """Take the mode off if it is still on the stack, but not wanted."""
        if not self._wanted and self._is_on and remove(self.mode):  # else torch holds it
            self._is_on = False


def are_the_whole_stack(modes: Collection[StackedMode]) -> bool:
    """Whether these modes, and no others, lie on the stack."""
    stack = _stack._get_current_function_mode_stack()
    return len(stack) == len(modes) and all([any(one is each.mode for each in modes) for one in stack])


def push(mode: overrides.TorchFunctionMode) -> bool:
    """Put a mode on top of the stack, unless it lies on it. Returns whether it did not."""
    if any(one is mode for one in _stack._get_current_function_mode_stack()):
        return False
    _stack._push_mode(mode)
    return True


def _put_beneath(mode: overrides.TorchFunctionMode) -> None:
    """Put a mode beneath all others, but that of the default device, which takes for granted that it lies there."""
    above = [_stack._pop_mode() for _ in _stack._get_current_function_mode_stack()]
    if above and isinstance(above[-1], DeviceContext):
        _stack._push_mode(above.pop())
    for one in (mode, *reversed(above)):
        _stack._push_mode(one)


def remove(mode: overrides.TorchFunctionMode) -> bool:
    """Take a mode off the stack, wherever it lies. Returns whether it lay on it."""
    if not any(one is mode for one in _stack._get_current_function_mode_stack()):
        return False
    above = []
    while (top := _stack._pop_mode()) is not mode:
        above.append(top)
    for one in reversed(above):
        _stack._push_mode(one)
    return True


class FastPaths:
    """A context in which the layers of a transformer take their fast path in evaluation, as they do without our modes.

    They ask `has_torch_function`, which says yes to any mode, and the slower path has other bits.
    """

    def __init__(self) -> None:
        self._replaced = Replaced(_stack, "has_torch_function")

    def __enter__(self) -> None:
        replaced = self._replaced

        def has_torch_function(relevant_args: Any) -> bool:
            if is_traced() or sys._getframe(1).f_globals.get("__name__") not in _WITH_FAST_PATHS:
                return bool(replaced.before(relevant_args))
            modes = _stack._get_current_function_mode_stack()
            if any([not isinstance(one, RecorderMode) for one in modes]):
                return True
            for _ in modes:
                _stack._pop_mode()
            try:
                return bool(replaced.before(relevant_args))
            finally:
                for one in modes:
                    _stack._push_mode(one)

        replaced.put(has_torch_function)

    def __exit__(self, *error: object) -> None:
        self._replaced.restore()
