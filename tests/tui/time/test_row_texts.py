"""The texts of a tape's rows."""

import dataclasses

import pytest

import microtape
from tests.support.recordings import handmade
from tui.time.cursor import StepCursor
from tui.time.row_texts import RowTexts
from tui.time.timeline import Timeline

PATH = "blocks.1.down.weight"


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (None, PATH),
        (20, PATH),
        (19, "…1.down.weight"),
        (14, "…1.down.weight"),
        (13, "…down.weight"),
        (11, "…own.weight"),
        (9, "…weight"),
        (7, "…weight"),
        (6, "weight"),
        (4, "weight"),
    ],
)
def test_of_the_path_of_a_leaf_the_end_is_shown(width, shown):
    recording = handmade.diamond()
    leaf = next(node for node in recording.nodes if node.variable is not None)
    tensors = list(recording.tensors)
    tensors[leaf.variable] = tensors[leaf.variable]._replace(names=(PATH,))
    rows = RowTexts(Timeline(dataclasses.replace(recording, tensors=tuple(tensors)), 0))
    assert rows.name(leaf, width) == shown


def test_a_leaf_that_is_the_root_has_its_value():
    with microtape.record() as recorder:
        loss = (2 * microtape.ones(3, requires_grad=True)).sum().detach().requires_grad_()
        loss.backward()
    rows = RowTexts(Timeline(recorder.recording, 0))
    leaf = recorder.recording.passes[0].steps[0].node
    assert rows.value(StepCursor(rows.timeline, rows.timeline.last), leaf, 10) == "6"
