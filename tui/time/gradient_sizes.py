"""The size of each gradient as a bar, on a logarithmic scale over the whole pass, so that vanishing can be seen."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from microtape.recording.model.measure import measured, portions
from microtape.recording.model.model import Summary, Value
from microtape.recording.model.summary import has_nan
from microtape.recording.tables.fields import are_there, distinct, inside, picked
from tui.time.timeline import Timeline
from viz.planning.sparkline import root_mean_square

if TYPE_CHECKING:
    import numpy.typing as npt

DECADES = 4  # the least range of the scale, so that gradients of similar size have bars of similar length
EIGHTHS, ASCII_BAR = " ▏▎▍▌▋▊▉█", "#"
NAN, INFINITY, ASCII_INFINITY = "NaN", "∞", "Inf"


@dataclass(frozen=True, slots=True)
class GradientScale:
    """The decimal logarithms of the sizes that have the shortest and the longest bar. A size is a root mean square."""

    low: float
    high: float

    @classmethod
    def of(cls, timeline: Timeline) -> GradientScale:
        """The scale for all gradients of a pass."""
        counts, gradients = inside(timeline.steps, "grad_outputs")
        there = np.flatnonzero(are_there(gradients))
        _, first = np.unique(np.repeat(np.arange(len(counts)), counts)[there], return_index=True)  # of each step
        sizes = root_mean_squares(distinct(picked(gradients, there[first].tolist())))
        logs = np.log10(sizes[np.isfinite(sizes) & (sizes > 0)])
        high = float(logs.max(initial=-math.inf))
        return cls(min(float(logs.min()), high - DECADES), high) if logs.size else cls(-DECADES, 0.0)

    def bar(self, gradient: Value | None, width: int, *, ascii: bool = False) -> str:
        """The bar in at most `width` characters. Zero has none; NaN and infinity have a sign instead."""
        if gradient is None:
            return ""
        size = root_mean_square(gradient)
        if not math.isfinite(size):
            return NAN if has_nan(gradient) else ASCII_INFINITY if ascii else INFINITY
        if not size:
            return ""
        share = min(max((math.log10(size) - self.low) / (self.high - self.low), 0.0), 1.0)
        if ascii:
            return ASCII_BAR * (1 + round(share * (width - 1)))
        whole, rest = divmod(1 + round(share * (8 * width - 1)), 8)
        return EIGHTHS[8] * whole + EIGHTHS[rest].strip()


def root_mean_squares(values: Iterable[Value]) -> npt.NDArray[np.float64]:
    """The sizes of many values, computed together: a pass may have thirty thousand. Empty arrays are left out."""
    every = list(values)
    summaries = np.array([root_mean_square(one) for one in every if isinstance(one, Summary)], np.float64)
    arrays = [one for one in every if not isinstance(one, Summary) and one.size]
    return np.concatenate([summaries, *(measured(some)[1] for some in portions(arrays))])
