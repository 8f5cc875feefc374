"""What stands in a row of the tape, and how wide its columns are: shared by the stepper and the trace."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rich.cells import cell_len, set_cell_size

from microtape.recording.model import NodeRecord, Operand
from microtape.recording.words import format_shape, format_value
from tui.cursor import StepCursor
from tui.lanes import Lanes
from tui.spans import shown
from tui.timeline import Timeline

NOTHING = "·"
GAP = 1  # a space between columns
SAMPLE = 1_000  # rows
NUMBER = 14  # characters: enough for `-0.014 ± 0.02`
MISSING = 6  # characters: enough for ` (1/2)`


@dataclass(frozen=True, slots=True)
class Columns:
    """How many characters each column of the tape has."""

    number: int
    lanes: int
    lane_limit: int
    op: int
    name: int
    operands: int
    shape: int
    value: int
    gradient: int

    @property
    def widths(self) -> tuple[int, ...]:
        """Of all columns, from number to gradient; 0 of one that is left out."""
        return (self.number, self.lanes, self.op, self.name, self.operands, self.shape, self.value, self.gradient)


HEADINGS = ("no.", "", "op", "name", "operands", "shape", "value", "gradient")
NARROW = 52  # characters: a tape beside a text
SHORT = {"operands": "from", "gradient": "grad"}  # where the whole word has no room


def heading(name: str, width: int) -> str:
    """What stands above a column of that width."""
    return name if len(name) <= width else SHORT.get(name, name)


class Rows:
    """The text of every row of a timeline's tape. Texts are made when they are asked for."""

    def __init__(self, timeline: Timeline, *, ascii: bool = False) -> None:
        self.timeline = timeline
        self.ascii = ascii

    @cached_property
    def lanes(self) -> Lanes:
        """The lanes beside the tape."""
        return Lanes.of(self.timeline.recording.nodes, [(node,) for node in self.timeline.rows])

    def columns(self, width: int, lanes: Lanes | None = None) -> Columns:
        """Share out a width: numbers need `NUMBER` characters to be of use, then come names, then what is left.

        Where it is short, the column that says least is left out: of single numbers the shape, beside a text the
        operands, which the lanes, the source and the sentence tell as well.
        """
        number = max(len(HEADINGS[0]), len(str(self.timeline.rows[-1])) if self.timeline.rows else 0)
        limit = 4 if width < 90 else 8 if width < 120 else 16
        lanes_width = max((lanes or self.lanes).width(limit), 1)
        op, name, operands, shape = self._text_needed
        op, shape = min(op, 8 if width < NARROW else 11 if width < 90 else 14), min(shape, 12)
        left = width - number - lanes_width - op - shape - 7 * GAP
        needed = self._number_needed
        value = min(needed, NUMBER)
        gradient = value + MISSING
        if left < name + operands + value + gradient and self._only_numbers:
            left, shape = left + shape + GAP, 0
            value = needed = max(self._longest_number, len(HEADINGS[6]))
            gradient = self._longest_number + MISSING
        elif left < name + operands + value + gradient and width < NARROW:
            left, operands = left + GAP, 0
        names = max(left - value - gradient, 12 if operands else min(name, 8))
        name = min(name, max(names - operands, names // 2 - 2, 6), 20)
        operands = min(operands, names - name, 40)
        left = max(left - name - operands, min(value + gradient, 16))
        value = min(needed, (left - MISSING) // 2 if left > 2 * NUMBER else left // 2)
        return Columns(number, lanes_width, limit, op, name, operands, shape, value, min(value + MISSING, left - value))

    @property
    def _sample(self) -> Sequence[int]:
        """The rows that columns are measured by: all, of a long tape about as many as `SAMPLE`, the last among them."""
        rows = self.timeline.rows
        return rows[:: -(len(rows) // SAMPLE + 1)]

    @cached_property
    def _text_needed(self) -> tuple[int, int, int, int]:
        nodes = [self.timeline.node(node) for node in self._sample]
        texts = ((self.op(n), self.name(n), self.operands(n), self.shape(n)) for n in nodes)
        longest = [len(HEADINGS[2]), len(HEADINGS[3]), len(HEADINGS[4]), len(HEADINGS[5])]
        for row in texts:
            longest = [max(a, len(b)) for a, b in zip(longest, row, strict=True)]
        return longest[0], longest[1], longest[2], longest[3]

    @cached_property
    def _number_needed(self) -> int:
        """Enough to list a small array, or to describe a large one."""
        shapes = {self._tensor_shape(self.timeline.node(node)) for node in self._sample}
        return max((min(2 + 10 * math.prod(shape), 44) for shape in shapes if shape is not None), default=12)

    @cached_property
    def _only_numbers(self) -> bool:
        """Whether each row is about a single number, so that its shape need not be told."""
        return all(self._tensor_shape(self.timeline.node(node)) == () for node in self._sample)

    @cached_property
    def _longest_number(self) -> int:
        """Enough for each of the numbers that are computed, and for each gradient in the end."""
        end = StepCursor(self.timeline, self.timeline.last)
        texts = (text(end, node, NUMBER) for text in (self.value, self.gradient) for node in self._sample)
        return max(map(len, texts), default=0)

    def op(self, node: NodeRecord) -> str:
        """`mul`, `add_` for one that wrote in place, `leaf` for a leaf and its AccumulateGrad."""
        if node.kind == "accumulate":
            return "leaf"
        return f"{node.op}_" if node.in_place and not node.op.endswith("_") else node.op

    def name(self, node: NodeRecord) -> str:
        """The user's name for the output or the leaf, or nothing."""
        tensors = self.timeline.recording.tensors
        if node.variable is not None:
            return tensors[node.variable].name
        return ", ".join(filter(None, (tensors[ref.tensor].name for ref in node.outputs if ref is not None)))

    def operands(self, node: NodeRecord) -> str:
        """`x, %3, dim=1`."""
        return ", ".join(self.operand(one) for one in node.operands)

    def operand(self, operand: Operand) -> str:
        """The user's name, else the number of the node that computed it, else a nameless constant's value or shape."""
        if operand.ref is None:
            return operand.text
        tensor = self.timeline.recording.tensors[operand.ref.tensor]
        if tensor.name:
            return tensor.name
        node, _ = self.timeline.made_by(operand.ref) or (tensor.node, 0)
        if node is not None:
            return f"%{node}"
        value = self.timeline.recording.value(operand.ref)
        if value is None or math.prod(tensor.shape) > 1:
            return f"({format_shape(tensor.shape, ascii=self.ascii)})"
        return format_value(value, 12, ascii=self.ascii)

    def shape(self, node: NodeRecord) -> str:
        """The shape of the (first) output or of the leaf."""
        shape = self._tensor_shape(node)
        return "" if shape is None else format_shape(shape, ascii=self.ascii)

    def _tensor_shape(self, node: NodeRecord) -> tuple[int, ...] | None:
        outputs = (ref.tensor for ref in node.outputs if ref is not None)
        tensor = node.variable if node.variable is not None else next(outputs, None)
        return None if tensor is None else self.timeline.recording.tensors[tensor].shape

    def value(self, cursor: StepCursor, node: int, width: int) -> str:
        """The value, once it has been computed."""
        value = cursor.value(node)
        return self._nothing if value is None else format_value(value, width, ascii=self.ascii)

    def gradient(self, cursor: StepCursor, node: int, width: int) -> str:
        """The gradient so far; while terms are missing, how many have come: `6 (1/2)`."""
        arrived = cursor.arrived(node)
        if not arrived:
            return self._nothing
        left = cursor.dependencies_left(node)
        of = f" ({len(arrived)}/{len(arrived) + left})" if left else ""
        return format_value(cursor.gradient(node), width - len(of), ascii=self.ascii) + of

    @property
    def _nothing(self) -> str:
        return "." if self.ascii else NOTHING


class Cells:
    """The texts of a tape's rows, cut to the width of their columns. What was worked out once is remembered."""

    def __init__(self, rows: Rows, columns: Columns) -> None:
        self.rows = rows
        self.columns = columns
        self._texts: dict[int, tuple[str, ...]] = {}
        self._values: dict[int, str] = {}
        self._gradients: dict[tuple[int, int, bool], str] = {}  # by how many terms have come, and whether it has run

    def texts(self, node: int) -> tuple[str, ...]:
        """Operation, name, operands, shape: the same at every moment."""
        known = self._texts.get(node)
        if known is None:
            rows, columns, record = self.rows, self.columns, self.rows.timeline.node(node)
            cells = (
                (rows.op(record), columns.op), (rows.name(record), columns.name),
                (rows.operands(record), columns.operands), (rows.shape(record), columns.shape),
            )  # fmt: skip
            known = self._texts[node] = tuple(
                fit(text, width, ascii=rows.ascii) + " " if width else "" for text, width in cells
            )
        return known

    def value(self, cursor: StepCursor, node: int) -> str:
        """The value, which never changes once it has been computed."""
        known = self._values.get(node) if cursor.exists(node) else None
        if known is None:
            width = self.columns.value
            known = fit(self.rows.value(cursor, node, width), width) + " "
            if cursor.exists(node):
                self._values[node] = known
        return known

    def gradient(self, cursor: StepCursor, node: int) -> str:
        """The gradient so far."""
        key = (node, len(cursor.arrived(node)), cursor.has_run(node))
        known = self._gradients.get(key)
        if known is None:
            width = self.columns.gradient
            known = self._gradients[key] = fit(self.rows.gradient(cursor, node, width), width)
        return known


def fit(text: str, width: int, *, ascii: bool = False) -> str:
    """The text in exactly that many cells of a terminal, cut with an ellipsis where it is longer."""
    text = shown(text, ascii=ascii)
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    ellipsis = "..." if ascii else "…"
    return (set_cell_size(text, max(width - len(ellipsis), 0)) + ellipsis)[:width]
