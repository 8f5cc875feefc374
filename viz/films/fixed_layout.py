"""Gives the pictures of a film the same layout: the same boxes, rows and arrows, each equally wide in all pictures.

Graphviz then places everything identically, and nothing moves during the film. A box or arrow that does not exist at a
moment is `absent`, which is invisible; texts are padded with no-break spaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TypeAlias

from viz.basics.graph import SPACE, WIDE_SPACE, Arrow, Box, Row, VisualGraph

_ArrowKey: TypeAlias = tuple[str, int | None, str, int]  # tail, port, head, and its index among the arrows between them


def fix_layout(pictures: Sequence[VisualGraph]) -> list[VisualGraph]:
    """The pictures, each with the boxes, rows and arrows of all. Titles, subtitles and notes stay as they are."""
    boxes = _fixed_boxes(pictures)
    arrows = _fixed_arrows(pictures)
    legend = tuple(dict.fromkeys(item for picture in pictures for item in picture.legend))
    return [
        replace(picture, boxes=tuple(boxes[number]), arrows=tuple(arrows[number]), legend=legend)
        for number, picture in enumerate(pictures)
    ]


def _fixed_boxes(pictures: Sequence[VisualGraph]) -> list[list[Box]]:
    by_id = [{box.id: box for box in picture.boxes} for picture in pictures]
    kept = {box.id: box for picture in pictures for box in picture.boxes}  # in its last state
    found: list[list[Box]] = [[] for _ in pictures]
    for id, last in kept.items():
        absent = replace(last, state="absent")
        versions = [one.get(id, absent) for one in by_id]
        rows = _fixed_rows([box.rows for box in versions])
        ports = [_fixed_rows([box.ports[number].rows for box in versions]) for number in range(len(last.ports))]
        for at, box in enumerate(versions):
            if at and box is versions[at - 1]:
                found[at].append(found[at - 1][-1])
                continue
            found[at].append(
                replace(
                    box,
                    rows=rows[at],
                    ports=tuple(replace(port, rows=ports[k][at]) for k, port in enumerate(last.ports)),
                )
            )
    return found


def _fixed_rows(versions: Sequence[tuple[Row, ...]]) -> list[tuple[Row, ...]]:
    """The rows, equally many and equally wide in each version. A row that has no key in any version gets none."""
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


def _fixed_arrows(pictures: Sequence[VisualGraph]) -> list[list[Arrow]]:
    by_key = [dict(_by_key(picture.arrows)) for picture in pictures]
    kept = {key: arrow for arrows in by_key for key, arrow in arrows.items()}
    found: list[list[Arrow]] = [[] for _ in pictures]
    for key, last in kept.items():
        versions = [arrows.get(key) for arrows in by_key]
        written = any(arrow.written for arrow in versions if arrow is not None)
        width = max(len(arrow.text) for arrow in versions if arrow is not None)
        for at, arrow in enumerate(versions):
            base = arrow or replace(last, kind="absent", text="", written=False)
            text = (base.text if base.written else "").ljust(width, SPACE)
            found[at].append(replace(base, text=text, written=written and width > 0))
    return found


def _by_key(arrows: Iterable[Arrow]) -> Iterator[tuple[_ArrowKey, Arrow]]:
    count: dict[tuple[str, int | None, str], int] = {}
    for arrow in arrows:
        ends = (arrow.tail, arrow.port, arrow.head)
        count[ends] = count.get(ends, 0) + 1
        yield (*ends, count[ends]), arrow
