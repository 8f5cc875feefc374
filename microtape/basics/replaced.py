"""Attributes that recorders replace, one over the other, and give back in any order: threads end as they like."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

_lock = threading.Lock()
_piles: dict[tuple[int, str], list[Replaced]] = {}
"""For each attribute that is replaced, by the id of its owner: what replaced it, the last one on top."""


class Replaced:
    """An attribute of a class, a module or a function that is another object, from `put` to `restore`.

    What is put there calls `before`, which is always what lies beneath: the attribute of one that has been restored
    meanwhile is left out.
    """

    def __init__(self, owner: Any, name: str) -> None:
        self._owner, self._name = owner, name
        self._new: Any = None
        self.before: Any = None
        self._is_inherited = False

    @property
    def _present(self) -> Any:
        own = vars(self._owner)  # as it is in there: a classmethod, a property
        return own[self._name] if self._name in own else getattr(self._owner, self._name)

    def put(self, new: Any) -> Replaced:
        """Replace the attribute."""
        with _lock:
            self._new, self.before = new, self._present
            self._is_inherited = isinstance(self._owner, type) and self._name not in vars(self._owner)
            _piles.setdefault((id(self._owner), self._name), []).append(self)
            setattr(self._owner, self._name, new)
        return self

    def hide(self) -> None:
        """Give the attribute back until `show`."""
        with _lock:
            self._give_back()

    def show(self) -> None:
        """Replace the attribute again, by the last that was put there."""
        with _lock:
            setattr(self._owner, self._name, _piles[id(self._owner), self._name][-1]._new)

    def restore(self) -> bool:
        """Give the attribute back. False if it has been replaced again: then that one loses what lies beneath.

        What the program itself has put there meanwhile stays.
        """
        with _lock:
            key = id(self._owner), self._name
            pile, new = _piles[key], self._new
            place = pile.index(self)
            del pile[place]
            self._new = None  # which refers to this, perhaps
            if place < len(pile):
                above = pile[place]
                if above.before is new:
                    above.before, above._is_inherited = self.before, self._is_inherited
                return False
            if not pile:
                del _piles[key]
            is_there = self._present is new
            if is_there:
                self._give_back()
            return is_there

    def _give_back(self) -> None:
        if self._is_inherited:
            delattr(self._owner, self._name)
        else:
            setattr(self._owner, self._name, self.before)


class ReplacedFunction:
    """A function that runs another one, from `put` to `restore`, also for those who have it already.

    Its code is replaced. That has as many free variables as before: none, or one, as in a method that calls `super()`.
    """

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self._code, self._defaults = Replaced(function, "__code__"), Replaced(function, "__kwdefaults__")

    @property
    def before(self) -> Callable[..., Any]:
        """What it does otherwise."""
        function = self._function
        before = FunctionType(
            self._code.before, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        before.__kwdefaults__ = self._defaults.before
        return before

    def put(self, new: Callable[..., Any]) -> None:
        """Replace what it does."""
        self._defaults.put({"_microtape": new})  # first: other threads may call it
        self._code.put((_in_a_closure(None) if self._function.__closure__ else _running).__code__)

    def hide(self) -> None:
        """Let it do what it did, until `show`."""
        self._code.hide()

    def show(self) -> None:
        """Replace again what it does."""
        self._code.show()

    def restore(self) -> None:
        """Give back what it does."""
        self._code.restore()
        self._defaults.restore()


def _running(*args: Any, _microtape: Callable[..., Any], **kwargs: Any) -> Any:
    return _microtape(*args, **kwargs)


def _in_a_closure(free: None) -> Callable[..., Any]:
    def running(*args: Any, _microtape: Callable[..., Any], **kwargs: Any) -> Any:
        _ = free  # so that the code has a free variable
        return _microtape(*args, **kwargs)

    return running
