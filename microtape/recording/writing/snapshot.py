"""A recording of a graph that nobody watched."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from types import FrameType

from microtape.recording.model.model import Recording
from microtape.recording.writing.recorder import Recorder
from microtape.tape.node import Node
from microtape.tape.tensor_state import TensorState


def snapshot(items: Sequence[TensorState | Node], frame: FrameType | None) -> Recording:
    """The graph behind tensors or nodes as it is now; variable names are looked up from `frame` outwards."""
    recorder = Recorder("graph")
    for item in items:
        if isinstance(item, Node):
            recorder.tape.adopt([item])
        else:
            recorder.tape.adopt_tensor(item)
    recorder.tape.find_names(frame)
    return dataclasses.replace(recorder.recording, options={"snapshot": True})
