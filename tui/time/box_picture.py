"""The graph as boxes, in styled text: shown by the box view and printed by `microtape trace --boxes`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from microtape.recording.model.undifferentiable import undifferentiable_outputs
from tui.shell.spans import shown
from tui.time.box_layout import BoxLayout, PlacedBox, lay_out
from tui.time.cursor import StepCursor
from tui.time.lanes import CONNECTORS, TO_ASCII
from tui.time.row_texts import ELLIPSES, RowTexts, fit
from tui.time.timeline import Timeline

WHOLE = 40  # nodes: of a larger graph, only the neighbourhood of the current node is drawn
NEAR = 14  # nodes in a neighbourhood
FAN = 4  # users of one value in a neighbourhood
WIDEST, NARROWEST = 24, 16  # characters inside of a box


class PictureSpan(NamedTuple):
    """A piece of a line of the picture."""

    column: int
    text: str
    style: str  # the name of a component class of the view


class BoxPicture:
    """The boxes of a timeline's graph: the whole of a small graph, else the neighbourhood of the current node."""

    def __init__(self, timeline: Timeline, *, ascii: bool = False) -> None:
        self.rows = RowTexts.of(timeline, ascii=ascii)
        self.shown: tuple[int, ...] = ()
        self.layout = BoxLayout({}, {}, 0, 0)

    def follow(self, cursor: StepCursor) -> bool:
        """Choose the nodes to draw at this moment. Returns whether they, and so the layout, have changed."""
        timeline = self.rows.timeline
        drawn = tuple(timeline.rows) if len(timeline.rows) <= WHOLE else neighbourhood(timeline, cursor.focus)
        if drawn == self.shown:
            return False
        self.shown = drawn
        lengths = {node: max(cell_len(self._label(node)), cell_len(self._event(node)) + 3, NARROWEST) for node in drawn}
        widths = {node: min(length, WIDEST) + 2 for node, length in lengths.items()}
        self.layout = lay_out(operands_of(timeline, drawn), widths)
        return True

    @property
    def left_out(self) -> str:
        """`14 of 300 nodes: around this one`; empty if all nodes are drawn."""
        count = len(self.rows.timeline.rows)
        return "" if len(self.shown) == count else f"{len(self.shown)} of {count:,} nodes: around this one"

    def lines(self, cursor: StepCursor, signs: Mapping[int, str] | None = None) -> dict[int, list[PictureSpan]]:
        """The whole picture: line -> its spans, from left to right. `signs` mark nodes in their frames."""
        lines: dict[int, list[PictureSpan]] = {}
        for (y, x), cell in self.layout.cells.items():
            arrived = bool(cursor.arrived(cell.node))
            here = cell.node in cursor.delivered_to
            style = "boxes--delivered" if here else "boxes--done" if arrived else "boxes--plain"
            lines.setdefault(y, []).append(PictureSpan(x, self._drawn(CONNECTORS[cell.arms]), style))
        for box in self.layout.boxes.values():
            for y, x, text, style in self._box(cursor, box):
                lines.setdefault(y, []).append(PictureSpan(x, self._drawn(text), style))
            if signs and box.node in signs:
                _sign(lines[box.y], box.x, signs[box.node])
        return {y: sorted(pieces) for y, pieces in lines.items()}

    def _drawn(self, text: str) -> str:
        return text.translate(ASCII_BOXES) if self.rows.ascii else text

    def _label(self, node: int) -> str:
        rows = self.rows
        record = rows.timeline.node(node)
        name = rows.name(record)
        return (
            name
            if record.variable is not None and name
            else f"%{node} {rows.op(record)}" + (f"  {name}" if name else "")
        )

    def _label_at(self, cursor: StepCursor, node: int, width: int) -> str:
        """The label; in backward, where the box shows the gradient, a leaf's label says its value too if it fits."""
        label = self._label(node)
        if cursor.is_forward or self.rows.timeline.node(node).variable is None:
            return label
        value = self.rows.value(cursor, node, width - cell_len(label) - len(" = "))
        return label if not value or value.endswith(ELLIPSES) else f"{label} = {value}"

    def _box(self, cursor: StepCursor, box: PlacedBox) -> Sequence[tuple[int, int, str, str]]:
        rows = self.rows
        state, node = cursor.state(box.node), rows.timeline.node(box.node)
        failed = state == "current" and cursor.step is not None and cursor.step.error is not None
        frame = ("boxes--failed" if failed else "boxes--current" if state == "current"
                 else "boxes--delivered" if box.node in cursor.delivered_to
                 else "boxes--done" if state == "done" else "boxes--plain")  # fmt: skip
        inner = box.width - 2
        corners = "╭╮╰╯" if node.variable is not None else "┏┓┗┛" if state == "current" else "┌┐└┘"
        across, down = ("━", "┃") if corners == "┏┓┗┛" else ("─", "│")
        sign = "= " if cursor.is_forward else "d " if rows.ascii else "∂ "
        tells = rows.value if cursor.is_forward else rows.gradient
        label = fit(self._label_at(cursor, box.node, inner), inner, ascii=rows.ascii)
        text = "boxes--text" if frame != "boxes--plain" else "boxes--plain"
        told = tells(cursor, box.node, inner - 2)
        if cursor.is_forward and cursor.exists(box.node):
            told = rows.change(cursor, box.node, inner - 2) or told
        value = fit(sign + told, inner, ascii=rows.ascii)
        shows = "boxes--gradient" if cursor.arrived(box.node) else "boxes--plain"
        shows = text if cursor.is_forward else shows
        pieces = [(box.y, box.x, corners[0] + across * inner + corners[1], frame)]
        for y, piece, style in ((box.y + 1, label, text), (box.y + 2, value, shows)):
            pieces += [(y, box.x, down, frame), (y, box.x + 1, piece, style), (y, box.x + inner + 1, down, frame)]
        event = self._event(box.node) if cursor.exists(box.node) else ""
        below = f"{across} {fit(event, min(cell_len(event), inner - 3), ascii=rows.ascii)} " if event else ""
        below += across * (inner - cell_len(below))
        return (*pieces, (box.y + 3, box.x, corners[2] + below + corners[3], frame))

    def _event(self, node: int) -> str:
        """What stands in the frame below: a write in place, and outputs that no gradient reaches.

        `v0 → v1, exp lost v0`; `× inside`.
        """
        rows, timeline = self.rows, self.rows.timeline
        told = []
        for write in timeline.versions.by_node.get(node, ()):
            savers = [one.node for one in timeline.versions.overwritten(write) if one.fate == "lost"]
            lost = [f"{rows.op(timeline.node(one))} lost v{write.before}" for one in dict.fromkeys(savers)]
            told.append(", ".join([f"v{write.before} {'->' if rows.ascii else '→'} v{write.after}", *lost]))
        record = timeline.node(node)
        if len(record.outputs) > 1 or record.kind == "function":
            ends = undifferentiable_outputs(timeline.recording, record)
            names = [timeline.recording.tensors[ref.tensor].name or f"output {i}" for i, ref, _ in ends]
            told += [f"{'x' if rows.ascii else '×'} {name}" for name in names]
        return shown("; ".join(told), ascii=rows.ascii)


