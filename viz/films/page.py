"""The page of a film: one self-contained HTML file, which shows its first picture even without JavaScript.

The recording's texts are in it as escaped HTML or as JSON. The content security policy names the page's own style and
script by their hashes, so that nothing else could run or load even if it got into the page.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from html import escape
from pathlib import Path

from viz.basics.graph import STATE_GLYPHS, LegendItem
from viz.basics.theme import CODE_FONT, DARK, LIGHT, TEXT_FONT, THEMES, Theme
from viz.films.page_data import PART, Chapter

PAGE = Path(__file__).parent / "static"
SCRIPTS = ("data", "picture", "view", "tape", "source", "node", "film")  # one after another in one function


def film_page(
    chapters: Sequence[Chapter],
    svgs: Mapping[str, str],
    legend: Sequence[LegendItem],
    *,
    opens: int | None = None,
    theme: Theme | None = None,
) -> str:
    """The page's HTML, in a theme or in the reader's preferred colour scheme. It opens at the step `opens`.

    For `svgs`, by their ids, see `viz.films.page_svg`.
    """
    style = _colours() + (PAGE / "film.css").read_text(encoding="utf-8")
    script = _script()
    first, say = chapters[0].data, chapters[0].parts[0]["steps"][0]["say"]
    data = {
        "chapters": [chapter.data for chapter in chapters],
        "sources": {file: text for chapter in chapters for file, text in chapter.sources.items()},
        "part": PART,
        "glyphs": STATE_GLYPHS,
        "states": [state for state in STATE_GLYPHS if state],
        "themes": list(THEMES),
        "opens": opens,
    }
    texts = {
        "policy": f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'",
        "theme": f' data-theme="{theme.name}"' if theme is not None else "",
        "title": escape(first["title"]),
        "finding": escape(first["finding"]),
        "say": escape(say),
        "style": style,
        "script": script,
        "graphs": _MARKERS + "".join(_named(id, svg, is_first=not at) for at, (id, svg) in enumerate(svgs.items())),
        "legend": "".join(_legend_item(item) for item in legend),
        "data": _json(data),
        "parts": "".join(
            f'<script type="application/json" id="d{number}-{part}">{_json(details)}</script>\n'
            for number, chapter in enumerate(chapters)
            for part, details in enumerate(chapter.parts)
        ),
    }
    template = (PAGE / "film.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: texts[match[1]], template)


def _script() -> str:
    files = "\n".join((PAGE / "script" / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{files}}})();\n'


def _json(data: object) -> str:
    """Within a script element, only "<" could end it."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}"


def _colours() -> str:
    """The themes as CSS custom properties: light, dark if the reader prefers it, or the chosen one; paper is light."""
    fonts = f":root{{--code-font:{CODE_FONT};--text-font:{TEXT_FONT}}}\n"
    chosen = "".join(f':root[data-theme="{name}"]{{{_properties(theme)}}}\n' for name, theme in THEMES.items())
    dark = f"@media (prefers-color-scheme:dark){{:root{{{_properties(DARK)}}}}}\n"
    paper = f"@media print{{:root:not([data-theme]),:root[data-theme=dark]{{{_properties(LIGHT)}}}}}\n"
    return f"{fonts}:root{{{_properties(LIGHT)}}}\n{dark}{chosen}{paper}"


def _properties(theme: Theme) -> str:
    colours = {field.name: getattr(theme, field.name) for field in fields(theme) if field.name != "name"}
    colours["faint"] = f"{theme.line}55"
    scheme = "dark" if theme is DARK else "light"
    return (
        "".join(f"--{name.replace('_', '-')}:{colour};" for name, colour in colours.items()) + f"color-scheme:{scheme}"
    )


_MARKERS = (
    '<svg class="markers" width="0" height="0" aria-hidden="true"><defs>'
    + "".join(
        f'<marker id="{id}" viewBox="0 0 10 8" refX="9" refY="4" markerUnits="userSpaceOnUse" markerWidth="{size}" '
        f'markerHeight="{size * 0.8:g}" orient="auto-start-reverse"><path d="M0,0L10,4L0,8z"/></marker>'
        for id, size in (("down", 7), ("up", 9), ("now", 12), ("wrong", 9))
    )
    + '<marker id="cut" viewBox="0 0 4 12" refX="2" refY="6" markerUnits="userSpaceOnUse" markerWidth="4" '
    'markerHeight="12" orient="auto"><path d="M1,0H3V12H1z"/></marker></defs></svg>'
)


def _named(id: str, svg: str, *, is_first: bool) -> str:
    return svg.replace("<svg ", f'<svg id="{id}" {"" if is_first else "hidden"} ', 1)


def _legend_item(item: LegendItem) -> str:
    signs: dict[str, str] = {str(state): glyph for state, glyph in STATE_GLYPHS.items()}
    signs |= {"future": "↓", "value": "⇣", "done": "✓" if item.about == "state" else "↑", "now": "⬆", "undefined": "⇡"}
    signs |= {
        "overwrote": "⇢",
        "leaf": "▭",
        "operation": "□",
        "constant": "┄",
        "border": "✂",
        "again": "┄",
        "fold": "▣",
        "folded leaves": "▣",
        "folded constants": "▣",
        "enter": "▭",
        "unpack": "┄",
        "return": "▭",
        "next": "⋮",
    }
    sign = "⊣" if item.about == "end" else "▂▅█" if item.about == "bars" else signs.get(item.name, "□")
    text = f"{item.text}; a click on an underlined name opens or closes it" if item.name == "fold" else item.text
    return f"<li><b>{escape(sign)}</b> {escape(text)}</li>"
