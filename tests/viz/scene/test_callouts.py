"""Callouts: every finding with a box in the picture is said beside it, and not before it has happened."""

from pathlib import Path

import pytest

import microtape as mt
import viz
from microtape.recording.findings import Finding, findings
from microtape.recording.model.model import Recording
from tests.programs.corpus import HERE, recorded
from tests.support.recordings.handmade import failing
from viz.basics.graph import VisualGraph
from viz.scene.callouts import FAILURES, FEW_LINES, MOST_CALLOUTS
from viz.scene.visual_graph import build_graph

BROKEN = sorted((HERE / "broken").glob("*.py"))
HEALTHY = sorted((HERE / "healthy").glob("*.py"))


def said(graph: VisualGraph) -> dict[str, str]:
    """What each callout of a finding says, by the box that it points to."""
    heads = {arrow.tail: arrow.head for arrow in graph.arrows if arrow.tail.startswith("finding")}
    return {
        heads[box.id]: " ".join(row.text for row in box.rows if row.tone == "plain")
        for box in graph.boxes
        if box.id.startswith("finding")
    }


def in_pass(recording: Recording, index: int) -> list[Finding]:
    return [
        one
        for one in findings(recording)
        if one.severity != "notice" and one.pass_ in (None, index) and one.kind not in FAILURES
    ]


def is_drawn(one: Finding, recording: Recording, graph: VisualGraph) -> bool:
    """Whether there is a box of the node, or of a leaf that no recorded operation has used."""
    if one.node is not None:
        return any(box.node == one.node for box in graph.boxes)
    names = recording.tensors[one.tensor].names if one.tensor is not None else ()
    return any(box.kind == "leaf" and box.node is None and box.title in names for box in graph.boxes)


def check(program: Path) -> int:
    recording = recorded(program)
    if not recording.nodes:
        return 0  # nothing to draw
    count = 0
    for index in sorted({one.pass_ or 0 for one in findings(recording)}):
        flat = build_graph(recording, pass_index=index, fold=False, max_boxes=5000)
        expected = [one.headline for one in in_pass(recording, index) if is_drawn(one, recording, flat)]
        most = MOST_CALLOUTS - any(box.id == "error" for box in flat.boxes)
        callouts = [box for box in flat.boxes if box.id.startswith("finding")]
        assert [" ".join(r.text for r in box.rows if r.tone == "plain") for box in callouts] == expected[:most]
        folded = build_graph(recording, pass_index=index)
        assert len([box for box in folded.boxes if box.id.startswith("finding")]) == len(callouts)
        count += len(callouts)
    return count


def test_what_is_wrong_is_said_beside_the_culprit() -> None:
    assert sum(check(HERE / "broken" / f"{name}.py") for name in ("share_prices", "deep_relu", "log_ratio")) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("program", BROKEN, ids=lambda one: one.stem)
def test_every_finding_of_a_broken_program_has_its_callout(program: Path) -> None:
    check(program)


@pytest.mark.slow
@pytest.mark.parametrize("program", HEALTHY, ids=lambda one: one.stem)
def test_a_healthy_program_has_none(program: Path) -> None:
    recording = recorded(program)
    for index in range(min(len(recording.passes), 2)):
        assert not said(build_graph(recording, pass_index=index))


def test_a_fold_carries_the_callout_and_names_the_culprit_inside() -> None:
    recording = recorded(HERE / "broken" / "deep_relu.py")
    graph = build_graph(recording)
    (head,) = said(graph)
    box = next(box for box in graph.boxes if box.id == head)
    assert box.kind == "fold"
    assert box.rows[0].text == "! exploding in h = relu(%1)"


def test_nothing_is_given_away_before_the_step_at_which_it_happens() -> None:
    x = mt.tensor([0.0, 1.0], requires_grad=True)
    recording = mt.record((x * x).sum().sub(1.0).sqrt().backward)
    first = findings(recording)[0]
    assert first.step is not None
    before, after = (build_graph(recording, step=first.step + done) for done in (0, 1))
    assert not said(before)
    assert not any(row.tone == "alarm" for box in before.boxes for row in box.rows)
    assert said(after) == {f"n{first.node}": first.headline}


def test_a_notice_has_no_callout() -> None:
    x, unused = mt.tensor([1.0], requires_grad=True), mt.tensor(1.0, requires_grad=True)
    with mt.record() as recorded:
        (x * x).sum().backward()
    assert unused.grad is None
    assert not said(build_graph(recorded.recording))
    assert "finding" not in viz.draw(recorded.recording).dot


def test_with_little_detail_an_error_is_told_in_few_lines() -> None:
    def lines(detail: str) -> int:
        (box,) = [box for box in viz.draw(failing(), detail=detail).graph.boxes if box.id == "error"]  # type: ignore[arg-type]
        return sum(row.tone == "plain" for row in box.rows)

    assert lines("brief") == FEW_LINES < lines("debug")
