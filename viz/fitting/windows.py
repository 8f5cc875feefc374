"""Divides a picture into windows that overlap a little: each is one page, and every box is whole on one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from viz.fitting.sizes import Size
from viz.output.measure import Measures, Rectangle

OVERLAP = 24.0  # points that two neighbouring windows share, at least
SHORTEST = 0.6  # part of a page that a window fills, at least, to cut fewer boxes
REPEATED = 0.3  # part of a page that its first boxes, which the page before shows as well, may fill
AROUND = 6.0  # points around a box


def windows(found: Measures, scale: float, room: Size) -> list[Rectangle]:
    """The parts of the picture, enlarged by that scale, that fill pages with so much room; row by row.

    A window has the points of the enlarged picture. Windows without any box are left out, but not those on the left,
    where the heading and the legend are.
    """
    boxes = [Rectangle(*(scale * side for side in box)) for box in found.boxes.values()]
    columns = list(_ranges(found.width * scale, room.width, [(box.left, box.right) for box in boxes]))
    rows = list(_ranges(found.height * scale, room.height, [(box.top, box.bottom) for box in boxes]))
    every = [Rectangle(left, top, right, bottom) for top, bottom in rows for left, right in columns]
    return [one for one in every if not one.left or any(_touches(one, box) for box in boxes)]


def _touches(one: Rectangle, box: Rectangle) -> bool:
    return box.left < one.right and box.right > one.left and box.top < one.bottom and box.bottom > one.top


def _ranges(length: float, room: float, spans: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Where the windows begin and end in one direction. They cut as few boxes as possible."""
    begin = 0.0
    while length - begin > room:
        full = begin + room
        ends = [full, *(stop + AROUND for _, stop in spans if SHORTEST * room <= stop + AROUND - begin <= room)]
        end = min(ends, key=lambda at: (sum(start < at < stop for start, stop in spans), -at))
        yield begin, end
        seen_again = end - OVERLAP
        again = [
            start - AROUND
            for start, stop in spans
            if (start < end < stop and stop - start + 2 * AROUND <= room)
            or (start < seen_again < stop and end - start <= REPEATED * room)
        ]
        begin = min([seen_again, *(start for start in again if start > begin)])
    yield begin, length
