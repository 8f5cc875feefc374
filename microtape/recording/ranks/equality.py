"""Which ranks agree on something that should be equal on all of them, and how far apart the others are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from microtape.recording.comparing.measuring import Measured, measure, worst
from microtape.recording.comparing.rounding import Tolerance
from microtape.recording.model.formatting import format_different, format_number, format_shape
from microtape.recording.model.formula import index_text
from microtape.recording.model.model import Value

_ROUNDING = Tolerance()


class Parted(NamedTuple):
    """A value that is not the same to the bit on all ranks."""

    groups: tuple[tuple[int, ...], ...]  # the places that agree; the most numerous first
    values: tuple[Value, Value]  # of the first group, and of the one that is furthest from it
    others: tuple[int, ...]  # the places that do not agree with the first group
    farthest: int  # the first place with the second value
    measured: Measured
    dtype: str

    @property
    def by_rounding(self) -> bool:
        """Whether all are equal within rounding."""
        return _ROUNDING.agrees(self.measured, _ROUNDING.of([self.dtype]) * self.measured.scale)


def parted(values: Mapping[int, Value | None], dtype: str = "") -> Parted | None:
    """How the values at some places differ, of tensors of this dtype; None if all that are known agree."""
    groups: list[tuple[Value, list[int]]] = []
    for place, value in values.items():
        if value is None:
            continue
        same = next((places for one, places in groups if _same(one, value)), None)
        if same is None:
            groups.append((value, [place]))
        else:
            same.append(place)
    if len(groups) < 2:
        return None
    groups.sort(key=lambda group: -len(group[1]))
    first = groups[0][0]
    measured, other, farthest = max(
        ((measure(first, value), value, places[0]) for value, places in groups[1:]),
        key=lambda one: math.inf if one[0].how == "shape" else one[0].absolute,
    )
    others = sorted(place for _, places in groups[1:] for place in places)
    return Parted(
        tuple([tuple(places) for _, places in groups]), (first, other), tuple(others), farthest, measured, dtype
    )


def _same(x: Value, y: Value) -> bool:
    """Whether two values are the same to the bit, as far as this can be seen; what is unknown counts as the same."""
    found = measure(x, y)
    return found.identical or found.how == "unknown"


def apart(found: Parted, numbers: Sequence[int]) -> str:
    """`is 0.51 on rank 0, 0.49 on rank 1 at [0, 3], relative 0.04`, given the rank at each place."""
    one, other = (f"on rank {numbers[place]}" for place in (found.groups[0][0], found.farthest))
    if found.measured.how == "shape":
        shapes = [format_shape(value.shape) for value in found.values]
        return f"has the shape {shapes[0]} {one}, {shapes[1]} {other}"
    where = worst(*found.values)
    x, y = format_different(where.a, where.b)
    which = f"the {where.statistic} " if where.statistic else ""
    at = f" at {index_text(where.element)}" if where.element else ""
    relative = found.measured.relative
    how_far = f", relative {format_number(relative, 2)}" if relative and math.isfinite(relative) else ""
    return f"is {which}{x} {one}, {y} {other}{at}{how_far}"
