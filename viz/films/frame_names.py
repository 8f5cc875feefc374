"""Moves the names of frames to where no arrow runs through them, along the frames' upper edges."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from xml.etree import ElementTree

from viz.output.labels import TEXT_SIZE
from viz.output.measure import CLEAR, LETTER, Rectangle, curve, rectangle_around
from viz.output.svg import SVG

TEXT, PATH = f"{{{SVG}}}text", f"{{{SVG}}}path"
STEP = 6.0  # points between two places that are tried
EDGE = 5.0  # points between a name and its frame


def free_names(frames: Collection[ElementTree.Element], arrows: Collection[ElementTree.Element]) -> None:
    """Move the names of these frames, each the only text of its group, away from these arrows."""
    lines = [list(curve(path.get("d", ""))) for arrow in arrows for path in arrow.iter(PATH)]
    for frame in frames:
        for text in frame.iter(TEXT):
            centres = _centres(text, rectangle_around(frame))
            free = next((one for one in centres if not _is_crossed(_letters(text, one), lines)), None)
            if free is not None:
                text.set("x", f"{free:.2f}")


def _width(text: ElementTree.Element) -> float:
    return len(text.text or "") * LETTER * TEXT_SIZE


def _centres(text: ElementTree.Element, frame: Rectangle) -> Iterator[float]:
    """Where the middle of the name may be: where it is, else from left to right."""
    yield float(text.get("x", "0"))
    room = EDGE + _width(text) / 2
    for number in range(int(max(0.0, frame.right - frame.left - 2 * room) / STEP) + 1):
        yield frame.left + room + number * STEP


def _letters(text: ElementTree.Element, centre: float) -> Rectangle:
    half, base = _width(text) / 2, float(text.get("y", "0"))
    return Rectangle(centre - half - CLEAR, base - TEXT_SIZE, centre + half + CLEAR, base + CLEAR)


def _is_crossed(letters: Rectangle, lines: Sequence[Sequence[tuple[float, float]]]) -> bool:
    return any(letters.contains(x, y) for line in lines for x, y in line)
