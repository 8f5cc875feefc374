"""Borders of history: the picture shows tensors detached or computed off the tape, their sources, and the line."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import microtape as mt
from tests.support.recordings.live import box, leaf, recorded
from tests.support.rendering import needs_graphviz
from viz.basics.graph import Box, VisualGraph
from viz.basics.theme import LIGHT
from viz.drawing import draw
from viz.output.dot import to_dot
from viz.scene.visual_graph import build_graph


def words(one: Box) -> list[str]:
    return [row.text for row in one.rows if not row.key]


def arrows(graph: VisualGraph) -> set[tuple[str, str, str]]:
    """(tail, head, kind), with titles instead of ids."""
    titles = {one.id: one.title for one in graph.boxes}
    return {(titles[arrow.tail], titles[arrow.head], arrow.kind) for arrow in graph.arrows}


def bootstrapping() -> None:
    w = leaf([1.0, 2.0])
    h = w * w
    target = h.detach()
    (h - target).sum().backward()


def test_a_detached_tensor_is_connected_to_its_source() -> None:
    graph = build_graph(recorded(bootstrapping))
    border = box(graph, "target = detach(h)")
    assert border.kind == "border"
    (said,) = words(border)
    assert said.startswith("✂ detached, line ")
    assert said.endswith("no gradient goes back")
    assert ("h = mul(w, w)", border.title, "border") in arrows(graph)
    assert (border.title, "%2 = sub(h, target)", "value") in arrows(graph)


def test_a_computation_off_the_tape_is_one_box_that_names_where_it_left_the_tape() -> None:
    def program() -> None:
        w, x = leaf(2.0), leaf(3.0)
        with mt.no_grad():
            scale = (w * 2).exp() + 1
        (scale * x).backward()

    graph = build_graph(recorded(program))
    border = box(graph, "scale = add(exp(…), 1.0)")
    assert [text.partition(",")[0] for text in words(border)] == [
        "✂ under no_grad",
        "the last of 3 operations off the tape",
    ]
    assert ("w", border.title, "border") in arrows(graph)


def test_a_result_without_derivative_is_a_border() -> None:
    def program() -> None:
        x = leaf([1.0, -1.0])
        y = x * 3
        mask = y > 0
        (y * mask).sum().backward()

    graph = build_graph(recorded(program))
    assert words(box(graph, "mask = greater(y, 0.0)"))[0].startswith("✂ not differentiable, line ")


def test_a_bare_number_is_connected_to_its_source() -> None:
    def program() -> None:
        w = leaf([1.0, 2.0])
        h = (w * w).sum()
        scale = h.item()
        (w * scale + scale * w).sum().backward()

    graph = build_graph(recorded(program))
    number = box(graph, "scale = item(h)")
    assert words(number)[0].startswith("✂ only its value, line ")
    assert ("h = sum(%1)", number.title, "border") in arrows(graph)
    uses = [head for tail, head, kind in arrows(graph) if (tail, kind) == (number.title, "value")]
    assert sorted(uses) == ["%3 = mul(w, scale)", "%4 = mul(w, scale)"]


def test_a_leaf_can_have_a_border() -> None:
    def program() -> None:
        x = leaf(2.0)
        h = x * x
        state = h.detach().requires_grad_()
        (state * x).backward()

    graph = build_graph(recorded(program))
    assert box(graph, "state").kind == "leaf"
    assert words(box(graph, "state"))[0].startswith("✂ detached, line ")
    assert ("h = mul(x, x)", "state", "border") in arrows(graph)


def test_detaching_in_place_cuts_the_arrows_to_later_uses() -> None:
    def program() -> None:
        x = leaf(2.0)
        h = x * 3
        h.detach_()
        (h * x).backward()

    graph = build_graph(recorded(program))
    (made,) = [one.title for one in graph.boxes if one.title.startswith("h = mul")]
    assert words(box(graph, made))[-1].startswith("✂ detached, line ")
    assert (made, "%2 = mul(h, x)", "border") in arrows(graph)


def test_a_step_of_gradient_descent_is_shown_in_the_leaf() -> None:
    def program() -> None:
        w = leaf([1.0, 2.0])
        (w * w).sum().backward()
        with mt.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
        (w * w).sum().backward()

    recording = recorded(program)
    rows = [{row.key: row.text for row in box(build_graph(recording, pass_index=k), "w").rows} for k in (0, 1)]
    assert "written" not in rows[0]
    assert rows[1]["written"].startswith("v0 → v1 under no_grad, line ")


@needs_graphviz
def test_a_border_is_drawn_in_every_format() -> None:
    drawing = draw(recorded(bootstrapping))
    assert "arrowtail=tee" in drawing.dot
    assert "✂ %1 h (its history ends here)" in drawing.text()
    assert "8< %1 h (its history ends here)" in drawing.text(ascii=True)
    ElementTree.fromstring(drawing.svg())
    assert {"history ends: no gradient", "history is cut here"} <= {item.text for item in drawing.graph.legend}


def test_a_fold_that_uses_a_value_it_detached_has_an_arrow_up_and_one_down() -> None:
    def program() -> None:
        w = leaf(0.5)
        state = w * 1
        for _ in range(30):
            state = (w * state.detach()).tanh()
        state.backward()

    graph = build_graph(recorded(program), fold=True)
    kinds = {one.id: one.kind for one in graph.boxes}
    (cut,) = (arrow for arrow in graph.arrows if arrow.upwards)
    assert (cut.kind, kinds[cut.tail], kinds[cut.head]) == ("border", "fold", "folded constants")
    assert (cut.head, cut.tail, "value") in {(arrow.tail, arrow.head, arrow.kind) for arrow in graph.arrows}
    (edge,) = re.findall(
        rf"{cut.head} -> {cut.tail} \[arrowhead=tee arrowtail=open", to_dot(graph, LIGHT)
    )  # drawn downwards in the layout
    assert edge
