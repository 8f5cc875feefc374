"""How far two values are apart: two arrays element by element, a summary by its statistics."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from microtape.recording.model.model import Summary, Value
from microtape.recording.model.summary import is_unread, summarize

STATISTICS = 1e-4  # relative: recorders compute means and deviations in different ways
PICTURES = 1e-3  # relative: thumbnails are rounded to four digits

How: TypeAlias = Literal["elements", "statistics", "shape", "missing", "unknown"]
"""What was compared. missing: only one of the two is there; unknown: it was not recorded."""


class Measured(NamedTuple):
    """How far two values are apart."""

    how: How
    identical: bool  # as far as this can be seen; NaN is identical to NaN, 0.0 is not to -0.0
    absolute: float  # the largest difference; infinite where NaN or infinity stands against another number
    scale: float  # the largest finite magnitude in either

    @property
    def relative(self) -> float:
        """The largest difference as a part of the largest magnitude."""
        if not self.absolute:
            return 0.0
        return self.absolute / self.scale if self.scale else math.inf


class Worst(NamedTuple):
    """Where two values are furthest apart."""

    element: tuple[int, ...] | None  # None for a statistic
    statistic: str  # "min", "mean", "NaN"; empty for an element
    a: Any
    b: Any


BOTH_MISSING = Measured("elements", True, 0.0, 0.0)
UNKNOWN = Measured("unknown", False, 0.0, 0.0)
MISSING = Measured("missing", False, math.inf, 0.0)
SHAPE = Measured("shape", False, math.inf, 0.0)


def measure(x: Value, y: Value) -> Measured:
    """Measure how far two values of any shapes are apart."""
    if isinstance(x, Summary) or isinstance(y, Summary):
        return _of_summaries(_summary(x), _summary(y))
    if x.shape != y.shape:
        return SHAPE
    if x.dtype == y.dtype and x.tobytes() == y.tobytes():
        return Measured("elements", True, 0.0, math.nan)  # `largest` computes the magnitude where it is needed
    if x.size == 1:
        return _of_numbers(x.item(), y.item())
    absolute = float(_distances(x, y).max())
    if absolute:
        return Measured("elements", False, absolute, max(largest(x), largest(y)))
    return Measured("elements", _same_signs(x, y), 0.0, largest(x))


def largest(value: Value | None) -> float:
    """The largest finite magnitude; 0 if there is none."""
    if value is None:
        return 0.0
    if isinstance(value, Summary):
        return max(abs(value.min or 0.0), abs(value.max or 0.0))
    if not value.size:
        return 0.0
    magnitudes = np.abs(_wide(value))
    found = float(magnitudes.max())
    if math.isfinite(found):
        return found
    return float(magnitudes[np.isfinite(magnitudes)].max(initial=0.0))


def worst(x: Value, y: Value) -> Worst:
    """Where two values of the same shape are furthest apart."""
    if isinstance(x, Summary) or isinstance(y, Summary):
        one, other = _summary(x), _summary(y)
        rows = _statistics(one, other)
        name, a, b, _ = max(rows, key=lambda row: row[3]) if rows else ("", None, None, 0.0)
        return Worst(None, name, a, b)
    distances = _distances(x, y)
    flat = int(distances.argmax())
    if not distances.reshape(-1)[flat]:  # they differ in the sign of a zero
        flat = int(np.argmax(_signs(x) != _signs(y)))
    index = tuple(int(i) for i in np.unravel_index(flat, x.shape))
    return Worst(index, "", x[index].item(), y[index].item())


# Arrays


def _of_numbers(x: Any, y: Any) -> Measured:
    if not isinstance(x, complex) and not isinstance(y, complex):  # a complex number's magnitude may overflow
        distance = abs(x - y)
        if distance and math.isfinite(distance):
            return Measured("elements", False, float(distance), float(max(abs(x), abs(y))))
    one, other = np.asarray(x), np.asarray(y)
    absolute = float(_distances(one, other))
    return Measured("elements", not absolute and _same_signs(one, other), absolute, max(largest(one), largest(other)))


def _wide(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The elements as float64 or complex128."""
    wide: npt.NDArray[Any] = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64, copy=False)
    return wide


def _distances(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """|x - y| for each element: 0 for equal ones, infinite where only one is NaN or both are different infinities."""
    found: npt.NDArray[np.float64] = np.asarray(np.abs(_wide(x) - _wide(y)))
    if x.dtype.kind in "iub" and y.dtype.kind in "iub":  # large integers are rounded to float64
        return np.where((x != y) & (found == 0), 1.0, found)
    if not math.isfinite(found.max()):
        equal = (x == y) | (np.isnan(x) & np.isnan(y))
        found = np.where(equal, 0.0, np.where(np.isnan(found), np.inf, found))
    return found


def _signs(array: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
    """A number for the sign of each element, in which -0.0 counts as negative and NaN does not."""
    if array.dtype.kind == "c":
        return np.asarray(_signs(array.real) + 2 * _signs(array.imag))
    negative = np.signbit(array) & ~np.isnan(array) if array.dtype.kind == "f" else array < 0
    return np.asarray(negative, np.int8)


def _same_signs(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> bool:
    return bool(np.array_equal(_signs(x), _signs(y)))


# Summaries


def _summary(value: Value) -> Summary:
    return value if isinstance(value, Summary) else summarize(value)


def _of_summaries(x: Summary, y: Summary) -> Measured:
    if x.shape != y.shape:
        return SHAPE
    if is_unread(x) or is_unread(y):
        return UNKNOWN
    rows = _statistics(x, y)
    absolute = max((distance for *_, distance in rows), default=0.0)
    return Measured("statistics", not absolute and x.zeros == y.zeros, absolute, _scale(x, y))


def _scale(x: Summary, y: Summary) -> float:
    return max(largest(x), largest(y))


def _statistics(x: Summary, y: Summary) -> list[tuple[str, Any, Any, float]]:
    """Each statistic of both, and how far it is apart beyond what two recorders may differ in."""
    rows: list[tuple[str, Any, Any, float]] = []
    counts = [("NaN", x.nans, y.nans), ("Inf", x.infs, y.infs), ("-Inf", x.negative_infs, y.negative_infs)]
    for name, count, its in counts:
        if count is not None and its is not None:
            rows.append((name, count, its, math.inf if count != its else 0.0))
    scale = _scale(x, y)
    for name, slack in (("min", 0.0), ("max", 0.0), ("mean", STATISTICS), ("std", STATISTICS)):
        one, other = getattr(x, name), getattr(y, name)
        if one is not None and other is not None:
            rows.append((name, one, other, max(abs(one - other) - slack * scale, 0.0)))
        elif one is not other:
            rows.append((name, one, other, math.inf))
    if sum(x.histogram) == sum(y.histogram):  # else they were made of different elements
        for one_row, other_row in zip(x.thumbnail, y.thumbnail, strict=False):
            for one, other in zip(one_row, other_row, strict=False):
                if one is not None and other is not None:
                    rows.append(("block mean", one, other, max(abs(one - other) - PICTURES * scale, 0.0)))
    return rows
