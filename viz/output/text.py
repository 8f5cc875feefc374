"""A `VisualGraph` as plain text, for terminals, for screen readers, and where Graphviz is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from viz.basics.characters import to_ascii
from viz.basics.graph import STATE_GLYPHS, Arrow, Box, Row, VisualGraph

_UNNAMED = ("operation", "seed", "error", "enter", "unpack", "return")  # their titles or rows say what they are


def to_text(graph: VisualGraph, *, ascii: bool = False) -> str:
    """The boxes from the inputs down; below each its rows, the values it uses (←) and the gradients it sent (→)."""
    names: dict[tuple[str, int | None], str] = {(box.id, None): _name(box) for box in graph.boxes}
    names |= {
        (box.id, number): f"{_name(box)} {port.title if box.kind in _UNNAMED[3:] else f'output {number}'}"
        for box in graph.boxes
        for number, port in enumerate(box.ports)
    }
    arrows: dict[str, list[Arrow]] = {}
    for arrow in graph.arrows:
        arrows.setdefault(arrow.head, []).append(arrow)
    lines = [graph.title, *([graph.finding] if graph.finding else []), graph.subtitle, *graph.notes]
    for box in graph.boxes:
        if box.kind != "again":
            ways = (_way(arrow, names) for arrow in arrows.get(box.id, ()))
            lines += ["", *_box(box), *(f"    {way}" for way in ways if way)]
    text = "\n".join(lines) + "\n"
    return to_ascii(text) if ascii else text


def _box(box: Box) -> list[str]:
    glyph = STATE_GLYPHS[box.state] or " "
    kind = "" if box.kind in _UNNAMED else f"  {box.kind}"
    number = _number(box)
    lines = [f"{glyph} {number}{box.title}{kind}{f'  {box.note}' if box.note else ''}", *_rows(box.rows, "    ")]
    for port in box.ports:
        lines += [f"    {port.title}", *_rows(port.rows, "      ")]
    return lines


def _name(box: Box) -> str:
    return _number(box) + box.title.partition(" = ")[0]


def _number(box: Box) -> str:
    """The node's number, if the title does not begin with it."""
    return "" if box.node is None or box.title.startswith("%") else f"%{box.node} "


def _rows(rows: Sequence[Row], indent: str) -> list[str]:
    width = max((len(row.key) for row in rows), default=0)
    return [f"{indent}{row.key:<{width}}  {row.text}".rstrip() if row.key else f"{indent}{row.text}" for row in rows]


def _way(arrow: Arrow, names: Mapping[tuple[str, int | None], str]) -> str:
    tail = names[arrow.tail, arrow.port]
    return {
        "future": f"← {tail}",
        "value": f"← {tail} (no gradient goes back)" if not arrow.aside else f"← {tail} ({arrow.text})",
        "border": f"✂ {tail} (its history ends here)",
        "done": f"→ {tail}: {arrow.text}",
        "now": f"→ {tail}: {arrow.text}",
        "undefined": f"→ {tail}: None (adds nothing)",
        "overwrote": f"✗ {tail} {arrow.text}",
        "note": f"← {tail}",
        "next": "",
        "absent": "",
    }[arrow.kind]
