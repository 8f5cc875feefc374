"""The places into which a picture should fit."""

from __future__ import annotations

from contextlib import suppress
from typing import Literal, NamedTuple, TypeAlias

from viz.basics.characters import visible
from viz.basics.errors import DrawError

Fit: TypeAlias = Literal["slide", "a4", "column"] | tuple[float, float]
"""A place that a picture should fit into: its name, or its width and height in pixels."""

SMALLEST, LARGEST = 100, 20_000  # pixels


class Size(NamedTuple):
    """In pixels, of which an inch has 96."""

    width: float
    height: float

    def __str__(self) -> str:
        return f"{self.width:g}x{self.height:g}"


SIZES: dict[str, tuple[Size, ...]] = {
    "slide": (Size(1280, 720),),
    "a4": (Size(680, 1009), Size(1009, 680)),  # between margins of 15 mm; upright, or on its side
    "column": (Size(760, 2000),),  # of an issue thread or a page of documentation
}


def sizes_of(fit: Fit) -> tuple[Size, ...]:
    """The sizes into any of which the picture may fit. Raises DrawError."""
    if isinstance(fit, str):
        if fit in SIZES:
            return SIZES[fit]
    else:
        with suppress(TypeError, ValueError):
            width, height = map(float, fit)
            if all(SMALLEST <= side <= LARGEST for side in (width, height)):
                return (Size(width, height),)
    raise DrawError(
        f"fit={visible(repr(fit), 40)} is not valid: it takes {', '.join(SIZES)}, or (width, height) in pixels, each "
        f"from {SMALLEST} to {LARGEST:,}"
    )
