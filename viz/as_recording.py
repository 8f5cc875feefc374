"""Finds the recording to draw: a given recording, a recording in a file, or a new recording of a live graph."""

from __future__ import annotations

import os
from types import FrameType
from typing import Any

from microtape import Tensor
from microtape.recording.engines import ProgramRecorder, is_torch, snapshot
from microtape.recording.file.tape_file import load
from microtape.recording.model.model import Recording
from microtape.recording.writing.recorder import Recorder
from microtape.tape.node import Node
from viz.basics.characters import visible


def as_recording(x: Any, frame: FrameType, caller: str) -> Recording:
    """The recording of `x`: `x` itself, the file that it names, or a snapshot of its graph.

    Tensors of a live graph are named after the variables in `frame`.

    Raises:
        TypeError: `x` cannot be drawn; the message names `caller`, the function that the user called.
        RecordingError: the `.tape` file is missing or damaged.
    """
    if isinstance(x, Recording):
        return x
    if isinstance(x, str | os.PathLike):
        return load(x)
    if isinstance(x, Recorder | ProgramRecorder):
        return x.recording
    outputs = list(x) if isinstance(x, list | tuple) else [x]
    for one in outputs:
        if not isinstance(one, Tensor | Node) and not is_torch(one):
            raise TypeError(
                f"{caller}() takes a Recording, the path of a .tape file, or a Tensor, a grad_fn or a list of them, "
                f"not {_kind(type(one))}"
            )
    return snapshot(outputs, frame)


def _kind(kind: type) -> str:
    """A class with its module, since another library may also have a Tensor."""
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return visible(f"{module}{kind.__qualname__}", 60)
