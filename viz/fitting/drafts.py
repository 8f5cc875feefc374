"""What a picture that has to fit may show: the drafts from which `viz.fitting.choose` takes the first that fits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from viz.basics.graph import VisualGraph
from viz.basics.options import AMOUNTS

FEW, FEWER, NONE = 12, 10, 0  # boxes up to which folds open by themselves
DRAFTS: Sequence[tuple[Collection[str], int | None]] = (
    (AMOUNTS["debug"], None),
    (AMOUNTS["lecture"], None),
    (AMOUNTS["lecture"], FEW),
    (AMOUNTS["brief"], None),
    (AMOUNTS["brief"], FEWER),
    (AMOUNTS["lecture"], NONE),
    (AMOUNTS["brief"], NONE),
    ((), None),
    ((), NONE),
)
"""Details, and how many boxes a folded picture may have; None: folded as it is without a place to fit into."""


def drafts(build: Callable[..., VisualGraph], show: Collection[str] | None, *, may_fold: bool) -> Iterator[VisualGraph]:
    """Pictures with less and less in them.

    `build` takes details, whether to fold, how many boxes are few, and whether to have notes, such as shapes.
    `show` keeps what the user asked for, and so does `may_fold`.
    """
    for details, few in DRAFTS if show is None else [(show, few) for few in (None, FEW, NONE)]:
        if few is None:
            yield build(details)
        elif may_fold:
            yield build(details, True, few)
    if show is None:
        yield build((), True, NONE, notes=False) if may_fold else build((), notes=False)


def without_notes(graph: VisualGraph) -> VisualGraph:
    """The picture without what stands beside the titles of its boxes, such as shapes."""
    return replace(graph, boxes=tuple(replace(box, note="") for box in graph.boxes))
