"""How far something is, told to whoever waits for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]  # (done, of how many)


class Count:
    """Counts what is done, of a whole that is known once the work has been looked over."""

    def __init__(self, tell: Progress) -> None:
        self._tell = tell
        self._done = self._whole = 0

    def begin(self, whole: int) -> None:
        """So much is to be done."""
        self._whole = whole
        self.add(0)

    def add(self, done: int = 1) -> None:
        """So much more is done."""
        self._done += done
        self._tell(self._done, self._whole)
