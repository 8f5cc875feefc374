"""Measured numbers, and how two programs are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.engines import Engine
from benchmarks.measure import OURS, interleaved, ratios


@dataclass(frozen=True)
class Figure:
    """A measured number and its target, an upper limit."""

    what: str
    value: float | None  # None: not measured, for the reason in `note`
    unit: str = ""
    target: float | None = None
    note: str = ""

    @property
    def missed(self) -> bool:
        """Whether it was measured and is above its target."""
        return self.value is not None and self.target is not None and round(self.value, 3) > self.target


Check = Callable[[dict[str, Engine], bool], Iterator[Figure]]
"""A check: takes the engines, and whether to measure only briefly."""


def median_ratio(ours: Callable[[], Any], other: Callable[[], Any], rounds: int) -> float:
    """The median over the rounds of our time divided by the other's."""
    return ratios(interleaved({OURS: ours, "other": other}, rounds, 0.05), OURS)["other"].median
