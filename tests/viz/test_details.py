"""How a picture shows saved tensors, hooks, versions, passes and numbers, each in a small program."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np

import microtape as mt
from tests.support.recordings.live import box, leaf, recorded
from tests.support.rendering import needs_graphviz
from viz.basics.graph import Arrow, Box, VisualGraph
from viz.basics.heat import Heat
from viz.basics.options import DETAILS
from viz.basics.theme import LIGHT, THEMES
from viz.drawing import draw
from viz.output.dot import to_dot
from viz.output.thumbnail import thumbnail
from viz.scene.visual_graph import build_graph


def rows(one: Box) -> dict[str, str]:
    return {row.key: row.text for row in one.rows}


def test_many_outputs_side_by_side_are_their_numbers_and_the_tooltip_has_their_values() -> None:
    def split(count: int) -> Box:
        x = mt.arange(float(count)).requires_grad_()
        graph = build_graph(recorded(lambda: mt.stack(x.unbind()).sum().backward()))
        return next(one for one in graph.boxes if "unbind" in one.title)

    few, many = split(6), split(7)
    assert all(row.text for port in few.ports for row in port.rows)
    assert [(port.title, port.rows) for port in many.ports] == [(str(number), ()) for number in range(7)]
    assert any(line.endswith("= 6") for line in many.tooltip)


def test_an_operand_without_a_name_of_its_own_has_the_one_that_its_box_has() -> None:
    class Distance(mt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, target: Any) -> Any:
            ctx.save_for_backward(x, target)
            return ((x - target) ** 2).mean()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            x, target = ctx.saved_tensors
            return grad * 2 * (x - target) / x.numel(), None

    x = leaf([[1.0], [2.0]])
    graph = build_graph(recorded(lambda: Distance.apply(x, mt.ones(2, 1)).backward()))
    (distance,) = [one for one in graph.boxes if one.kind == "operation"]
    assert distance.title.endswith("Distance(x, target)")
    assert box(graph, "target").note == "2×1"


def words(one: Box) -> list[str]:
    return [row.text for row in one.rows if not row.key]


def from_(graph: VisualGraph, title: str) -> list[Arrow]:
    return [arrow for arrow in graph.arrows if arrow.tail == box(graph, title).id]


# --- saved tensors ---------------------------------------------------------------------------------------------------


def test_a_tensor_that_several_nodes_saved_is_one_box_that_names_them() -> None:
    def program() -> None:
        x = leaf([0.5, 1.0])
        y = x.exp()
        (y * y + y * x).sum().backward()

    graph = build_graph(recorded(program))
    assert rows(box(graph, "y = exp(x)"))["saved by"] == "%1, %2, %3"
    assert rows(box(graph, "y = exp(x)"))["saved"] == "y  freed"
    assert "saved by" not in rows(box(graph, "x"))


def test_a_tensor_that_only_backward_uses_has_a_box_with_an_arrow_to_each_node_that_saved_it() -> None:
    def program() -> None:
        x = leaf([[1.0, 5.0], [7.0, 2.0]])
        mask = mt.tensor([[True, False], [False, True]])
        hidden = x.masked_fill(mask, 0.0)
        mt.where(mask, x, hidden).sum().backward()

    graph = build_graph(recorded(program))
    assert [(arrow.kind, arrow.text) for arrow in from_(graph, "mask")] == [("value", "saved"), ("value", "saved")]
    assert rows(box(graph, "mask"))["saved by"] == "%1, %2"


def test_a_tensor_that_a_function_made_for_its_backward_is_shown_too() -> None:
    class Clip(mt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
            inside = (x.abs() < 1).float()
            ctx.save_for_backward(inside)
            return x.clamp(-1, 1)

        @staticmethod
        def backward(ctx: Any, g: mt.Tensor) -> mt.Tensor:
            return g * ctx.saved_tensors[0]

    graph = build_graph(recorded(lambda: Clip.apply(leaf([0.5, 2.0])).sum().backward()))
    assert [arrow.text for arrow in from_(graph, "inside")] == ["saved"]
    assert rows(box(graph, "inside"))["value"] == "[1, 0]"


# --- hooks -----------------------------------------------------------------------------------------------------------


def test_a_hook_shows_how_it_changed_the_gradient_once_it_has_run() -> None:
    def program() -> None:
        def double(g: mt.Tensor) -> mt.Tensor:
            return g * 2

        def look(g: mt.Tensor) -> None: ...

        x = leaf([1.0, 2.0])
        y = x * 3
        y.register_hook(double)
        y.register_hook(look)
        y.retain_grad()
        y.sum().backward()

    recording = recorded(program)
    before, after = build_graph(recording, step=0), build_graph(recording)
    title = "y = mul(x, 3)"
    assert rows(box(before, title))["hooks"] == "double, look, retain_grad()"
    assert not [text for text in words(box(before, title)) if "made" in text]
    assert "double changed [1, 1] to [2, 2]" in words(box(after, title))


# --- outputs, passes, constants, views -------------------------------------------------------------------------------


def test_edges_to_one_of_several_outputs_have_its_number() -> None:
    def program() -> None:
        a, b = leaf([2.0, 3.0]).unbind()
        (a * b).backward()

    graph = build_graph(recorded(program))
    assert sorted(arrow.text for arrow in graph.arrows if arrow.port is not None) == ["#0 3", "#1 2"]
    assert sorted(arrow.text for arrow in build_graph(recorded(program), step=0).arrows if arrow.port is not None) == [
        "#0",
        "#1",
    ]


def test_operations_recorded_by_two_passes_look_different() -> None:
    def program() -> None:
        x = leaf(2.0)
        (first,) = mt.autograd.grad(x**4, x, create_graph=True)
        (second,) = mt.autograd.grad(first, x, create_graph=True)
        (third,) = mt.autograd.grad(first * second, x, create_graph=True)
        third.backward()

    graph = build_graph(recorded(program), pass_index=3)
    assert {one.recorded_in for one in graph.boxes if one.kind == "operation"} == {0, 1, 2}
    assert [item.text for item in graph.legend if item.about == "recorded"] == [
        "recorded by backward, pass 1",
        "recorded by backward, pass 2 (cut corners)",
        "recorded by backward, pass 3 (a tab on top)",
    ]
    assert to_dot(graph, LIGHT).count("diagonals") == sum(one.recorded_in == 1 for one in graph.boxes)
    assert to_dot(graph, LIGHT).count("shape=folder") == sum(one.recorded_in == 2 for one in graph.boxes)


def test_constants_appear_in_the_title() -> None:
    graph = build_graph(recorded(lambda: (leaf([[1.0, 2.0]]) ** 3).sum(1).sum().backward()))
    assert [one.title for one in graph.boxes if one.kind == "operation"][:2] == [
        "%1 = pow(%0, 3)",
        "%2 = sum(%1, dim=1)",
    ]


def test_a_write_through_a_view_says_where_the_rule_applies() -> None:
    def program() -> None:
        table = leaf([[1.0, 2.0], [3.0, 4.0]]) * 1
        row = table[0]
        row *= 5
        (table.sum() + row.sum()).backward()

    graph = build_graph(recorded(program))
    (written,) = [one for one in graph.boxes if "into view" in one.title]
    assert "written through a view: inside it, this rule applies;" in words(written)
    (again,) = [one for one in graph.boxes if "as_strided" in one.title]
    assert "the view's new history, which leads to the write" in words(again)
    assert rows(again)["view of"] == "table"


def test_a_large_array_is_a_line_of_statistics() -> None:
    data = np.linspace(-3, 3, 4096).reshape(64, 64)
    data[0, :5] = 0
    data[1, 1], data[2, 2] = np.nan, np.inf
    graph = build_graph(recorded(lambda: leaf(data.tolist()).relu().sum().backward()))
    (value,) = [row for row in box(graph, "%0").rows if row.key == "value"]
    assert value.text == "0.005056 ± 1.729 [-2.993, 3] 5 zeros 1 NaN 1 +Inf"
    assert value.tone == "alarm"


# --- heat maps -------------------------------------------------------------------------------------------------------


def test_heat_maps_are_drawn_on_request() -> None:
    def program() -> None:
        x = leaf([[1.0, -2.0], [float("nan"), 0.0]])
        (x * 2).sum().backward()

    recording = recorded(program)
    assert not any(row.heat for one in build_graph(recording).boxes for row in one.rows)
    graph = build_graph(recording, show={"values", "gradients", "heat", "legend"})
    with_heat = {one.title: [row.key for row in one.rows if row.heat is not None] for one in graph.boxes}
    assert with_heat == {
        "x": ["value", ".grad"],
        "%1 = mul(x, 2)": ["value", "grad"],
        "%2 = sum(%1)": [],
        "backward()": [],
    }
    assert [item.text for item in graph.legend if item.about == "heat"] == ["heat map: - negative, × NaN or Inf"]


def test_a_heat_map_has_signs_beside_its_colours() -> None:
    table = thumbnail(Heat(((1.0, -0.5), ("nan", 0.0)), True, 1.0), LIGHT)
    assert table.count("<TD") == 4
    assert (table.count(">-<"), table.count(">×<")) == (1, 1)
    assert f'BGCOLOR="{LIGHT.gradient}"' in table


@needs_graphviz
def test_heat_maps_are_drawn_in_every_theme() -> None:
    recording = recorded(lambda: (leaf(np.linspace(-1, 1, 900).reshape(30, 30).tolist()) * 2).sum().backward())
    for theme in THEMES:
        drawing = draw(recording, show=DETAILS, theme=theme)
        ElementTree.fromstring(drawing.svg())
        assert "heat map" in drawing.svg()
