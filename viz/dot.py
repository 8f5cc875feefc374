"""A `VisualGraph` as DOT text: pure, and the same bytes for the same graph. Also valid for a plain `dot`.

Inputs are at the top and the loss is at the bottom, as in the program and on the stepper's tape. An arrow points down,
the way the value went, until a gradient comes back along it; then it points up, in another colour and weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from viz import _render
from viz.graph import STATE_GLYPHS, Arrow, Box, BoxState, LegendItem, Port, Row, Tone, VisualGraph
from viz.theme import CODE_FONT, TEXT_FONT, Theme

HEADING_SIZE, TITLE_SIZE, CODE_SIZE, TEXT_SIZE, LEGEND_SIZE = 13, 12, 10, 9, 8
LEGEND_COLUMN = 26  # characters

_BARE = ' BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1"'


def to_dot(graph: VisualGraph, theme: Theme) -> str:
    """The picture's DOT source. The cluster around everything is there to carry the legend below it."""
    lines = [
        "digraph microtape {",
        f"  graph [{_render.attributes(_graph_attributes(graph, theme))}]",
        f"  node [{_render.attributes(_node_defaults(theme))}]",
        f"  edge [{_render.attributes(_edge_defaults(theme))}]",
        "  subgraph cluster_picture {",
        f"    graph [{_render.attributes(_legend_attributes(graph, theme))}]",
        *(f"    {_render.quote(box.id)} [{_render.attributes(_box(box, theme))}]" for box in graph.boxes),
        *(f"    {{ rank=same {'; '.join(ids)} }}" for ids in _layers(graph.boxes)),
        "  }",
        *(
            f"  {_tail(arrow)} -> {_render.quote(arrow.head)} [{_render.attributes(_arrow(arrow, theme))}]"
            for arrow in graph.arrows
        ),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _graph_attributes(graph: VisualGraph, theme: Theme) -> dict[str, str]:
    return {
        "bgcolor": theme.background,
        "fontname": TEXT_FONT,
        "label": _render.markup(_heading(graph, theme)),
        "labelloc": "t",
        "labeljust": "l",
        "nodesep": "0.3",
        "ranksep": "0.35",
        "pad": "0.2",
        "tooltip": _render.plain(graph.title),
    }


def _legend_attributes(graph: VisualGraph, theme: Theme) -> dict[str, str]:
    label = {"label": _render.markup(_legend(graph, theme))} if graph.legend else {"label": ""}
    return {**label, "labelloc": "b", "labeljust": "l", "pencolor": "none", "margin": "0", "tooltip": " "}


def _node_defaults(theme: Theme) -> dict[str, str]:
    return {"fontname": CODE_FONT, "fontsize": str(CODE_SIZE), "fontcolor": theme.text, "margin": "0.09,0.05",
            "shape": "box", "height": "0.2", "width": "0.2"}  # fmt: skip


def _edge_defaults(theme: Theme) -> dict[str, str]:
    return {"fontname": CODE_FONT, "fontsize": str(TEXT_SIZE), "fontcolor": theme.gradient, "color": theme.line,
            "arrowsize": "0.6"}  # fmt: skip


def _layers(boxes: Iterable[Box]) -> list[list[str]]:
    ranks: dict[int, list[str]] = {}
    for box in boxes:
        ranks.setdefault(box.rank, []).append(_render.quote(box.id))
    return [ranks[rank] for rank in sorted(ranks)]


def _tail(arrow: Arrow) -> str:
    box = _render.quote(arrow.tail)
    return box if arrow.port is None else f"{box}:o{arrow.port}:s"


def _box(box: Box, theme: Theme) -> dict[str, str]:
    line, fill, style, width = _looks(box, theme)
    return {
        "id": box.id,
        "label": _render.markup(_box_label(box, theme)),
        "tooltip": _render.tooltip(box.tooltip or (box.title,)),
        "color": line,
        "fillcolor": fill,
        "style": style,
        "penwidth": f"{width:g}",
        **({"peripheries": "2"} if box.in_the_middle else {}),
        **({"shape": "note"} if box.kind == "error" else {}),
    }


def _looks(box: Box, theme: Theme) -> tuple[str, str, str, float]:
    """Line colour, fill, style and line width."""
    style = {"leaf": "rounded,filled", "constant": "filled,dashed", "again": "rounded,filled,dashed",
             "seed": "rounded,filled"}.get(box.kind, "filled")  # fmt: skip
    line, fill = {
        "leaf": (theme.leaf_line, theme.leaf),
        "constant": (theme.line, theme.constant),
        "again": (theme.line, theme.background),
        "seed": (theme.gradient, theme.background),
        "error": (theme.alarm, theme.failed),
    }.get(box.kind, (theme.line, theme.operation))
    if box.recorded_by_backward:
        line, fill = theme.recorded_line, theme.recorded
    if box.kind == "again" or box.kind == "error":
        return line, fill, style, 1
    if box.state == "current":
        return theme.current_line, theme.current, style, 3
    if box.state == "failed":
        return theme.alarm, theme.failed, style, 3
    if box.state == "receiving":
        return theme.current_line, fill, style, 1.8
    if box.state == "outside":
        return theme.line, theme.background, style + ",dotted", 1
    return line, fill, style, 1


def _box_label(box: Box, theme: Theme) -> str:
    glyph = STATE_GLYPHS[box.state]
    colour = {"current": theme.current_line, "receiving": theme.current_line, "failed": theme.alarm}.get(
        box.state, theme.muted
    )
    title = _font(f"{glyph} ", colour, TITLE_SIZE) if glyph and box.kind not in ("again", "error") else ""
    size = TEXT_SIZE if box.kind == "again" else TITLE_SIZE
    faded = box.kind == "again" or box.state == "outside"
    title += _font(box.title, theme.muted if faded else theme.text, size, bold=not faded)
    if box.note:
        title += _font(f"  {box.note}", theme.muted, TEXT_SIZE, TEXT_FONT)
    lines = [title, *_rows(box.rows, theme)]
    span = f' COLSPAN="{len(box.ports)}"' if box.ports else ""
    cells = "".join(f'<TR><TD ALIGN="LEFT"{span}>{line}</TD></TR>' for line in lines)
    if box.ports:
        cells += "<TR>" + "".join(_port(number, port, theme) for number, port in enumerate(box.ports)) + "</TR>"
    return f"<TABLE{_BARE}>{cells}</TABLE>"


def _rows(rows: Sequence[Row], theme: Theme) -> list[str]:
    """The rows as lines. Keys are padded: Graphviz would spread two columns over the width of a long title."""
    colours: dict[Tone, str] = {"plain": theme.text, "muted": theme.muted, "gradient": theme.gradient,
                                "alarm": theme.alarm}  # fmt: skip
    width = max((len(row.key) for row in rows), default=0)
    lines = []
    for row in rows:
        colour = colours[row.tone]
        if row.key:
            key = _font(f"{row.key:<{width}}  ", theme.alarm if row.tone == "alarm" else theme.muted, CODE_SIZE)
            lines.append(key + _font(row.text, colour, CODE_SIZE, bold=row.tone == "gradient"))
        else:
            lines.append(_font(row.text, colour, TEXT_SIZE, TEXT_FONT))
    return lines


def _port(number: int, port: Port, theme: Theme) -> str:
    lines = [_font(port.title, theme.text, CODE_SIZE, bold=True), *_rows(port.rows, theme)]
    cells = "".join(f'<TR><TD ALIGN="LEFT">{line}</TD></TR>' for line in lines)
    return f'<TD PORT="o{number}" BORDER="1" COLOR="{theme.line}"><TABLE{_BARE}>{cells}</TABLE></TD>'


def _arrow(arrow: Arrow, theme: Theme) -> dict[str, str]:
    looks: Mapping[str, dict[str, str]] = {
        "future": {},
        "value": {"style": "dashed", "arrowhead": "open"},
        "done": {"dir": "back", "color": theme.gradient, "penwidth": "1.6"},
        "now": {"dir": "back", "color": theme.current_line, "penwidth": "3", "fontcolor": theme.current_line},
        "undefined": {"dir": "back", "color": theme.gradient, "style": "dashed", "arrowtail": "empty"},
        "overwrote": {"color": theme.alarm, "fontcolor": theme.alarm, "style": "dashed", "penwidth": "2",
                      "constraint": "false"},
        "note": {"color": theme.alarm, "style": "dotted", "arrowhead": "none", "constraint": "false"},
    }  # fmt: skip
    label = {"label": _render.plain(f" {arrow.text} ")} if arrow.written else {}
    return {**looks[arrow.kind], **label, "tooltip": _render.tooltip((arrow.tooltip,)),
            "labeltooltip": _render.tooltip((arrow.tooltip,))}  # fmt: skip


def _heading(graph: VisualGraph, theme: Theme) -> str:
    lines = [
        _font(graph.title, theme.text, HEADING_SIZE, TEXT_FONT, bold=True),
        _font(graph.subtitle, theme.muted, CODE_SIZE, TEXT_FONT),
        *(_font(note, theme.muted, TEXT_SIZE, TEXT_FONT) for note in graph.notes),
    ]
    return f"<TABLE{_BARE}>" + "".join(f'<TR><TD ALIGN="LEFT">{line}</TD></TR>' for line in lines) + "</TABLE>"


def _legend(graph: VisualGraph, theme: Theme) -> str:
    """The legend in as many columns as the picture is wide, read downwards."""
    rows = -(-len(graph.legend) // max(2, _width(graph) // LEGEND_COLUMN))
    cells = ("".join(_legend_item(item, theme) for item in graph.legend[number::rows]) for number in range(rows))
    gap = '<TR><TD HEIGHT="6"></TD></TR>'
    return f"<TABLE{_BARE}>{gap}" + "".join(f"<TR>{row}</TR>" for row in cells) + "</TABLE>"


def _width(graph: VisualGraph) -> int:
    """About how wide the boxes are, in characters."""
    widths: dict[int, int] = {}
    for box in graph.boxes:
        longest = max((len(row.key) + 2 + len(row.text) for row in box.rows), default=0)
        wide = sum(max(len(port.title), *(len(row.key) + 2 + len(row.text) for row in port.rows)) for port in box.ports)
        widths[box.rank] = widths.get(box.rank, 0) + max(longest, wide, len(box.title) + len(box.note) + 4) + 4
    return max(widths.values(), default=0)


def _legend_item(item: LegendItem, theme: Theme) -> str:
    text = _font(item.text, theme.muted, LEGEND_SIZE, TEXT_FONT)
    return f'<TD WIDTH="24">{_swatch(item, theme)}</TD><TD ALIGN="LEFT">{text}   </TD>'


def _swatch(item: LegendItem, theme: Theme) -> str:
    """A small copy of the sign."""
    if item.about == "state":
        colours = {"current": theme.current_line, "receiving": theme.current_line, "failed": theme.alarm}
        name = cast(BoxState, item.name)
        return _font(STATE_GLYPHS[name], colours.get(name, theme.muted), LEGEND_SIZE, bold=True)
    if item.about == "arrow":
        sign, colour = {
            "future": ("↓", theme.line),
            "value": ("⇣", theme.line),
            "done": ("↑", theme.gradient),
            "now": ("⬆", theme.current_line),
            "undefined": ("⇡", theme.gradient),
            "overwrote": ("⇢", theme.alarm),
        }[item.name]
        return _font(sign, colour, LEGEND_SIZE, TEXT_FONT, bold=True)
    line, fill, style = {
        "leaf": (theme.leaf_line, theme.leaf, "ROUNDED"),
        "constant": (theme.line, theme.constant, "DASHED"),
        "again": (theme.line, theme.background, "ROUNDED,DASHED"),
        "": (theme.recorded_line, theme.recorded, ""),
    }.get(item.name, (theme.line, theme.operation, ""))
    style = f' STYLE="{style}"' if style else ""
    box = f'<TD BORDER="1" WIDTH="20" HEIGHT="9" FIXEDSIZE="TRUE" COLOR="{line}" BGCOLOR="{fill}"{style}></TD>'
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0"><TR>{box}</TR></TABLE>'


def _font(text: str, colour: str, size: int, face: str = CODE_FONT, *, bold: bool = False) -> str:
    text = _render.markup_text(text)
    return f'<FONT FACE="{face}" POINT-SIZE="{size}" COLOR="{colour}">{f"<B>{text}</B>" if bold else text}</FONT>'
