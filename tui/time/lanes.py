"""The lanes beside the tape: lines for the values that are live at each row, and their uses.

Every intermediate value that a later operation uses gets a *lane*: a column that it occupies from the row that computes
it to the row of its last use. Then the lane is free for another value. Compilers allocate registers the same way
(linear scan). Leaves get no lane: parameters are live everywhere and would fill the screen with lines; the operands
column names them. Each row can be drawn by itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from microtape.recording.model.model import NodeRecord

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
class Uses:
    """Which node uses which value, without leaves: three columns of a table with one line per use.

    It does not depend on how the tape is listed in rows.
    """

    user: npt.NDArray[np.int64]
    node: npt.NDArray[np.int64]  # the node that computes the value
    value: npt.NDArray[np.int64]  # a number for the node's output, ascending with node and output

    @classmethod
    def of(
        cls, nodes: Sequence[NodeRecord], tape: Iterable[int], ends: Sequence[Iterable[tuple[int, int]]] = ()
    ) -> Uses:
        """The uses by the nodes with these ids, in tape order.

        `ends` are paths that end beside the tape, each with the nodes and outputs that it comes from. Its end counts
        as a user, numbered after all nodes.
        """
        found = [(user, node, output) for user in tape for node, output in nodes[user].edges
                 if node is not None and nodes[node].kind != "accumulate"]  # fmt: skip
        found += [(user, node, output) for user, values in enumerate(ends, len(nodes)) for node, output in values
                  if nodes[node].kind != "accumulate"]  # fmt: skip
        user, node, output = np.array(found, np.int64).reshape(-1, 3).T
        return cls(user, node, node * (output.max(initial=0) + 1) + output)


@dataclass(frozen=True, eq=False)
class Lanes:
    """The lanes of a tape; `Lanes.of(nodes, rows)` allocates them."""

    rows: tuple[RowLanes, ...]
    count: int  # the number of lanes
    spans: tuple[tuple[tuple[int, int], ...], ...]  # for each lane, the (first row, last row) of its values, ascending
    live: tuple[int, ...]  # for each row, the number of lanes that pass it

    @classmethod
    def of(cls, nodes: Sequence[NodeRecord], rows: Sequence[Sequence[int]], uses: Uses | None = None) -> Lanes:
        """Allocate lanes for rows from top to bottom; each row stands for the nodes with these ids.

        A caller that lists the same tape several times passes the `uses` of all its nodes, to compute them only once.
        """
        return _Allocation(nodes, rows, uses or Uses.of(nodes, chain.from_iterable(rows))).run()

    def width(self, limit: int | None = None) -> int:
        """The width of the drawing in characters, with at most `limit` lanes."""
        return 2 * min(self.count, limit or self.count) - 1 if self.count else 0

    def draw(self, row: int, limit: int | None = None, *, ascii: bool = False) -> tuple[str, int]:
        """The drawing of one row and the column of its node's glyph (0 if the row stands for no node).

        A lane that crosses a connection of other lanes is not interrupted, so every junction in the drawing is a use.
        With more than `limit` lanes, the last column stands for all the others.
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
            text[2 * own] = GLYPHS[here.glyph]
        drawn = "".join(text)
        return drawn.translate(TO_ASCII) if ascii else drawn, max(2 * own, 0)

    def _held(self, lane: int, row: int) -> bool:
        """Whether a value's lane passes this row without beginning or ending in it."""
        spans = self.spans[lane]
        found = bisect_right(spans, row, key=lambda span: span[0]) - 1
        return found >= 0 and spans[found][0] < row < spans[found][1]


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


class _Allocation:
    """One linear scan over the tape. Values are the numbers in the table of uses."""

    def __init__(self, nodes: Sequence[NodeRecord], rows: Sequence[Sequence[int]], uses: Uses) -> None:
        self.nodes = nodes
        self.order = rows
        self.last_use: dict[int, int] = {}
        self.operands: list[list[int]] = [[] for _ in rows]  # for each row, the values of rows above that it uses
        self.outputs: dict[int, list[int]] = {}  # for each row, its values that are used below it
        self._find_uses(uses)
        self.free: list[int] = []
        self.spans: list[list[tuple[int, int]]] = []
        self.lane_of: dict[int, int] = {}
        self.alike: dict[RowLanes, RowLanes] = {}  # most rows of a loop are equal: they are stored once

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
        # The node takes over the lane of an operand if it can: a chain of operations is one straight line.
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
        last = self.order[row][-1]
        is_leaf = last < len(self.nodes) and self.nodes[last].kind == "accumulate"
        glyph = "end" if last >= len(self.nodes) else "leaf" if is_leaf else "operation"
        found = RowLanes(own, tuple(ends), tuple(taps), tuple(starts), glyph)
        return self.alike.setdefault(found, found)

    def _find_uses(self, uses: Uses) -> None:
        """Find the values that each row uses from rows above, the last use of each, and the row that computes it.

        A fold may hide thousands of nodes and be listed again at every other step, so uses within one row are discarded
        by numpy, without a loop.
        """
        tape = np.fromiter(chain.from_iterable(self.order), np.int64)
        place = np.full(
            max(len(self.nodes), tape.max(initial=-1) + 1), len(tape)
        )  # the position of a node in the rows from top to bottom
        place[tape] = np.arange(len(tape))
        row_at = np.append(np.repeat(np.arange(len(self.order)), [len(nodes) for nodes in self.order]), -1)
        user_row, made_row = row_at[place[uses.user]], row_at[place[uses.node]]
        seen = np.flatnonzero((made_row >= 0) & (made_row < user_row))
        seen = seen[np.argsort(place[uses.user[seen]], kind="stable")]
        made: dict[int, int] = {}
        table = (uses.value[seen].tolist(), user_row[seen].tolist(), made_row[seen].tolist())
        for value, row, made_in in zip(*table, strict=True):
            if self.last_use.get(value) != row or value not in self.operands[row]:
                self.operands[row].append(value)
            self.last_use[value] = row
            made[value] = made_in
        for value, row in made.items():
            self.outputs.setdefault(row, []).append(value)
        for values in self.outputs.values():
            if len(values) > 1:
                values.sort()

    def _hold(self, value: int, lane: int, row: int) -> int:
        self.lane_of[value] = lane
        self.spans[lane].append((row, self.last_use[value]))
        return lane

    def _lowest(self) -> int:
        if self.free:
            return heappop(self.free)
        self.spans.append([])
        return len(self.spans) - 1
