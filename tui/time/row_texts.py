"""The texts of the tape's rows, and the column widths that they need: shared by the stepper and the trace."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

from rich.cells import cell_len, set_cell_size

from microtape.recording.model.formatting import FEW, format_argument, format_shape, format_value
from microtape.recording.model.model import NodeRecord, Operand, Value
from microtape.recording.model.summary import is_finite
from microtape.recording.tables.fields import picked
from tui.shell.spans import shown
from tui.time.column_widths import COLUMNS, GAP, HEADINGS, NARROW, ColumnWidths, Need, least_heading, share_out, wanted
from tui.time.cursor import StepCursor
from tui.time.gradient_sizes import GradientScale
from tui.time.lanes import Lanes
from tui.time.timeline import Timeline

NOTHING = "·"
TEXTS, NUMBERS = 1_000, 60  # rows that are measured to choose the column widths
LISTED = 20  # characters: enough for `[-0.35, 0.71, -0.29]`
BRIEF = 16  # characters: enough for `-8.4e-11 ± 0.017`
BRIEFER = range(6, BRIEF, 2)
LONGEST = 44  # characters: enough to list a small array, or to describe a large one
ELLIPSES = ("…", "...")
T = TypeVar("T")


class RowTexts:
    """The text of every row of a timeline's tape, made on demand."""

    def __init__(self, timeline: Timeline, *, ascii: bool = False) -> None:
        self.timeline = timeline
        self.ascii = ascii

    @classmethod
    def of(cls, timeline: Timeline, *, ascii: bool = False) -> RowTexts:
        """Those of a timeline, made once: to measure its texts takes longer than to write most of them."""
        key = cls, ascii
        if key not in timeline.known:
            timeline.known[key] = cls(timeline, ascii=ascii)
        found: RowTexts = timeline.known[key]
        return found

    def columns(self, width: int, lanes: Lanes | None = None, *, forward: bool = False) -> ColumnWidths:
        """The columns of a tape that is `width` characters wide; see `share_out`.

        In the `forward` part there are no gradients yet, so the values have their room.
        """
        number, lane_limit, lanes_width = self._before(width, lanes)
        room = width - number - lanes_width - 2 * GAP
        numbers = self._number_needed
        if forward:
            numbers = {**numbers, "gradient": Need(*[least_heading("gradient")] * len(Need._fields))}
        given = share_out(room, self._text_needed, numbers, scalars=self._only_scalars)
        return ColumnWidths(number, lanes_width, lane_limit, **{name: given.get(name, 0) for name in COLUMNS})

    def wanted(self, width: int) -> int:
        """The width at which a tape of about `width` characters would cut no text."""
        number, _, lanes_width = self._before(width, None)
        return number + lanes_width + 2 * GAP + wanted(self._text_needed, self._number_needed)

    def _before(self, width: int, lanes: Lanes | None) -> tuple[int, int, int]:
        """The width of the node numbers, the limit of lanes, and the width of the lanes."""
        last = str(self.timeline.rows[-1]) if self.timeline.rows else ""
        number = max(least_heading(HEADINGS[0]) if width < NARROW else len(HEADINGS[0]), len(last))
        limit = 4 if width < 90 else 8 if width < 120 else 16
        return number, limit, max((lanes or self.timeline.lanes).width(limit), 1)

    @cached_property
    def _text_needed(self) -> dict[str, int]:
        """The length of the longest text of each column."""
        texts = {"op": self.op, "name": self.name, "operands": self.operands, "shape": self.shape}
        needed = [least_heading(name) for name in texts]
        for node in picked(self.timeline.recording.nodes, _sample(self.timeline.rows, TEXTS)):
            needed = [max(length, cell_len(text(node))) for length, text in zip(needed, texts.values(), strict=True)]
        return dict(zip(texts, needed, strict=True))

    @cached_property
    def _number_needed(self) -> dict[str, Need]:
        """The widths that values and gradients need, at the end as well as while terms are missing."""
        end = StepCursor(self.timeline, self.timeline.last)
        nodes = _sample(self.timeline.rows, NUMBERS)
        values = self._need("value", ((end.value(node), 0) for node in nodes))
        changes = max((len(self.change(end, node, LONGEST)) for node in nodes), default=0)
        return {
            "value": values._replace(listed=max(values.listed, changes), full=max(values.full, changes)),
            "gradient": self._need("gradient", self._gradients()),
        }

    def _gradients(self) -> Iterator[tuple[Value | None, int]]:
        """Gradients, each with the length of its count of terms."""
        dependencies = self.timeline.pass_.dependencies if self.timeline.pass_ is not None else {}
        for seed in self.timeline.pass_.seeds if self.timeline.pass_ is not None else ():
            yield seed, 0
        for step in _sample(self.timeline.steps, NUMBERS):
            yield from ((gradient, 0) for gradient in step.grad_outputs[:1])
            for one in step.deliveries:
                if one.dependencies_left:
                    count = dependencies.get(one.node, 1)
                    yield one.total, len(_count_of_terms(count, count))

    def _need(self, name: str, numbers: Iterable[tuple[Value | None, int]]) -> Need:
        """The widths that a column needs for these numbers, each with the number of characters that follow it."""
        need = Need(*[least_heading(name)] * len(Need._fields))
        for value, more in numbers:
            texts = [format_value(value, width, ascii=self.ascii) for width in (LONGEST, LISTED, BRIEF, *BRIEFER)]
            full, listed, brief = map(len, texts[:3])
            if value is not None and math.prod(value.shape) <= FEW:
                listed = full  # few numbers are all listed if there is room
            told = [len(text) for text in texts[3:] if text not in ELLIPSES and not _is_squeezed(text)]
            least = told[0] if told else brief
            one = Need(least, least + more if more else brief, listed + more, full + more)
            need = Need(*map(max, need, one))
        return need

    @cached_property
    def _only_scalars(self) -> bool:
        """Whether the value of every row is a single number, so that shapes carry no information."""
        nodes = picked(self.timeline.recording.nodes, _sample(self.timeline.rows, TEXTS))
        return all(self._tensor_shape(node) == () for node in nodes)

    def op(self, node: NodeRecord) -> str:
        """`mul`, `add_` for an in-place operation, `leaf` for a leaf and its AccumulateGrad."""
        if node.kind == "accumulate":
            return "leaf"
        written = node.in_place and node.kind != "copy_slices" and not node.op.endswith("_")
        return f"{node.op}_" if written else node.op

    def name(self, node: NodeRecord, width: int | None = None) -> str:
        """The user's name for the output or the leaf, or empty; of a leaf's path, the end that has room in `width`."""
        tensors = self.timeline.recording.tensors
        if node.variable is not None:
            name = tensors[node.variable].name
            return name if width is None else end_of_path(name, width, ELLIPSES[self.ascii])
        return ", ".join(filter(None, (tensors[ref.tensor].name for ref in node.outputs if ref is not None)))

    def operands(self, node: NodeRecord) -> str:
        """`x, %3, dim=1`."""
        return ", ".join(self.operand(one) for one in node.operands)

    def operand(self, operand: Operand) -> str:
        """The user's name, else the number of the node that computed it, else a constant's value or shape."""
        if operand.ref is None:
            return format_argument(operand.text)
        tensor = self.timeline.recording.tensors[operand.ref.tensor]
        if tensor.name:
            return tensor.name
        node, _ = self.timeline.made_by(operand.ref) or (tensor.node, 0)
        if node is not None:
            return f"%{node}"
        value = self.timeline.recording.value(operand.ref)
        size = math.prod(tensor.shape)
        if value is not None and size <= FEW:
            listed = format_value(value, 12, ascii=self.ascii)
            if size <= 1 or (listed.startswith("[") and listed.endswith("]")):
                return listed
        comma = "," * (len(tensor.shape) == 1)  # (4) in a rule would be a number
        return f"({format_shape(tensor.shape, ascii=self.ascii)}{comma})"

    def shape(self, node: NodeRecord) -> str:
        """The shape of the (first) output or of the leaf."""
        shape = self._tensor_shape(node)
        return "" if shape is None else format_shape(shape, ascii=self.ascii)

    def _tensor_shape(self, node: NodeRecord) -> tuple[int, ...] | None:
        outputs = (ref.tensor for ref in node.outputs if ref is not None)
        tensor = node.variable if node.variable is not None else next(outputs, None)
        return None if tensor is None else self.timeline.recording.tensors[tensor].shape

    def value(self, cursor: StepCursor, node: int, width: int) -> str:
        """The value, once it is computed; after a write in place also what was overwritten, if there is room."""
        value = cursor.value(node)
        if value is None:
            return self._nothing
        return self.change(cursor, node, width) or format_value(value, width, ascii=self.ascii)

    def change(self, cursor: StepCursor, node: int, width: int) -> str:
        """`[-4, 1, 6] → [-3, 2, 7]` for a write in place; empty if it does not fit, or for other operations."""
        before, arrow = cursor.overwritten(node), " -> " if self.ascii else " → "
        width = (width - len(arrow)) // 2
        if before is None or width <= 0:
            return ""
        texts = [format_value(one, width, ascii=self.ascii) for one in (before, cursor.value(node))]
        listed = math.prod(before.shape) > FEW or not any("±" in text or "+-" in text for text in texts)
        return arrow.join(texts) if listed and not any(text.endswith(ELLIPSES) for text in texts) else ""

    def gradient(self, cursor: StepCursor, node: int, width: int) -> str:
        """The gradient so far; while terms are missing, with the number that have arrived: `6 (1/2)`."""
        arrived = cursor.arrived(node)
        if not arrived:
            return self._nothing
        left = cursor.dependencies_left(node)
        of = _count_of_terms(len(arrived), len(arrived) + left) if left else ""
        return format_value(cursor.gradient(node), width - len(of), ascii=self.ascii) + of

    def size(self, cursor: StepCursor, node: int, width: int) -> str:
        """The size of the gradient so far, as a bar."""
        return self.scale.bar(cursor.gradient(node), width, ascii=self.ascii) if cursor.arrived(node) else ""

    @cached_property
    def scale(self) -> GradientScale:
        """The scale of the bars."""
        return GradientScale.of(self.timeline)

    @property
    def _nothing(self) -> str:
        return "." if self.ascii else NOTHING


