"""A `VisualGraph` as DOT text: pure, the same bytes for the same graph, and valid input for a plain `dot`.

Inputs are at the top and the loss is at the bottom, as in the program and on the stepper's tape. An arrow points down,
the way the value went, until a gradient comes back along it; then it points up, with another colour and width.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from viz.basics.arrangement import AS_USUAL, Arrangement
from viz.basics.graph import Arrow, Box, Cluster, VisualGraph
from viz.basics.theme import CODE_FONT, RECORDED_LOOKS, TEXT_FONT, Theme
from viz.output import graphviz_api
from viz.output.labels import (
    CODE_SIZE,
    CUT_SIZE,
    TEXT_SIZE,
    box_label,
    heading,
    heading_size,
    legend,
    legend_size,
    resized,
)
from viz.output.spine import spine

STRAIGHT = "8"  # the weight of an arrow that should be straight; that of others is 1

Style: TypeAlias = Literal["picture", "frame", "page"]
"""A picture on its own; a frame of a GIF, of the same size as the others; or the picture in a film's page, which has
its own heading, legend and arrowheads."""


def to_dot(graph: VisualGraph, theme: Theme, style: Style = "picture", arrangement: Arrangement = AS_USUAL) -> str:
    """The picture's DOT source. The cluster around everything carries the legend below it."""
    straight = spine(graph) if _has_clusters(graph) or arrangement != AS_USUAL else frozenset()
    lines = [
        "digraph microtape {",
        f"  graph [{graphviz_api.attributes(_graph_attributes(graph, theme, style, arrangement))}]",
        f"  node [{graphviz_api.attributes(_node_defaults(theme, arrangement))}]",
        f"  edge [{graphviz_api.attributes(_edge_defaults(theme, arrangement))}]",
        "  subgraph cluster_picture {",
        f"    graph [{graphviz_api.attributes(_legend_attributes(graph, theme, style, arrangement))}]",
        *(f"    {line}" for line in _boxes(graph.boxes, theme, style, arrangement)),
        *(f"    {{ rank=same {'; '.join(ids)} }}" for ids in _layers(graph.boxes)),
        *(f"    {above} -> {below} [style=invis weight=0]" for above, below in _unordered(graph)),
        "  }",
        *(
            f"  {_arrow(number, arrow, theme, style, arrangement, straight=number in straight)}"
            for number, arrow in enumerate(graph.arrows)
        ),
        "}",
    ]
    return "\n".join(lines) + "\n"


def titles(graph: VisualGraph) -> dict[str, str]:
    """The titles of the parts of the picture, by their ids in the SVG."""
    return {
        "graph0": graph.title,
        **{box.id: "\n".join(box.tooltip or (box.title,)) for box in graph.boxes},
        **{f"a{number}": arrow.tooltip for number, arrow in enumerate(graph.arrows)},
        **{cluster.id: cluster.name for box in graph.boxes for cluster in box.clusters},
    }


def _has_clusters(graph: VisualGraph) -> bool:
    return any(box.clusters for box in graph.boxes)


def _graph_attributes(graph: VisualGraph, theme: Theme, style: Style, arrangement: Arrangement) -> dict[str, str]:
    label = resized(heading(graph, theme, fixed=style == "frame"), arrangement.smallest) if style != "page" else ""
    return {
        "bgcolor": theme.background,
        "fontname": TEXT_FONT,
        "fontsize": str(heading_size(graph)),
        "fontcolor": theme.muted,
        "label": graphviz_api.markup(label) if label else "",
        "labelloc": "t",
        "labeljust": "l",
        "nodesep": "0.12" if arrangement.tight else "0.3",
        "ranksep": "0.25" if arrangement.tight else "0.35",
        "pad": "0.2",
        **({"rankdir": "LR"} if arrangement.direction == "right" else {}),
        **({"size": f"{arrangement.inches}!"} if arrangement.width else {}),
        **({"newrank": "true"} if _has_clusters(graph) else {}),
        "tooltip": graphviz_api.plain(graph.title),
    }


def _legend_attributes(graph: VisualGraph, theme: Theme, style: Style, arrangement: Arrangement) -> dict[str, str]:
    smallest = arrangement.smallest
    label = graphviz_api.markup(resized(legend(graph, theme), smallest)) if graph.legend and style != "page" else ""
    size = str(max(legend_size(graph), smallest))
    return {"label": label, "fontsize": size, "labelloc": "b", "labeljust": "l", "pencolor": "none", "margin": "0",
            "tooltip": " "}  # fmt: skip


