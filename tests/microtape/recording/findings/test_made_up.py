"""Findings in recordings that no program made, as in a hostile `.tape` file."""

from __future__ import annotations

import threading
from dataclasses import replace

from hypothesis import given

import microtape as mt
from microtape.recording.file.integrity import check_integrity
from microtape.recording.findings.find import findings
from microtape.recording.findings.finding import MOST_IN_A_HEADLINE, Finding
from microtape.recording.model.model import NodeRecord, Recording
from tests.support.recordings import handmade
from tests.support.recordings.random_recordings import recordings


@given(recordings())
def test_any_content_of_a_file_has_findings_or_none(recording: Recording) -> None:
    check_integrity(recording)
    for finding in findings(recording):
        assert finding.kind != "fault", finding.explanation
        assert finding.headline
        assert len(finding.headline) <= MOST_IN_A_HEADLINE


def test_a_step_that_sends_to_itself_is_no_way_without_end() -> None:
    recording = handmade.chain(40, 1)
    one = recording.passes[0]
    steps = [
        step._replace(
            grad_outputs=tuple(value * 10.0**-step.index for value in step.grad_outputs if value is not None),
            deliveries=tuple(sent._replace(node=step.node) for sent in step.deliveries),
        )
        for step in one.steps
    ]
    changed = replace(recording, passes=(one._replace(steps=tuple(steps)),))
    check_integrity(changed)
    assert "fault" not in [found.kind for found in findings(changed)]


def test_a_view_without_edges_is_no_way_to_a_softmax() -> None:
    x = mt.tensor([[1.0, 2.0], [0.5, 1.5]], requires_grad=True)
    with mt.record() as recorder:
        mt.nn.functional.cross_entropy((x * 1.0).softmax(1).reshape(2, 2).clone(), mt.tensor([0, 1])).backward()
    recording = recorder.recording
    for op in {node.op for node in recording.nodes}:
        nodes = [node._replace(edges=()) if node.op == op else node for node in recording.nodes]
        changed = replace(recording, nodes=tuple(nodes), passes=())
        check_integrity(changed)
        findings(changed)


def test_operands_that_go_in_circles_do_not_lead_on_and_on() -> None:
    with mt.record() as recorder:
        x = mt.tensor([0.0, 1.0], requires_grad=True)
        y = x.log()
        mt.where(x > 0, y * y, 0.0).sum().backward()  # 0 · 2y is NaN: y is infinite, though where() left it out
    recording = recorder.recording
    log, square = (next(node for node in recording.nodes if node.op == op) for op in ("log", "mul"))
    operand = log.operands[0]._replace(ref=square.outputs[0])
    changed = _with_nodes(recording, log._replace(operands=(operand,)))
    assert any("NaN" in one.headline for one in _found_soon(recording))
    _found_soon(changed)


def test_two_ways_through_each_of_many_nodes_are_not_followed_one_by_one() -> None:
    with mt.record() as recorder:
        x = mt.tensor([[1.0, 2.0], [0.5, 1.5]], requires_grad=True)
        found = x.softmax(1).log_softmax(1)
        for _ in range(40):
            found = found.clone()
        found.sum().backward()
    recording = recorder.recording
    twice = [node._replace(edges=(*node.edges, *node.edges)) for node in recording.nodes if node.op == "clone"]
    assert len(twice) == 40
    _found_soon(_with_nodes(recording, *twice))


def _with_nodes(recording: Recording, *changed: NodeRecord) -> Recording:
    """The recording with other records of some nodes, as a file may contain them."""
    nodes = list(recording.nodes)
    for one in changed:
        nodes[one.id] = one
    same = all(len(one.edges) == len(other.edges) for one, other in zip(nodes, recording.nodes, strict=True))
    made_up = replace(recording, nodes=tuple(nodes), passes=recording.passes if same else ())  # steps have their edges
    check_integrity(made_up)
    return made_up


def _found_soon(recording: Recording) -> list[Finding]:
    """The findings; a search without end fails the test."""
    found: list[list[Finding]] = []
    search = threading.Thread(target=lambda: found.append(list(findings(recording))), daemon=True)
    search.start()
    search.join(60)
    assert found, "the search goes on and on"
    return found[0]
