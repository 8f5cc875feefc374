"""The graph behind tensors of torch's as it is now, without a pass."""

from __future__ import annotations

import dataclasses
from types import FrameType
from typing import Any

import torch

from microtape.recording.model.model import Recording
from microtape.recording.pytorch.names import KINDS
from microtape.recording.pytorch.passes.request import edge_of
from microtape.recording.pytorch.recorder import TorchRecorder
from microtape.recording.writing.names.module_names import names_in_frames


def snapshot(outputs: list[Any], frame: FrameType | None) -> Recording:
    """The graph behind tensors or nodes of torch's as it is now, without running anything."""
    recorder = TorchRecorder("graph")
    reached, tape = recorder.reached, recorder.tape
    with torch._C.DisableTorchFunctionSubclass():
        nodes = []
        for one in outputs:
            if not isinstance(one, torch.Tensor):
                nodes.append(one)
            elif one.requires_grad:
                nodes.append(edge_of(one)[0])
        graph = reached.walk(nodes)
        tensors = [one for one in outputs if isinstance(one, torch.Tensor)]
        reached.see_outputs(graph, [*tensors, *(one for _, one in names_in_frames(frame, KINDS))])
        reached.adopt(graph)
        tape.number()
        for one in tensors:
            tape.ref_of(one)
        reached.find_names(frame, tape.is_numbered)
    return dataclasses.replace(recorder.recording, options={"snapshot": True})
