"""Which node is which: of a program and its twin for another engine, and where the graphs differ."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import microtape as mt
from microtape.recording.comparing import compare
from microtape.recording.comparing.matching import Matching
from microtape.recording.model.model import Place, Recording
from tests.support.recordings.renumbered import renumbered

LAYERS = 6


def deep(change: Callable[[int, Any], Any] = lambda layer, h: h, passes: int = 1) -> Recording:
    """A network of layers; `change` is applied to what each layer computes."""

    def run() -> None:
        chance = np.random.default_rng(1)
        ws = [mt.tensor(chance.normal(size=(4, 4)) / 2, requires_grad=True) for _ in range(LAYERS)]
        bs = [mt.tensor(np.zeros(4), requires_grad=True) for _ in range(LAYERS)]
        x = mt.tensor(chance.normal(size=(5, 4)))
        for _ in range(passes):
            h = x
            for layer, (w, b) in enumerate(zip(ws, bs, strict=True)):
                h = change(layer, (h @ w + b).tanh())
            (h * h).mean().backward()

    return mt.record(run)


def as_twin(recording: Recording) -> Recording:
    """The recording as another engine would have made it: other numbers, files, lines and library, and rounding."""
    chance = np.random.default_rng(5)

    def moved(place: Place | None) -> Place | None:
        return (
            None if place is None else place._replace(file="twin.py", line=place.line + 3, end_line=place.end_line + 3)
        )

    def rounded(value: Any) -> Any:
        return value * (1 + 1e-8 * chance.normal(size=value.shape))

    source = "\n\n\n" + next(iter(recording.sources.values())).replace("mt.", "torch.")
    twin = dataclasses.replace(
        recording,
        title="twin.py",
        sources={"twin.py": source},
        nodes=tuple(node._replace(place=moved(node.place)) for node in recording.nodes),
        tensors=tuple(
            one._replace(values={version: rounded(value) for version, value in one.values.items()})
            for one in recording.tensors
        ),
    )
    return renumbered(twin, 3)


def kinds(recording: Recording, nodes: tuple[int, ...]) -> list[str]:
    return [recording.nodes[node].op for node in nodes]


@pytest.mark.parametrize("passes", [1, 3])
def test_a_program_is_equal_to_its_twin(passes: int) -> None:
    a = deep(passes=passes)
    found = compare(a, as_twin(a))
    assert found.is_equal
    assert found.counts.identical < found.counts.values
    assert found.worst < 1e-7


def test_an_operation_more_in_the_middle_is_the_only_one_without_a_counterpart() -> None:
    a, b = deep(), deep(lambda layer, h: h * 1.0 if layer == 3 else h)
    found = compare(a, b)
    assert kinds(b, found.unmatched[1]) == ["mul"]
    assert found.unmatched[0] == ()
    assert not found.differences


def test_an_operation_more_in_each_layer() -> None:
    a, b = deep(), deep(lambda layer, h: h * 1.0)
    found = compare(a, b)
    assert kinds(b, found.unmatched[1]) == ["mul"] * LAYERS
    assert found.unmatched[0] == ()
    assert not found.differences
    assert not found.is_equal


def test_an_operation_more_that_changes_the_value_is_noticed_where_it_is_used() -> None:
    a, b = deep(), deep(lambda layer, h: h * 1.01 if layer == 3 else h)
    found = compare(a, b)
    assert kinds(b, found.unmatched[1]) == ["mul"]
    assert found.first is not None
    assert found.first.nodes is not None
    assert (found.first.kind, a.nodes[found.first.nodes[0]].op) == ("input", "matmul")
    assert a.nodes[found.first.nodes[0]].operands[1].ref == a.nodes[found.first.nodes[0]].operands[1].ref


def test_another_operation_in_a_place() -> None:
    a, b = deep(), deep(lambda layer, h: h.sin() if layer == 2 else h)
    found = compare(a, deep(lambda layer, h: h.cos() if layer == 2 else h))
    assert kinds(found.b, found.unmatched[1]) == ["cos"]
    found = compare(b, deep(lambda layer, h: h.cos() if layer == 2 else h))
    assert (kinds(b, found.unmatched[0]), kinds(found.b, found.unmatched[1])) == (["sin"], ["cos"])


def test_leaves_match_by_name_wherever_they_are_used() -> None:
    def run(swapped: bool) -> None:
        w, v = mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor([3.0, 4.0], requires_grad=True)
        (v.exp() * w if swapped else w.exp() * v).sum().backward()

    a, b = mt.record(lambda: run(False)), mt.record(lambda: run(True))
    matching = Matching(a, b)
    for node in a.nodes:
        if node.variable is not None:
            other = matching.of_a(node.id)
            assert other is not None
            assert b.label(other) == a.label(node.id)


def test_leaves_with_other_names_match_by_their_place_in_the_graph() -> None:
    def one() -> None:
        w, v = mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor([3.0, 4.0], requires_grad=True)
        (w.exp() * v).sum().backward()

    def other() -> None:
        v2, w2 = mt.tensor([3.0, 4.0], requires_grad=True), mt.tensor([1.0, 2.0], requires_grad=True)
        (w2.exp() * v2).sum().backward()

    assert compare(mt.record(one), mt.record(other), rtol=0).is_equal


def test_equal_operations_on_other_constants_are_told_apart() -> None:
    def run(first: float, second: float) -> None:
        x = mt.tensor([1.0, 2.0], requires_grad=True)
        unused = [(x * first).exp(), (x * second).exp()]
        x.sum().backward()
        del unused

    found = compare(mt.record(lambda: run(2.0, 3.0)), mt.record(lambda: run(3.0, 2.0)))
    assert found.is_equal


def test_a_leaf_with_an_accumulate_grad_for_each_pass() -> None:
    """As an engine that forgets it together with the graph."""
    a = deep(passes=2)
    leaf = next(node for node in a.nodes if node.variable is not None)
    second = next(node for node in a.nodes[a.passes[0].tape :] if any(to == leaf.id for to, _ in node.edges))
    new = len(a.nodes)
    edges = tuple(edge._replace(node=new) if edge.node == leaf.id else edge for edge in second.edges)

    def renamed(node: int) -> int:
        return new if node == leaf.id else node

    steps = tuple(
        step._replace(
            node=renamed(step.node),
            deliveries=tuple(one._replace(node=renamed(one.node)) for one in step.deliveries),
        )
        for step in a.passes[1].steps
    )
    nodes = [one._replace(edges=edges) if one.id == second.id else one for one in a.nodes]
    later = a.passes[1]._replace(steps=steps, nodes=tuple(renamed(node) for node in a.passes[1].nodes))
    b = dataclasses.replace(a, nodes=(*nodes, leaf._replace(id=new)), passes=(a.passes[0], later))
    found = compare(a, b, rtol=0)
    assert not found.differences
    assert not any(found.unmatched)
    assert compare(b, a, rtol=0).counts == found.counts


def test_nodes_of_passes_that_are_not_compared_are_not_missed() -> None:
    a, b = deep(passes=3), deep(passes=1)
    found = compare(a, b)
    assert found.only == ((1, 2), ())
    assert found.unmatched == ((), ())
