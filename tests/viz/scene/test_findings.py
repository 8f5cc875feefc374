"""What is wrong, in pictures: the heading and the culprit's box; in films, in every picture."""

import numpy as np

import microtape as mt
import viz
from microtape.recording.findings import findings
from microtape.recording.model.model import Recording
from tests.programs.corpus import HERE, record_program
from tests.support.rendering import needs_graphviz
from viz.basics.graph import Box
from viz.scene.visual_graph import build_graph


def wrong() -> Recording:
    x = mt.tensor([0.0, 1.0], requires_grad=True)
    return mt.record((x * x).sum().sub(1.0).sqrt().backward)


def marked(boxes: tuple[Box, ...]) -> dict[int | None, str]:
    return {box.node: row.text for box in boxes for row in box.rows if row.tone == "alarm" and row.text[0] in "✗!"}


def test_the_heading_says_what_is_wrong_and_the_culprit_is_marked() -> None:
    recording = wrong()
    graph = build_graph(recording)
    first = findings(recording)[0]
    assert graph.finding == f"✗ {first.headline}"
    assert marked(graph.boxes) == {first.node: "✗ infinity"}
    assert f"\n✗ {first.headline}\n" in viz.draw(recording).text()


def test_a_leaf_without_gradient_is_marked_where_its_gradient_is_used() -> None:
    recording, _ = record_program(HERE / "broken" / "encoder.py")
    graph = build_graph(recording)
    leaf = findings(recording)[0]
    assert marked(graph.boxes)[leaf.node] == "✗ no gradient"


def test_a_notice_and_a_healthy_program_leave_the_picture_as_it_is() -> None:
    x, unused = mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor(1.0, requires_grad=True)
    with mt.record() as recorded:
        (x * x).sum().backward()
    assert unused.grad is None
    graph = build_graph(recorded.recording)
    assert graph.finding == ""
    assert not marked(graph.boxes)


def test_only_what_is_wrong_in_the_pass_is_in_its_picture() -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    with mt.record() as recorded:
        (x * x).sum().backward()
        (x - 1.0).log().sum().backward()
    assert not any("infinity" in one for one in marked(build_graph(recorded.recording, pass_index=0).boxes).values())
    assert "Infinity" in build_graph(recorded.recording, pass_index=1).finding


def test_the_graph_of_a_tensor_has_no_findings() -> None:
    x = mt.tensor([0.0, 1.0], requires_grad=True)
    assert "Infinity" not in viz.draw(x.log().sum()).text()
    assert np.isinf(x.log().sum().item())


@needs_graphviz
def test_a_film_begins_with_it() -> None:
    recording = wrong()
    page = viz.film(recording).html
    assert f'<p id="finding">✗ {findings(recording)[0].headline}</p>' in page
