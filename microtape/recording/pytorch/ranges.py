"""Sequence numbers that were given out while something ran, and what that was."""

from __future__ import annotations

import weakref
from bisect import bisect_right
from typing import Generic, TypeVar

_PRUNE = 8192

_Owner = TypeVar("_Owner", bound=object)


class Ranges(Generic[_Owner]):
    """Finds what a number was given out for: the owner of the innermost range around it, who is not kept alive.

    Ranges of one level follow each other; those of a level above lie in one of them, or between two.
    """

    def __init__(self) -> None:
        self._levels: dict[int, tuple[list[int], list[tuple[int, weakref.ref[_Owner], int]]]] = {}

    def add(self, level: int, start: int, end: int, owner: _Owner, pass_: int = -1) -> None:
        """Add a range that has just ended, from `start` to before `end`, and the pass in which it lies."""
        known = self._levels.get(level)
        if known is None:
            known = self._levels[level] = [], []
            self._levels = dict(sorted(self._levels.items(), reverse=True))
        ends, ranges = known
        ends.append(end)
        ranges.append((start, weakref.ref(owner), pass_))
        if len(ends) % _PRUNE == 0:
            alive = [(one, each) for one, each in zip(ends, ranges, strict=True) if each[1]() is not None]
            self._levels[level] = [one for one, _ in alive], [each for _, each in alive]

    @property
    def are_flat(self) -> bool:
        """Whether all ranges are of one level, and none lies in another."""
        return len(self._levels) <= 1

    def find(self, number: int) -> tuple[_Owner, int] | None:
        """The owner and the pass."""
        for ends, ranges in self._levels.values():
            position = bisect_right(ends, number)
            if position < len(ranges):
                start, owner, pass_ = ranges[position]
                if start <= number and (found := owner()) is not None:
                    return found, pass_
        return None
