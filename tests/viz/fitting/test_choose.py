"""Which draft of a picture, and which arrangement, is chosen for a place. No Graphviz: layouts are as estimated."""

from __future__ import annotations

from collections.abc import Iterator

import microtape as mt
import viz
from viz.basics.arrangement import Arrangement
from viz.basics.graph import VisualGraph
from viz.fitting.choose import LARGE_TEXT, READABLE, choose
from viz.fitting.columns import columns_of
from viz.fitting.estimate import estimate
from viz.fitting.sizes import Size, sizes_of
from viz.output.measure import Measures


def _layout(graph: VisualGraph, arrangement: Arrangement) -> Measures:
    size = estimate(graph, list(columns_of(graph)), arrangement.direction, tight=arrangement.tight)
    return Measures(*size, 10.0, 0, {})


def _drafts(length: int = 12) -> list[VisualGraph]:
    y = mt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    for _ in range(length):
        y = y.sin()
    loss = y.sum()
    return [viz.draw(loss, detail=detail, fold=False).graph for detail in ("debug", "lecture", "brief")]


def test_a_small_picture_keeps_all_its_details() -> None:
    drafts = _drafts(2)
    fitted = choose(drafts, sizes_of("slide"), _layout)
    rows = {box.id: box.rows for box in drafts[0].boxes}
    assert all(box.rows == rows[box.id] for box in fitted.graph.boxes if box.kind != "again")
    assert fitted.text >= READABLE


def test_a_larger_picture_shows_less() -> None:
    debug, _, brief = _drafts(24)
    fitted = choose([debug, brief], sizes_of("slide"), _layout)
    rows = {box.id: box.rows for box in brief.boxes}
    assert all(box.rows == rows[box.id] for box in fitted.graph.boxes if box.kind != "again")
    assert len(list(columns_of(fitted.graph))) > 1


def test_text_is_not_enlarged_without_end() -> None:
    fitted = choose(_drafts(1)[2:], (Size(4000, 4000),), _layout)
    assert fitted.text == LARGE_TEXT
    assert fitted.arrangement.width is not None
    assert fitted.arrangement.width < 4000


def test_what_cannot_be_read_is_the_best_of_all() -> None:
    drafts = _drafts(60)
    fitted = choose(drafts, (Size(300, 300),), _layout)
    assert fitted.text < READABLE
    assert max(choose([one], (Size(300, 300),), _layout).text for one in drafts) == fitted.text


def test_drafts_are_made_only_as_long_as_none_fits() -> None:
    made = []

    def drafts() -> Iterator[VisualGraph]:
        for draft in _drafts(2):
            made.append(draft)
            yield draft

    choose(drafts(), sizes_of("slide"), _layout)
    assert len(made) == 1


def test_boxes_move_together_before_details_are_left_out() -> None:
    def layout(graph: VisualGraph, arrangement: Arrangement) -> Measures:
        return _layout(graph, arrangement)._replace(smallest=10.0 if arrangement.tight else 1.0)

    drafts = _drafts(2)
    fitted = choose(drafts, (Size(2000, 2000),), layout)
    assert fitted.arrangement.tight
    assert fitted.draft == drafts[0]


def test_of_readable_arrangements_no_arrow_runs_through_text() -> None:
    def layout(graph: VisualGraph, arrangement: Arrangement) -> Measures:
        return _layout(graph, arrangement)._replace(through=int(arrangement.direction == "right"))

    upright = choose(_drafts(1)[2:], (Size(4000, 4000),), layout)
    assert upright.arrangement.direction == "down"
