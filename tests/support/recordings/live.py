"""Recordings of small programs that run in the test itself, and the boxes of their pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import microtape as mt
from microtape.recording.model.model import Recording
from viz.basics.graph import Box, VisualGraph


def leaf(data: object) -> mt.Tensor:
    return mt.tensor(data, requires_grad=True)


def recorded(program: Callable[[], Any]) -> Recording:
    with mt.record() as recorder:
        program()
    recording: Recording = recorder.recording
    return recording


def box(graph: VisualGraph, title: str) -> Box:
    return next(one for one in graph.boxes if one.title == title)
