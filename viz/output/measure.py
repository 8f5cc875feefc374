"""Measures a picture as Graphviz drew it: its size, the size of its text, and where arrows run through text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
LETTER = 0.602  # the width of a letter of DejaVu Sans Mono, relative to its size
CLEAR = 0.8  # points by which a text's letters are surely inside of the rectangle around it
_SIGNS = ("-", "×")  # in the cells of heat maps


class Rectangle(NamedTuple):
    """In points, from the top left corner."""

    left: float
    top: float
    right: float
    bottom: float

    def contains(self, x: float, y: float) -> bool:
        """Whether a point is inside."""
        return self.left < x < self.right and self.top < y < self.bottom

    def overlaps(self, other: Rectangle) -> bool:
        """Whether they share a point."""
        across = self.left <= other.right and other.left <= self.right
        return across and self.top <= other.bottom and other.top <= self.bottom


class Measures(NamedTuple):
    """What is measured of a picture."""

    width: float  # points
    height: float
    smallest: float  # the size of its smallest text, in points
    through: int  # texts through which an arrow runs
    boxes: Mapping[str, Rectangle]  # by the box's id

    def text_at(self, width: float, height: float) -> float:
        """The size of the smallest text if the picture is scaled to fit into this size, in the same unit."""
        return self.smallest * min(width / self.width, height / self.height)


def measure(svg: str) -> Measures:
    """Measure a picture as `Drawing.svg()` returns it."""
    root = ElementTree.fromstring(svg)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    (graph,) = root.findall(f"{SVG}g")
    scale, dx, dy = _transform(graph.get("transform", ""))
    texts = list(root.iter(f"{SVG}text"))
    box_of = {text: rectangle_around(group) for group in _groups(root, "node") for text in group.iter(f"{SVG}text")}
    lines = [
        [(x + dx, y + dy) for x, y in curve(path.get("d", ""))]
        for group in _groups(root, "edge")
        for path in group.iter(f"{SVG}path")
    ]
    words = {_moved(_of_text(text, box_of.get(text)), dx, dy) for text in texts}
    hit = [one for one in words if any(one.contains(x, y) for line in lines for x, y in line)]
    around = {group.get("id", ""): _moved(rectangle_around(group), dx, dy) for group in _groups(root, "node")}
    boxes = {id: Rectangle(*(scale * side for side in one)) for id, one in around.items()}
    sizes = [float(text.get("font-size", "14")) for text in texts if text.text not in _SIGNS]
    return Measures(width, height, min(sizes) * scale, len(hit), boxes)


def frames(svg: str) -> list[Rectangle]:
    """The frames of open folds, in the picture's own coordinates."""
    return [rectangle_around(group) for group in _groups(ElementTree.fromstring(svg), "cluster")][
        1:
    ]  # the first is around all


def _groups(root: ElementTree.Element, kind: str) -> Iterator[ElementTree.Element]:
    return (group for group in root.iter(f"{SVG}g") if group.get("class") == kind)


def _transform(text: str) -> tuple[float, float, float]:
    """The scale, and how far the content is moved before it is scaled."""
    scale = re.search(r"scale\(([\d.]+)", text)
    moved = re.search(r"translate\((-?[\d.]+)[ ,](-?[\d.]+)\)", text)
    assert scale is not None
    assert moved is not None
    return float(scale[1]), float(moved[1]), float(moved[2])


def _moved(one: Rectangle, dx: float, dy: float) -> Rectangle:
    return Rectangle(one.left + dx, one.top + dy, one.right + dx, one.bottom + dy)


def rectangle_around(group: ElementTree.Element) -> Rectangle:
    """The rectangle around all shapes of a group."""
    numbers = [
        (float(x), float(y))
        for shape in group.iter()
        for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", shape.get("points") or shape.get("d") or "")
    ]
    xs, ys = [x for x, _ in numbers], [y for _, y in numbers]
    return Rectangle(min(xs, default=0), min(ys, default=0), max(xs, default=0), max(ys, default=0))


def _of_text(text: ElementTree.Element, box: Rectangle | None) -> Rectangle:
    """The letters of a text, a little less than the rectangle around them. They are inside of their box."""
    x, y, size = (float(text.get(name, "0")) for name in ("x", "y", "font-size"))
    words, letter = (text.text or "").strip(" "), LETTER * size
    left = x - letter * len(words) / 2 if text.get("text-anchor") == "middle" else x
    left, right = left + letter * (len(words) - len(words.lstrip())), left + letter * len(words.rstrip())
    right = right if box is None else min(right, box.right)  # letters may be narrower than those of LETTER
    return Rectangle(left + CLEAR, y - 0.7 * size + CLEAR, right - CLEAR, y - CLEAR / 2)


def curve(path: str) -> Iterator[tuple[float, float]]:
    """Points along the cubic curves of a path."""
    numbers = [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", path)]
    for first in range(0, len(numbers) - 3, 3):
        p, q, r, s = numbers[first : first + 4]
        steps = max(8, int((abs(s[0] - p[0]) + abs(s[1] - p[1])) / 3))
        for at in (step / steps for step in range(steps + 1)):
            a, b, c, d = (1 - at) ** 3, 3 * at * (1 - at) ** 2, 3 * at**2 * (1 - at), at**3
            yield a * p[0] + b * q[0] + c * r[0] + d * s[0], a * p[1] + b * q[1] + c * r[1] + d * s[1]
