"""How a picture lies on its sheet: the direction of its arrows, its size, and the size of its smallest text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

PIXELS = 96  # of an inch

Direction: TypeAlias = Literal["down", "right"]
"""Where the loss is, seen from the inputs."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How Graphviz should lay a picture out."""

    direction: Direction = "down"
    width: float | None = None  # of the picture, in pixels; None: as large as its boxes need
    height: float | None = None
    smallest: int = 0  # points: smaller text is enlarged
    tight: bool = False  # the boxes are close together, and their titles no larger than their other text
    names: Literal["left", "right"] = "left"  # where the names of frames are

    @property
    def inches(self) -> str:
        """The size as Graphviz takes it."""
        return f"{(self.width or 0) / PIXELS:.4f},{(self.height or 0) / PIXELS:.4f}"


AS_USUAL = Arrangement()
