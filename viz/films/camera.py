"""Follows the current box in a film whose pictures are larger than the place for them, as a GIF cannot be scrolled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from viz.basics.graph import VisualGraph
from viz.fitting.sizes import Size
from viz.output.measure import Rectangle

ABOVE = 4.0  # pixels between the heading and the uppermost box
MOST_HEADING = 0.4  # part of the height that the heading may take


class View(NamedTuple):
    """A part of a picture, in whole pixels: what is shown of it below its heading begins at `left` and `top`."""

    width: int
    height: int
    heading: int
    left: int
    top: int


@dataclass(frozen=True, slots=True)
class Camera:
    """What to show of large pictures: their heading and, below it, a part around the current box. In pixels."""

    picture: Size
    room: Size
    boxes: Mapping[str, Rectangle]

    @property
    def size(self) -> Size:
        """Of what is shown."""
        return Size(min(self.room.width, self.picture.width), min(self.room.height, self.picture.height))

    @property
    def heading(self) -> float:
        """The height of the heading."""
        top = min((box.top for box in self.boxes.values()), default=0.0) - ABOVE
        return max(0.0, min(top, MOST_HEADING * self.size.height))

    def corners(self, pictures: Sequence[VisualGraph]) -> Iterator[tuple[float, float]]:
        """The left upper corner of the part that is shown of each picture. It stays while the current box is in it."""
        left, top = 0.0, self.heading
        width, height = self.size.width, self.size.height - self.heading
        for picture in pictures:
            box = self._in_focus(picture)
            if box is not None and not (left <= box.left and box.right <= left + width):
                left = _within((box.left + box.right - width) / 2, 0, self.picture.width - width)
            if box is not None and not (top <= box.top and box.bottom <= top + height):
                top = _within((box.top + box.bottom - height) / 2, self.heading, self.picture.height - height)
            yield left, top

    def views(self, pictures: Sequence[VisualGraph], scale: float) -> list[View]:
        """What to show of each picture if it is enlarged by that scale."""
        width, height = (round(scale * side) for side in self.size)
        heading = round(scale * self.heading)
        return [
            View(width, height, heading, round(scale * left), round(scale * top))
            for left, top in self.corners(pictures)
        ]

    def _in_focus(self, picture: VisualGraph) -> Rectangle | None:
        """The current box; before the first step, the box that comes next."""
        for states in (("failed", "current"), ("ready",)):
            for box in picture.boxes:
                if box.state in states and box.kind != "again" and box.id in self.boxes:
                    return self.boxes[box.id]
        return None


def _within(value: float, low: float, high: float) -> float:
    return max(low, min(value, high))
