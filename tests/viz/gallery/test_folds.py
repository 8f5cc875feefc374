"""The folds of the gallery's programs: at every depth, each box that is shown opens and closes by its name."""

from __future__ import annotations

import pytest

from tests.viz.gallery.kinds import KINDS, Kind
from viz.basics.errors import TooLargeError
from viz.basics.graph import Box, VisualGraph
from viz.scene.visual_graph import build_graph

DEEPEST = 6
MOST_OPENED = 6  # boxes of a picture that are opened one by one
SCOPED = ("adversaries", "attention", "autoencoder", "classifier", "images", "letters")
FOLDABLE = [kind for kind in KINDS if "into" not in kind.options and "around" not in kind.options]


def folds(graph: VisualGraph) -> list[Box]:
    return [box for box in graph.boxes if box.kind == "fold"]


def name(box: Box) -> str:
    """The whole name, from the frames around the box and its title."""
    return ".".join([*(frame.name for frame in box.clusters), box.title])


def at_depth(kind: Kind, depth: int) -> VisualGraph | None:
    options = {name: value for name, value in kind.options.items() if name in ("pass_index", "step")}
    try:
        return build_graph(kind.recording(), depth=depth, **options)
    except TooLargeError:
        return None


@pytest.mark.parametrize(
    "kind", [pytest.param(one, marks=[] if one.name in SCOPED else pytest.mark.slow, id=one.name) for one in FOLDABLE]
)
def test_every_box_opens_and_closes_by_its_name(kind: Kind) -> None:
    recording, number = kind.recording(), kind.options.get("pass_index", 0)
    for depth in range(DEEPEST):
        graph = at_depth(kind, depth)
        if graph is None or not folds(graph):
            break
        for box in folds(graph)[:MOST_OPENED]:
            opened = build_graph(recording, pass_index=number, depth=depth, open=name(box))
            assert box.id not in {one.id for one in opened.boxes}
            inside = [one for one in opened.boxes if box.title.partition(" ×")[0] in {f.name for f in one.clusters}]
            assert inside or "×" in box.title
            if at_depth(kind, depth + 1) is not None:
                closed = build_graph(recording, pass_index=number, depth=depth + 1, closed=name(box))
                assert name(box) in {name(one) for one in folds(closed)}


@pytest.mark.parametrize("kind", [one for one in FOLDABLE if one.name in SCOPED], ids=lambda kind: kind.name)
def test_an_overview_of_modules_fits_on_a_slide(kind: Kind) -> None:
    graph = build_graph(kind.recording(), **kind.options)
    assert len(graph.boxes) <= 26
    assert not any(box.title.endswith("×1") for box in folds(graph))
