"""A picture that is wrapped into columns shows the same boxes and arrows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
import viz
from tests.support.rendering import needs_graphviz
from viz.basics.arrangement import Arrangement
from viz.basics.graph import VisualGraph
from viz.basics.theme import LIGHT
from viz.fitting.columns import columns_of, wrap
from viz.output.dot import to_dot
from viz.output.measure import measure
from viz.output.render import render


def _chain(length: int) -> VisualGraph:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x
    for _ in range(length):
        y = y.sin()
    return viz.draw(y.sum(), fold=False).graph


def _columns(graph: VisualGraph) -> list[list[str]]:
    return [[box.id for box in column if box.kind != "again"] for column in columns_of(graph)]


def test_a_chain_becomes_columns_of_about_the_same_length() -> None:
    lengths = [len(column) for column in _columns(wrap(_chain(14), 3))]
    assert sum(lengths) == 16
    assert max(lengths) - min(lengths) <= 2


def test_the_columns_go_on_where_the_one_before_ended() -> None:
    graph = _chain(9)
    first, second = _columns(wrap(graph, 2))
    assert first + second == [box.id for box in graph.boxes]


def test_a_value_of_another_column_is_named_again() -> None:
    wrapped = wrap(_chain(9), 2)
    (copy,) = [box for box in wrapped.boxes if box.kind == "again"]
    first_column, second_column = _columns(wrapped)
    (arrow,) = [arrow for arrow in wrapped.arrows if arrow.tail == copy.id]
    assert copy.id.startswith(f"{first_column[-1]}in1")
    assert arrow.head == second_column[0]
    assert "drawn elsewhere, used again" in [item.text for item in wrapped.legend]


def test_one_column_is_the_picture_itself() -> None:
    graph = _chain(5)
    assert wrap(graph, 1) is graph
    assert len(list(columns_of(graph))) == 1


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=25), st.integers(2, 5))
def test_wrapping_keeps_all_boxes_and_arrows(operands: list[tuple[int, int]], columns: int) -> None:
    values = [mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor([3.0, 4.0], requires_grad=True)]
    for one, other in operands:
        values.append(values[one % len(values)] * values[other % len(values)])
    graph = viz.draw(values[2:], fold=False).graph
    wrapped = wrap(graph, columns)
    kept = [box.id for box in wrapped.boxes if box.kind != "again" or box.id in {one.id for one in graph.boxes}]
    assert kept == [box.id for box in graph.boxes]
    assert [(arrow.head, arrow.kind, arrow.text) for arrow in wrapped.arrows] == [
        (arrow.head, arrow.kind, arrow.text) for arrow in graph.arrows
    ]
    ranks = {box.id: box.rank for box in wrapped.boxes}
    assert min(ranks.values()) >= 0
    straight = [arrow for arrow in wrapped.arrows if not (arrow.aside or arrow.upwards)]
    assert all(ranks[arrow.tail] <= ranks[arrow.head] for arrow in straight)


@needs_graphviz
@pytest.mark.parametrize("direction", ["down", "right"])
def test_graphviz_draws_the_columns_in_their_order(direction: str) -> None:
    wrapped = wrap(_chain(9), 3)
    arrangement = Arrangement("down" if direction == "down" else "right")
    found = measure(render(to_dot(wrapped, LIGHT, arrangement=arrangement), "svg").decode())
    starts = [
        [(one.left if direction == "down" else one.top) for one in (found.boxes[box.id] for box in column)]
        for column in columns_of(wrapped)
    ]
    first, second, third = starts
    assert max(first) < min(second)
    assert max(second) < min(third)
