"""How large the arrays of a recording are. They are measured together, because most are small and many."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from microtape.recording.model.measure import measured, portions
from microtape.recording.model.model import Recording, Summary, Value


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
        every = _values_and_gradients(recording)
        arrays = {id(one): one for one in every if type(one) is np.ndarray and one.size}
        self._arrays = arrays  # held, so that their ids stay theirs
        self._known: dict[int, tuple[float, float]] = {}
        self.all_finite = not any(one.nans or one.infs for one in every if type(one) is Summary)
        groups: dict[np.dtype[Any], list[npt.NDArray[Any]]] = {}
        for one in arrays.values():
            group = groups.get(one.dtype)
            if group is None:
                groups[one.dtype] = [one]
            else:
                group.append(one)
        for dtype, group in groups.items():
            for some in portions(group) if dtype.kind in _FLOATS else ():
                largest, rms = measured(some)
                self.all_finite &= bool(np.isfinite(largest).all())
                self._known.update(zip(map(id, some), zip(largest.tolist(), rms.tolist(), strict=True), strict=True))

    def __call__(self, value: Value | None) -> Size | None:
        """The size of an array of the recording; None for no array, an empty one, or one without floats."""
        if isinstance(value, Summary):
            return _of_summary(value)
        if value is None or value.dtype.kind not in _FLOATS or not value.size:
            return None
        known = self._known.get(id(value))
        if known is None:
            self._arrays[id(value)] = value
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


def _values_and_gradients(recording: Recording) -> list[Value | None]:
    every: list[Value | None] = []
    for tensor in recording.tensors:
        every += tensor.values.values()
    for pass_ in recording.passes:
        for step in pass_.steps:
            every += step.grad_outputs
            every += step.grad_inputs
    return every


def _of_summary(about: Summary) -> Size | None:
    if math.prod(about.shape) == 0 or np.dtype(about.dtype).kind not in _FLOATS:
        return None
    if about.nans:
        return Size(math.nan, math.nan)
    if about.infs:
        return Size(math.inf, math.inf)
    if about.min is None or about.max is None or about.mean is None or about.std is None:
        return None
    return Size(max(abs(about.min), abs(about.max)), math.hypot(about.mean, about.std))
