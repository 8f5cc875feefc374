"""The course of training: each parameter over the passes that `--every` recorded, the worst parameter first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import CourseRecord, ParameterRecord, Recording, Statistics, Value
from tui.shell.spans import Line, Role, Span, line, shown
from viz.planning.sparkline import bars

USUAL = 1e-3  # the ratio of an update to its parameter in most trainings that go well
LARGE = 0.1
NAMES = 32  # the widest column of names
_NUMBER = 7  # characters of a number
_NARROWEST = 6  # bars of a column
_Sizes = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Course:
    """One parameter over the recorded passes: None where a pass does not know it, NaN where it is not finite."""

    name: str
    weights: _Sizes
    gradients: _Sizes
    ratios: _Sizes
    newest: ParameterRecord

    @property
    def trouble(self) -> str:
        """What is wrong at the newest pass that reached it, in a word or two; empty if nothing is."""
        for about, what in ((self.newest.gradient, "gradient"), (self.newest.weight, "value")):
            if about is not None and about.nans:
                return f"NaN in its {what}"
            if about is not None and about.infs:
                return f"infinity in its {what}"
        if self.newest.gradient is None:
            return "no gradient"
        if self.newest.gradient.norm == 0:
            return "gradient is zero"
        ratio = self.newest.ratio
        if not ratio:
            return "not updated after it"
        return "large updates" if ratio > LARGE else ""

    @property
    def role(self) -> Role:
        """The colour of its newest numbers."""
        trouble = self.trouble
        return "bad" if trouble.startswith(("NaN", "inf")) else "warn" if trouble else "value"

    @property
    def badness(self) -> tuple[int, float]:
        """Sorts the worst first: not finite, then without gradient or update, then the least usual ratio."""
        kind = ("bad", "warn", "value").index(self.role)
        ratio = self.newest.ratio
        return kind, -abs(math.log10(ratio / USUAL)) if ratio else -math.inf


def courses(recording: Recording) -> list[Course]:
    """The parameters of the recorded passes, the worst first."""
    rows: dict[str, dict[int, ParameterRecord]] = {}
    for position, one in enumerate(recording.courses):
        for parameter in one.parameters:
            rows.setdefault(parameter.name, {})[position] = parameter
    count = len(recording.courses)
    found = []
    for name, known in rows.items():
        each = [known.get(position) for position in range(count)]
        found.append(
            Course(
                name,
                [_size(one.weight) if one is not None else None for one in each],
                [_size(one.gradient) if one is not None else None for one in each],
                [one.ratio if one is not None else None for one in each],
                known[max(known)],
            )
        )
    return sorted(found, key=lambda one: one.badness)


def heading(recording: Recording, width: int) -> Iterator[Line]:
    """Two lines: which passes, and their losses."""
    known = recording.courses
    numbers = [one.pass_ + 1 for one in known]
    which = f"pass {numbers[0]:,}" if len(numbers) == 1 else f"{len(numbers)} passes, {numbers[0]:,} to {numbers[-1]:,}"
    yield line(Span(which, "strong"), "   update/weight is usually near 0.001")
    losses = [_loss(one) for one in known]
    if any(one is not None for one in losses):
        sizes = [abs(one) if one is not None else None for one in losses]
        yield line(Span("loss  ", "label"), bars(sizes, max(width - 30, 8)), " ", Span(_number(losses[-1]), "value"))


def columns(recording: Recording, rows: Sequence[Course], width: int) -> tuple[int, int]:
    """The widths of the names and of the bars in a line of `width` characters."""
    longest = max([len(shown(one.name)) for one in rows], default=4)
    names = max(min(longest, NAMES, width - 3 * (_NARROWEST + _NUMBER + 3)), 4)
    return names, max(min((width - names) // 3 - _NUMBER - 3, len(recording.courses), 40), _NARROWEST)


def titles(names: int, room: int) -> Line:
    """The titles of the columns."""
    cell = room + 1 + _NUMBER
    return line(Span("  ".join(["name".ljust(names), "|w|".ljust(cell), "|g|".ljust(cell), "update/weight"]), "label"))


def row(one: Course, names: int, room: int, width: int) -> Line:
    """A parameter: its name, the three courses with their newest numbers, and what is wrong if there is room."""
    name = shown(one.name)
    name = name if len(name) <= names else "…" + name[1 - names :]
    pieces: list[Span | str] = [Span(name.ljust(names), "leaf")]
    for sizes, role in ((one.weights, "value"), (one.gradients, "gradient"), (one.ratios, one.role)):
        newest = next((size for size in reversed(sizes) if size is not None), None)
        pieces += ["  ", bars(sizes, room).ljust(room), " ", Span(_number(newest).ljust(_NUMBER), role)]  # type: ignore[arg-type]
    left = width - names - 3 * (room + _NUMBER + 3)
    if one.trouble and len(one.trouble) + 2 <= left:
        pieces += ["  ", Span(one.trouble, one.role)]
    return line(*pieces)


def course_lines(recording: Recording, *, width: int = 100) -> Iterator[Line]:
    """The whole table as lines."""
    rows = courses(recording)
    yield from heading(recording, width)
    names, room = columns(recording, rows, width)
    yield titles(names, room)
    for one in rows:
        yield row(one, names, room, width)


def _size(about: Statistics | None) -> float | None:
    if about is None:
        return None
    return math.nan if about.nans or about.infs else about.norm


def _loss(one: CourseRecord) -> float | None:
    value: Value | None = one.loss
    if isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "fiu":
        return float(value.reshape(()))
    return None


def _number(size: float | None) -> str:
    """At most `_NUMBER` characters."""
    if size is None:
        return "-"
    return next(text for digits in (3, 2, 1) if len(text := format_number(size, digits)) <= _NUMBER)
