"""Folding: operations that repeat or belong together are drawn as one box, which opens by name."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
import viz
from microtape.recording.model.model import Recording
from microtape.recording.model.summary import summarize
from tests.support.recordings.handmade import chain
from tests.support.rendering import needs_graphviz
from viz.basics.errors import DrawError, TooLargeError
from viz.basics.graph import Box, VisualGraph
from viz.planning.fold import Fold, Item, operations
from viz.planning.folds import Strategy, by_functions, by_loops, by_returns, folded
from viz.planning.repeats import Position, Repeat, find_repeats
from viz.planning.sparkline import root_mean_square, sparkline
from viz.scene.fold_boxes import span
from viz.scene.visual_graph import build_graph

# --- repetitions in a sequence ---------------------------------------------------------------------------------------


def shown(sequence: Sequence[Hashable], copies: int = 3) -> str:
    """`(a b)x3 c`"""

    def one(item: Position) -> str:
        if isinstance(item, Repeat):
            return f"({''.join(map(one, item.times[0]))})x{len(item.times)}"
        return str(sequence[item])

    order = [ord(str(symbol)[0]) for symbol in sequence]
    return " ".join(map(one, find_repeats(sequence, order, copies)))


@pytest.mark.parametrize(
    ("sequence", "expected"),
    [
        ("", ""),
        ("abc", "a b c"),
        ("abab", "a b a b"),
        ("aaa", "(a)x3"),
        ("abababc", "(ab)x3 c"),
        ("maamaamaa", "(maa)x3"),
        ("aaabaaabaaab", "((a)x3b)x3"),
        ("aaabaaaabaaaaab", "((a)x3b)x3"),  # the inner loop may run a different number of times
        ("cabcabcabc", "c (abc)x3"),  # a repetition begins at the first line
        ("xabcabcabcab", "x (abc)x3 a b"),
    ],
)
def test_repetitions_are_found_inside_repetitions(sequence: str, expected: str) -> None:
    assert shown(sequence) == expected


def unfolded(items: Sequence[Position]) -> list[int]:
    return [
        position
        for item in items
        for position in ([item] if isinstance(item, int) else [p for each in item.times for p in unfolded(each)])
    ]


@given(st.lists(st.sampled_from("abc"), max_size=60), st.integers(2, 4))
def test_nothing_is_lost_and_everything_stays_in_order(sequence: list[str], copies: int) -> None:
    items = find_repeats(sequence, [ord(symbol) for symbol in sequence], copies)
    assert unfolded(items) == list(range(len(sequence)))


@given(st.lists(st.sampled_from("abcdef"), min_size=1, unique=True), st.integers(3, 9))
def test_a_repeated_body_becomes_one_item(body: list[str], times: int) -> None:
    assert len(find_repeats(body * times, [0] * len(body) * times, 3)) == 1


def test_a_loop_of_long_repetitions_is_found() -> None:
    assert len(find_repeats(list(range(5000)) * 6, [0] * 30_000, 3)) == 1


# --- folds of a tape -------------------------------------------------------------------------------------------------


def record(program: Callable[[], object]) -> Recording:
    with mt.record() as recorder:
        program()
    return recorder.recording


def tree(recording: Recording, way: Strategy = by_loops) -> str:
    """`[cell ×3: mul tanh] sum`"""

    def one(item: Item) -> str:
        if isinstance(item, Fold):
            return f"[{item.name} ×{len(item.times)}: {' '.join(map(one, item.times[0]))}]"
        return recording.nodes[item].op

    return " ".join(map(one, folded(recording, range(len(recording.nodes)), way)))


def rnn(steps: int) -> None:
    W = mt.tensor([[0.5, 0.1], [0.2, 0.3]], requires_grad=True)  # noqa: N806
    h = mt.ones(1, 2)
    for _ in range(steps):
        h = (h @ W).tanh()
    h.sum().backward()


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(Path(__file__).read_text().split("\n"), 1) if text in line)


RNN = line_of("h = (h @ W).tanh()")


def test_the_steps_of_a_loop_fold_and_are_named_after_their_line() -> None:
    assert tree(record(lambda: rnn(20))) == f"[line {RNN} ×20: matmul tanh] sum"


def test_a_loop_that_calls_a_function_is_named_after_it() -> None:
    def cell(x: mt.Tensor) -> mt.Tensor:
        return (x * 0.5).tanh()

    def program() -> None:
        x = mt.ones(2, requires_grad=True)
        for _ in range(4):
            x = cell(x)
        x.sum().backward()

    assert tree(record(program)) == "[cell ×4: mul tanh] sum"


def test_nested_loops_become_nested_folds() -> None:
    def neuron(weights: Sequence[mt.Tensor], inputs: Sequence[mt.Tensor]) -> mt.Tensor:
        return sum((w * x for w, x in zip(weights, inputs, strict=True)), mt.tensor(0.0)).tanh()

    def program() -> None:
        weights = [[mt.tensor(0.1, requires_grad=True) for _ in range(4)] for _ in range(3)]
        inputs = [mt.tensor(1.0)] * 4
        sum(neuron(one, inputs) for one in weights).backward()

    line = line_of("return sum((w * x")
    assert tree(record(program), by_loops).startswith(f"[neuron + program ×3: [line {line} ×4: mul add] tanh add]")


def test_scopes_fold_singly_together_and_nested() -> None:
    def program() -> None:
        x = mt.ones(2, requires_grad=True)
        with mt.scope("embed"):
            x = x * 2.0
        for _ in range(2):
            with mt.scope("block"):
                with mt.scope("attention"):
                    x = x.exp().log()
                x = x.tanh()
        x.sum().backward()

    assert tree(record(program)) == "[embed ×1: mul] [block ×2: [attention ×1: exp log] tanh] sum"


def test_operations_recorded_by_backward_fold_like_their_forward() -> None:
    def program() -> None:
        x = mt.ones(2, requires_grad=True)
        y = x
        for _ in range(5):
            y = y.sin()
        mt.autograd.grad(y.sum(), x, create_graph=True)

    line = line_of("y = y.sin()")
    assert tree(record(program)).startswith(f"[line {line} ×5: sin] sum")
    assert f"[backward of line {line} ×" in tree(record(program))


def irregular() -> None:
    x = mt.ones(2, requires_grad=True)
    y = x
    for step in range(40):
        y = y * 0.9
        if 0x5DEECE66D1 >> step & 1:
            y = y.tanh()
        if 0x9E3779B97F >> step & 1:
            y = y + x
    y.sum().backward()


def test_a_loop_that_differs_each_time_folds_at_the_operation_it_returns_to() -> None:
    first, last = line_of("y = y * 0.9"), line_of("y = y + x")
    assert tree(record(irregular), by_returns).startswith(f"[lines {first}-{last} ×40: ")


def test_functions_fold_if_nothing_else_does() -> None:
    def encoder(x: mt.Tensor) -> mt.Tensor:
        return x.exp().log().tanh()

    def decoder(x: mt.Tensor) -> mt.Tensor:
        return x.sin().cos()

    def program() -> None:
        decoder(encoder(mt.ones(2, requires_grad=True))).sum().backward()

    assert tree(record(program), by_loops) == "exp log tanh sin cos sum"
    assert tree(record(program), by_functions).startswith("[encoder ×1: exp log tanh] [decoder ×1: sin cos]")


@pytest.mark.parametrize("way", [by_loops, by_returns, by_functions])
def test_every_operation_occurs_once(way: Strategy) -> None:
    for recording in (record(irregular), chain(100)):
        nodes = [node.id for node in recording.nodes if node.variable is None]
        assert [n for item in folded(recording, range(len(recording.nodes)), way) for n in operations(item)] == nodes


# --- pictures of folds -----------------------------------------------------------------------------------------------


def fold_boxes(graph: VisualGraph) -> dict[str, Box]:
    return {box.title: box for box in graph.boxes if box.kind == "fold"}


def rows(box: Box) -> dict[str, str]:
    return {row.key: row.text for row in box.rows}


def test_a_large_graph_is_folded_and_its_last_repetition_open() -> None:
    recording = record(lambda: rnn(40))
    graph = build_graph(recording)
    assert list(fold_boxes(graph)) == [f"line {RNN}[0:39] ×39"]
    frames = {frame.name for box in graph.boxes for frame in box.clusters}
    assert frames == {f"line {RNN}[39]"}
    assert len(graph.boxes) < 15
    assert "82 nodes in 6 boxes" in graph.notes
    assert graph.advice == (
        f'to open a box, give its name: open="line {RNN}[0]"; fold=False shows all {1 + len(recording.nodes)} boxes',
    )


def test_a_small_graph_is_not_folded_unless_asked() -> None:
    assert not fold_boxes(build_graph(record(lambda: rnn(11))))  # 24 nodes and a constant
    assert fold_boxes(build_graph(record(lambda: rnn(11)), fold=True))
    assert fold_boxes(build_graph(record(lambda: rnn(12))))
    assert not fold_boxes(build_graph(record(lambda: rnn(40)), fold=False))


def test_a_fold_shows_how_the_gradient_vanishes() -> None:
    (box,) = fold_boxes(build_graph(record(lambda: rnn(40)))).values()
    first, bars, last = rows(box)["|grad|"].split()
    assert float(first) < 1e-6 < 0.1 < float(last)
    assert bars[0] == "▁"
    assert bars[-1] == "█"
    assert list(bars) == sorted(bars)
    assert rows(box)["result"] == "h  1×2"
    assert [row.text for row in box.rows[:2]] == ["! vanishing in h = tanh(%1)", "matmul · tanh"]
    assert box.note == "2 operations each"


def test_the_current_step_is_not_folded() -> None:
    recording = record(lambda: rnn(40))
    step = next(one for one in recording.passes[0].steps if one.node == 30)
    graph = build_graph(recording, step=step.index + 1)
    assert next(box for box in graph.boxes if box.node == 30).state == "current"
    titles = list(fold_boxes(graph))
    assert len(titles) == 2
    states = [box.state for box in fold_boxes(graph).values()]
    assert states[0] in ("future", "receiving")
    assert states[1] == "done"


def test_folds_open_by_name_entirely_partly_and_singly() -> None:
    recording, name = record(lambda: rnn(40)), f"line {RNN}"
    assert not fold_boxes(build_graph(recording, open=name))
    assert list(fold_boxes(build_graph(recording, open=f"{name}[5]"))) == [f"{name}[0:5] ×5", f"{name}[6:40] ×34"]
    assert list(fold_boxes(build_graph(recording, open=f"{name}[-1]"))) == [f"{name}[0:39] ×39"]
    assert list(fold_boxes(build_graph(recording, open=(f"{name}[:2]", f"{name}[38:]")))) == [f"{name}[2:38] ×36"]


def test_a_name_that_opens_nothing_gives_one_clear_line() -> None:
    recording, name = record(lambda: rnn(40)), f"line {RNN}"
    for asked, message in [
        ("cell", f"there is no fold called 'cell'; the folds here: {name} ×40"),
        (f"{name}[40]", f"there is no {name}[40]: it repeats 40 times, [0] to [39]"),
        (f"{name}[9:3]", f"there is no {name}[9:3]: it repeats 40 times, [0] to [39]"),
        (f"{name}[]", f"there is no fold called '{name}[]'; the folds here: {name} ×40"),
    ]:
        with pytest.raises(DrawError) as caught:
            build_graph(recording, open=asked)
        assert str(caught.value) == message
    with pytest.raises(TooLargeError, match=rf'in .* boxes would .* open one repetition with open="{name}\[0\]", draw'):
        build_graph(record(lambda: rnn(400)), open=name)


def test_an_inner_fold_opens_in_the_open_outer_ones() -> None:
    def program() -> None:
        x = mt.ones(2, requires_grad=True)
        for _ in range(5):
            with mt.scope("block"):
                x = x.exp()
                with mt.scope("norm"):
                    x = x.log() * 0.5
        x.sum().backward()

    recording = record(program)
    titles = [box.title for box in build_graph(recording, open=("block[1]", "norm")).boxes if box.kind == "operation"]
    assert [title.partition(" = ")[2].partition("(")[0] for title in titles] == ["exp", "log", "mul", "sum"]
    alone = {frame.name for box in build_graph(recording, open="norm").boxes for frame in box.clusters}
    assert alone == {"block[4]", "norm"}


def test_parameters_of_a_module_that_is_called_twice_share_a_box() -> None:
    judge = mt.nn.Linear(3, 1)
    with mt.record() as r:
        (judge(mt.ones(2, 3)).mean() - judge(mt.zeros(2, 3)).mean()).backward()
    shared = [box for box in build_graph(r.recording, fold=True, depth=0).boxes if box.kind == "folded leaves"]
    assert [(box.title, box.note, [row.text for row in box.rows][:1]) for box in shared] == [
        ("2 parameters", "of judge", ["weight, bias"])
    ]


def test_leaves_of_single_repetitions_are_in_its_box() -> None:
    def program() -> None:
        layers = [(mt.eye(2, requires_grad=True), mt.zeros(2, requires_grad=True)) for _ in range(20)]
        x = mt.ones(1, 2)
        for weight, bias in layers:
            x = (x @ weight + bias).tanh()
        x.sum().backward()

    graph = build_graph(record(program))
    (box,) = fold_boxes(graph).values()
    *_, count, first, second = box.rows
    assert count.text == "38 leaves"
    assert [first.key, second.key] == ["layers[0…18][0]", "layers[0…18][1]"]
    assert all(row.text.startswith("19 of") and ".grad" in row.text for row in (first, second))
    assert len([box for box in graph.boxes if box.kind == "leaf"]) == 2  # those of the open repetition


def test_a_nan_in_a_fold_stands_out() -> None:
    def program() -> None:
        x = mt.tensor([0.0, 1.0], requires_grad=True)
        y = x
        for _ in range(60):
            y = y.sqrt()
        y.sum().backward()

    (box,) = fold_boxes(build_graph(record(program))).values()
    alarms = [row.text for row in box.rows if row.tone == "alarm"]
    assert any(text.startswith("NaN or Inf in ") for text in alarms)
    assert any("!" in text for text in alarms)


def test_arrows_of_a_fold_are_counted() -> None:
    graph = build_graph(record(lambda: rnn(40)))
    (box,) = fold_boxes(graph).values()
    again = [arrow for arrow in graph.arrows if arrow.tail == arrow.head == box.id]
    assert [(arrow.text, arrow.kind) for arrow in again] == [("×38", "done")]
    weight = next(one for one in graph.boxes if one.title == "W")
    assert [arrow.text for arrow in graph.arrows if (arrow.tail, arrow.head) == (weight.id, box.id)] == ["×39"]


@pytest.mark.slow
def test_a_graph_of_30000_nodes_folds_to_few_boxes_in_seconds() -> None:
    repeated = record(lambda: rnn(15_000))
    assert len(repeated.nodes) > 30_000
    start = time.process_time()
    drawing = viz.draw(repeated)
    assert len(drawing.graph.boxes) <= 60
    assert time.process_time() - start < 20  # two or three seconds of work
    assert len(drawing.dot) < 50_000


@needs_graphviz
def test_a_folded_picture_is_rendered() -> None:
    assert f"line {RNN}[39]" in viz.draw(record(lambda: rnn(40))).svg()


# --- bars ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([], ""),
        ([None, None], ""),
        ([0.5], "0.5"),
        ([1e-6, 1e-3, 1.0], "1e-6 ▁▅█ 1"),
        ([None, 2.0], "·▄ 2"),
        ([0.0, 1.0, math.nan], "0 ▁▄! nan"),
        ([1.0] * 100, "1 ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄ 1"),
    ],
)
def test_bars_show_how_sizes_change(sizes: list[float | None], expected: str) -> None:
    assert sparkline(sizes) == expected


@given(st.lists(st.none() | st.floats(0, allow_infinity=False), max_size=100))
def test_bars_never_fail_and_never_exceed_their_width(sizes: list[float | None]) -> None:
    assert len(sparkline(sizes)) <= 50


def test_the_size_of_an_array_is_its_root_mean_square() -> None:
    assert root_mean_square(np.array([3.0, -4.0])) == pytest.approx(math.sqrt(12.5))
    assert root_mean_square(summarize(np.array([3.0, -4.0]))) == pytest.approx(math.sqrt(12.5))
    assert root_mean_square(np.array([1e200, 1e200])) == pytest.approx(1e200)
    assert root_mean_square(np.zeros(3)) == root_mean_square(np.zeros(0)) == 0
    assert math.isnan(root_mean_square(np.array([1.0, np.inf])))
    assert math.isnan(root_mean_square(summarize(np.array([1.0, np.nan]))))


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("h", "h", "h"),
        ("w[0]", "w[19]", "w[0…19]"),
        ("layers[0].w", "layers[3].w", "layers[0…3].w"),
        ("%4", "%104", "%4…104"),
        ("a", "b", "a … b"),
    ],
)
def test_names_that_differ_in_a_number_become_a_range(first: str, last: str, expected: str) -> None:
    assert span(first, last) == expected
