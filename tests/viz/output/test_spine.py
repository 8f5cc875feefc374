"""Straight ways through a picture: columns instead of staircases."""

from __future__ import annotations

import microtape as mt
import viz
from tests.support.rendering import needs_graphviz
from viz.basics.graph import VisualGraph
from viz.output.measure import frames
from viz.output.spine import spine


def _straight(graph: VisualGraph) -> list[tuple[str, str]]:
    names = {box.id: box.title.partition(" = ")[0] for box in graph.boxes}
    return [(names[graph.arrows[one].tail], names[graph.arrows[one].head]) for one in sorted(spine(graph))]


def _two_blocks() -> mt.Recording:
    """Two frames, one after the other: each with two weights, and an operation that only one of them leads into."""
    w = mt.tensor([0.5, 0.25], requires_grad=True)
    with mt.record() as r:
        x = w * 3.0
        for _ in range(2):
            with mt.scope("block"):
                a, b = (mt.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
                x = ((x * a).exp() * b).tanh()
        x.sum().backward()
    return r.recording


def test_the_longest_way_is_straight() -> None:
    a = mt.tensor(2.0, requires_grad=True)
    b = a.exp()
    c = b.sin()
    total = c + a.cos()
    loss = total * 2.0
    assert _straight(viz.draw(loss, show=()).graph) == [("b", "c"), ("c", "total"), ("total", "loss")]


def test_of_two_ways_that_are_equally_long_neither_is_straight() -> None:
    a = mt.tensor(2.0, requires_grad=True)
    left, right = a.sin(), a.cos()
    total = left + right
    loss = total * 2.0
    assert _straight(viz.draw(loss, show=()).graph) == [("total", "loss")]


def test_a_value_that_is_used_twice_has_no_straight_arrow() -> None:
    a = mt.tensor(2.0, requires_grad=True)
    b = a.exp()
    loss = b.sin() * b
    assert ("b", "loss") not in _straight(viz.draw(loss, show=()).graph)


@needs_graphviz
def test_frames_in_a_row_are_below_each_other() -> None:
    first, second = frames(viz.draw(_two_blocks()).svg())
    assert first.bottom < second.top
    middle = (second.left + second.right) / 2
    assert first.left < middle < first.right
