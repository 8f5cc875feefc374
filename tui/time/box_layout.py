"""Lays out a small graph in character cells: boxes in layers, and one orthogonal line per value; lines never overlap.

Operands stand above their users, as on the tape. A node stands as low as possible, in the layer above its first user,
so leaves are next to the operations that use them. The line of a value that is used several layers below runs through
the layers in between, where the ordering treats it as a box of width 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from tui.time.lanes import DOWN, LEFT, RIGHT, UP

GAP = 3  # cells between two boxes
HEIGHT = 4  # lines of a box: the frame and two lines of text
SWEEPS = 6  # passes over the layers, for ordering and for placing


class LayerItem(NamedTuple):
    """An item of a layer: a node's box, or the line of a value that is used in a lower layer."""

    layer: int
    node: int
    is_line: bool


class PlacedBox(NamedTuple):
    """A node's box with its place."""

    node: int
    x: int
    y: int
    width: int


class Cell(NamedTuple):
    """A cell of a line: the directions in which it continues, and the node of the value (at a crossing, one of two)."""

    arms: int
    node: int


@dataclass(frozen=True, eq=False)
class BoxLayout:
    """A finished layout."""

    boxes: Mapping[int, PlacedBox]
    cells: Mapping[tuple[int, int], Cell]  # (y, x) -> part of a line
    width: int
    height: int


def lay_out(operands: Mapping[int, Sequence[int]], widths: Mapping[int, int]) -> BoxLayout:
    """Lay out a graph.

    Args:
        operands: for every node, in tape order, the nodes whose values it uses; these must be keys too.
        widths: the width of each node's box.
    """
    return _LayoutSearch(operands, widths).run() if operands else BoxLayout({}, {}, 0, 0)


@dataclass
class _Net:
    """The line of a value between two layers: from one column down to several."""

    node: int
    source: int
    targets: list[int] = field(default_factory=list)
    track: int = -1  # -1: straight down, no track needed

    @property
    def span(self) -> tuple[int, int]:
        columns = (self.source, *self.targets)
        return min(columns), max(columns)


