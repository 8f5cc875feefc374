"""Exceptions of the user's program as data."""

from __future__ import annotations

import traceback
from collections.abc import Iterable

from microtape.basics.call_site import CallSite
from microtape.errors import AutogradError
from microtape.recording.model.model import ErrorRecord
from microtape.recording.writing.calls.call_stack import last_frame
from microtape.recording.writing.faults import message_of
from microtape.recording.writing.names.sources import Sources
from microtape.recording.writing.tape import Tape


def error_record(error: BaseException, sources: Sources, tapes: Iterable[Tape]) -> ErrorRecord:
    """An exception with only the user's frames. The variables of the frame that raised it name tensors of the tapes."""
    places = []
    if isinstance(error, AutogradError):
        places = [(role, sources.place(site)) for role, site in error.places]
    raised = [frame for frame in traceback.extract_tb(error.__traceback__) if not sources.is_ours(frame)]
    if (frame := last_frame(error)) is not None:
        places.append(("raised", sources.place(CallSite(frame.tb_frame.f_code, frame.tb_lasti))))
        for tape in tapes:
            tape.find_names(frame.tb_frame)
    text = "".join(traceback.format_list(raised)) + "".join(traceback.format_exception_only(error))
    return ErrorRecord(
        type(error).__name__,
        error.summary if isinstance(error, AutogradError) else message_of(error),
        tuple((role, place) for role, place in places if place is not None),
        text,
    )
