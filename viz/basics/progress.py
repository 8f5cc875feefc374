"""Reports the progress of long work to a callback."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]  # (done, of how many)


class ProgressCounter:
    """Counts finished units of work. The total becomes known once the work has been planned."""

    def __init__(self, tell: Progress) -> None:
        self._tell = tell
        self._done = self._whole = 0

    def begin(self, whole: int) -> None:
        """Set the total."""
        self._whole = whole
        self.add(0)

    def add(self, done: int = 1) -> None:
        """Count `done` more units as finished."""
        self._done += done
        self._tell(self._done, self._whole)
