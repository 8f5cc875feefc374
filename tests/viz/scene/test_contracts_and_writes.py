"""What a picture shows of a Function's contract, of writes in place, and of results without a derivative."""

from __future__ import annotations

from typing import Any

import pytest

import microtape as mt
from tests.support.recordings.live import box, leaf, recorded
from viz.basics.graph import Box
from viz.films.fixed_layout import FixedLayout
from viz.scene.visual_graph import build_graph


class Clip(mt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: mt.Tensor, lo: float) -> tuple[mt.Tensor, mt.Tensor]:
        inside = x >= lo
        mask = inside.float()
        ctx.save_for_backward(mask)
        ctx.lo = lo
        ctx.mark_non_differentiable(inside)
        return x * mask, inside

    @staticmethod
    def backward(ctx: Any, g: mt.Tensor, _g_inside: mt.Tensor) -> tuple[mt.Tensor, None]:
        (mask,) = ctx.saved_tensors
        return g * mask, None


class AddOne(mt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
        ctx.set_materialize_grads(False)
        x.add_(1.0)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx: Any, g: mt.Tensor) -> mt.Tensor:
        return g


class Head(mt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
        return x[:1]

    @staticmethod
    def backward(ctx: Any, g: mt.Tensor) -> mt.Tensor:
        return mt.cat([g, mt.zeros(1)])


def clipping() -> None:
    z, inside = Clip.apply(leaf([-2.0, 0.5]), -1.0)
    assert inside is not None
    z.sum().backward()


def texts(one: Box) -> list[str]:
    return [f"{row.key} {row.text}".strip() for row in one.rows]


# --- contracts -------------------------------------------------------------------------------------------------------


def test_a_function_shows_its_arguments_its_outputs_roles_and_its_ctx() -> None:
    graph = build_graph(recorded(clipping))
    clip = next(b for b in graph.boxes if "Clip" in b.title)
    assert "args x needs a gradient; not lo" in texts(clip)
    assert "ctx.lo -1.0" in texts(clip)
    assert "saved mask  freed" in texts(clip)
    assert [row.text for row in clip.ports[0].rows][1] == "differentiable"
    assert "vector 2" in [row.text for row in clip.ports[0].rows]


def test_a_contract_is_left_out_if_it_was_not_asked_for() -> None:
    clip = next(b for b in build_graph(recorded(clipping), show=["values"]).boxes if "Clip" in b.title)
    assert not any(text.startswith(("args", "ctx.lo")) for text in texts(clip))


@pytest.mark.parametrize(
    ("function", "role"), [(AddOne, "output the argument x itself, dirty"), (Head, "output a view of the argument x")]
)
def test_a_dirty_argument_and_a_view_are_named(function: Any, role: str) -> None:
    graph = build_graph(recorded(lambda: function.apply(leaf([1.0, 2.0]) * 2).sum().backward()))
    one = next(b for b in graph.boxes if function.__name__ in b.title)
    assert role in texts(one)
    assert ("undefined gradients stay None" in texts(one)) == (function is AddOne)


# --- writes in place -------------------------------------------------------------------------------------------------


def test_a_write_shows_the_old_value_and_that_nobody_misses_it() -> None:
    def program() -> None:
        y = leaf([1.0, 2.0]) * 2
        y.add_(1.0)
        y.sum().backward()

    write = next(b for b in build_graph(recorded(program)).boxes if "add_" in b.title)
    assert texts(write)[1:4] == ["in place v0 → v1", "before [2, 4]", "value [3, 5]"]


def test_an_arrow_leads_from_a_write_to_each_node_that_will_miss_the_old_value_before_backward_fails() -> None:
    def program() -> None:
        e = leaf([1.0, 2.0]).exp()
        f = e * e
        e.add_(1.0)
        with pytest.raises(RuntimeError):
            (f + e).sum().backward()

    recording = recorded(program)
    for step in (0, None):
        graph = build_graph(recording, step=step)
        write = next(b for b in graph.boxes if "add_" in b.title)
        lost = [(arrow.head, arrow.text) for arrow in graph.arrows if arrow.kind == "overwrote"]
        assert sorted(lost) == [("n1", "overwrote e"), ("n2", "overwrote e")]
        assert "✗ %1 had saved v0, and will miss it" in texts(write)
        assert "overwrote" in {item.name for item in graph.legend}


# --- results without a derivative ------------------------------------------------------------------------------------


def test_an_output_without_a_gradient_has_an_end_mark_and_the_reason() -> None:
    def program() -> None:
        s, idx = mt.sort(leaf([2.0, 1.0]))
        assert idx.dtype == mt.int64
        s.sum().backward()

    graph = build_graph(recorded(program))
    sort = next(b for b in graph.boxes if "sort" in b.title)
    assert [port.ends for port in sort.ports] == [False, True]
    assert [row.text for row in sort.ports[1].rows][-2:] == ["⊣ non-differentiable", "int64"]
    assert "end" in {item.about for item in graph.legend}
    assert [port.ends for port in FixedLayout([graph]).picture(0).boxes[1].ports] == [False, True]


def test_a_mask_says_who_marked_it() -> None:
    clip = next(b for b in build_graph(recorded(clipping)).boxes if "Clip" in b.title)
    assert "marked by mark_non_differentiable" in clip.ports[1].rows[-1].text


def test_a_path_that_ends_in_an_argmax_is_drawn_to_its_end() -> None:
    def program() -> None:
        y = leaf([2.0, 1.0]) * 2
        best = y.argmax()
        assert best.item() == 0
        y.sum().backward()

    graph = build_graph(recorded(program))
    end = box(graph, "best = argmax(y)")
    assert (end.kind, texts(end)[1]) == ("border", "value 0")
    assert texts(end)[0].startswith("⊣ an argmax has no derivative, line ")
    (arrow,) = [one for one in graph.arrows if one.head == end.id]
    assert (arrow.tail, arrow.kind) == ("n1", "border")
    assert not [one for one in graph.arrows if one.tail == end.id]


def test_a_mask_that_the_loss_uses_is_drawn_once() -> None:
    def program() -> None:
        y = leaf([2.0, -1.0]) * 2
        mask = y > 0
        (y * mask).sum().backward()

    assert [b.title for b in build_graph(recorded(program)).boxes].count("mask = greater(y, 0.0)") == 1
