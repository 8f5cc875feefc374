"""Findings in recordings that no program made, as in a hostile `.tape` file."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

import microtape as mt
from microtape.recording.file.integrity import check_integrity
from microtape.recording.findings.find import findings
from microtape.recording.findings.finding import MOST_IN_A_HEADLINE
from microtape.recording.model.model import Recording
from tests.support import handmade
from tests.support.random_recordings import recordings


@given(recordings())
def test_any_content_of_a_file_has_findings_or_none(recording: Recording) -> None:
    check_integrity(recording)
    for finding in findings(recording):
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
    findings(changed)


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
