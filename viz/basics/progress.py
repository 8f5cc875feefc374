"""Reports the progress of long work to a callback."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]  # (units done, units in all)


class ProgressCounter:
    """Counts finished units of work. The total becomes known once the work has been planned."""

    def __init__(self, report: Progress) -> None:
        self._report = report
        self._done = self._total = 0

    def begin(self, total: int) -> None:
        """Set the total."""
        self._total = total
        self.add(0)

    def add(self, done: int = 1) -> None:
        """Count `done` more units as finished."""
        self._done += done
        self._report(self._done, self._total)
