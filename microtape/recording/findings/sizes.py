"""How large the arrays of a recording are. They are measured together, because most are small and many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from microtape.recording.model.dtypes import kind_of
from microtape.recording.model.measure import measured, portions
from microtape.recording.model.model import Recording, Summary, Value
from microtape.recording.model.summary import is_finite, is_unread
from microtape.recording.tables.fields import distinct, items


class Size(NamedTuple):
    """The largest absolute value and the root mean square. `largest` is NaN if there is a NaN, else Inf if an Inf."""

    largest: float
    rms: float

    @property
    def is_finite(self) -> bool:
        """Whether all elements are finite."""
        return math.isfinite(self.largest)

    @property
    def has_nan(self) -> bool:
        """Whether an element is NaN."""
        return math.isnan(self.largest)

    @property
    def is_zero(self) -> bool:
        """Whether all elements are zero."""
        return self.largest == 0


_FLOATS = "fc"


class Sizes:
    """The sizes of the values and gradients of a recording. Integers, bools and missing values have none."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._values: dict[int, Value | None] = {}  # those measured, by id: held, so that their ids stay theirs
        self._known: dict[int, tuple[float, float]] = {}
        self.results_are_finite = self.measure(_gradients(recording))
        """Whether all gradients are finite, and the values from which passes began."""

    def measure_values(self) -> None:
        """Measure all values together: a caller will ask for most of them."""
        self.measure([value for tensor in self._recording.tensors for value in tensor.values.values()])

    def measure(self, every: Sequence[Value | None]) -> bool:
        """Measure together what is not known yet. Returns whether all that was measured is finite."""
        found = dict(zip(map(id, every), every, strict=True))
        for key in self._values.keys() & found.keys():
            del found[key]
        self._values |= found
        finite = True
        groups: dict[np.dtype[Any], list[npt.NDArray[Any]]] = {}
        for one in found.values():
            if type(one) is np.ndarray:
                group = groups.get(one.dtype)
                if group is None:
                    groups[one.dtype] = [one]
                else:
                    group.append(one)
            elif one is not None:
                finite &= is_finite(one)
        for dtype, group in groups.items():
            for some in portions(group) if dtype.kind in _FLOATS else ():
                largest, rms = measured(some)
                finite &= bool(np.isfinite(largest).all())
                self._known.update(zip(map(id, some), zip(largest.tolist(), rms.tolist(), strict=True), strict=True))
        return finite

    def __call__(self, value: Value | None) -> Size | None:
        """The size of an array of the recording; None for no array, an empty one, or one without floats."""
        if isinstance(value, Summary):
            return _of_summary(value)
        if value is None or value.dtype.kind not in _FLOATS or not value.size:
            return None
        known = self._known.get(id(value))
        if known is None:
            self._values[id(value)] = value
            largest, rms = measured([value])
            known = self._known[id(value)] = float(largest[0]), float(rms[0])
        return Size(*known)

    def rms(self, value: Value | None) -> float:
        """The root mean square; 0 for an array without a size."""
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        size = self(value)
        return size.rms if size is not None else 0.0

    def largest(self, value: Value | None) -> float:
        """The largest absolute value, as in `Size`; 0 for an array without a size."""
        known = self._known.get(id(value))
        if known is not None:
            return known[0]
        size = self(value)
        return size.largest if size is not None else 0.0

    def is_zero(self, value: Value | None) -> bool:
        """Whether all elements are zero, as far as an array has a size. Of one that could not be read, nobody knows."""
        return self.largest(value) == 0 and not (isinstance(value, Summary) and is_unread(value))


def _gradients(recording: Recording) -> list[Value | None]:
    """The gradients that reached nodes or were asked for, and the values of the roots."""
    every: list[Value | None] = []
    for pass_ in recording.passes:
        every += map(recording.value, pass_.root_tensors)
        every += [one.value for one in pass_.captures]
        every += distinct(items(pass_.steps, "grad_outputs"))
    return every


def _of_summary(about: Summary) -> Size | None:
    if math.prod(about.shape) == 0 or kind_of(about.dtype) not in _FLOATS:
        return None
    if about.nans:
        return Size(math.nan, math.nan)
    if about.infs:
        return Size(math.inf, math.inf)
    if about.min is None or about.max is None or about.mean is None or about.std is None:
        return None
    return Size(max(abs(about.min), abs(about.max)), math.hypot(about.mean, about.std))
