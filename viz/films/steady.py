"""Pictures of the same scene at different moments, made alike: the same boxes, rows and arrows, as wide in each.

Graphviz then lays them all out in the same way, so that in a film nothing moves but what happens. What is not there at
a moment is there in the state `absent`, which is not seen; texts are filled up with spaces that do not break.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TypeAlias

from viz.basics.graph import SPACE, WIDE_SPACE, Arrow, Box, Port, Row, VisualGraph

_Way: TypeAlias = tuple[str, int | None, str, int]  # tail, port, head, and the how manyth between them


def steady(pictures: Sequence[VisualGraph]) -> list[VisualGraph]:
    """The pictures with what any of them has. Titles, subtitles and notes stay as they are."""
    boxes = _steady_boxes(pictures)
    arrows = _steady_arrows(pictures)
    legend = tuple(dict.fromkeys(item for picture in pictures for item in picture.legend))
    return [
        replace(picture, boxes=tuple(boxes[number]), arrows=tuple(arrows[number]), legend=legend)
        for number, picture in enumerate(pictures)
    ]


def _steady_boxes(pictures: Sequence[VisualGraph]) -> list[list[Box]]:
    by_id = [{box.id: box for box in picture.boxes} for picture in pictures]
    kept = {box.id: box for picture in pictures for box in picture.boxes}  # as it was last
    found: list[list[Box]] = [[] for _ in pictures]
    for id, last in kept.items():
        absent = replace(last, state="absent")
        versions = [one.get(id, absent) for one in by_id]
        rows = _steady_rows([box.rows for box in versions])
        ports = [_steady_rows([box.ports[number].rows for box in versions]) for number in range(len(last.ports))]
        for at, box in enumerate(versions):
            if at and box is versions[at - 1]:
                found[at].append(found[at - 1][-1])
                continue
            found[at].append(
                replace(
                    box,
                    rows=rows[at],
                    ports=tuple(Port(port.title, ports[k][at]) for k, port in enumerate(last.ports)),
                )
            )
    return found


def _steady_rows(versions: Sequence[tuple[Row, ...]]) -> list[tuple[Row, ...]]:
    """As many rows in each, as wide in each. A row without a key stays so if it never has one."""
    slots = [[row for row in slot if row is not None] for slot in zip_longest(*versions)]
    keys = max((len(row.key) for slot in slots for row in slot), default=0)
    keyed = [any(row.key for row in slot) for slot in slots]
    widths = [max(len(row.text) for row in slot) for slot in slots]
    found = []
    for rows in versions:
        filled = [*rows, *[Row("", "")] * (len(slots) - len(rows))]
        found.append(
            tuple(
                replace(
                    row,
                    key=row.key.ljust(keys, SPACE) if keyed[k] else "",
                    text=row.text.ljust(widths[k], SPACE if keyed[k] else WIDE_SPACE),
                )
                for k, row in enumerate(filled)
            )
        )
    return found


def _steady_arrows(pictures: Sequence[VisualGraph]) -> list[list[Arrow]]:
    by_way = [dict(_ways(picture.arrows)) for picture in pictures]
    kept = {way: arrow for ways in by_way for way, arrow in ways.items()}
    found: list[list[Arrow]] = [[] for _ in pictures]
    for way, last in kept.items():
        versions = [ways.get(way) for ways in by_way]
        written = any(arrow.written for arrow in versions if arrow is not None)
        width = max(len(arrow.text) for arrow in versions if arrow is not None)
        for at, arrow in enumerate(versions):
            base = arrow or replace(last, kind="absent", text="", written=False)
            text = (base.text if base.written else "").ljust(width, SPACE)
            found[at].append(replace(base, text=text, written=written and width > 0))
    return found


def _ways(arrows: Iterable[Arrow]) -> Iterator[tuple[_Way, Arrow]]:
    count: dict[tuple[str, int | None, str], int] = {}
    for arrow in arrows:
        ends = (arrow.tail, arrow.port, arrow.head)
        count[ends] = count.get(ends, 0) + 1
        yield (*ends, count[ends]), arrow