def _node_defaults(theme: Theme, arrangement: Arrangement) -> dict[str, str]:
    margin = "0.06,0.03" if arrangement.tight else "0.09,0.05"
    return {"fontname": CODE_FONT, "fontsize": str(CODE_SIZE), "fontcolor": theme.text, "margin": margin,
            "shape": "box", "height": "0.2", "width": "0.2"}  # fmt: skip


def _edge_defaults(theme: Theme, arrangement: Arrangement) -> dict[str, str]:
    size = max(TEXT_SIZE, arrangement.smallest)
    return {"fontname": CODE_FONT, "fontsize": str(size), "fontcolor": theme.gradient, "color": theme.line,
            "arrowsize": "0.6"}  # fmt: skip


def _boxes(boxes: Iterable[Box], theme: Theme, style: Style, arrangement: Arrangement, depth: int = 0) -> Iterator[str]:
    """The boxes, each inside of its clusters.

    NB: `dot` lays a graph out downwards and then turns it: to the right, the column that comes last is on top.
    """
    inside: dict[Cluster, list[Box]] = {}
    for box in boxes:
        if len(box.clusters) > depth:
            inside.setdefault(box.clusters[depth], []).append(box)
        else:
            yield f"{graphviz_api.quote(box.id)} [{graphviz_api.attributes(_box(box, theme, style, arrangement))}]"
    in_order = inside.items() if arrangement.direction == "down" else reversed(inside.items())
    for cluster, members in in_order:
        yield f"subgraph {graphviz_api.quote(f'cluster_{cluster.id}')} {{"
        yield f"  graph [{graphviz_api.attributes(_cluster(cluster, theme, arrangement))}]"
        yield from (f"  {line}" for line in _boxes(members, theme, style, arrangement, depth + 1))
        yield "}"


def _cluster(cluster: Cluster, theme: Theme, arrangement: Arrangement) -> dict[str, str]:
    if cluster.is_column:
        return {"label": "", "margin": "8", "pencolor": "none", "tooltip": " "}
    size = max(TEXT_SIZE, arrangement.smallest)
    return {"id": cluster.id, "label": graphviz_api.plain(cluster.name), "fontname": CODE_FONT,
            "fontsize": str(size), "labelloc": "t", "labeljust": arrangement.names[0], "pencolor": theme.line,
            "style": "dotted", "margin": "6", "tooltip": graphviz_api.tooltip((cluster.name,))}  # fmt: skip


def _layers(boxes: Iterable[Box]) -> list[list[str]]:
    ranks: dict[int, list[str]] = {}
    for box in boxes:
        ranks.setdefault(box.rank, []).append(graphviz_api.quote(box.id))
    return [ranks[rank] for rank in sorted(ranks)]


def _unordered(graph: VisualGraph) -> list[tuple[str, str]]:
    """Boxes of neighbouring layers that no arrow connects: Graphviz would not know which layer is above the other.

    Only frames have such layers: see `viz.planning.ranks.above_clusters`.
    """
    if not _has_clusters(graph):
        return []
    ranks = {box.id: box.rank for box in graph.boxes}
    known = {(ranks[arrow.tail], ranks[arrow.head]) for arrow in graph.arrows if not arrow.aside}
    layers = {box.rank: graphviz_api.quote(box.id) for box in graph.boxes}
    return [
        (layers[rank], layers[rank + 1])
        for rank in sorted(layers)
        if rank + 1 in layers and (rank, rank + 1) not in known
    ]


def _box(box: Box, theme: Theme, style: Style, arrangement: Arrangement) -> dict[str, str]:
    label = box_label(box, theme, fixed=style != "picture", sideways=arrangement.direction == "right")
    line, fill, outline, width = _looks(box, theme)
    largest = max(arrangement.smallest, CODE_SIZE) if arrangement.tight else None
    shape = "note" if box.kind == "error" else _recorded_look(box)[0]
    seen = style == "page" or box.state != "absent"
    return {
        "id": box.id,
        "label": graphviz_api.markup(resized(label, arrangement.smallest, largest)),
        "tooltip": graphviz_api.tooltip(box.tooltip or (box.title,)),
        "color": line,
        "fillcolor": fill,
        "style": outline if seen else "invis",
        "penwidth": f"{width:g}",
        **({"peripheries": "2"} if box.in_the_middle or box.kind.startswith("fold") else {}),
        **({"shape": shape} if shape != "box" else {}),
    }


