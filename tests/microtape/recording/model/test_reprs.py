"""A recording and its parts are a short line in a notebook or a debugger."""

from __future__ import annotations

import microtape as mt
from tests.support.recordings.handmade import failing


def test_the_parts_of_a_recording_have_short_reprs() -> None:
    x = mt.ones(2, 3, requires_grad=True)
    with mt.record() as r:
        loss = (x * x).sum()
        loss.backward()
    recording = r.recording
    assert repr(recording) == "<Recording of 'record()': 3 nodes, 1 pass, 3 steps>"
    place = recording.nodes[1].place
    assert place is not None
    assert repr(recording.nodes[1]) == f"<NodeRecord %1 MulBackward0 at line {place.line}>"
    assert repr(recording.passes[0]) == f"<Pass 1: backward() at line {place.line + 1}, 3 steps>"
    named = {one.name: repr(one) for one in recording.tensors}
    assert named["x"] == "<TensorRecord 0 'x': 2×3 float32>"
    assert named["loss"].endswith(" 'loss': scalar float32>")


def test_a_pass_that_failed_says_so() -> None:
    assert repr(failing().passes[-1]).endswith(", failed>")