def end_of_path(name: str, width: int, ellipsis: str) -> str:
    """`…down.weight` of `blocks.1.down.weight`, because paths in one module begin with the same words.

    If only the last word has room, so much of it is shown as has room after the one before it, `down.wei…`: q_proj and
    k_proj differ in their first letters. If that has no room either, the end of the path: `…nput.weight`.
    """
    if cell_len(name) <= width:
        return name
    parts = name.split(".")
    ends = [".".join(parts[i:]) for i in range(1, len(parts))]
    found = next((end for end in ends if cell_len(ellipsis + end) <= width), "")
    if "." in found or len(parts) < 2:
        return ellipsis + found if found else name
    last_two = ".".join(parts[-2:])
    if cell_len(last_two) <= width:
        return last_two
    if cell_len(parts[-2] + "." + ellipsis) < width:
        return set_cell_size(last_two, width - len(ellipsis)) + ellipsis
    if cell_len(ellipsis + parts[-1]) + len("ab.") <= width:
        return next(ellipsis + name[i:] for i in range(len(name)) if cell_len(ellipsis + name[i:]) <= width)
    return ellipsis + found if found else parts[-1]


def _is_squeezed(text: str) -> bool:
    """Whether a description has lost its spaces, `-3e-5±0.001`: a column is not made so narrow if it can be wider."""
    return any(sign in text and f" {sign}" not in text for sign in ("±", "+-"))