def _looks(box: Box, theme: Theme) -> tuple[str, str, str, float]:
    """Line colour, fill, style and line width."""
    style = {
        "leaf": "rounded,filled",
        "folded leaves": "rounded,filled",
        "constant": "filled,dashed",
        "border": "filled,dashed",
        "folded constants": "filled,dashed",
        "again": "rounded,filled,dashed",
        "seed": "rounded,filled",
        "enter": "rounded,filled",
        "unpack": "rounded,filled,dashed",
        "return": "rounded,filled",
    }.get(box.kind, "filled")
    line, fill = {
        "leaf": (theme.leaf_line, theme.leaf),
        "folded leaves": (theme.leaf_line, theme.leaf),
        "folded constants": (theme.line, theme.constant),
        "constant": (theme.line, theme.constant),
        "border": (theme.muted, theme.constant),
        "again": (theme.line, theme.background),
        "seed": (theme.gradient, theme.background),
        "enter": (theme.muted, theme.background),
        "unpack": (theme.muted, theme.background),
        "return": (theme.muted, theme.background),
        "error": (theme.alarm, theme.failed),
    }.get(box.kind, (theme.line, theme.operation))
    if box.recorded_in is not None:
        line, fill = theme.recorded_line, theme.recorded
        style += _recorded_look(box)[1]
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
    return line, fill, style, 2 if box.kind == "return" else 1


def _recorded_look(box: Box) -> tuple[str, str, str]:
    """The outline of an operation, which shows the pass that recorded it."""
    number = box.recorded_in if box.recorded_in is not None and box.kind == "operation" else 0
    return RECORDED_LOOKS[number % len(RECORDED_LOOKS)]


def _arrow(number: int, arrow: Arrow, theme: Theme, style: Style, arrangement: Arrangement, *, straight: bool) -> str:
    leaves, arrives = ("s", "n") if arrangement.direction == "down" else ("e", "w")
    port = "" if arrow.port is None else f":o{arrow.port}:{leaves}"
    into = "" if arrow.head_port is None else f":o{arrow.head_port}:{arrives}"
    ends = [graphviz_api.quote(arrow.tail) + port, graphviz_api.quote(arrow.head) + into]
    if arrow.upwards:
        ends.reverse()
    label = {"label": graphviz_api.plain(f" {arrow.text} ")} if arrow.written else {}
    about = graphviz_api.tooltip((arrow.tooltip,))
    attributes = {
        **({"dir": "none"} if style == "page" else _arrow_looks(arrow, theme)),
        **label,
        **({"constraint": "false"} if arrow.aside else {}),
        **({"weight": STRAIGHT} if straight else {}),
        "id": f"a{number}",
        "tooltip": about,
        "labeltooltip": about,
    }
    return f"{' -> '.join(ends)} [{graphviz_api.attributes(attributes)}]"


def _cut_ends(arrow: Arrow) -> dict[str, str]:
    """A bar where history ends, and an arrowhead where the value goes on."""
    ends = ("arrowtail", "arrowhead") if not arrow.upwards else ("arrowhead", "arrowtail")
    return dict(zip(ends, ("tee", "open"), strict=True))


def _arrow_looks(arrow: Arrow, theme: Theme) -> dict[str, str]:
    looks: Mapping[str, dict[str, str]] = {
        "future": {"fontcolor": theme.muted},
        "value": {"style": "dashed", "arrowhead": "open", "fontcolor": theme.muted},
        "border": {
            "style": "dashed",
            "dir": "both",
            "fontcolor": theme.text,
            "fontsize": str(CUT_SIZE),
            **_cut_ends(arrow),
        },
        "done": {"dir": "back", "color": theme.gradient, "penwidth": "1.6"},
        "now": {"dir": "back", "color": theme.current_line, "penwidth": "3", "fontcolor": theme.current_line},
        "undefined": {"dir": "back", "color": theme.gradient, "style": "dashed", "arrowtail": "empty"},
        "overwrote": {"color": theme.alarm, "fontcolor": theme.alarm, "style": "dashed", "penwidth": "2"},
        "note": {"color": theme.alarm, "style": "dotted", "arrowhead": "none"},
        "next": {"color": theme.line, "style": "dotted", "arrowhead": "open"},
        "absent": {"style": "invis"},
    }
    wrong = {"color": theme.alarm, "fontcolor": theme.alarm} if arrow.wrong else {}
    return looks[arrow.kind] | wrong
