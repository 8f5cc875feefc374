"""The contents of a picture of a recording at a step: boxes, arrows and texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import microtape as mt
from microtape.recording.model.model import Recording
from microtape.recording.moments.moment import PassTimeline
from tests.support.recordings.handmade import ADD, MUL, Tape, chain, diamond, failing, twice
from viz.basics.errors import DrawError, TooLargeError
from viz.basics.graph import Arrow, Box, Cluster, VisualGraph
from viz.planning.ranks import above_clusters, assign_ranks
from viz.planning.selection import select_nodes
from viz.scene.visual_graph import build_graph


def box(graph: VisualGraph, id: str) -> Box:
    return next(one for one in graph.boxes if one.id == id)


def rows(graph: VisualGraph, id: str) -> dict[str, str]:
    return {row.key: row.text for row in box(graph, id).rows}


def arrows(graph: VisualGraph, tail: str, head: str) -> list[Arrow]:
    return [arrow for arrow in graph.arrows if (arrow.tail, arrow.head) == (tail, head)]


def ways(graph: VisualGraph) -> dict[tuple[str, str], str]:
    return {(arrow.tail, arrow.head): arrow.kind for arrow in graph.arrows}


# --- the rows of a box ---------------------------------------------------------------------------------------------


def test_an_operation_reads_like_a_line_of_the_program() -> None:
    graph = build_graph(diamond())
    assert [one.title for one in graph.boxes if one.kind == "operation"] == [
        "%2 = mul(x, y)",
        "%3 = add(x, y)",
        "z = mul(%2, %3)",
    ]
    about = rows(graph, "n4")
    assert about["value"] == "30"
    assert about["line 5"] == "(x * y) * (x + y)"
    assert about["saved"] == "%2, %3  freed"
    assert box(graph, "n4").rows[0].text == "z = %2 · %3   ∂z/∂%2 = %3,  ∂z/∂%3 = %2"


def test_a_leaf_and_its_accumulate_grad_are_one_box() -> None:
    graph = build_graph(diamond())
    assert [one.title for one in graph.boxes if one.kind == "leaf"] == ["x", "y"]
    assert rows(graph, "n0") == {"value": "2", ".grad": "21"}


def test_no_gradient_yet_is_not_zero() -> None:
    assert rows(build_graph(diamond(), step=0), "n0")[".grad"] == "no gradient yet"
    tape = Tape("zero.py", "")
    x = tape.tensor("x", 1)
    tape.backward(tape.op("mul", MUL, [x, "0.0"], 0, [lambda g: g * 0], name="y"))
    assert rows(build_graph(tape.recording()), "n0")[".grad"] == "0"


def test_a_leaf_shows_the_arrived_gradient_before_it_is_accumulated() -> None:
    two, three = build_graph(diamond(), step=2), build_graph(diamond(), step=3)
    assert rows(two, "n0") == {"value": "2", "arrived": "6  (1 more to come)", ".grad": "no gradient yet"}
    assert rows(three, "n0")["arrived"] == "6 + 15 = 21"


def test_a_second_pass_adds_to_grad() -> None:
    start, end = build_graph(twice(), pass_index=1, step=0), build_graph(twice(), pass_index=1, step=5)
    assert rows(start, "n0")[".grad"] == "21"
    assert rows(end, "n0")[".grad"] == "21 + 21 = 42"


def test_a_pass_is_numbered_as_in_the_program() -> None:
    recording = twice()
    second = replace(recording, passes=(recording.passes[1]._replace(index=6),))
    assert build_graph(recording).title == "twice.py: backward() at line 7, pass 1"
    assert build_graph(second).title == "twice.py: backward() at line 7, pass 7"
    assert build_graph(diamond()).title == "diamond.py: backward() at line 6"
    assert rows(build_graph(second), "n0")[".grad"] == "21 + 21 = 42"


def test_states_follow_the_steps() -> None:
    def states(step: int | None) -> str:
        return " ".join(box(build_graph(diamond(), step=step), f"n{node}").state for node in range(5))

    assert states(0) == "future future future future ready"
    assert states(1) == "future future receiving receiving current"
    assert states(2) == "receiving receiving ready current done"
    assert states(3) == "receiving receiving current done done"
    assert states(5) == "current done done done done"
    assert states(None) == "done done done done done"


def test_a_program_without_backward_has_no_states_and_no_gradients() -> None:
    tape = Tape("forward.py", "")
    tape.op("mul", MUL, [tape.tensor("x", 2), "3.0"], 6, [None], name="y")
    graph = build_graph(tape.recording())
    assert graph.subtitle == "no backward pass was recorded"
    assert {one.state for one in graph.boxes} == {""}
    assert rows(graph, "n0") == {"value": "2"}


def test_values_that_were_not_recorded_are_counted_not_guessed() -> None:
    recording = diamond()
    tensors = tuple(one._replace(values={}) if one.node == 2 else one for one in recording.tensors)
    graph = build_graph(replace(recording, tensors=tensors))
    assert "value" not in rows(graph, "n2")
    assert graph.notes == ("1 of 3 values were not recorded",)


def test_bases_of_views_in_place_writes_and_hooks_are_named() -> None:
    with mt.record() as recorder:
        x = mt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        table = x * 1.0
        row = table[0]
        row.mul_(2.0)

        def watch(grad: mt.Tensor) -> None:
            pass

        table.register_hook(watch)
        table.sum().backward()
    graph = build_graph(recorder.recording)
    said = [(row.key, row.text) for one in graph.boxes for row in one.rows]
    assert ("hooks", "watch") in said
    assert "in place" in dict(said)
    recording = diamond()
    tensors = tuple(one._replace(base=0) if one.name == "z" else one for one in recording.tensors)
    assert rows(build_graph(replace(recording, tensors=tensors)), "n4")["view of"] == "x"


def test_a_dtype_is_named_where_it_differs_from_the_others() -> None:
    recording = diamond()
    tensors = tuple(one._replace(dtype="float32") if one.name == "z" else one for one in recording.tensors)
    graph = build_graph(replace(recording, tensors=tensors))
    assert (box(graph, "n0").note, box(graph, "n4").note) == ("scalar", "scalar float32")


# --- arrows ------------------------------------------------------------------------------------------------------


def test_gradients_travel_up_the_arrows_step_by_step() -> None:
    assert set(ways(build_graph(diamond(), step=0)).values()) == {"future", "now"}
    two = ways(build_graph(diamond(), step=2))
    assert two["n2", "n4"] == two["n3", "n4"] == "done"
    assert two["n0", "n3"] == two["n1", "n3"] == "now"
    assert two["n0", "n2"] == two["n1", "n2"] == "future"
    assert [arrow.text for arrow in build_graph(diamond()).arrows] == ["15", "10", "6", "6", "5", "6", "1"]


def test_x_times_x_has_two_arrows_with_a_term_each() -> None:
    with mt.record() as recorder:
        x = mt.tensor(3.0, requires_grad=True)
        y = x * x
        y.backward()
    graph = build_graph(recorder.recording)
    assert [arrow.text for arrow in arrows(graph, "n0", "n1")] == ["3", "3"]
    assert rows(graph, "n0")[".grad"] == "6"


def test_an_undefined_gradient_is_shown_as_undefined() -> None:
    tape = Tape("none.py", "")
    x, y = tape.tensor("x", 2), tape.tensor("y", 3)
    tape.backward(tape.op("mul", MUL, [x, y], 6, [lambda g: g, None], name="z"))
    graph = build_graph(tape.recording(), step=1)
    assert ways(graph)["n1", "n2"] == "undefined"
    assert [item.text for item in graph.legend if item.name == "undefined"] == ["None delivered: adds nothing"]


def test_a_tensor_that_needs_no_gradient_has_a_box_and_a_dashed_arrow() -> None:
    with mt.record() as recorder:
        x = mt.tensor([1.0, 2.0])
        w = mt.tensor([3.0, 4.0], requires_grad=True)
        ((w * x) * 2.0).sum().backward()
    graph = build_graph(recorder.recording)
    constant = [one for one in graph.boxes if one.kind == "constant"]
    assert [one.title for one in constant] == ["x"]  # 2.0 is in the title of its operation
    assert [arrow.kind for arrow in graph.arrows if arrow.tail == constant[0].id] == ["value"]
    assert "constant" not in {one.kind for one in build_graph(recorder.recording, show={"values"}).boxes}


class Both(mt.autograd.Function):
    @staticmethod
    def forward(ctx: object, x: mt.Tensor) -> tuple[mt.Tensor, mt.Tensor]:
        return x * 2, x * 3

    @staticmethod
    def backward(ctx: object, first: mt.Tensor, second: mt.Tensor) -> mt.Tensor:
        return first * 2 + second * 3


def test_each_output_of_a_node_is_a_port_with_its_gradient() -> None:
    with mt.record() as recorder:
        x = mt.tensor(1.0, requires_grad=True)
        double, triple = Both.apply(x)
        (double * triple).backward()
    graph = build_graph(recorder.recording)
    both = next(one for one in graph.boxes if one.ports)
    assert both.title == "double, triple = Both(x)"
    assert [port.title for port in both.ports] == ["0: double", "1: triple"]
    assert [[row.text for row in port.rows if row.key == "grad"] for port in both.ports] == [["3"], ["2"]]
    assert sorted(arrow.port for arrow in graph.arrows if arrow.tail == both.id if arrow.port is not None) == [0, 1]


def test_nodes_recorded_by_backward_are_told_apart() -> None:
    with mt.record() as recorder:
        x = mt.tensor(3.0, requires_grad=True)
        (slope,) = mt.autograd.grad(x**3, x, create_graph=True)
        slope.backward()
    first, second = build_graph(recorder.recording, step=1), build_graph(recorder.recording, pass_index=1)
    assert not any(one.recorded_in is not None for one in build_graph(recorder.recording, step=0).boxes)
    for graph in (first, second):
        own = {one.recorded_in for one in graph.boxes if one.title.startswith("slope =")}
        assert own == {0}
        assert [item.text for item in graph.legend if item.about == "recorded"] == ["recorded by backward, pass 1"]
    assert rows(first, "n0")["grad()"] == "27"
    assert rows(first, "n0")[".grad"] == "no gradient yet"


def test_a_value_used_in_many_places_is_drawn_again_instead_of_crossing_the_picture() -> None:
    tape = Tape("rnn.py", "")
    weight = tape.tensor("w", 0.5)
    state = tape.tensor("h", 1.0)
    for _ in range(8):
        state = tape.op("mul", MUL, [state, weight], 1, [lambda g: g, lambda g: g])
    tape.backward(state)
    graph = build_graph(tape.recording())
    again = [one for one in graph.boxes if one.kind == "again"]
    assert {one.title for one in again} == {"w"}
    rank = {one.id: one.rank for one in graph.boxes}
    assert {rank[arrow.head] - rank[arrow.tail] for arrow in graph.arrows} == {1}
    assert sum(arrow.text == "1" for arrow in graph.arrows) == len(graph.arrows) == 17  # each keeps its own term


# --- a pass that failed ------------------------------------------------------------------------------------------


def test_a_failed_pass_shows_the_node_the_versions_both_lines_and_the_overwriting_node() -> None:
    graph = build_graph(failing())
    assert box(graph, "n1").state == "failed"
    assert rows(graph, "n1")["saved"] == "e v0, now v1 ✗"
    assert rows(graph, "n2")["in place"] == "v0 → v1"
    assert rows(graph, "error")["saved"] == "line 4  mt.exp(x)"
    assert rows(graph, "error")["modified"] == "line 5  e.add_(1.0)"
    assert ways(graph)["error", "n1"] == "note"
    assert [(one.kind, one.text) for one in arrows(graph, "n2", "n1")] == [("overwrote", "overwrote e")]
    assert graph.subtitle == "failed in step 3: %1 ExpBackward0"


def test_before_the_failure_only_the_versions_show_it() -> None:
    graph = build_graph(failing(), step=1)
    assert [one.id for one in graph.boxes if one.kind == "error"] == []
    assert rows(graph, "n1")["saved"] == "e v0, now v1 ✗"


# --- selection -------------------------------------------------------------------------------------------------


def test_a_graph_too_large_to_read_says_so_in_one_line_and_offers_a_neighbourhood() -> None:
    with pytest.raises(TooLargeError) as caught:
        build_graph(chain(400), fold=False)
    assert str(caught.value) == (
        "406 nodes would not be readable in one picture (the limit is max_boxes=300): "
        'fold what repeats with fold=True, draw the neighbourhood of one node with around="loss", radius=3, '
        "or raise max_boxes="
    )
    assert len(build_graph(chain(400), fold=False, max_boxes=1000).boxes) > 400


@pytest.mark.parametrize("middle", ["loss", 405, "%405"])
def test_a_neighbourhood_is_found_by_name_and_by_number(middle: int | str) -> None:
    graph = build_graph(chain(400), around=middle, radius=1)
    assert [one.node for one in graph.boxes if one.node is not None] == [404, 405]
    assert box(graph, "n405").in_the_middle
    assert graph.notes == ("2 of 406 nodes: those within 1 of %405",)
    assert box(graph, "n404").rows[-1].text == "… and 2 more neighbours"


def test_a_neighbourhood_stops_at_a_shared_leaf() -> None:
    graph = build_graph(chain(400), around=200, radius=2)
    assert len({one.node for one in graph.boxes} - {None}) < 15
    hub = build_graph(chain(400), around="w1", radius=1)
    assert len({one.node for one in hub.boxes} - {None}) == 13  # itself and its first twelve uses


@pytest.mark.parametrize(("around", "middle"), [("mul", 4), ("add", 3), (":5", 4), ("diamond.py:5", 4), ("x", 0)])
def test_a_neighbourhood_is_that_of_the_last_node_with_a_name_an_operation_or_a_line(around: str, middle: int) -> None:
    now = PassTimeline(diamond(), 0).at()
    assert select_nodes(now, around, 1, 100).middle == middle


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"step": 6}, "there is no step 6: the pass has 5 steps, so step= takes 0 to 5"),
        ({"step": -1}, "there is no step -1: the pass has 5 steps, so step= takes 0 to 5"),
        ({"pass_index": 1}, "there is no pass 1: the recording has 1 pass, so pass_index= takes 0 to 0"),
        ({"around": "q"}, "nothing here is called 'q': take an id as in around=\"%4\", one of z, y, x, "
                          "an operation such as mul, add, or a line as in :7"),
        ({"around": 9}, "there is no node %9 here: this pass has nodes %0 to %4"),
        ({"around": "z", "radius": -1}, "radius=-1 is negative: it counts the edges from the node in the middle"),
        ({"around": "z", "open": "cell"}, "around= draws single nodes: leave out fold=, depth=, open= and closed="),
        ({"show": {"value"}}, "there is no detail value: show= takes any of values, gradients, terms, formulas, saved, "
                              "contract, source, findings, heat, constants, legend"),
    ],
)  # fmt: skip
def test_a_wrong_argument_gives_one_clear_line(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(DrawError) as caught:
        build_graph(diamond(), **arguments)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_an_empty_recording_cannot_be_drawn() -> None:
    with pytest.raises(DrawError, match="nothing to draw: no operation was recorded"):
        build_graph(Recording("empty.py", (), (), (), {}))


def test_details_can_be_chosen_and_become_fewer_with_size() -> None:
    bare = build_graph(diamond(), show=())
    assert all(one.rows == () for one in bare.boxes)
    assert bare.legend == ()
    small, medium, large = diamond(), chain(60), chain(120)
    assert {"line 5", "saved", "value", "grad"} <= rows(build_graph(small), "n4").keys()
    assert rows(build_graph(medium, fold=False), "n7").keys() == {"value", "grad", "saved"}
    assert rows(build_graph(large, fold=False), "n7").keys() == {"value", "grad"}


def test_the_legend_explains_the_signs_that_occur_and_no_others() -> None:
    graph = build_graph(diamond(), step=2)
    assert {item.name for item in graph.legend} == {
        "leaf", "operation", "current", "receiving", "ready", "done", "future", "now",
    }  # fmt: skip


# --- ranks ------------------------------------------------------------------------------------------------------


def test_inputs_are_right_above_their_first_use_and_every_box_is_below_its_operands() -> None:
    ranks = assign_ranks("xwabcl", {"x": "a", "a": "b", "b": "c", "w": "c", "c": "l"})
    assert ranks == {"x": 0, "a": 1, "b": 2, "w": 2, "c": 3, "l": 4}


def test_an_early_branch_stays_at_the_top() -> None:
    # h1 -> h2 -> h3 and a loss from each, summed in order: o1 is beside h2, not at the end.
    uses = {
        "x": ["h1"],
        "h1": ["h2", "o1"],
        "h2": ["h3", "o2"],
        "h3": ["o3"],
        "o1": ["s"],
        "o2": ["s"],
        "s": ["t"],
        "o3": ["t"],
    }
    ranks = assign_ranks(["x", "h1", "o1", "h2", "o2", "s", "h3", "o3", "t"], uses)
    assert ranks["o1"] == ranks["h2"]
    assert all(ranks[user] > ranks[used] for used, users in uses.items() for user in users)


def test_a_damaged_tape_with_a_circle_is_still_laid_out() -> None:
    assert assign_ranks("ab", {"a": "b", "b": "a"}) == {"a": 0, "b": 1}


def test_the_inputs_of_a_frame_are_below_the_box_that_leads_into_it() -> None:
    uses = {"x": "a", "a": "b", "b": "cd", "w": "d", "c": "d"}
    frame = (Cluster("f", "block"),)
    clusters = {"c": frame, "w": frame, "d": frame}
    above = above_clusters("xabcwd", uses, clusters)
    assert above == {"w": ["b"]}
    assert assign_ranks("xabcwd", uses, above) == {"x": 0, "a": 1, "b": 2, "c": 3, "w": 3, "d": 4}
    assert assign_ranks("xabwd", {"x": "a", "a": "b", "b": "d", "w": "d"}, {"w": ["b"]})["w"] == 3


def test_building_does_not_recurse() -> None:
    tape = Tape("deep.py", "")
    x = tape.tensor("x", 1)
    for _ in range(3000):
        x = tape.op("add", ADD, [x, "1.0"], 1, [lambda g: g])
    tape.backward(x)
    assert len(build_graph(tape.recording(), fold=False, max_boxes=10_000, show=()).boxes) == 3002


def test_large_arrays_are_described_on_one_line() -> None:
    with mt.record() as recorder:
        w = mt.tensor(np.arange(10_000.0).reshape(100, 100).tolist(), requires_grad=True)
        (w * 2.0).sum().backward()
    value = rows(build_graph(recorder.recording), "n0")["value"]
    assert value.startswith("5000 ±")
    assert len(value) <= 36


def test_nan_and_inf_stand_out() -> None:
    with mt.record() as recorder:
        x = mt.tensor([0.0, 1.0], requires_grad=True)
        x.sqrt().sum().backward()
    graph = build_graph(recorder.recording)
    tones = {row.key: row.tone for row in box(graph, "n0").rows}
    assert tones == {"value": "plain", ".grad": "alarm"}


def test_a_write_through_a_view_is_explained() -> None:
    with mt.record() as recorder:
        table = mt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True) * 2.0
        table[0] = 5.0
        table.sum().backward()
    graph = build_graph(recorder.recording)
    written = next(one for one in graph.boxes if any("through a view" in row.text for row in one.rows))
    assert rows(graph, written.id)["in place"] == "v0 → v1"
