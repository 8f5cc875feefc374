"""Moves texts to where no arrow runs through them: names along the edges of frames, others along their own arrows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import product
from typing import TypeAlias
from xml.etree import ElementTree

from viz.output.labels import TEXT_SIZE
from viz.output.measure import CLEAR, LETTER, Rectangle, curve, rectangle_around
from viz.output.svg import SVG

TEXT, PATH = f"{{{SVG}}}text", f"{{{SVG}}}path"
STEP = 6.0  # points between two places of a name that are tried
EDGE = 5.0  # points between a text and its frame or arrow
ALONG = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)  # the places beside an arrow that are tried,
AWAY = (0.0, 8.0, 16.0)  # and how many points further away

_Point: TypeAlias = tuple[float, float]
_Line: TypeAlias = Sequence[_Point]


def free_texts(
    frames: Collection[ElementTree.Element],
    arrows: Collection[ElementTree.Element],
    boxes: Collection[ElementTree.Element],
) -> None:
    """Move the names of these frames and the texts of these arrows, whose x is their middle, away from the arrows.

    A text that is clear stays, and so does one for which no place is clear.
    """
    paths = [[list(curve(path.get("d", ""))) for path in arrow.iter(PATH)] for arrow in arrows]
    lines = [(_around(line), line) for each in paths for line in each if line]
    for frame in frames:
        for text in frame.iter(TEXT):
            _move(text, _in_frame(text, rectangle_around(frame)), lines, [])
    around = [rectangle_around(box) for box in boxes]
    for arrow, own in zip(arrows, paths, strict=True):
        for text in arrow.iter(TEXT):
            if own and own[0]:
                _move(text, _beside(text, own[0]), lines, around)


def _move(
    text: ElementTree.Element,
    places: Iterator[_Point],
    lines: Sequence[tuple[Rectangle, _Line]],
    boxes: Sequence[Rectangle],
) -> None:
    for x, y in places:
        letters = _letters(text, x, y)
        near = [line for around, line in lines if letters.overlaps(around)]
        crossed = any(letters.contains(*point) for line in near for point in line)
        if not crossed and not any(letters.overlaps(box) for box in boxes):
            text.attrib.update({"x": f"{x:.2f}", "y": f"{y:.2f}"})
            return


def _place(text: ElementTree.Element) -> _Point:
    return float(text.get("x", "0")), float(text.get("y", "0"))


def _width(text: ElementTree.Element) -> float:
    """With room for the longest text that a film shows there, but without the blanks around it."""
    return len((text.text or "").removeprefix(" ").removesuffix(" ")) * LETTER * TEXT_SIZE


def _in_frame(text: ElementTree.Element, frame: Rectangle) -> Iterator[_Point]:
    """Where the name is, else from left to right."""
    x, y = _place(text)
    yield x, y
    room = EDGE + _width(text) / 2
    for number in range(int(max(0.0, frame.right - frame.left - 2 * room) / STEP) + 1):
        yield frame.left + room + number * STEP, y


def _beside(text: ElementTree.Element, line: _Line) -> Iterator[_Point]:
    """Where the text is, else on either side of its arrow."""
    yield _place(text)
    away = EDGE + _width(text) / 2
    for further, part in product(AWAY, ALONG):
        x, y = line[round(part * (len(line) - 1))]
        yield x + away + further, y + TEXT_SIZE / 3
        yield x - away - further, y + TEXT_SIZE / 3


def _letters(text: ElementTree.Element, x: float, y: float) -> Rectangle:
    half = _width(text) / 2
    return Rectangle(x - half - CLEAR, y - TEXT_SIZE, x + half + CLEAR, y + CLEAR)


def _around(line: _Line) -> Rectangle:
    xs, ys = zip(*line, strict=True)
    return Rectangle(min(xs), min(ys), max(xs), max(ys))
