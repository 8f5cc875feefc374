"""Numbers as a row of bars: the size of an array in each repetition, from first to last."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import Summary, Value

BARS = "▁▂▃▄▅▆▇█"
MISSING, NOT_FINITE = "·", "!"
WIDTH = 24


def root_mean_square(value: Value) -> float:
    """The root mean square of the elements, a size that does not depend on the shape. NaN if any is not finite."""
    if isinstance(value, Summary):
        if value.nans or value.infs or value.mean is None or value.std is None:
            return math.nan
        return math.hypot(value.mean, value.std)
    if not value.size:
        return 0.0
    with np.errstate(invalid="ignore"):  # a signalling NaN of a file
        numbers = np.abs(value).astype(np.float64)
    largest = float(numbers.max())
    if not math.isfinite(largest) or not largest:
        return largest if not largest else math.nan
    return float(np.sqrt(np.mean((numbers / largest) ** 2))) * largest


def sparkline(sizes: Sequence[float | None]) -> str:
    """`2e-6 ▁▂▄▆█ 0.3`: the first and last known numbers, and a bar for each number, on a logarithmic scale.

    None becomes a dot and NaN an exclamation mark. In a long row, each bar stands for the largest of several numbers.
    """
    known = [one for one in sizes if one is not None]
    if not known:
        return ""
    return line(known[0], known[-1], [largest(sizes[part]) for part in parts(len(sizes), WIDTH)], several=known[1:])


def line(first: float, last: float, tops: Sequence[float | None], *, several: object) -> str:
    """The sparkline with these bars. `several`: whether more than one number is known."""
    if len(tops) == 1:
        return format_number(first, 2)
    begin = f"{format_number(first, 2)} " if several else ""
    return f"{begin}{_bars(tops)} {format_number(last, 2)}"


def bars(sizes: Sequence[float | None], most: int) -> str:
    """The bars of a sparkline alone, at most so many."""
    return _bars([largest(sizes[part]) for part in parts(len(sizes), most)])


def parts(count: int, most: int) -> list[slice]:
    """Which of that many numbers each bar stands for."""
    number = min(count, most)
    return [slice(k * count // number, (k + 1) * count // number) for k in range(number)]


def _bars(tops: Sequence[float | None]) -> str:
    logs = [math.log10(top) for top in tops if top is not None and math.isfinite(top) and top > 0]
    low, high = (min(logs), max(logs)) if logs else (0.0, 0.0)
    return "".join(_bar(top, low, high) for top in tops)


def largest(sizes: Sequence[float | None]) -> float | None:
    """The largest known number; NaN if one of them is NaN."""
    known = [one for one in sizes if one is not None]
    if any(math.isnan(one) for one in known):
        return math.nan
    return max(known, default=None)


def _bar(top: float | None, low: float, high: float) -> str:
    if top is None:
        return MISSING
    if not math.isfinite(top):
        return NOT_FINITE
    if not top:
        return BARS[0]
    if high - low < 0.02:
        return BARS[3]
    return BARS[round((math.log10(top) - low) / (high - low) * (len(BARS) - 1))]
