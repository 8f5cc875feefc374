"""A picture as SVG for the page of a film: the page's script finds what changes, its style sheet sets the looks.

Shapes and texts have classes instead of colours and fonts. In a group with the class `box`, the texts of row 3 have
`data-k="3"` (its key) and `data-t="3"` (its text).
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from viz.basics.errors import GraphvizError
from viz.basics.graph import Box, Row, VisualGraph
from viz.basics.theme import LIGHT
from viz.films.free_texts import free_texts
from viz.output.dot import to_dot
from viz.output.labels import TEXT_SIZE
from viz.output.render import render
from viz.output.svg import GROUP, SVG, groups, read_svg

LINES = f"{{{SVG}}}polyline"
TEXT, SHAPES = f"{{{SVG}}}text", {f"{{{SVG}}}{name}" for name in ("polygon", "path", "polyline", "ellipse")}
XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_LOOKS = ("fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight",
          "text-anchor", XML_SPACE)  # fmt: skip
TERM_HALF = TEXT_SIZE * 0.602 / 2  # half a character: Graphviz centres the texts beside arrows, the page does not


def page_svg(picture: VisualGraph, prefix: str, time_limit: float) -> str:
    """The SVG element; ids begin with `prefix`. Raises GraphvizError."""
    drawn = render(to_dot(picture, LIGHT, "page"), "svg", time_limit=time_limit).decode("utf-8")
    titles = {box.id: box.tooltip[0] if box.tooltip else box.title for box in picture.boxes}
    root = read_svg(drawn, {"graph0": picture.title, **titles})
    found = dict(groups(root))
    for box in picture.boxes:
        _mark_box(found[box.id], box)
    for number, arrow in enumerate(picture.arrows):
        group = found[f"a{number}"]
        group.set("class", f"arrow {arrow.look}")
        if arrow.upwards:
            group.set("data-upwards", "")
    frames = [found[id] for id in dict.fromkeys(cluster.id for box in picture.boxes for cluster in box.clusters)]
    for frame in frames:
        frame.set("class", "open-fold")
    arrows = [found[f"a{number}"] for number in range(len(picture.arrows))]
    free_texts(frames, arrows, [found[box.id] for box in picture.boxes])
    for arrow, group in zip(picture.arrows, arrows, strict=True):
        for text in group.iter(TEXT):
            text.attrib.update({"class": "term", "x": f"{float(text.get('x', '0')) - TERM_HALF * len(arrow.text):.2f}"})
    for id, group in found.items():
        group.set("id", f"{prefix}-{id}")
    for element in root.iter():
        for name in _LOOKS:
            if element.tag in SHAPES or element.tag == TEXT:
                element.attrib.pop(name, None)
        element.tail = None
    root.attrib.update({"class": "graph", "data-width": root.attrib.pop("width").removesuffix("pt")})
    del root.attrib["height"]
    for group in [one for one in root.iter(GROUP) if one.get("class") in ("graph", "cluster")]:
        for shape in [one for one in group if one.tag in SHAPES]:  # remove backgrounds: the page has its own
            group.remove(shape)
    return ElementTree.tostring(root, encoding="unicode")


def _mark_box(group: ElementTree.Element, box: Box) -> None:
    recorded = " recorded" if box.recorded_in is not None else ""
    group.set("class", f"box {box.kind.replace(' ', '-')}{recorded} {box.state}".strip())
    outline = True
    texts = []
    for element in group:
        if element.tag == TEXT:
            outline = False
            texts.append(element)
        elif element.tag in SHAPES:
            element.set("class", "outline" if outline and element.tag != LINES else "cell")
            outline = outline and not box.ports_on_top  # there, cells come before the first text
    marks = list(_marks(box))
    if len(marks) != len(texts):
        raise GraphvizError(f"Graphviz drew {len(texts)} texts in a box that has {len(marks)}")
    for text, mark in zip(texts, marks, strict=True):
        text.attrib.update(mark)


def _marks(box: Box) -> Iterator[dict[str, str]]:
    """The attributes of each text of a box, in the order in which `viz.output.labels` writes the texts."""
    ports = list(_port_marks(box))
    if box.ports_on_top:
        yield from ports
    if box.kind not in ("again", "error"):
        yield {"class": "glyph"}
    yield {"class": "title"}
    if box.note:
        yield {"class": "note"}
    for number, row in enumerate(box.rows):
        yield from _row(row, number)
    if not box.ports_on_top:
        yield from ports


def _port_marks(box: Box) -> Iterator[dict[str, str]]:
    number = len(box.rows)
    for port in box.ports:
        yield {"class": "name"}
        for row in port.rows:
            yield from _row(row, number)
            number += 1


def _row(row: Row, number: int) -> Iterator[dict[str, str]]:
    if row.key:
        yield {"class": "key", "data-k": str(number)}
    if row.text:
        yield {"class": f"{'text' if row.key else 'words'} {row.tone}", "data-t": str(number)}
