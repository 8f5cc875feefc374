"""What ran inside of a node, as a picture and as a film: its steps, their values, and where the results go."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings

import microtape as mt
import viz
from microtape.recording.model.model import Recording
from microtape.utils.checkpoint import checkpoint
from tests.support.recordings.live import box, leaf, recorded
from tests.support.recordings.random_recordings import recordings
from tests.support.rendering import needs_graphviz
from viz.basics.graph import Box, VisualGraph
from viz.insides.inside_graph import build_inside, inside_picture
from viz.insides.walk import find_insides
from viz.output.text import to_text


class Clip(mt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: mt.Tensor, lo: float, hi: float) -> tuple[mt.Tensor, mt.Tensor]:
        inside = (x >= lo) & (x <= hi)
        mask = inside.float()
        ctx.save_for_backward(mask, x)
        ctx.lo = lo
        ctx.mark_non_differentiable(inside)
        return x * mask, inside

    @staticmethod
    def backward(ctx: Any, g: mt.Tensor, _g_inside: mt.Tensor) -> tuple[mt.Tensor, None, None]:
        mask, _x = ctx.saved_tensors
        scaled = g * mask
        return scaled, None, None


class Nested(mt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: mt.Tensor) -> mt.Tensor:
        half = Half.apply(g)
        return half * 4


class Half(mt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, t: mt.Tensor) -> mt.Tensor:
        return t * 0.5

    @staticmethod
    def backward(ctx: Any, g: mt.Tensor) -> mt.Tensor:
        return g * 0.5


def clipping() -> None:
    x = leaf([-2.0, 0.5, 3.0])
    z, _inside = Clip.apply(x, -1.0, 1.0)
    z.sum().backward()


def nesting() -> None:
    Nested.apply(leaf(3.0)).backward()


def texts(one: Box) -> list[str]:
    return [f"{row.key} {row.text}".strip() for row in one.rows]


def ports(one: Box) -> dict[str, list[str]]:
    return {port.title: [f"{row.key} {row.text}".strip() for row in port.rows] for port in one.ports}


def arrows(graph: VisualGraph) -> set[tuple[str, str]]:
    """(tail, head) by title, with the title of the port if there are several."""
    boxes = {one.id: one for one in graph.boxes}

    def end(id: str, port: int | None) -> str:
        return boxes[id].title if port is None else boxes[id].ports[port].title

    visible = (one for one in graph.arrows if one.kind not in ("next", "absent"))
    return {(end(one.tail, one.port), end(one.head, one.head_port)) for one in visible}


# --- a Function ------------------------------------------------------------------------------------------------------


def test_forward_and_backward_of_a_function_show_their_operations_under_the_users_names() -> None:
    graph = build_inside(recorded(clipping), "z")
    assert [one.title for one in graph.boxes] == [
        "Clip.forward(x, lo, hi)",
        "greater_equal(x, -1.0)",
        "less_equal(x, 1.0)",
        "inside = bitwise_and(x >= lo, x <= hi)",
        "mask = to(inside)",
        "mul(x, mask)",
        "return x * mask, inside",
        "Clip.backward(ctx, g, _g_inside)",
        "ctx.saved_tensors",
        "scaled = mul(g, mask)",
        "return scaled, None, None",
    ]
    assert "value [0, 1, 0]" in texts(box(graph, "mask = to(inside)"))


def test_a_returned_gradient_goes_to_its_argument_and_none_to_what_is_no_tensor() -> None:
    graph = build_inside(recorded(clipping), "z")
    assert ports(box(graph, "return scaled, None, None")) == {
        "scaled → x": ["value [0, 1, 0]", "goes to x (%0)"],
        "→ lo": ["None: no tensor"],
        "→ hi": ["None: no tensor"],
    }
    assert ("scaled = mul(g, mask)", "scaled → x") in arrows(graph)


def test_what_forward_saved_leads_to_where_backward_unpacks_it() -> None:
    graph = build_inside(recorded(clipping), "z")
    unpacked = box(graph, "ctx.saved_tensors")
    assert list(ports(unpacked)) == ["mask", "_x"]
    assert ports(unpacked)["mask"] == ["saved at version 0, unchanged", "value [0, 1, 0]"]
    saved = [(one.tail, one.text) for one in graph.arrows if one.head == unpacked.id and one.kind == "value"]
    assert saved == [(box(graph, "mask = to(inside)").id, "saved"), (box(graph, "Clip.forward(x, lo, hi)").id, "saved")]
    assert ("mask", "scaled = mul(g, mask)") in arrows(graph)


def test_the_arguments_of_backward_name_their_outputs() -> None:
    graph = build_inside(recorded(clipping), "z")
    given = ports(box(graph, "Clip.backward(ctx, g, _g_inside)"))
    assert given["g"][0] == "gradient of z"
    assert given["_g_inside"][1] == "non-differentiable"
    assert "ctx.lo -1.0" in texts(box(graph, "Clip.backward(ctx, g, _g_inside)"))


def test_the_outputs_of_forward_have_their_roles() -> None:
    returned = ports(box(build_inside(recorded(clipping), "z"), "return x * mask, inside"))
    assert returned["→ z"][0] == "differentiable"
    assert returned["→ _inside"][0] == "non-differentiable"
    assert returned["→ _inside"][1].startswith("marked by mark_non_differentiable")


def test_a_function_inside_of_a_backward_is_a_frame_in_its_frame() -> None:
    graph = build_inside(recorded(nesting), "Nested")
    inner = box(graph, "mul(t, 0.5)")
    assert [cluster.name for cluster in inner.clusters] == ["backward, in step 1 of backward", "forward"]
    assert ("Nested.backward(ctx, g)", "Half.forward(t)") in arrows(graph)
    assert ("return t * 0.5", "mul(half, 4.0)") in arrows(graph)


def test_a_write_in_place_shows_versions_and_the_old_value() -> None:
    class AddOne(mt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, t: mt.Tensor) -> mt.Tensor:
            t.add_(1.0)
            ctx.mark_dirty(t)
            return t

        @staticmethod
        def backward(ctx: Any, g: mt.Tensor) -> mt.Tensor:
            return g

    graph = build_inside(recorded(lambda: AddOne.apply(leaf([1.0, 2.0]) * 2).sum().backward()), "AddOne")
    assert texts(box(graph, "t = add_(t, 1.0)"))[:3] == ["in place version 0 → 1", "before [2, 4]", "value [3, 5]"]


def test_a_write_through_a_view_reaches_what_is_returned() -> None:
    class Fill(mt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
            return x[:1]

        @staticmethod
        def backward(ctx: Any, g: mt.Tensor) -> mt.Tensor:
            out = mt.zeros(2)
            out[:1] = g
            return out

    graph = build_inside(recorded(lambda: Fill.apply(leaf([1.0, 2.0])).sum().backward()), "Fill")
    assert ("copy_(out[:1], g)", "return out") in arrows(graph)


def test_an_error_inside_is_the_last_box_with_its_line() -> None:
    class Wrong(mt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: mt.Tensor) -> mt.Tensor:
            return g.reshape(7, 7)

    def program() -> None:
        with pytest.raises(RuntimeError):
            Wrong.apply(leaf([1.0])).sum().backward()

    last = build_inside(recorded(program), "Wrong").boxes[-1]
    assert (last.kind, last.state, last.title) == ("error", "failed", "RuntimeError")
    assert any("g.reshape(7, 7)" in text for text in texts(last))


# --- hooks, recomputations -------------------------------------------------------------------------------------------


def test_a_hook_is_found_by_the_node_and_by_its_own_name() -> None:
    def halve(g: mt.Tensor) -> mt.Tensor:
        return g * 0.5

    def program() -> None:
        y = leaf(3.0) * 2
        y.register_hook(halve)
        y.backward()

    recording = recorded(program)
    for into in ("y", "%1", 1, "halve"):
        graph = build_inside(recording, into)
        assert [one.title for one in graph.boxes] == ["halve(g)", "mul(g, 0.5)", "return g * 0.5"]
        assert texts(graph.boxes[-1]) == ["the gradient from here on", "value 0.5"]


def test_a_recomputation_is_shown_inside_of_the_node_that_needed_it() -> None:
    def block(h: mt.Tensor) -> mt.Tensor:
        return (h * 2).tanh()

    def program() -> None:
        checkpoint(block, leaf(3.0), use_reentrant=False).backward()

    graph = build_inside(recorded(program), "block")
    assert [one.title for one in graph.boxes][:2] == ["block(h)", "mul(h, 2.0)"]


# --- moments ---------------------------------------------------------------------------------------------------------


def test_each_step_is_a_moment_and_values_appear_when_their_step_has_run() -> None:
    recording = recorded(clipping)
    insides = find_insides(recording, "z", 0)
    for done in range(len(insides.steps) + 1):
        states = [one.state for one in inside_picture(insides, done).boxes]
        want = ["done"] * (done - 1) + ["current"] * (done > 0) + ["future"] * (len(insides.steps) - done)
        assert states == want
    before = box(build_inside(recording, "z", step=4), "mask = to(inside)")
    assert "value" in texts(before)
    assert "value [0, 1, 0]" in texts(box(build_inside(recording, "z", step=5), "mask = to(inside)"))


def test_every_arrow_leads_downwards() -> None:
    for program in (clipping, nesting):
        graph = build_inside(recorded(program), 1)
        ranks = {one.id: one.rank for one in graph.boxes}
        assert all(ranks[one.tail] < ranks[one.head] for one in graph.arrows)


@given(recordings())
@settings(max_examples=50)
def test_any_recording_can_be_drawn_or_is_refused(recording: Recording) -> None:
    for node in range(len(recording.nodes)):
        with suppress(viz.DrawError):
            assert to_text(build_inside(recording, node))


# --- what cannot be drawn --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("into", "message"),
    [
        ("w", "no node and no function of yours is called 'w': into= takes \"z\" (Clip)"),
        ("x", 'nothing of yours ran inside of %0 x: into= takes "z" (Clip)'),
        (2, 'nothing of yours ran inside of %2: into= takes "z" (Clip)'),
        ("%9", 'there is no node %9: the recording has nodes %0 to %2; into= takes "z" (Clip)'),
    ],
)
def test_a_node_without_insides_is_refused_with_those_that_have_some(into: int | str, message: str) -> None:
    with pytest.raises(viz.DrawError, match=f"^{re.escape(message)}$"):
        viz.draw(recorded(clipping), into=into)


def test_a_recording_that_does_not_know_its_insides_says_so() -> None:
    old = Recording(**{**recorded(clipping).__dict__, "calls": (), "functions": ()})
    with pytest.raises(viz.DrawError, match="record the program again"):
        viz.draw(old, into="z")
    with pytest.raises(viz.DrawError, match="no Function, hook or checkpoint of yours ran"):
        viz.draw(recorded(lambda: (leaf(2.0) * 3).backward()), into=1)
    with pytest.raises(viz.DrawError, match="does not tell what ran inside"):
        viz.draw(Clip.apply(leaf([1.0]), 0.0, 1.0)[0], into=1)


def test_insides_in_another_pass_are_pointed_to() -> None:
    def program() -> None:
        y = leaf(3.0) * 2
        y.backward(retain_graph=True)
        y.register_hook(lambda g: g * 2)
        y.backward()

    with pytest.raises(viz.DrawError, match="in this pass, but in pass 2, which pass_index= chooses"):
        viz.draw(recorded(program), into="y")


def test_options_of_other_pictures_are_refused() -> None:
    with pytest.raises(viz.DrawError, match="leave out around=, fold=, depth=, open= and closed="):
        viz.draw(recorded(clipping), into="z", around="z")
    with pytest.raises(viz.DrawError, match="step= takes 0 to 11"):
        viz.draw(recorded(clipping), into="z", step=12)
    with pytest.raises(viz.TooLargeError, match="max_boxes=3"):
        viz.draw(recorded(clipping), into="z", max_boxes=3)


# --- pictures and films ----------------------------------------------------------------------------------------------


@needs_graphviz
def test_graphviz_keeps_the_ranks() -> None:
    svg = viz.draw(recorded(nesting), into="Nested").svg()
    heights = [float(re.search(rf'id="i{number}".*?y="(-?[\d.]+)"', svg, re.DOTALL)[1]) for number in range(9)]  # type: ignore[index]
    assert heights == sorted(heights)


@needs_graphviz
def test_a_film_walks_through_the_steps_with_the_variables_at_each() -> None:
    page = viz.film(recorded(clipping), into="z").html
    data, part = (json.loads(re.search(rf'id="{id}">(.*?)</script>', page)[1]) for id in ("film", "d0-0"))  # type: ignore[index]
    (chapter,) = data["chapters"]
    assert chapter["count"] == len(chapter["tape"]) + 1 == 12
    assert [name for name, *_ in part["steps"][9]["variables"]] == ["ctx.lo", "g", "_g_inside"]
    assert [state for since, state, _ in chapter["tape"][8]["history"] if since == 9] == ["current"]
    with pytest.raises(viz.DrawError, match="leave out fold=, depth=, open=, closed= and steps="):
        _ = viz.film(recorded(clipping), into="z", steps=(0, 1)).html
