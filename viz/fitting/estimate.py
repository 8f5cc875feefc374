"""Estimates how large a picture will be, so that Graphviz need not lay out every way of arranging it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from viz.basics.arrangement import Direction
from viz.basics.graph import Box, Row, VisualGraph

LETTER, TITLE_LETTER, LINE, TITLE_LINE, AROUND = 6.1, 7.4, 14.0, 17.0, 16.0  # points
BESIDE, BETWEEN = 24.0, 40.0  # points between two boxes of a rank, and between two ranks
TIGHT = 0.7  # of these distances
ON_ARROW = 5.6  # points: a letter of an arrow's text
HEADING_LETTER, HEADING_LINE, LEGEND_LINE = 6.2, 15.0, 14.0


class Estimate(NamedTuple):
    """Of a size, in points."""

    width: float
    height: float


def box_size(box: Box, *, tight: bool = False) -> Estimate:
    """About how large the box is."""
    keys = max((len(row.key) for row in box.rows), default=0)
    letter, line, around = (LETTER, LINE, AROUND * TIGHT) if tight else (TITLE_LETTER, TITLE_LINE, AROUND)
    title = (len(box.title) + (2 if box.state else 0)) * letter + len(box.note) * ON_ARROW
    width = max([title, *(_row(row, keys) for row in box.rows)])
    height = line + LINE * len(box.rows)
    heat = max((len(row.heat.cells) for row in box.rows if row.heat is not None), default=0)
    if box.ports:
        ports = [
            max([len(port.title) * LETTER, *(_row(row, max(len(one.key) for one in port.rows)) for row in port.rows)])
            for port in box.ports
        ]
        width = max(width, sum(ports) + around)
        height += LINE * (1 + max(len(port.rows) for port in box.ports))
    return Estimate(width + around, height + around / 2 + (heat * 10 + LINE if heat else 0))


def _row(row: Row, keys: int) -> float:
    return ((keys + 2 if row.key else 0) + len(row.text)) * LETTER


def estimate(
    graph: VisualGraph, columns: Sequence[Sequence[Box]], direction: Direction, *, tight: bool = False
) -> Estimate:
    """About how large the picture is if its boxes are in these columns."""
    beside, between = (BESIDE * TIGHT, BETWEEN * TIGHT) if tight else (BESIDE, BETWEEN)
    texts = [len(arrow.text) for arrow in graph.arrows if arrow.written]
    along: dict[int, float] = {}  # rank -> its extent in the direction of the arrows
    across = 0.0
    for boxes in columns:
        ranks: dict[int, float] = {}
        for box in boxes:
            width, height = box_size(box, tight=tight)
            extent, side = (height, width) if direction == "down" else (width, height)
            along[box.rank] = max(along.get(box.rank, 0), extent)
            ranks[box.rank] = ranks.get(box.rank, 0) + side + beside
        across += max(ranks.values(), default=0)
    between = between if direction == "down" else between / 2 + ON_ARROW * max(texts, default=0)
    length = sum(along.values()) + between * (len(along) - 1)
    width, height = (across, length) if direction == "down" else (length, across)
    lines = [graph.title, graph.finding, graph.subtitle, *graph.notes]
    wide = max(width, HEADING_LETTER * max(map(len, lines)))
    legend = -(-len(graph.legend) // max(2, int(wide // 200)))
    return Estimate(wide + AROUND * 2, height + HEADING_LINE * len([*filter(None, lines)]) + legend * LEGEND_LINE + 40)