def _count_of_terms(arrived: int, count: int) -> str:
    """The count of terms, for a sum that is not complete."""
    return f" ({arrived}/{count})"


def _sample(every: Sequence[T], about: int) -> Sequence[T]:
    """All items of a short sequence; of a long one about that many, including the last."""
    return every[:: -(len(every) // about + 1)]


class Cell(NamedTuple):
    """The text of a value or gradient in its column, and whether it contains NaN or infinity."""

    text: str
    alarms: bool


class RowCells:
    """The texts of a tape's rows, cut to the widths of their columns, and cached."""

    def __init__(self, rows: RowTexts, columns: ColumnWidths) -> None:
        self.rows = rows
        self.columns = columns
        self._texts: dict[int, tuple[str, ...]] = {}
        self._values: dict[int, Cell] = {}
        self._gradients: dict[tuple[int, int, bool], Cell] = {}  # by node, number of terms, and whether it has run
        self._sizes: dict[tuple[int, int, bool], str] = {}

    def texts(self, node: int) -> tuple[str, ...]:
        """Operation, name, operands, shape: the same at every moment."""
        known = self._texts.get(node)
        if known is None:
            rows, columns, record = self.rows, self.columns, self.rows.timeline.node(node)
            cells = (
                (rows.op(record), columns.op), (rows.name(record, columns.name), columns.name),
                (rows.operands(record), columns.operands), (rows.shape(record), columns.shape),
            )  # fmt: skip
            known = self._texts[node] = tuple(
                fit(text, width, ascii=rows.ascii) + " " if width else "" for text, width in cells
            )
        return known

    def value(self, cursor: StepCursor, node: int) -> Cell:
        """The value, which never changes once it is computed."""
        known = self._values.get(node) if cursor.exists(node) else None
        if known is None:
            width = self.columns.value
            text = fit(self.rows.value(cursor, node, width), width) + " "
            known = Cell(text, not is_finite(cursor.value(node)))
            if cursor.exists(node):
                self._values[node] = known
        return known

    def gradient(self, cursor: StepCursor, node: int) -> Cell:
        """The gradient so far."""
        key = (node, len(cursor.arrived(node)), cursor.has_run(node))
        known = self._gradients.get(key)
        if known is None:
            width = self.columns.gradient
            text = fit(self.rows.gradient(cursor, node, width), width) + " "
            known = self._gradients[key] = Cell(text, bool(key[1]) and not is_finite(cursor.gradient(node)))
        return known

    def size(self, cursor: StepCursor, node: int) -> str:
        """The size of the gradient so far, as a bar; empty if the column is left out."""
        width = self.columns.size
        key = (node, len(cursor.arrived(node)), cursor.has_run(node))
        if width and key not in self._sizes:
            self._sizes[key] = fit(self.rows.size(cursor, node, width), width)
        return self._sizes[key] if width else ""


def fit(text: str, width: int, *, ascii: bool = False) -> str:
    """The text in exactly that many terminal cells; a longer text is cut with an ellipsis."""
    text = shown(text, ascii=ascii)
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    ellipsis = "..." if ascii else "…"
    return (set_cell_size(text, max(width - len(ellipsis), 0)) + ellipsis)[:width]
