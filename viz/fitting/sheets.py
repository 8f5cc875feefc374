"""Arranges a picture on several pages, where its text could not be read on one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

from viz.basics.arrangement import Arrangement, Direction
from viz.basics.graph import VisualGraph
from viz.fitting.choose import READABLE
from viz.fitting.sizes import Fit, Size, sizes_of
from viz.fitting.windows import windows
from viz.output.labels import CODE_SIZE
from viz.output.measure import Measures, Rectangle

POINTS = 0.75  # of a pixel: an inch has 96 pixels and 72 points
FOOT = 18.0  # points below a window, for the page's number
PAPER = Size(595.28, 841.89)  # points: A4


@dataclass(frozen=True, slots=True)
class Sheets:
    """A picture on several pages of the same size, in points."""

    arrangement: Arrangement
    windows: Sequence[Rectangle]  # of the picture as it is arranged, one for each page
    page: Size
    room: Size  # for a window, in the middle of the page, above its foot

    @property
    def size(self) -> tuple[float, float]:
        """Of the picture, in points."""
        return (self.arrangement.width or 0) * POINTS, (self.arrangement.height or 0) * POINTS

    @property
    def margins(self) -> tuple[float, float]:
        """The distances of a window from the left and the upper edge of its page."""
        left = (self.page.width - self.room.width) / 2
        return left, (self.page.height - self.room.height - FOOT) / 2


def sheets(graph: VisualGraph, fit: Fit, layout: Callable[[VisualGraph, Arrangement], Measures]) -> Sheets:
    """The arrangement with the fewest pages and, of those, with the fewest arrows through text."""
    tried: list[tuple[int, int, int, Sheets]] = []
    for direction in get_args(Direction):
        found = layout(graph, Arrangement(direction, smallest=CODE_SIZE))
        scale = READABLE / found.smallest  # pixels of a point
        arrangement = Arrangement(direction, found.width * scale, found.height * scale, CODE_SIZE)
        for size in sizes_of(fit):
            inside = Size(size.width * POINTS, size.height * POINTS)
            room = Size(inside.width, inside.height - FOOT)
            page = inside if fit != "a4" else PAPER if size.height > size.width else Size(PAPER.height, PAPER.width)
            parts = windows(found, scale * POINTS, room)
            tried.append((len(parts), found.through, len(tried), Sheets(arrangement, parts, page, room)))
    return min(tried, key=lambda one: one[:3])[-1]
