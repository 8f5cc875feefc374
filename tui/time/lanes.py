"""The lanes beside the tape: lines for the values that are live at each row, and their uses.

Every intermediate value that a later operation uses gets a *lane*: a column that it occupies from the row that computes
it to the row of its last use. Then the lane is free for another value. Compilers allocate registers the same way
(linear scan, in `lane_allocation`). Leaves get no lane: parameters are live everywhere and would fill the screen with
lines; the operands column names them. Each row can be drawn by itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from microtape.recording.model.model import NodeRecord
from microtape.recording.moments.uses import Uses
from tui.time.lane_allocation import Allocation, Rows, allocated

if TYPE_CHECKING:
    import numpy.typing as npt

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
CONNECTORS = {
    0: " ",
    UP: "│",
    DOWN: "│",
    UP | DOWN: "│",
    LEFT | RIGHT: "─",
    LEFT: "─",
    RIGHT: "─",
    UP | LEFT: "╯",
    UP | RIGHT: "╰",
    DOWN | LEFT: "╮",
    DOWN | RIGHT: "╭",
    UP | DOWN | LEFT: "┤",
    UP | DOWN | RIGHT: "├",
    UP | LEFT | RIGHT: "┴",
    DOWN | LEFT | RIGHT: "┬",
    UP | DOWN | LEFT | RIGHT: "┼",
}
GLYPHS = {"operation": "●", "leaf": "○", "end": "×", "overflow": "┊"}
TO_ASCII = str.maketrans("│─╯╰╮╭┤├┴┬┼●○×┊", "|-''..+++++*ox:")


class RowLanes(NamedTuple):
    """The lanes that one row touches."""

    own: int  # the lane of the row's node; -1 if the row stands for no node
    ends: tuple[int, ...]  # lanes of operands that are used here for the last time
    taps: tuple[int, ...]  # lanes of operands that are used again further down
    starts: tuple[int, ...]  # lanes of further outputs
    glyph: str  # a key of GLYPHS


NO_NODE = RowLanes(-1, (), (), (), "operation")


@dataclass(frozen=True, eq=False)
class Lanes:
    """The lanes of a tape; `Lanes.of(nodes, rows)` allocates them."""

    nodes: Sequence[NodeRecord]
    rows: Rows
    values: Allocation

    @classmethod
    def of(cls, nodes: Sequence[NodeRecord], rows: Rows, uses: Uses | None = None) -> Lanes:
        """Allocate lanes for these rows, from top to bottom.

        A caller that lists the same tape several times passes the `uses` of all its nodes, to compute them only once.
        """
        uses = Uses.of(nodes, rows.node.tolist()) if uses is None else uses
        return cls(nodes, rows, allocated(rows, uses))

    @property
    def count(self) -> int:
        """The number of lanes."""
        return self.values.lanes

    def row(self, row: int) -> RowLanes:
        """The lanes that one row touches."""
        node, values = int(self.rows.last_node[row]), self.values
        if node < 0:
            return NO_NODE
        ends: list[int] = []
        taps: list[int] = []
        for value in values.operands_of(row).tolist():
            (ends if values.last[value] == row else taps).append(int(values.lane[value]))
        starts = values.lane[values.outputs_of(row)[1:]].tolist()
        is_leaf = node < len(self.nodes) and self.nodes[node].kind == "accumulate"
        glyph = "end" if node >= len(self.nodes) else "leaf" if is_leaf else "operation"
        return RowLanes(int(values.own[row]), tuple(ends), tuple(taps), tuple(starts), glyph)

    @cached_property
    def spans(self) -> tuple[tuple[memoryview, memoryview], ...]:
        """For each lane, the first rows of its values and their last rows, ascending."""
        values = self.values
        order = np.lexsort((values.made, values.lane))
        borders = np.searchsorted(values.lane[order], np.arange(1, self.count))
        first, last = (np.split(rows[order], borders) for rows in (values.made, values.last))
        return tuple((a.data, b.data) for a, b in zip(first, last, strict=True))  # quick to bisect

    @cached_property
    def live(self) -> npt.NDArray[np.int64]:
        """For each row, the number of lanes that pass it."""
        values, size = self.values, self.rows.count + 1
        passing = values.last > values.made + 1
        begin = np.bincount(values.made[passing] + 1, minlength=size)
        return np.cumsum(begin - np.bincount(values.last[passing], minlength=size))[:-1]

    def width(self, limit: int | None = None) -> int:
        """The width of the drawing in characters, with at most `limit` lanes."""
        return 2 * min(self.count, limit or self.count) - 1 if self.count else 0

    def draw(self, row: int, limit: int | None = None, *, ascii: bool = False) -> tuple[str, int]:
        """The drawing of one row and the column of its node's glyph (0 if the row stands for no node).

        A lane that crosses a connection of other lanes is not interrupted, so every junction in the drawing is a use.
        With more than `limit` lanes, the last column stands for all the others.
        """
        here, width = self.row(row), min(self.count, limit or self.count)
        flags = [0] * (2 * width - 1)
        passing = [self._held(lane, row) for lane in range(width)]
        overflow = self.count > width and self.live[row] > sum(passing[:-1])
        for lane, held in enumerate(passing):
            flags[2 * lane] = UP | DOWN if held else 0
        own = min(here.own, width - 1)
        joined = {own} | {min(lane, width - 1) for lane in (*here.ends, *here.taps, *here.starts)}
        for lanes, arms in ((here.ends, UP), (here.taps, UP | DOWN), (here.starts, DOWN)):
            for lane in lanes:
                _connect(flags, min(lane, width - 1), own, arms, joined)
        text = [CONNECTORS[one] for one in flags]
        if overflow:
            text[-1] = GLYPHS["overflow"]
        if own >= 0:
            text[2 * own] = GLYPHS[here.glyph]
        drawn = "".join(text)
        return drawn.translate(TO_ASCII) if ascii else drawn, max(2 * own, 0)

    def _held(self, lane: int, row: int) -> bool:
        """Whether a value's lane passes this row without beginning or ending in it."""
        first, last = self.spans[lane]
        found = bisect_right(first, row) - 1
        return found >= 0 and first[found] < row < last[found]


def _connect(flags: list[int], lane: int, own: int, arms: int, joined: set[int]) -> None:
    """Draw the connection from a lane to the node, across lanes that are not part of it."""
    if lane == own:
        return
    toward = 1 if own > lane else -1
    flags[2 * lane] |= arms | (RIGHT if toward > 0 else LEFT)
    for column in range(2 * lane + toward, 2 * own, toward):
        is_lane = column % 2 == 0
        if not is_lane or column // 2 in joined or not flags[column]:
            flags[column] |= LEFT | RIGHT
