"""The arrays of a node, for the array viewer, and as text with all numbers."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from microtape.recording.findings import Finding
from microtape.recording.model.formatting import (
    format_number,
    format_shape,
    format_value,
    not_finite_counts,
)
from microtape.recording.model.formula_names import is_letter
from microtape.recording.model.model import Summary, Value
from microtape.recording.model.summary import summarize
from tui.shell.spans import Line, Span, line, plain, shown
from tui.time.cursor import StepCursor

BARS, ASCII_BARS = " ▁▂▃▄▅▆▇█", " .:-=+*#@"
SUMMARY_NOTE = "Only a summary of this large array was kept; record with --keep {size} to keep the whole array."


def arrays_of(cursor: StepCursor, node: int) -> list[tuple[str, Value]]:
    """A node's gradient, value, saved tensors, and the gradients it sent; each with a name."""
    recording, record = cursor.recording, cursor.timeline.node(node)
    found: list[tuple[str, Value | None]] = [("gradient", cursor.gradient(node)), ("value", cursor.value(node))]
    if len(record.outputs) > 1:
        found = [*_of_each_output(cursor, node)]
    if record.variable is not None:
        found.append((".grad", cursor.leaf(record.variable).grad))
    for saved in record.saved if cursor.exists(node) else ():
        name = cursor.tensor_name(saved.ref) if is_letter(record, saved.name) else ""
        found.append((f"kept {name or saved.name}", recording.value(saved.ref)))
    if node == cursor.node:
        found += [(f"to {recording.label(one.node)}", one.term) for one in cursor.deliveries]
    return [(name, value) for name, value in found if value is not None]


def _of_each_output(cursor: StepCursor, node: int) -> Iterator[tuple[str, Value | None]]:
    """The gradients of a node's outputs, then their values; those of the output that stands for the node come first."""
    record, first = cursor.timeline.node(node), cursor.output_shown(node)
    numbers = sorted(range(len(record.outputs)), key=lambda number: number != first)
    sums = cursor.buffer(node)
    if cursor.has_run(node):
        sums = dict(enumerate(cursor.timeline.step_of[node].grad_outputs))
    yield from ((f"gradient of {cursor.output_name(node, number)}", sums.get(number)) for number in numbers)
    for number in numbers if cursor.exists(node) else ():
        yield f"value of {cursor.output_name(node, number)}", cursor.recording.value(record.outputs[number])


def bad_places(value: Value) -> npt.NDArray[np.intp]:
    """Which elements are NaN or infinite, counted row after row; none of a summary, which does not tell."""
    if isinstance(value, Summary) or value.dtype.kind not in "fc":
        return np.zeros(0, np.intp)
    return np.flatnonzero(~np.isfinite(value))


def where_it_begins(arrays: Sequence[tuple[str, Value]], finding: Finding) -> tuple[int, tuple[int, ...]]:
    """Which of a culprit's arrays, and which of its elements, a finding of NaN or infinity is about.

    The first array and no index if that is not known, or if the finding is about something else.
    """
    is_sought = {"nan": np.isnan, "infinity": np.isinf}.get(finding.kind)
    begins = ("value",) if finding.step is None else ("gradient", "to ")
    for which, (name, value) in enumerate(arrays):
        if is_sought is None or isinstance(value, Summary) or not name.startswith(begins):
            continue
        found = np.flatnonzero(is_sought(value))
        if found.size:
            return which, tuple(int(i) for i in np.unravel_index(found[0], value.shape))
    return 0, ()


def exact_text(value: Value) -> str:
    """A value with all its digits, as Python writes a number or nested lists; for a summary, its description."""
    if isinstance(value, Summary):
        return format_value(value, 200)
    return repr(value.tolist())


def about_lines(about: Summary, value: Value, *, ascii: bool = False) -> Iterator[Line]:
    """A value and its summary: shape and dtype, statistics, a histogram, and a note if only the summary was kept."""
    yield line(Span(format_shape(about.shape, ascii=ascii), "strong"), Span(f"  {about.dtype}", "dim"))
    if not isinstance(value, Summary) and value.size == 1:
        return  # a single number needs no statistics
    numbers = [(name, getattr(about, name)) for name in ("min", "mean", "max", "std")]
    known = "   ".join(f"{name} {format_number(x, 6)}" for name, x in numbers if x is not None)
    zeros = [(about.zeros, "zero" if about.zeros == 1 else "zeros")] if about.zeros else []
    counts = [*zeros, *not_finite_counts(about)]
    odd = "   ".join(f"{count} {what}" for count, what in counts)
    yield line(known, "   " if known and odd else "", Span(odd, "bad" if about.nans or about.infs else "dim"))
    if any(about.histogram):
        bars, most = (ASCII_BARS if ascii else BARS), max(about.histogram)
        drawn = "".join(bars[math.ceil(count / most * (len(bars) - 1))] for count in about.histogram)
        low, high = (format_number(x, 3) if x is not None else "" for x in (about.min, about.max))
        yield line(Span(f"{low} ", "dim"), Span(drawn, "value"), Span(f" {high}", "dim"))
    if isinstance(value, Summary):
        yield line(Span(SUMMARY_NOTE.format(size=math.prod(about.shape)), "op"))


def array_lines(cursor: StepCursor, node: int, *, width: int = 100, ascii: bool = False) -> Iterator[str]:
    """Each array of a node: name, shape, dtype, statistics and histogram, then every number with all its digits."""
    for name, value in arrays_of(cursor, node):
        about = value if isinstance(value, Summary) else summarize(value)
        first, *rest = (plain(one, ascii=ascii) for one in about_lines(about, value, ascii=ascii))
        yield f"{shown(name, ascii=ascii)}  {first}"
        yield from (f"  {one}" for one in rest if one)
        if not isinstance(value, Summary):
            text = np.array2string(value, max_line_width=width - 2, threshold=sys.maxsize, floatmode="unique")
            yield from (f"  {one}" for one in text.splitlines())
        yield ""
