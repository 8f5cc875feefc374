"""Cuts through the tree of folds: whatever is open, nothing is lost, and every name that is shown can be typed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microtape as mt
from microtape.recording.model.model import Recording
from microtape.recording.moments.moment import PassTimeline
from viz.basics.errors import DrawError
from viz.basics.graph import VisualGraph
from viz.basics.options import Folding
from viz.planning.box_plan import Planner
from viz.planning.choose_cut import choose_view
from viz.planning.dataflow import find_uses
from viz.planning.fold import Fold, Item
from viz.planning.fold_names import find_named
from viz.planning.fold_tree import FoldTree, Repetition
from viz.planning.folds import STRATEGIES, by_lines, by_loops, folded
from viz.scene.visual_graph import build_graph

Part: TypeAlias = "int | tuple[str, list[Part]]"  # how many operations, or a scope and what is in it

NAMES = ("encoder", "block", "norm", "layers.0", "layers.1", "layers.2", "0 Linear", "1 Linear", "2 ReLU", "norm.1")


def parts() -> st.SearchStrategy[list[Part]]:
    """Random programs of scopes inside of scopes."""
    inner = st.lists(st.integers(1, 3), min_size=1, max_size=2)
    scope = st.recursive(
        inner, lambda inside: st.lists(st.integers(1, 3) | st.tuples(st.sampled_from(NAMES), inside), min_size=1,
                                       max_size=4), max_leaves=12,
    )  # fmt: skip
    return st.lists(st.tuples(st.sampled_from(NAMES), scope) | st.integers(1, 2), min_size=1, max_size=5)


def run(program: list[Part], x: mt.Tensor, w: mt.Tensor) -> mt.Tensor:
    for part in program:
        if isinstance(part, int):
            for one in (w.mul, mt.tanh, mt.sin, mt.cos)[:part]:
                x = one(x)
        else:
            with mt.scope(part[0]):
                x = run(part[1], x, w)
    return x


def recorded(program: list[Part]) -> Recording:
    x, w = mt.ones(2, requires_grad=True), mt.tensor(0.5, requires_grad=True)
    return mt.record(lambda: run(program, x, w).sum().backward())


def planner(recording: Recording) -> Planner:
    now = PassTimeline(recording, 0).at()
    nodes = tuple(now.timeline.nodes)
    return Planner(recording, nodes, find_uses(now, nodes, constants=True), ())


def every_item(items: tuple[Item, ...]) -> Iterator[int]:
    for item in items:
        if isinstance(item, Fold):
            for inside in item.times:
                yield from every_item(inside)
        else:
            yield item


@given(parts(), st.sampled_from((*STRATEGIES, by_lines)), st.data())
@settings(max_examples=60)
def test_whatever_is_open_no_edge_is_lost(program: list[Part], strategy: object, data: st.DataObject) -> None:
    planned = planner(recorded(program))
    tree = FoldTree(folded(planned.recording, planned.nodes, strategy))  # type: ignore[arg-type]
    every = sorted(tree.down_to(), key=lambda one: (one[0].nodes[one[1]], len(tree.around(one[0]))))
    opened = set(data.draw(st.lists(st.sampled_from(every)))) if every else set[Repetition]()
    plan = planned.plan(tree.view(opened))
    assert list(every_item(tree.items)) == [
        node for node in planned.nodes if planned.recording.nodes[node].variable is None
    ]
    assert set(plan.key_of) >= set(planned.nodes)
    arrows = {(link.tail, link.head) for link in plan.links}
    for use in planned.uses:
        ends = plan.key_of[use.of], plan.key_of[use.by]
        assert ends[0] == ends[1] or ends in arrows
    drawn = [group.id for group in plan.view.groups]
    frames = {(frame.id, frame.name) for around in plan.clusters.values() for frame in around}
    assert len(set(drawn)) == len(drawn)
    assert len({id for id, _ in frames}) == len(frames)


@given(parts(), st.data())
@settings(max_examples=60)
def test_every_name_that_is_shown_can_be_typed(program: list[Part], data: st.DataObject) -> None:
    planned = planner(recorded(program))
    tree = FoldTree(folded(planned.recording, planned.nodes, by_loops))
    depth = data.draw(st.integers(0, 4))
    for group in tree.view(tree.down_to(depth)).groups:
        by_path = {one for place in find_named(tree, tree.path(group)) if not place.around for one in place.meant}
        assert by_path == set(group.repetitions)
        by_title = {one for place in find_named(tree, group.title) for one in place.meant}
        assert by_title >= set(group.repetitions)
        opened = choose_view(planned, Folding(depth=depth, open=[tree.path(group)]), (), 25)
        assert {frame.name for around in opened.clusters.values() for frame in around} >= {group.fold.label(0, 1)} or (
            len(group.fold.times) != group.stop - group.first
        )


@given(parts())
@settings(max_examples=30)
def test_a_picture_at_any_depth_has_all_nodes(program: list[Part]) -> None:
    recording = recorded(program)
    for depth in range(4):
        graph = build_graph(recording, depth=depth)
        assert all(len(box.clusters) <= depth for box in graph.boxes)


# --- names -----------------------------------------------------------------------------------------------------------

LAYER: list[Part] = [("attention", [2, 3]), 1, ("norm", [1])]
MODEL: list[Part] = [
    ("encoder", [("layers.0", LAYER), ("layers.1", LAYER), ("layers.2", LAYER), ("norm", [1])]),
    ("decoder", [("layers.0", LAYER), 3, ("layers.1", LAYER), ("head", [("0 Linear", [2]), ("1 Linear", [2])])]),
    ("loss", [1]),
]


@pytest.fixture(scope="module")
def model() -> Recording:
    return recorded(MODEL)


def titles(graph: VisualGraph) -> list[str]:
    return [box.title for box in graph.boxes if box.kind == "fold"]


def frames(graph: VisualGraph) -> list[str]:
    return list(dict.fromkeys(".".join(frame.name for frame in box.clusters) for box in graph.boxes if box.clusters))


def test_levels_open_by_depth(model: Recording) -> None:
    assert titles(build_graph(model, depth=0)) == ["encoder", "decoder", "loss"]
    assert titles(build_graph(model, depth=1)) == ["layers ×3", "norm", "layers[0]", "layers[1]", "head"]
    assert titles(build_graph(model, depth=2, closed="decoder")) == [*["attention", "norm"] * 3, "decoder"]


def test_adjacent_equal_modules_of_a_list_share_a_fold_and_have_their_numbers(model: Recording) -> None:
    graph = build_graph(model, open="encoder.layers[1]", depth=0)
    assert titles(graph) == ["layers[0]", "attention", "norm", "layers[2]", "norm", "decoder", "loss"]
    assert titles(build_graph(model, open="encoder.layers.1", depth=0)) == titles(graph)
    opened = titles(build_graph(model, open="decoder.head", depth=0))
    assert opened == ["encoder", "layers[0]", "layers[1]", "Linear ×2", "loss"]


def test_a_path_opens_exactly_what_it_names(model: Recording) -> None:
    graph = build_graph(model, open="encoder.layers[2].attention", depth=0)
    assert frames(graph) == ["encoder", "encoder.layers[2].attention", "encoder.layers[2]"]
    graph = build_graph(model, open="layers[0].attention", depth=0)  # begins anywhere; there are two
    assert frames(graph)[:2] == ["decoder.layers[0].attention", "decoder.layers[0]"]
    graph = build_graph(model, open=("encoder.layers.attention"), depth=0)
    assert [name for name in frames(graph) if name.endswith("attention")] == [
        f"encoder.layers[{number}].attention" for number in range(3)
    ]


def test_what_is_closed_stays_closed(model: Recording) -> None:
    assert titles(build_graph(model, depth=1, closed="encoder"))[0] == "encoder"
    assert titles(build_graph(model, open=("encoder", "layers"), closed="layers[1:]", depth=0))[:2] == [
        "attention", "norm"]  # fmt: skip
    with pytest.raises(DrawError, match=r'^open="encoder.norm" cannot be seen: closed= closes it, or what is around'):
        build_graph(model, open="encoder.norm", closed="encoder")


def test_the_overview_is_the_outer_structure(model: Recording) -> None:
    graph = build_graph(model)
    assert titles(graph) == ["layers ×3", "norm", "layers[0]", "layers[1]", "head", "loss"]
    assert frames(graph) == ["encoder", "decoder"]
    assert "×" not in "".join(one for one in titles(graph) if one != "layers ×3")


def test_a_module_that_is_called_twice_is_numbered_through() -> None:
    twice = recorded([("critic", [3]), 1, ("critic", [3]), 2, ("critic", [3])])
    assert titles(build_graph(twice, depth=0)) == ["critic[0]", "critic[1]", "critic[2]"]
    assert titles(build_graph(twice, depth=0, open="critic[1]")) == ["critic[0]", "critic[2]"]


def test_options_that_contradict_each_other_are_refused(model: Recording) -> None:
    for options, message in (
        ({"fold": False, "depth": 1}, "fold=False draws single nodes: leave out depth=, open= and closed="),
        ({"depth": -1}, "depth=-1 is negative: it counts the levels of folds that are open"),
        ({"closed": "encodr"}, "there is no fold called 'encodr'; the folds here: encoder, layers ×3, attention, norm"),
    ):
        with pytest.raises(DrawError) as caught:
            build_graph(model, **options)  # type: ignore[arg-type]
        assert str(caught.value).startswith(message)
