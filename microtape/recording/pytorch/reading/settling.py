"""A recording whose pending values are there: summaries of large arrays are made, and the arrays kept that matter."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from microtape.recording.model.model import Recording, Value
from microtape.recording.model.summary import has_nan, is_finite
from microtape.recording.pytorch.reading.device import Pending, settled
from microtape.recording.pytorch.reading.later import LaterSummary


def any_has_nan(values: Iterable[Value | Pending | None]) -> bool:
    """Whether one of the values contains a NaN. No array is summarised for it; values of a device were fetched."""
    large: dict[object, LaterSummary] = {}
    for value in values:
        if isinstance(value, LaterSummary):
            large[value.memory] = value
        elif has_nan(value.value if isinstance(value, Pending) else value):
            return True
    return any(one.has_nan for one in large.values())


def with_values(recording: Recording) -> Recording:
    """The recording with values in the place of pending ones. Where NaN or infinity begins, large arrays are whole."""
    met: list[Pending] = []
    found = _settled(recording, met)
    later = [one for one in met if isinstance(one, LaterSummary)]
    if not all([is_finite(one.summary) for one in later]):
        # few recordings need it
        from microtape.recording.findings.values.not_finite import arrays_where_bad_numbers_begin

        wanted = {id(value) for value in arrays_where_bad_numbers_begin(found)}
        kept = [one for one in later if id(one.value) in wanted]
        for one in kept:
            one.keep_whole()
        found = _settled(recording, []) if kept else found
    for one in later:
        one.drop_copy()
    return found


def _settled(recording: Recording, met: list[Pending]) -> Recording:
    return dataclasses.replace(
        recording, passes=settled(recording.passes, met), tensors=settled(recording.tensors, met)
    )
