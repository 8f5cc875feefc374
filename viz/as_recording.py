"""Finds the recording to draw: a given recording, a recording in a file, or a new recording of a live graph."""

from __future__ import annotations

import os
from types import FrameType
from typing import Any

from microtape import Tensor
from microtape.recording.engines import is_torch, snapshot
from microtape.recording.file.tape_file import load
from microtape.recording.model.displayed import Displayed, recording_of
from microtape.recording.model.model import Recording
from microtape.tape.node import Node
from viz.basics.characters import visible


def as_recording(x: Any, frame: FrameType, caller: str) -> Recording:
    """The recording of `x`: `x` itself, the file that it names, or a snapshot of its graph.

    Tensors of a live graph are named after the variables in `frame`.

    Raises:
        TypeError: `x` cannot be drawn; the message names `caller`, the function that the user called.
        RecordingError: the `.tape` file is missing or damaged.
    """
    if isinstance(x, Displayed):
        return recording_of(x)
    if isinstance(x, str | os.PathLike):
        return load(x)
    return snapshot(outputs_of(x, caller), frame)


def outputs_of(x: Any, caller: str) -> list[Any]:
    """The tensors or nodes of a live graph: one, or those of a list or tuple.

    Raises:
        TypeError: `x` is something else, an empty list, or has those of both engines; the message names `caller`.
    """
    outputs = list(x) if type(x) in (list, tuple) else [x]  # a record is a tuple, too
    ours = [one for one in outputs if isinstance(one, Tensor | Node)]
    others = [one for one in outputs if not isinstance(one, Tensor | Node)]
    wrong = [_kind(type(one)) for one in others if not is_torch(one)]
    if not wrong and bool(ours) != bool(others):
        return outputs
    what = wrong[0] if wrong else "those of microtape and PyTorch together" if outputs else "an empty list"
    raise TypeError(
        f"{caller}() takes a Recording, the path of a .tape file, or a Tensor, a grad_fn or a list of them, not {what}"
    )


def _kind(kind: type) -> str:
    """A class with its module, since another library may also have a Tensor."""
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return visible(f"{module}{kind.__qualname__}", 60)
