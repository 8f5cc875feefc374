"""Delta debugging: the fewest events that still fail in the same way (Zeller and Hildebrandt, 2002)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def shrink(items: Sequence[Item], fails: Callable[[list[Item]], bool], trials: int = 200) -> list[Item]:
    """A part of the items that still fails, and of which no piece can be left out; larger if the trials run out."""
    left, pieces = list(items), 2
    while len(left) > 1 and trials > 0:
        length = -(-len(left) // pieces)
        for start in range(0, len(left), length):
            fewer = left[:start] + left[start + length :]
            trials -= 1
            if fewer and fails(fewer):
                left, pieces = fewer, max(pieces - 1, 2)
                break
            if trials <= 0:
                break
        else:
            if length == 1:
                break
            pieces = min(pieces * 2, len(left))
    return left
