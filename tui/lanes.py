"""The lines beside the tape: which values are alive at a row, and who uses them.

Every intermediate value that a later operation uses gets a *lane*, a column that it holds from the row that computes it
down to its last use; then the lane is free for another value. Compilers hand out registers the same way (linear scan).
Leaves get none: they are named in the text, since parameters live everywhere and would fill the screen with lines.
Any row can be drawn by itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import accumulate
from typing import NamedTuple

from microtape.recording.model import EdgeRecord, NodeRecord

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
GLYPHS = {"operation": "●", "leaf": "○", "overflow": "┊"}
TO_ASCII = str.maketrans("│─╯╰╮╭┤├┴┬┼●○┊", "|-''..+++++*o:")


class RowLanes(NamedTuple):
    """What happens to the lanes at one row."""

    own: int  # the node stands here; -1 where the row stands for none
    ends: tuple[int, ...]  # lanes of operands used here for the last time
    taps: tuple[int, ...]  # lanes of operands that are used again further down
    starts: tuple[int, ...]  # lanes of further outputs
    is_leaf: bool


NO_NODE = RowLanes(-1, (), (), (), False)


@dataclass(frozen=True, eq=False)
class Lanes:
    """The lanes of a tape; `Lanes.of(nodes, rows)` allocates them."""

    rows: tuple[RowLanes, ...]
    count: int  # lanes needed altogether
    spans: tuple[tuple[tuple[int, int], ...], ...]  # for each lane: (first row, last row) of its values, ascending
    live: tuple[int, ...]  # how many lanes are held across each row

    @classmethod
    def of(cls, nodes: Sequence[NodeRecord], rows: Sequence[Sequence[int]]) -> Lanes:
        """Allocate lanes for rows from top to bottom, each of which stands for the nodes with these ids."""
        return _Allocation(nodes, rows).run()

    def width(self, limit: int | None = None) -> int:
        """Characters a row's drawing takes, with at most `limit` lanes."""
        return 2 * min(self.count, limit or self.count) - 1 if self.count else 0

    def draw(self, row: int, limit: int | None = None, *, ascii: bool = False) -> tuple[str, int]:
        """The drawing of one row and the column of its node's glyph (0 where the row stands for no node).

        A line that merely passes behind another's way is left whole, so every junction drawn is a use. Where there are
        more than `limit` lanes, the last column stands for all of the others.
        """
        here, width = self.rows[row], min(self.count, limit or self.count)
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
            text[2 * own] = GLYPHS["leaf" if here.is_leaf else "operation"]
        drawn = "".join(text)
        return drawn.translate(TO_ASCII) if ascii else drawn, max(2 * own, 0)

    def _held(self, lane: int, row: int) -> bool:
        """Whether a value's line passes this row, neither beginning nor ending in it."""
        spans = self.spans[lane]
        found = bisect_right(spans, row, key=lambda span: span[0]) - 1
        return found >= 0 and spans[found][0] < row < spans[found][1]


def _connect(flags: list[int], lane: int, own: int, arms: int, joined: set[int]) -> None:
    """Draw the way from a lane to the node, past the lanes that have no part in it."""
    if lane == own:
        return
    toward = 1 if own > lane else -1
    flags[2 * lane] |= arms | (RIGHT if toward > 0 else LEFT)
    for column in range(2 * lane + toward, 2 * own, toward):
        is_lane = column % 2 == 0
        if not is_lane or column // 2 in joined or not flags[column]:
            flags[column] |= LEFT | RIGHT


class _Allocation:
    """One linear scan over the tape. A value is known by an edge to it: the node, and which of its outputs."""

    def __init__(self, nodes: Sequence[NodeRecord], rows: Sequence[Sequence[int]]) -> None:
        self.nodes = nodes
        self.order = rows
        self.last_use: dict[EdgeRecord, int] = {}
        self.operands: list[Sequence[EdgeRecord]] = []  # of each row
        self.outputs: dict[int, list[EdgeRecord]] = {}  # of each row, those that are used below it
        self._find_uses()
        self.free: list[int] = []
        self.spans: list[list[tuple[int, int]]] = []
        self.lane_of: dict[EdgeRecord, int] = {}

    def run(self) -> Lanes:
        rows = tuple([self._row(row) if nodes else NO_NODE for row, nodes in enumerate(self.order)])
        changes = [0] * (len(rows) + 1)
        for spans in self.spans:
            for first, last in spans:
                if last > first + 1:
                    changes[first + 1] += 1
                    changes[last] -= 1
        live = tuple(accumulate(changes[:-1]))
        return Lanes(rows, len(self.spans), tuple(map(tuple, self.spans)), live)

    def _row(self, row: int) -> RowLanes:
        ends: list[int] = []
        taps: list[int] = []
        for value in self.operands[row]:
            (ends if self.last_use[value] == row else taps).append(self.lane_of[value])
        # The node carries on in an operand's lane where it can: a chain of operations is one straight line.
        own = min(ends) if ends else self._lowest()
        outputs = self.outputs.get(row)
        starts = [self._hold(value, self._lowest(), row) for value in outputs[1:]] if outputs else ()
        for lane in ends:
            if lane != own:
                heappush(self.free, lane)
        if outputs:
            self._hold(outputs[0], own, row)
        else:
            heappush(self.free, own)
        is_leaf = self.nodes[self.order[row][-1]].kind == "accumulate"
        return RowLanes(own, tuple(ends), tuple(taps), tuple(starts), is_leaf)

    def _find_uses(self) -> None:
        """The intermediate values that each row uses of rows above, where each is used last, and whose it is."""
        nodes, last_use, row_of = self.nodes, self.last_use, dict[int | None, int]()  # row_of: operations above
        for row, group in enumerate(self.order):
            used = [edge for node in group for edge in nodes[node].edges if edge[0] in row_of]
            if len(used) > 1:
                used = list(dict.fromkeys(used))
            self.operands.append(used)
            for value in used:
                last_use[value] = row
            for node in group:
                if nodes[node].kind != "accumulate":
                    row_of[node] = row
        for value in last_use:
            self.outputs.setdefault(row_of[value[0]], []).append(value)
        for values in self.outputs.values():
            if len(values) > 1:
                values.sort()

    def _hold(self, value: EdgeRecord, lane: int, row: int) -> int:
        self.lane_of[value] = lane
        self.spans[lane].append((row, self.last_use[value]))
        return lane

    def _lowest(self) -> int:
        if self.free:
            return heappop(self.free)
        self.spans.append([])
        return len(self.spans) - 1
