"""torch's stack of function modes: ours is put on it, and taken off it wherever it lies.

A mode costs something at each call of torch, even one that does nothing. While the recorder sleeps it is therefore off
the stack. During a call that a mode sees, torch itself holds it, and puts it back afterwards: then it is taken off
later.
"""

from __future__ import annotations

from typing import Any

from torch import overrides

_stack: Any = overrides  # untyped


class StackedMode:
    """A context in which a mode may be on the stack."""

    def __init__(self, mode: overrides.TorchFunctionMode) -> None:
        self._mode = mode
        self._is_on = False  # or held by torch during a call
        self._wanted = False

    def __enter__(self) -> None:
        self.put_on()

    def __exit__(self, *error: object) -> None:
        self.take_off()

    def put_on(self) -> None:
        """Put the mode on the stack."""
        self._wanted = True
        if not self._is_on:
            _stack._push_mode(self._mode)
            self._is_on = True

    def take_off(self) -> None:
        """Take the mode off the stack, now or at a later `settle`."""
        self._wanted = False
        self.settle()

    def settle(self) -> None:
        """Take the mode off if it is still on the stack, but not wanted."""
        if self._wanted or not self._is_on:
            return
        if not any(one is self._mode for one in _stack._get_current_function_mode_stack()):
            return  # torch holds it
        above = []
        while (top := _stack._pop_mode()) is not self._mode:
            above.append(top)
        for one in reversed(above):
            _stack._push_mode(one)
        self._is_on = False
