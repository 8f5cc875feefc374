"""What can be drawn: a recording, where one can be read, or a live graph, of which one is made."""

from __future__ import annotations

import os
from types import FrameType
from typing import Any

from microtape import Tensor
from microtape.recording.file.tape_file import load
from microtape.recording.model.model import Recording
from microtape.recording.writing.recorder import Recorder, snapshot
from microtape.tape.node import Node
from viz.basics.characters import visible


def recording_of(x: Any, frame: FrameType, asked: str) -> Recording:
    """The recording that `x` is, or that stands for it; a live graph gets the names that `frame` knows.

    Raises:
        TypeError: `x` cannot be drawn; `asked` is the function that was called with it.
        RecordingError: the `.tape` file is missing or damaged.
    """
    if isinstance(x, Recording):
        return x
    if isinstance(x, str | os.PathLike):
        return load(x)
    if isinstance(x, Recorder):
        return x.recording
    outputs = list(x) if isinstance(x, list | tuple) else [x]
    for one in outputs:
        if not isinstance(one, Tensor | Node):
            raise TypeError(
                f"{asked}() takes a Recording, the path of a .tape file, or a Tensor, a grad_fn or a list of them, "
                f"not {_kind(type(one))}"
            )
    return snapshot(outputs, frame)


def _kind(kind: type) -> str:
    """A class as one would write it: another library's Tensor is not ours."""
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return visible(f"{module}{kind.__qualname__}", 60)
