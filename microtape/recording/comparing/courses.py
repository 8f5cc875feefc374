"""Where the courses of two recordings part: passes of which only the sizes of parameters are kept."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from microtape.recording.comparing.measuring import STATISTICS, measure, worst
from microtape.recording.comparing.rounding import Tolerance
from microtape.recording.model.model import CourseRecord, ParameterRecord, Recording, Statistics, Value

CourseKind: TypeAlias = Literal["weight", "loss", "gradient", "update"]
"""In order of time: a weight is measured before the pass, an update after it."""
Number: TypeAlias = float | None


class CourseDifference(NamedTuple):
    """A size that differs beyond rounding."""

    pass_: int  # its `index`
    kind: CourseKind
    parameter: str  # empty for the loss
    statistic: str  # which of its statistics is furthest apart; "norm" for an update, empty for the loss
    a: Number
    b: Number
    relative: float


class CourseComparison(NamedTuple):
    """The courses of two recordings compared."""

    passes: tuple[int, ...]  # that are in both: their `index`
    sizes: int  # how many pairs were compared
    differences: tuple[CourseDifference, ...]  # in order of time
    only_passes: tuple[tuple[int, ...], tuple[int, ...]]  # without a counterpart, of a and of b: their `index`
    only_names: tuple[tuple[str, ...], tuple[str, ...]]  # parameters without a counterpart, of a and of b


def compare_courses(a: Recording, b: Recording, tolerance: Tolerance) -> CourseComparison:
    """Compare the sizes of the parameters of the same name, at the passes with the same number in their programs.

    Rounding is allowed for as in other statistics, unless `tolerance` has numbers of its own.
    """
    ours, theirs = ({one.pass_: one for one in recording.courses} for recording in (a, b))
    passes = sorted(ours.keys() & theirs.keys())
    sizes = [one for number in passes for one in _sizes(ours[number], theirs[number])]
    names = [{one.name for number in passes for one in side[number].parameters} for side in (ours, theirs)]
    return CourseComparison(
        tuple(passes),
        len(sizes),
        tuple(one for one in sizes if not _agrees(one, tolerance)),
        (tuple(sorted(ours.keys() - theirs.keys())), tuple(sorted(theirs.keys() - ours.keys()))),
        (tuple(sorted(names[0] - names[1])), tuple(sorted(names[1] - names[0]))),
    )


def _agrees(one: CourseDifference, tolerance: Tolerance) -> bool:
    if one.relative <= (tolerance.rtol if tolerance.rtol is not None else STATISTICS):
        return True
    return one.a is not None and one.b is not None and abs(one.a - one.b) <= (tolerance.atol or 0.0)


def _sizes(a: CourseRecord, b: CourseRecord) -> Iterator[CourseDifference]:
    """All pairs of sizes of a pass, however far they are apart."""
    theirs = _named(b)
    both = [(one, theirs[key]) for key, one in _named(a).items() if key in theirs]
    for one, other in both:
        yield CourseDifference(a.pass_, "weight", one.name, *_statistic(one, one.weight, other, other.weight))
    if a.loss is not None and b.loss is not None:
        yield CourseDifference(a.pass_, "loss", "", *_of_losses(a.loss, b.loss))
    for one, other in both:
        yield CourseDifference(a.pass_, "gradient", one.name, *_statistic(one, one.gradient, other, other.gradient))
    for one, other in both:
        apart = _relative(one.change, other.change)
        yield CourseDifference(a.pass_, "update", one.name, "norm", one.change, other.change, apart)


def _named(one: CourseRecord) -> dict[tuple[str, int], ParameterRecord]:
    """The parameters by their names; of several with one name, each by its number."""
    counts = Counter[str]()
    found = {}
    for parameter in one.parameters:
        found[parameter.name, counts[parameter.name]] = parameter
        counts[parameter.name] += 1
    return found


def _of_losses(x: Value, y: Value) -> tuple[str, Number, Number, float]:
    """As `_statistic`, of two losses: where they are furthest apart."""
    if x.shape != y.shape:
        return "shape", None, None, math.inf
    if math.prod(x.shape) == 0:
        return "", None, None, 0.0
    with np.errstate(all="ignore"):
        at = worst(x, y)
        return at.statistic, at.a, at.b, measure(x, y).relative


def _statistic(
    one: ParameterRecord, x: Statistics | None, other: ParameterRecord, y: Statistics | None
) -> tuple[str, Number, Number, float]:
    """The statistic that is furthest apart: its name, both numbers, and how far they are apart."""
    if one.shape != other.shape:
        return "shape", None, None, math.inf
    if x is None or y is None:
        norms = [about.norm if about is not None else None for about in (x, y)]
        return "norm", norms[0], norms[1], 0.0 if x is y else math.inf
    ends = (x.min, x.max, y.min, y.max)
    found: list[tuple[str, Number, Number, float]] = [
        ("NaN", x.nans, y.nans, 0.0 if x.nans == y.nans else math.inf),
        ("Inf", x.infs, y.infs, 0.0 if x.infs == y.infs else math.inf),
        ("norm", x.norm, y.norm, _relative(x.norm, y.norm)),
        *((name, getattr(x, name), getattr(y, name), _relative(getattr(x, name), getattr(y, name), *ends))
          for name in ("min", "max", "mean", "std")),
    ]  # fmt: skip
    return max(found, key=lambda row: row[3])


def _relative(a: Number, b: Number, *beside: Number) -> float:
    """How far two numbers are apart, as a part of the largest magnitude of all; infinite if only one is there."""
    if a == b or (a is not None and b is not None and math.isnan(a) and math.isnan(b)):
        return 0.0
    if a is None or b is None:
        return math.inf
    return abs(a - b) / max(abs(one) for one in (a, b, *beside) if one is not None)
