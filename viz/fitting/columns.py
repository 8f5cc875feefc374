"""Wraps a long picture into columns, as a newspaper does: a value that is used in a later column is named there again.

A column is a frame without a name around its boxes. Boxes of the same row have the same rank in all columns.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from viz.basics.graph import Arrow, Box, Cluster, LegendItem, VisualGraph
from viz.fitting.estimate import box_size

AGAIN = LegendItem("box", "again", "drawn elsewhere, used again")
STRETCH = 0.2  # part of a column's height by which a column may be longer, so that fewer arrows are cut


def wrap(graph: VisualGraph, columns: int) -> VisualGraph:
    """The picture in up to that many columns, equally long; the picture itself if its boxes do not fill two."""
    first_ranks = _first_ranks(graph, columns)
    if len(first_ranks) < 2:
        return graph
    places = _places(graph, first_ranks)
    boxes = [_placed(box, places[box.id]) for box in graph.boxes]
    again, arrows = _cut(graph.arrows, {box.id: box for box in boxes}, places)
    legend = graph.legend
    if again and legend:
        others = [item for item in legend if (item.about, item.name) != ("box", "again")]
        after = sum(item.about == "box" for item in others)
        legend = (*others[:after], AGAIN, *others[after:])
    return replace(graph, boxes=(*boxes, *again), arrows=tuple(arrows), legend=legend)


def columns_of(graph: VisualGraph) -> Iterator[list[Box]]:
    """The boxes of each column; all boxes, if the picture is not wrapped."""
    found: dict[Cluster | None, list[Box]] = {}
    for box in graph.boxes:
        outermost = box.clusters[0] if box.clusters and box.clusters[0].is_column else None
        found.setdefault(outermost, []).append(box)
    return iter(found.values())


@dataclass(frozen=True, slots=True)
class _Place:
    column: int
    row: int


def _first_ranks(graph: VisualGraph, columns: int) -> list[int]:
    """The rank at which each column begins. The columns are about equally long, and few values go to another one."""
    heights: dict[int, float] = {}
    for box in graph.boxes:
        heights[box.rank] = max(heights.get(box.rank, 0), box_size(box).height)
    ranks = sorted(heights)
    begins = dict(zip(ranks, accumulate((heights[rank] for rank in ranks), initial=0.0), strict=False))
    whole = sum(heights.values())
    crossed = _crossed(graph, ranks)
    found = [ranks[0]]
    for number in range(1, columns):
        ideal = whole * number / columns
        near = [rank for rank in ranks if rank > found[-1] and abs(begins[rank] - ideal) <= STRETCH * whole / columns]
        if near:
            found.append(min(near, key=lambda rank: (crossed[rank], abs(begins[rank] - ideal))))
    return found


def _crossed(graph: VisualGraph, ranks: Sequence[int]) -> dict[int, int]:
    """How many values are used at that rank or below, and computed above it."""
    rank = {box.id: box.rank for box in graph.boxes}
    reach: dict[str, int] = {}
    for arrow in graph.arrows:
        reach[arrow.tail] = max(reach.get(arrow.tail, 0), rank[arrow.head])
    return {one: sum(rank[tail] < one <= last for tail, last in reach.items()) for one in ranks}


def _places(graph: VisualGraph, first_ranks: Sequence[int]) -> dict[str, _Place]:
    """The column and the row of each box. Boxes without inputs are in the column of their first user."""
    column = {box.id: bisect_right(first_ranks, box.rank) - 1 for box in graph.boxes}
    has_inputs = {arrow.head for arrow in graph.arrows if not arrow.aside}
    users: dict[str, list[int]] = {}
    for arrow in graph.arrows:
        users.setdefault(arrow.tail, []).append(column[arrow.head])
    for box in graph.boxes:
        if box.id not in has_inputs and box.id in users:
            column[box.id] = max(min(users[box.id]), column[box.id])
    places = {}
    for box in graph.boxes:
        number = column[box.id]
        above = 1 if number else 0  # where copies are, and inputs from the end of the column before
        places[box.id] = _Place(number, max(box.rank - first_ranks[number] + above, 0))
    return places


def _placed(box: Box, place: _Place) -> Box:
    clusters = [_part(one, place.column) for one in box.clusters]
    return replace(box, rank=place.row, clusters=(_column(place.column), *clusters))


def _part(cluster: Cluster, column: int) -> Cluster:
    """The part of a frame that is in that column."""
    return cluster._replace(id=f"{cluster.id}c{column}")


def _column(number: int) -> Cluster:
    return Cluster(f"column{number}", "")


def _cut(
    arrows: Sequence[Arrow], boxes: Mapping[str, Box], places: Mapping[str, _Place]
) -> tuple[list[Box], list[Arrow]]:
    """Small copies of the boxes whose values are used in another column, and the arrows, which begin at the copies."""
    again: dict[str, Box] = {}
    found = []
    for arrow in arrows:
        tail, head = boxes[arrow.tail], boxes[arrow.head]
        place = places[head.id]
        if places[tail.id].column == place.column or arrow.upwards or arrow.aside:
            found.append(arrow)
            continue
        copy = f"{tail.id}in{place.column}for{head.id}"
        title = tail.title.partition(" = ")[0] if tail.kind == "operation" else tail.title
        again.setdefault(
            copy,
            Box(copy, "again", tail.state, title, "", (), (), (f"{tail.title}, drawn in another column",),
                max(place.row - 1, 0), tail.node, tail.recorded_in, clusters=head.clusters),
        )  # fmt: skip
        found.append(replace(arrow, tail=copy, port=None))
    return list(again.values()), found
