"""Exceptions of a PyTorch program as data, with the lines of the program alone."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from types import FrameType
from typing import Any

from microtape.basics.call_site import LIBRARY_FILES, CallSite
from microtape.recording.model.model import ErrorRecord, Place
from microtape.recording.pytorch.calls.call_sites import is_library
from microtape.recording.pytorch.notes import GraphNode
from microtape.recording.pytorch.saved import VERSIONS
from microtape.recording.writing.faults import message_of
from microtape.recording.writing.names.sources import Sources


def raising_frames(error: BaseException, sources: Sources) -> list[FrameType]:
    """The frames whose variables name what an exception is about, those of the best names first."""
    users, raised = _instructions(error), _raised(error, sources)
    frames = [one[0] for one in (raised, *users[-1:]) if one is not None]
    return list(dict.fromkeys(frames))


def error_record(error: BaseException, sources: Sources) -> ErrorRecord:
    """An exception as data, with only the user's frames."""
    places = []
    if (found := _raised(error, sources)) is not None:
        frame, instruction = found
        places.append(("raised", sources.place(CallSite(frame.f_code, instruction))))
    raised = [one for one in traceback.extract_tb(error.__traceback__) if not is_library(one.filename)]
    text = "".join(traceback.format_list(raised)) + "".join(traceback.format_exception_only(error))
    return ErrorRecord(type(error).__name__, message_of(error), tuple(places), text)


def with_places(record: ErrorRecord, place: Place | None, failed: GraphNode | None, sources: Sources) -> ErrorRecord:
    """Add the lines that the engine of microtape names: where a tensor was saved, and where it was overwritten.

    `place` is where the pass was called, and `failed` the node that was running.
    """
    if not record.places and place is not None:
        record = record._replace(places=(("raised", place),))
    site = failed.operation.site if failed is not None and failed.operation is not None else None
    if site is None:
        return record
    role = "saved" if VERSIONS.search(record.message) else "recorded"
    return record._replace(places=((role, sources.place(site)), *record.places))


def hide_our_frames(nodes: Iterable[Any]) -> None:
    """Take our lines out of the tracebacks that anomaly mode has put into nodes, to be printed if the pass fails."""
    for node in nodes:
        lines = node.metadata.get("traceback_")
        if not lines:
            continue
        is_ours = [_file_of(one) in LIBRARY_FILES for one in lines]
        if len(lines) > 1 and is_ours[1] and _file_of(lines[0]) == "<string>":
            is_ours[0] = True  # the command that runs a script
        lines[:] = [one for one, ours in zip(lines, is_ours, strict=True) if not ours]


def _file_of(line: str) -> str:
    """`train.py` of `  File "train.py", line 3, in <module>`."""
    return line.partition('File "')[2].partition('"')[0]


def _instructions(error: BaseException) -> list[tuple[FrameType, int]]:
    """The user's frames of a traceback, with the instruction that was running."""
    found, trace = [], error.__traceback__
    while trace is not None:
        if not is_library(trace.tb_frame.f_code.co_filename):
            found.append((trace.tb_frame, trace.tb_lasti))
        trace = trace.tb_next
    return found


def _raised(error: BaseException, sources: Sources) -> tuple[FrameType, int] | None:
    """Where an exception was raised: `asking_frame` for a traceback that ends in torch."""
    users = _instructions(error)
    if not users:
        return None
    outer = len(users) - 1
    ends_in_torch = users[-1][0] is not [frame for frame, _ in traceback.walk_tb(error.__traceback__)][-1]
    while ends_in_torch and outer and _is_wrapped(users[outer][0], sources):
        outer -= 1
    return users[-1] if sources.is_installed(users[outer][0].f_code.co_filename) else users[outer]


def _is_wrapped(frame: FrameType, sources: Sources) -> bool:
    return "backward" in frame.f_code.co_name and sources.is_installed(frame.f_code.co_filename)
