"""The passes of one or several recordings: the list, and two passes side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from rich.cells import cell_len

from microtape.recording.model.formatting import format_number, format_shape, format_value
from microtape.recording.model.model import Pass, Recording, Value
from tui.shell.spans import Line, Span, line, plain
from tui.time.cursor import StepCursor
from tui.time.row_texts import ELLIPSES, end_of_path, fit
from tui.words.titles import title
from tui.words.trace import pass_title, place_text

NARROWEST = 12  # characters of a column that was cut


class PassOf(NamedTuple):
    """A pass of one of the recordings that are open."""

    recording: Recording
    position: int  # in `Recording.passes`
    source: str = ""  # what to call its recording: `rank 1`; empty if no other is open
    side: int = 0  # which of the recordings it is

    @property
    def record(self) -> Pass:
        """What was recorded."""
        return self.recording.passes[self.position]

    @property
    def name(self) -> str:
        """`pass 2`, or `rank 1, pass 2`."""
        return f"{self.source}, pass {self.record.index + 1}" if self.source else f"pass {self.record.index + 1}"

    def comes_before(self, other: PassOf) -> bool:
        """Whether it is an earlier pass of the same recording."""
        return self.side == other.side and self.position < other.position


def passes_of(recording: Recording, source: str = "", side: int = 0) -> list[PassOf]:
    """All passes of a recording."""
    return [PassOf(recording, position, source, side) for position in range(len(recording.passes))]


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


def pass_lines(passes: Sequence[PassOf], room: int | None = None) -> Iterator[Line]:
    """The list as lines: number, call, roots, line, number of steps, failure; of several recordings, which it is.

    Columns are as wide as needed; if that exceeds `room` characters, the widest are cut.
    """
    known = {id(one.recording): list_passes(one.recording) for one in passes}
    rows = [known[id(one.recording)][one.position] for one in passes]
    cells = [("pass", "call", "from", "line", "steps", "")]
    cells += [(str(one.number), one.call, one.root, one.place, str(one.steps), one.ended) for one in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(5)]
    sources = ["", *(one.source for one in passes)]
    named = max(map(len, sources))
    ends = max(len(row[5]) for row in cells) + named + 2 * bool(named)
    while room is not None and sum(widths) + 2 * len(widths) + ends > room and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    for number, row in enumerate(cells):
        texts = [fit(cell, width) for cell, width in zip(row, widths, strict=False)]
        source = Span(f"{sources[number]:{named}}  " if named else "", "strong")
        ended = Span(f"  {row[5]}" if row[5] else "", "bad")
        yield line(source, Span("  ".join(texts), "" if number else "label"), ended)


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
            few = "only a summary was kept"
            return changed if a.shape != b.shape else few if len(few) <= width else "summary only"
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b, equal_nan=True):
            return "same"
        return format_value(difference, width, ascii=ascii)


Counterpart = Callable[[int], int | None]
"""The node of the first recording that matches a node of the second; None if there is none."""


def compare(first: PassOf, second: PassOf, counterpart: Counterpart | None = None) -> list[Pair]:
    """The gradients of two passes side by side: of the leaves, then of the operations in the order of the tape.

    Nodes of two recordings match if `counterpart` says so. In one recording, leaves match if they are the same tensor
    or have the same name. Operations match if they are the same node (as with `retain_graph`), or have the same place
    and the same index among the operations there (as in a training loop).
    """
    cursors = [StepCursor.open(one.recording, one.position).end() for one in (first, second)]
    if counterpart is None:
        known = [_by_key(cursor, other) for cursor, other in zip(cursors, reversed(cursors), strict=True)]
    else:
        known = [{node: node for node in sorted(first.record.dependencies)}, {}]
        for node in sorted(second.record.dependencies):
            there = counterpart(node)
            known[1][there if there in known[0] else ("second", node)] = node
    pairs = []
    for key in dict.fromkeys([*known[1], *known[0]]):
        nodes = [one.get(key) for one in known]
        gradients = [cursor.gradient(node) if node is not None else None
                     for cursor, node in zip(cursors, nodes, strict=True)]  # fmt: skip
        if nodes[1] is not None:
            pairs.append(Pair(nodes[1], True, title(cursors[1], nodes[1]), *gradients))
        elif nodes[0] is not None:
            pairs.append(Pair(nodes[0], False, title(cursors[0], nodes[0]), *gradients))

    def is_leaf(one: Pair) -> bool:
        recording = (second if one.in_second else first).recording
        return recording.nodes[one.node].variable is not None

    return sorted(pairs, key=lambda one: not is_leaf(one))


def _by_key(cursor: StepCursor, other: StepCursor) -> dict[object, int]:
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
    first: PassOf, second: PassOf, counterpart: Counterpart | None = None, *, width: int = 100, ascii: bool = False
) -> Iterator[Line]:
    """The comparison as lines: a heading, then a line for each pair."""
    pairs = compare(first, second, counterpart)
    yield from headings(first, second)
    yield line("")
    names = max([len(plain(one.name)) for one in pairs], default=4)
    room = max((width - names - 6) // 3, 14)
    labels = (one.name for one in (first, second))
    yield line(Span("  ".join([" " * names, *(label.ljust(room) for label in labels), "difference"]), "label"))
    for one in pairs:
        yield row(one, names, room, max(width - names - 2 * room - 6, 14), ascii=ascii)


def headings(first: PassOf, second: PassOf) -> Iterator[Line]:
    """The two passes and their roots."""
    for shown in (first, second):
        one = list_passes(shown.recording)[shown.position]
        ended = Span(f"  {one.ended}", "bad") if one.ended else Span("")
        yield line(Span(shown.name, "strong"), f"  {one.call}  ", Span(one.place, "dim"), f"  {one.root}", ended)
    roots = [one.recording.value(ref) for one in (first, second) for ref in one.record.root_tensors[:1]]
    if len(roots) == 2 and all(isinstance(one, np.ndarray) and one.size == 1 for one in roots):
        a, b = (float(one.reshape(())) for one in roots if isinstance(one, np.ndarray))
        follows = first.comes_before(second)
        by = f": {format_number(b - a)}" if np.isfinite(b - a) else ""
        yield line(Span(f"{format_number(a)} {'became' if follows else 'and'} {format_number(b)}{by}", "value"))


def row(one: Pair, names: int, room: int, rest: int, *, ascii: bool = False) -> Line:
    """A pair in columns: name, two values of `room` characters each, and the difference in `rest` characters."""
    is_leaf, verdict = bool(one.name) and one.name[0].role == "leaf", one.verdict(rest, ascii=ascii)
    name = end_of_path(plain(one.name), names, ELLIPSES[ascii]) if is_leaf else plain(one.name)
    texts = (format_value(value, room, ascii=ascii) for value in (one.first, one.second))
    values = [Span(fit(text, room, ascii=ascii) + "  ", "gradient") for text in texts]
    whole = verdict if cell_len(verdict) <= rest else fit(verdict, rest, ascii=ascii)
    return line(Span(fit(name, names, ascii=ascii) + "  ", "leaf" if is_leaf else "name"), *values,
                Span(whole, "dim" if verdict == "same" else "value"))  # fmt: skip
