"""The passes of a recording: the list, and two passes side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from microtape.recording.model.formatting import format_number, format_shape, format_value
from microtape.recording.model.model import Recording, Value
from tui.shell.spans import Line, Span, line, plain
from tui.time.cursor import StepCursor
from tui.words.titles import title
from tui.words.trace import pass_title, place_text

NARROWEST = 12  # characters of a column that was cut


@dataclass(frozen=True, slots=True)
class PassRow:
    """One pass in the list."""

    position: int  # in `Recording.passes`
    number: int  # in the program, from 1
    call: str
    root: str  # the root or roots, with their values
    place: str
    steps: int
    ended: str  # `failed: ValueError`, `cut short` by a fault of the recorder, or empty


def list_passes(recording: Recording) -> list[PassRow]:
    """Every pass of the recording."""
    found = []
    for position, one in enumerate(recording.passes):
        roots = []
        for edge, ref in zip(one.roots, one.root_tensors, strict=True):
            value = recording.value(ref)
            label = recording.label(edge.node) if edge.node is not None else "?"
            roots.append(label if value is None else f"{label} = {format_value(value, 14)}")
        ended = "" if one.error is None else f"failed: {one.error.type}" if one.has_failed else "cut short"
        call = pass_title(recording, one)
        found.append(
            PassRow(position, one.index + 1, call, ", ".join(roots), place_text(one.place), len(one.steps), ended)
        )
    return found


def pass_lines(recording: Recording, room: int | None = None) -> Iterator[Line]:
    """The list as lines: number, call, roots, line, number of steps, failure.

    Columns are as wide as needed; if that exceeds `room` characters, the widest are cut.
    """
    rows = list_passes(recording)
    cells = [("pass", "call", "from", "line", "steps", "")]
    cells += [(str(one.number), one.call, one.root, one.place, str(one.steps), one.ended) for one in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(5)]
    ends = max(len(row[5]) for row in cells)
    while room is not None and sum(widths) + 2 * len(widths) + ends > room and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    for number, row in enumerate(cells):
        texts = [_fit(cell, width) for cell, width in zip(row, widths, strict=False)]
        yield line(Span("  ".join(texts), "" if number else "label"), Span(f"  {row[5]}" if row[5] else "", "bad"))


@dataclass(frozen=True, slots=True)
class Pair:
    """The gradients of one leaf or operation in two passes; None if there was no gradient."""

    node: int  # its node in the second pass, else in the first
    in_second: bool
    name: Line
    first: Value | None
    second: Value | None

    @property
    def difference(self) -> Value | None:
        """Second minus first; None if it cannot be computed."""
        a, b = self.first, self.second
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape and b.dtype.kind in "fci":
            with np.errstate(all="ignore"):
                changed: Value = np.asarray(np.subtract(b, a))
            return changed
        return None

    def verdict(self, width: int = 26, *, ascii: bool = False) -> str:
        """The difference in words or numbers: `same`, `-0.12`, `shape 3 became 4`, `only in the second`."""
        a, b, difference = self.first, self.second, self.difference
        if a is None or b is None:
            only = f"only in the {'second' if a is None else 'first'}"
            return "no gradient in either" if a is b else only if len(only) <= width else only.split()[-1] + " only"
        if difference is None:
            before, after = (format_shape(one.shape, ascii=ascii) for one in (a, b))
            changed = f"shape {before} became {after}"
            return changed if a.shape != b.shape else "only a summary was kept"
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b, equal_nan=True):
            return "same"
        return format_value(difference, width, ascii=ascii)


def compare(recording: Recording, first: int, second: int) -> list[Pair]:
    """The gradients of two passes side by side: of the leaves, then of the operations in the order of the tape.

    Leaves match if they are the same tensor or have the same name. Operations match if they are the same node (as with
    `retain_graph`), or have the same place and the same index among the operations there (as in a training loop).
    """
    cursors = [StepCursor.open(recording, position).end() for position in (first, second)]
    known = [_by_key(cursor, other) for cursor, other in zip(cursors, reversed(cursors), strict=True)]
    pairs = []
    for key in dict.fromkeys([*known[1], *known[0]]):
        nodes = [one.get(key) for one in known]
        gradients = [cursor.gradient(node) if node is not None else None
                     for cursor, node in zip(cursors, nodes, strict=True)]  # fmt: skip
        if nodes[1] is not None:
            pairs.append(Pair(nodes[1], True, title(cursors[1], nodes[1]), *gradients))
        elif nodes[0] is not None:
            pairs.append(Pair(nodes[0], False, title(cursors[0], nodes[0]), *gradients))
    leaves = [one for one in pairs if recording.nodes[one.node].variable is not None]
    return leaves + [one for one in pairs if recording.nodes[one.node].variable is None]


def _by_key(cursor: StepCursor, other: StepCursor) -> Mapping[object, int]:
    """The nodes that take part in a pass, by a key that is equal for matching nodes of the other pass."""
    pass_, recording = cursor.timeline.pass_, cursor.recording
    also = set(other.timeline.pass_.dependencies) if other.timeline.pass_ is not None else set()
    found: dict[object, int] = {}
    seen: Counter[object] = Counter()
    for node in sorted(pass_.dependencies) if pass_ is not None else ():
        record = recording.nodes[node]
        if node in also:
            key: object = node
        elif record.variable is not None:
            key = ("leaf", recording.tensors[record.variable].name or record.variable)
        else:
            kind = (record.op, record.place)
            key = (*kind, seen[kind])
            seen[kind] += 1
        found[key] = node
    return found


def comparison_lines(
    recording: Recording, first: int, second: int, *, width: int = 100, ascii: bool = False
) -> Iterator[Line]:
    """The comparison as lines: a heading, then a line for each pair."""
    pairs = compare(recording, first, second)
    yield from headings(recording, first, second)
    yield line("")
    names = max([len(plain(one.name)) for one in pairs], default=4)
    room = max((width - names - 6) // 3, 14)
    labels = (f"pass {recording.passes[i].index + 1}" for i in (first, second))
    yield line(Span("  ".join([" " * names, *(label.ljust(room) for label in labels), "difference"]), "label"))
    for one in pairs:
        yield row(one, names, room, max(width - names - 2 * room - 6, 14), ascii=ascii)


def headings(recording: Recording, first: int, second: int) -> Iterator[Line]:
    """The two passes and their roots."""
    rows = list_passes(recording)
    for position in (first, second):
        one = rows[position]
        ended = Span(f"  {one.ended}", "bad") if one.ended else Span("")
        yield line(Span(f"pass {one.number}", "strong"), f"  {one.call}  ", Span(one.place, "dim"), f"  {one.root}",
                   ended)  # fmt: skip
    roots = [recording.value(ref) for i in (first, second) for ref in recording.passes[i].root_tensors[:1]]
    if len(roots) == 2 and all(isinstance(one, np.ndarray) and one.size == 1 for one in roots):
        a, b = (float(one.reshape(())) for one in roots if isinstance(one, np.ndarray))
        yield line(Span(f"{format_number(a)} became {format_number(b)}: {format_number(b - a)}", "value"))


def row(one: Pair, names: int, room: int, rest: int, *, ascii: bool = False) -> Line:
    """A pair in columns: name, two values of `room` characters each, and the difference in `rest` characters."""
    name, verdict = plain(one.name), one.verdict(rest, ascii=ascii)
    texts = (format_value(value, room, ascii=ascii) for value in (one.first, one.second))
    values = [Span(_fit(text, room) + "  ", "gradient") for text in texts]
    return line(Span(_fit(name, names) + "  ", "leaf" if one.name and one.name[0].role == "leaf" else "name"), *values,
                Span(verdict, "dim" if verdict == "same" else "value"))  # fmt: skip


def _fit(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else text[: width - 3] + "..."
