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


def raising_frame(error: BaseException) -> FrameType | None:
    """The innermost frame outside of torch that an exception went through."""
    users = _instructions(error)
    return users[-1][0] if users else None


def error_record(error: BaseException, sources: Sources) -> ErrorRecord:
    """An exception as data, with only the user's frames."""
    places = []
    if users := _instructions(error):
        frame, instruction = users[-1]
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