def _sign(line: list[PictureSpan], x: int, sign: str) -> None:
    """Put a sign into the frame that begins at a column of a line."""
    at = next(i for i, one in enumerate(line) if one.column == x and len(one.text) > 2)
    _, text, style = line[at]
    cut = x + 1 + len(sign)
    line[at : at + 1] = [
        PictureSpan(x, text[:1], style),
        PictureSpan(x + 1, sign, "boxes--failed"),
        PictureSpan(cut, text[1 + len(sign) :], style),
    ]


def box_lines(cursor: StepCursor, *, ascii: bool = False) -> Iterator[str]:
    """The picture at a moment, line by line, with the current node in heavy lines (in ASCII, `#` and `=`)."""
    picture = BoxPicture(cursor.timeline, ascii=ascii)
    picture.follow(cursor)
    drawn = picture.lines(cursor)
    for y in range(picture.layout.height):
        line = ""
        for x, text, _ in drawn.get(y, ()):
            line = set_cell_size(line, x) + text
        yield line.rstrip()
    if picture.left_out:
        yield f"({picture.left_out})"


ASCII_BOXES = {**TO_ASCII, **str.maketrans("┌┐└┘┏┓┗┛━┃", "++++####=H")}


def neighbourhood(timeline: Timeline, focus: int | None) -> tuple[int, ...]:
    """The nodes nearest to `focus`, in tape order: its operands and users, then theirs."""
    if focus is None or not timeline.rows:
        return tuple(timeline.rows[-NEAR:])
    found, edge = {focus: None}, [focus]
    while edge and len(found) < NEAR:
        following: list[int] = []
        for node in edge:
            near = [*dict.fromkeys(one.node for one in timeline.node(node).edges if one.node is not None)]
            # Other users of a leaf do not count as near: weights are used all over a network.
            users = () if timeline.node(node).variable is not None and node != focus else timeline.uses.users_of(node)
            for one in [*near, *users[-FAN:]]:
                if one not in found and one in timeline.row_of and len(found) < NEAR:
                    found[one] = None
                    following.append(one)
        edge = following
    return tuple(sorted(found))


def operands_of(timeline: Timeline, shown: Sequence[int]) -> Mapping[int, Sequence[int]]:
    """For each of these nodes, its operands among them."""
    known = set(shown)
    return {
        node: [
            one.node
            for one in timeline.node(node).edges
            if one.node is not None and one.node in known and one.node < node
        ]
        for node in shown
    }
