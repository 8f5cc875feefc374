"""How large the arrays of a recording are, and which are zero or not finite: measured together, because many are small."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from microtape.recording.model.model import Recording, Summary, Value

_TOGETHER = 1 << 16  # elements that are measured in one call


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
        arrays, summaries = _arrays_and_summaries(recording)
        self._arrays = arrays  # held, so that their ids stay theirs
        self._known: dict[int, tuple[float, float]] = {}
        self._has_bad_summary = any(one.nans or one.infs for one in summaries)
        groups: dict[np.dtype[Any], list[npt.NDArray[Any]]] = {}
        for one in self._arrays.values():
            group = groups.get(one.dtype)
            if group is None:
                groups[one.dtype] = [one]
            else:
                group.append(one)
        for group in groups.values():
            for some in _portions(group):
                self._known.update(zip(map(id, some), _measured(some), strict=True))

    def __call__(self, value: Value | None) -> Size | None:
        """The size of an array of the recording; None for no array, an empty one, or one without floats."""
        if isinstance(value, Summary):
            return _of_summary(value)
        if value is None or value.dtype.kind not in _FLOATS or not value.size:
            return None
        known = self._known.get(id(value))
        if known is None:
            self._arrays[id(value)] = value
            known = self._known[id(value)] = next(_measured([value]))
        return Size(*known)

    @cached_property
    def all_finite(self) -> bool:
        """Whether every number of the recording is finite."""
        return all(math.isfinite(largest) for largest, _ in self._known.values()) and not self._has_bad_summary

    def largest(self, value: Value | None) -> float:
        """The largest absolute value, as in `Size`; 0 for an array without a size."""
        known = self._known.get(id(value))
        if known is not None:
            return known[0]
        size = self(value)
        return size.largest if size is not None else 0.0


def _arrays_and_summaries(recording: Recording) -> tuple[dict[int, npt.NDArray[Any]], list[Summary]]:
    """The values and gradients: arrays of floats by id, each once, and summaries."""
    every: list[Value | None] = []
    for tensor in recording.tensors:
        every += tensor.values.values()
    for pass_ in recording.passes:
        for step in pass_.steps:
            every += step.grad_outputs
            every += step.grad_inputs
    found = {id(one): one for one in every}.values()
    arrays = [one for one in found if isinstance(one, np.ndarray) and one.size and one.dtype.kind in _FLOATS]
    return {id(one): one for one in arrays}, [one for one in found if isinstance(one, Summary)]


def _portions(arrays: list[npt.NDArray[Any]]) -> Iterator[list[npt.NDArray[Any]]]:
    """The arrays in groups of few enough elements, so that measuring them takes little memory."""
    start = elements = 0
    for end, one in enumerate(arrays, 1):
        elements += one.size
        if elements >= _TOGETHER:
            yield arrays[start:end]
            start, elements = end, 0
    if start < len(arrays):
        yield arrays[start:]


def _measured(arrays: Sequence[npt.NDArray[Any]]) -> Iterator[tuple[float, float]]:
    """The largest absolute value and the root mean square of arrays of one dtype."""
    sizes = np.array([one.size for one in arrays])
    starts = np.cumsum(sizes) - sizes
    with np.errstate(all="ignore"):
        magnitudes = np.abs(np.concatenate(arrays, axis=None)).astype(np.float64, copy=False)
        largest = np.maximum.reduceat(magnitudes, starts)
        scale = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)  # so that no square under- or overflows
        np.divide(magnitudes, np.repeat(scale, sizes), out=magnitudes)
        squares = np.add.reduceat(np.square(magnitudes, out=magnitudes), starts)
        rms = np.sqrt(squares / sizes) * scale
    return zip(largest.tolist(), rms.tolist(), strict=True)


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