class _LayoutSearch:
    def __init__(self, operands: Mapping[int, Sequence[int]], widths: Mapping[int, int]) -> None:
        self.operands = {node: [one for one in used if one in operands] for node, used in operands.items()}
        self.widths = widths
        self.layer = self._layers()
        self.rows = self._rows()
        self.above: dict[LayerItem, list[LayerItem]] = {item: [] for row in self.rows for item in row}
        self.below: dict[LayerItem, list[LayerItem]] = {item: [] for row in self.rows for item in row}
        for row in self.rows[1:]:
            for item in row:
                for node in dict.fromkeys([item.node] if item.is_line else self.operands[item.node]):
                    upper = LayerItem(item.layer - 1, node, self.layer[node] != item.layer - 1)
                    self.above[item].append(upper)
                    self.below[upper].append(item)
        self.centre: dict[LayerItem, float] = {}

    def run(self) -> BoxLayout:
        self._order()
        self._place()
        left = min(round(self.centre[s]) - self._width(s) // 2 for row in self.rows for s in row)
        column = {s: round(self.centre[s]) - left for row in self.rows for s in row}
        boxes: dict[int, PlacedBox] = {}
        cells: dict[tuple[int, int], Cell] = {}
        y = 0
        for i, row in enumerate(self.rows):
            for item in row:
                width = self._width(item)
                if item.is_line:
                    for line in range(HEIGHT):
                        cells[y + line, column[item]] = Cell(UP | DOWN, item.node)
                else:
                    boxes[item.node] = PlacedBox(item.node, column[item] - width // 2, y, width)
            y += HEIGHT
            if i + 1 < len(self.rows):
                y += self._route(i, column, cells, y)
        width = max([box.x + box.width for box in boxes.values()] + [x + 1 for _, x in cells], default=0)
        return BoxLayout(boxes, cells, width, y)

    def _layers(self) -> dict[int, int]:
        """The layer of each node: as low as possible, one above its first user."""
        users: dict[int, list[int]] = {node: [] for node in self.operands}
        for node, used in self.operands.items():
            for one in used:
                users[one].append(node)
        depth: dict[int, int] = {}
        for node in reversed(list(self.operands)):
            depth[node] = 1 + max((depth[user] for user in users[node]), default=-1)
        deepest = max(depth.values())
        return {node: deepest - depth[node] for node in self.operands}

    def _rows(self) -> list[list[LayerItem]]:
        rows: list[list[LayerItem]] = [[] for _ in range(max(self.layer.values()) + 1)]
        last = {node: self.layer[node] for node in self.operands}
        for node, used in self.operands.items():
            for one in used:
                last[one] = max(last[one], self.layer[node])
        for node in self.operands:
            first = self.layer[node]
            rows[first].append(LayerItem(first, node, False))
            for layer in range(first + 1, last[node]):
                rows[layer].append(LayerItem(layer, node, True))
        return rows

    def _width(self, item: LayerItem) -> int:
        return 1 if item.is_line else self.widths[item.node]

    def _order(self) -> None:
        """Order each layer by barycentres: an item moves to the mean of its neighbours, in sweeps down and up."""
        position = {item: float(i) for row in self.rows for i, item in enumerate(row)}
        for sweep in range(SWEEPS):
            down = sweep % 2 == 0
            for row in self.rows if down else reversed(self.rows):
                near = self.above if down else self.below
                wanted = {s: sum(position[n] for n in near[s]) / len(near[s]) if near[s] else position[s] for s in row}
                row.sort(key=lambda s: wanted[s])
                position.update((item, float(i)) for i, item in enumerate(row))

    def _place(self) -> None:
        """Choose columns as close to the neighbours as order and gaps allow. Lines have the largest weight."""
        for row in self.rows:
            x = 0.0
            for item in row:
                self.centre[item] = x + self._width(item) / 2
                x += self._width(item) + GAP
        for sweep in range(SWEEPS):
            for row in self.rows if sweep % 2 == 0 else reversed(self.rows):
                wanted, weights = [], []
                for item in row:
                    near = [*self.above[item], *self.below[item]]
                    wanted.append(sum(self.centre[n] for n in near) / len(near) if near else self.centre[item])
                    weights.append(8.0 if item.is_line else 2.0 if len(near) < 3 else 1.0)
                half = [(self._width(a) + self._width(b)) / 2 + GAP for a, b in pairwise(row)]
                self.centre.update(zip(row, _spread(wanted, weights, half), strict=True))

        self._snap()

    def _snap(self) -> None:
        """Round to whole columns, and straighten lines that would bend by a few cells if there is room."""
        self.centre = {item: float(round(x)) for item, x in self.centre.items()}
        for row in self.rows[1:]:
            for i, item in enumerate(row):
                if len(self.above[item]) != 1:
                    continue
                wanted = self.centre[self.above[item][0]]
                left = self._nearest(row[i - 1], item) if i else wanted
                right = 2 * self.centre[row[i + 1]] - self._nearest(row[i + 1], item) if i + 1 < len(row) else wanted
                if left <= wanted <= right and abs(wanted - self.centre[item]) <= 3:
                    self.centre[item] = wanted

    def _nearest(self, other: LayerItem, item: LayerItem) -> float:
        """The leftmost column for an item to the right of another."""
        return self.centre[other] + (self._width(other) + self._width(item)) / 2 + 1

    def _route(self, layer: int, column: Mapping[LayerItem, int], cells: dict[tuple[int, int], Cell], top: int) -> int:
        """Draw the lines between a layer and the next. Returns the number of rows they take."""
        nets: dict[int, _Net] = {}
        for upper in self.rows[layer]:
            if self.below[upper]:
                nets[upper.node] = _Net(upper.node, column[upper])
        for item in self.rows[layer + 1]:
            ports = self._ports(item, column, nets)
            for node, port in ports.items():
                nets[node].targets.append(port)
        height = _tracks(list(nets.values())) + 1
        for net in nets.values():
            _draw(net, cells, top, height)
        return height

    def _ports(self, item: LayerItem, column: Mapping[LayerItem, int], nets: Mapping[int, _Net]) -> dict[int, int]:
        """The columns at which an item's operands arrive: right below their sources if the box extends that far."""
        if item.is_line:
            return {item.node: column[item]}
        used = sorted(dict.fromkeys(self.operands[item.node]), key=lambda node: nets[node].source)
        width, x = self._width(item), column[item] - self._width(item) // 2
        taken = {net.source: net.node for net in nets.values()}
        ports: dict[int, int] = {}
        low = x + 1
        for i, node in enumerate(used):
            high = x + width - 2 - (len(used) - 1 - i)
            ideal = x + round((i + 1) * (width - 1) / (len(used) + 1)) if len(used) > 1 else column[item]
            source = nets[node].source
            choices = [source, *sorted(range(low, high + 1), key=lambda c: abs(c - ideal))]
            free = [c for c in choices if low <= c <= high]
            # In the column of another value's source, two vertical lines would overlap.
            port = next((c for c in free if taken.get(c, node) == node), free[0] if free else min(low, x + width - 2))
            ports[node] = port
            low = port + 1
        return ports


def _spread(wanted: Sequence[float], weights: Sequence[float], distance: Sequence[float]) -> list[float]:
    """The positions closest to the wanted ones (least squares) that keep the distances: pool adjacent violators."""
    offset, offsets = 0.0, [0.0]
    for one in distance:
        offset += one
        offsets.append(offset)
    blocks: list[tuple[float, float, int]] = []  # mean, weight, count
    for x, weight, shift in zip(wanted, weights, offsets, strict=True):
        mean, total, count = x - shift, weight, 1
        while blocks and blocks[-1][0] > mean:
            before, more, many = blocks.pop()
            mean = (mean * total + before * more) / (total + more)
            total, count = total + more, count + many
        blocks.append((mean, total, count))
    means = [mean for mean, _, count in blocks for _ in range(count)]
    return [mean + shift for mean, shift in zip(means, offsets, strict=True)]


def _tracks(nets: Sequence[_Net]) -> int:
    """Give every line that bends a track for its horizontal part, by left edges. Returns the number of tracks."""
    bent = [net for net in nets if net.targets != [net.source]]
    at_source = {net.source: net for net in nets}
    # If a net arrives in the column where another one starts, the starting net must turn off above it.
    after = {net.node: {at_source[t].node for t in net.targets if t in at_source} - {net.node} for net in bent}
    placed: set[int] = {net.node for net in nets if net not in bent}
    left, track = sorted(bent, key=lambda net: net.span), 0
    while left:
        ready = [net for net in left if after[net.node] <= placed] or left[:1]
        end = -2
        for net in ready:
            if net.span[0] > end + 1:
                net.track = track
                end = net.span[1]
        done = [net for net in ready if net.track == track]
        placed.update(net.node for net in done)
        left = [net for net in left if net not in done]
        track += 1
    return track


def _draw(net: _Net, cells: dict[tuple[int, int], Cell], top: int, height: int) -> None:
    bottom = top + height - 1
    turn = top + net.track if net.track >= 0 else bottom

    def put(y: int, x: int, arms: int) -> None:
        known = cells.get((y, x))
        cells[y, x] = Cell(arms | known.arms, known.node) if known else Cell(arms, net.node)

    for y in range(top, turn):
        put(y, net.source, UP | DOWN)
    if net.track < 0:
        put(bottom, net.source, UP | DOWN)
        return
    low, high = net.span
    for x in range(low, high + 1):
        arms = (LEFT if x > low else 0) | (RIGHT if x < high else 0)
        put(turn, x, arms | (UP if x == net.source else 0) | (DOWN if x in net.targets else 0))
    for x in net.targets:
        for y in range(turn + 1, bottom + 1):
            put(y, x, UP | DOWN)
