"""Rows that show an array: in full if it is small, else as a line of statistics, and as a heat map on request."""

from __future__ import annotations

import numpy as np

from microtape.recording.model.formatting import format_value
from microtape.recording.model.model import Summary, Value
from viz.basics.graph import Row, Tone
from viz.basics.heat import heat as as_heat_map

VALUE_WIDTH = 36
SUMMARY_WIDTH = 56  # the statistics of an array that is too large to be listed


def value_row(key: str, value: Value, tone: Tone = "plain", *, heat: bool = False, text: str = "") -> Row:
    """The value, or the `text` about it; an alarm if it is not finite. `heat` adds a heat map, except to a scalar."""
    matrix = as_heat_map(value) if heat and value.shape != () else None
    return Row(key, text or value_text(value), tone if is_finite(value) else "alarm", matrix)


def value_text(value: Value | None) -> str:
    """A small array in full, a large one as a line of statistics."""
    short = format_value(value, VALUE_WIDTH)
    return short if value is None or short.startswith("[") else format_value(value, SUMMARY_WIDTH)


def is_finite(value: Value | None) -> bool:
    """Whether the value has no NaN and no Inf."""
    if isinstance(value, Summary):
        return not value.nans + value.infs
    return value is None or value.dtype.kind not in "fc" or bool(np.isfinite(value).all())
