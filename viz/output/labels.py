"""The texts in boxes, in the heading and in the legend, as Graphviz's HTML-like labels.

A label inherits its font, size and colour from the defaults that `viz.output.dot` sets; only differences are marked up.
Every text passes through `_styled`, which escapes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import cast

from viz.basics.characters import left_to_right
from viz.basics.graph import LINE_WIDTH, SPACE, STATE_GLYPHS, Box, BoxState, LegendItem, Port, Row, Tone, VisualGraph
from viz.basics.heat import Heat
from viz.basics.theme import CODE_FONT, TEXT_FONT, Theme
from viz.output import graphviz_api
from viz.output.thumbnail import SIGN_SIZE, thumbnail

HEADING_SIZE, TITLE_SIZE, CODE_SIZE, TEXT_SIZE, LEGEND_SIZE = 13, 12, 10, 9, 8
CUT_SIZE = 14  # of the scissors on a border's arrow
LEGEND_COLUMN = 26  # characters
WIDE, LARGEST = 120, 1.6  # characters: wider pictures are viewed from further away, so heading and legend grow

_SIZE = re.compile(r'POINT-SIZE="(\d+)"')  # in a text, the quotation marks would be escaped
_BARE = ' BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1"'


def box_label(box: Box, theme: Theme, *, fixed: bool = False, sideways: bool = False) -> str:
    """Title, rows and ports; `fixed` always leaves room for a glyph. Inherits the code font at CODE_SIZE.

    `sideways`: the ports are below each other, for arrows that go to the right.
    """
    glyph = (STATE_GLYPHS[box.state] or SPACE * fixed) if box.kind not in ("again", "error") else ""
    title = _styled(f"{glyph} ", _state_colour(box.state, theme), TITLE_SIZE) if glyph else ""
    faded = box.kind == "again" or box.state == "outside"
    size = TEXT_SIZE if box.kind == "again" else TITLE_SIZE
    title += _styled(box.title, theme.muted if faded else "", size, bold=not faded)
    if box.note:
        title += _styled(f"  {box.note}", theme.muted, TEXT_SIZE, TEXT_FONT)
    cells = _lines([title, *_rows(box.rows, theme, heat=not fixed)], columns=1 if sideways else len(box.ports))
    ports = [_port(number, port, theme, heat=not fixed) for number, port in enumerate(box.ports)]
    row = f"<TR>{('</TR><TR>' if sideways else '').join(ports)}</TR>" if ports else ""
    return f"<TABLE{_BARE}>{row + cells if box.ports_on_top else cells + row}</TABLE>"


def resized(label: str, smallest: int, largest: int | None = None) -> str:
    """The label with its text as large as `smallest` at least, and `largest` at most; signs in heat maps stay."""

    def sized(found: re.Match[str]) -> str:
        size = int(found[1])
        if size > SIGN_SIZE:
            size = max(size, smallest) if largest is None else min(max(size, smallest), largest)
        return f'POINT-SIZE="{size}"'

    return _SIZE.sub(sized, label)


def heading(graph: VisualGraph, theme: Theme, *, fixed: bool = False) -> str:
    """Title, finding, subtitle, notes; `fixed`: all subtitles equally wide. Inherits the font at `heading_size`."""
    size = heading_size(graph)
    title = _styled(graph.title, theme.text, size + HEADING_SIZE - CODE_SIZE, bold=True)
    finding = [_styled(graph.finding, theme.alarm, bold=True)] if graph.finding else []
    subtitle = _styled(graph.subtitle.ljust(LINE_WIDTH, SPACE) if fixed else graph.subtitle,
                       face=CODE_FONT if fixed else "")  # fmt: skip
    notes = (_styled(note, size=size + TEXT_SIZE - CODE_SIZE) for note in graph.notes)
    return f"<TABLE{_BARE}>{_lines([title, *finding, subtitle, *notes])}</TABLE>"


def legend(graph: VisualGraph, theme: Theme) -> str:
    """The legend, with as many columns as fit. Inherits the text font at `legend_size`, muted."""
    size = legend_size(graph)
    rows = -(-len(graph.legend) // max(2, _width(graph) * LEGEND_SIZE // (LEGEND_COLUMN * size)))
    cells = ("".join(_legend_item(item, theme, size) for item in graph.legend[number::rows]) for number in range(rows))
    gap = '<TR><TD HEIGHT="6"></TD></TR>'
    return f"<TABLE{_BARE}>{gap}{''.join(f'<TR>{row}</TR>' for row in cells)}</TABLE>"


def heading_size(graph: VisualGraph) -> int:
    """The font size of the subtitle, from which those of the title and the notes follow."""
    return _on_sheet(CODE_SIZE, graph)


def legend_size(graph: VisualGraph) -> int:
    """The font size of the legend."""
    return _on_sheet(LEGEND_SIZE, graph)


def _on_sheet(size: int, graph: VisualGraph) -> int:
    return round(size * min(max(_width(graph) / WIDE, 1), LARGEST))


def _lines(lines: Iterable[str], columns: int = 0) -> str:
    span = f' COLSPAN="{columns}"' if columns > 1 else ""
    return "".join(f'<TR><TD ALIGN="LEFT"{span}>{line}</TD></TR>' for line in lines)


def _rows(rows: Sequence[Row], theme: Theme, *, heat: bool) -> list[str]:
    """The rows as lines, with or without heat maps.

    Keys are padded with spaces: as two columns, Graphviz would spread them over the width of a long title.
    """
    colours: dict[Tone, str] = {"plain": "", "muted": theme.muted, "gradient": theme.gradient, "alarm": theme.alarm}
    width = max((len(row.key) for row in rows), default=0)
    lines = []
    for row in rows:
        colour = colours[row.tone]
        if row.key:
            key = _styled(f"{row.key:<{width}}  ", theme.alarm if row.tone == "alarm" else theme.muted)
            lines.append(key + _styled(row.text, colour, bold=row.tone == "gradient"))
        else:
            lines.append(_styled(row.text, colour, TEXT_SIZE, TEXT_FONT))
    maps = [(row.key, row.heat) for row in rows if row.heat is not None]
    if heat and maps:
        last = max(number for number, row in enumerate(rows) if row.heat is not None)
        lines.insert(last + 1, _maps(maps, theme))
    return lines


def _maps(maps: Sequence[tuple[str, Heat]], theme: Theme) -> str:
    """Heat maps side by side, such as value and gradient, with their names above."""
    names = "".join(f'<TD ALIGN="LEFT">{_styled(key, theme.muted, TEXT_SIZE)}</TD>' for key, _ in maps)
    cells = "".join(f'<TD VALIGN="TOP">{thumbnail(heat, theme)}</TD>' for _, heat in maps)
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0"><TR>{names}</TR><TR>{cells}</TR></TABLE>'


def _port(number: int, port: Port, theme: Theme, *, heat: bool) -> str:
    cells = _lines([_styled(port.title, bold=True), *_rows(port.rows, theme, heat=heat)])
    dashed = ' STYLE="DASHED"' if port.ends else ""
    return f'<TD PORT="o{number}" BORDER="1" COLOR="{theme.line}"{dashed}><TABLE{_BARE}>{cells}</TABLE></TD>'


def _width(graph: VisualGraph) -> int:
    """The approximate width of the picture in characters: that of its widest rank."""
    widths: dict[int, int] = {}
    for box in graph.boxes:
        longest = max((len(row.key) + 2 + len(row.text) for row in box.rows), default=0)
        wide = sum(
            max([len(port.title), *(len(row.key) + 2 + len(row.text) for row in port.rows)]) for port in box.ports
        )
        widths[box.rank] = widths.get(box.rank, 0) + max(longest, wide, len(box.title) + len(box.note) + 4) + 4
    return max(widths.values(), default=0)


def _legend_item(item: LegendItem, theme: Theme, size: int) -> str:
    return f'<TD WIDTH="{3 * size + 6}">{_swatch(item, theme, size)}</TD><TD ALIGN="LEFT">{_styled(item.text)}   </TD>'


def _swatch(item: LegendItem, theme: Theme, size: int) -> str:
    """A small copy of the sign, as high as the text."""
    if item.about == "bars":
        return _styled("▂▅█", theme.muted)
    if item.about == "end":
        return _styled("⊣", theme.muted, bold=True)
    if item.about == "heat":
        return thumbnail(Heat(((1.0, 0.4, -0.7, "nan"),), True, 1.0), theme)
    if item.about == "state":
        state = cast(BoxState, item.name)
        return _styled(STATE_GLYPHS[state], _state_colour(state, theme), face=CODE_FONT, bold=True)
    if item.about == "arrow":
        sign, colour = {
            "future": ("↓", theme.line),
            "value": ("⇣", theme.line),
            "done": ("↑", theme.gradient),
            "now": ("⬆", theme.current_line),
            "undefined": ("⇡", theme.gradient),
            "border": ("✂", theme.muted),
            "overwrote": ("⇢", theme.alarm),
            "next": ("⋮", theme.muted),
        }[item.name]
        return _styled(sign, colour, bold=True)
    line, fill, style = {
        "leaf": (theme.leaf_line, theme.leaf, "ROUNDED"),
        "constant": (theme.line, theme.constant, "DASHED"),
        "border": (theme.muted, theme.constant, "DASHED"),
        "again": (theme.line, theme.background, "ROUNDED,DASHED"),
        "enter": (theme.muted, theme.background, "ROUNDED"),
        "unpack": (theme.muted, theme.background, "ROUNDED,DASHED"),
        "return": (theme.muted, theme.background, "ROUNDED"),
        "folded leaves": (theme.leaf_line, theme.leaf, ""),
        "folded constants": (theme.line, theme.constant, "DASHED"),
    }.get(item.name, (theme.line, theme.operation, ""))
    if item.about == "recorded":
        line, fill = theme.recorded_line, theme.recorded
    folded = item.name.startswith("fold")  # a double line
    looks = f'COLOR="{line}"' + (f' STYLE="{style}"' if style else "")
    width, height = (2 * size, size - 3) if folded else (2 * size + 4, size + 1)
    border = 2 if item.name == "return" else 1
    cell = f'<TD BORDER="{border}" {looks} BGCOLOR="{fill}" FIXEDSIZE="TRUE" WIDTH="{width}" HEIGHT="{height}"></TD>'
    around = 'BORDER="0" CELLSPACING="0"'
    if folded:
        around = f'BORDER="1" {looks} CELLSPACING="1" FIXEDSIZE="TRUE" WIDTH="{width + 4}" HEIGHT="{height + 4}"'
    return f'<TABLE {around} CELLBORDER="0" CELLPADDING="0"><TR>{cell}</TR></TABLE>'


def _state_colour(state: BoxState, theme: Theme) -> str:
    return {"current": theme.current_line, "receiving": theme.current_line, "failed": theme.alarm}.get(
        state, theme.muted
    )


def _styled(text: str, colour: str = "", size: int = 0, face: str = "", *, bold: bool = False) -> str:
    """The escaped text, marked up where its style differs from the default; Graphviz rejects markup of empty text."""
    if not text:
        return ""
    marked = graphviz_api.markup_text(left_to_right(text))
    if bold:
        marked = f"<B>{marked}</B>"
    asked = {"FACE": face, "POINT-SIZE": str(size or ""), "COLOR": colour}
    font = "".join(f' {name}="{value}"' for name, value in asked.items() if value)
    return f"<FONT{font}>{marked}</FONT>" if font else marked
