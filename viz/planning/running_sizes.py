"""Sizes of gradients that change during a pass, for films: only what came since the moment before is looked up."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from microtape.recording.model.model import Value
from viz.planning.sparkline import WIDTH, largest, line, parts


class RunningSizes:
    """The sizes of several gradients at a moment, and their sparkline.

    `changes` says which of them becomes which value after how many steps. Moments may be asked for in any order, but
    going back begins anew.
    """

    def __init__(
        self,
        start: Sequence[Value | None],
        changes: Iterable[tuple[int, int, Value]],
        size: Callable[[Value], float],
    ) -> None:
        self._start, self._size = start, size
        self._changes = sorted(changes, key=lambda one: one[0])
        self._parts = parts(len(start), WIDTH)
        self._begin()

    def _begin(self) -> None:
        self._next = 0
        self._values = list(self._start)
        self._sizes: list[float | None] = [None] * len(self._start)
        self._known: tuple[int, int] | None = None  # the first and the last known one
        self._several = False
        self._wrong: set[int] = set()
        self._tops: list[float | None] = [None] * len(self._parts)
        self._measure(number for number, value in enumerate(self._start) if value is not None)

    def move(self, steps_done: int) -> None:
        """Go to the moment after that many steps."""
        if self._next and self._changes[self._next - 1][0] > steps_done:
            self._begin()
        touched = set()
        while self._next < len(self._changes) and self._changes[self._next][0] <= steps_done:
            _, number, value = self._changes[self._next]
            self._values[number] = value
            touched.add(number)
            self._next += 1
        self._measure(touched)

    def _measure(self, numbers: Iterable[int]) -> None:
        stale = set()
        for number in numbers:
            value = self._values[number]
            assert value is not None
            size = self._sizes[number] = self._size(value)
            stale.add(((number + 1) * len(self._parts) - 1) // len(self._sizes))  # which part it is in
            self._wrong.discard(number)
            if math.isnan(size):
                self._wrong.add(number)
            if self._known is not None:
                self._several |= self._known != (number, number)
                self._known = min(self._known[0], number), max(self._known[1], number)
            else:
                self._known = number, number
        for one in stale:
            self._tops[one] = largest(self._sizes[self._parts[one]])

    @property
    def wrong(self) -> int:
        """How many of them are not finite."""
        return len(self._wrong)

    @property
    def count(self) -> int:
        """How many there are, known or not."""
        return len(self._sizes)

    @property
    def text(self) -> str:
        """Their sparkline; empty if none is known yet."""
        if self._known is None:
            return ""
        first, last = (self._sizes[number] for number in self._known)
        assert first is not None
        assert last is not None
        return line(first, last, self._tops, several=self._several)
