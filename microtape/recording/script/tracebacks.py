"""Removes our frames from tracebacks, so that users see only their own code."""

from __future__ import annotations

import types

from microtape.basics.call_site import LIBRARY_FILES

_HANDS_OVER = "handle_torch_function"
"""The function of torch that hands a call over to a mode, such as the recorder's."""


def without_our_frames(error: BaseException) -> None:
    """Remove our frames from the tracebacks of an exception and its causes."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _users_part(one.__traceback__)
        waiting += [one.__cause__, one.__context__, *(one.exceptions if isinstance(one, BaseExceptionGroup) else ())]


def _users_part(trace: types.TracebackType | None) -> types.TracebackType | None:
    entries: list[types.TracebackType] = []
    while trace is not None:
        if trace.tb_frame.f_code.co_filename not in LIBRARY_FILES:
            entries.append(trace)
        elif entries and entries[-1].tb_frame.f_code.co_name == _HANDS_OVER:
            del entries[-2:]  # torch's function calls itself again behind our mode
        trace = trace.tb_next
    kept: types.TracebackType | None = None
    for entry in reversed(entries):
        kept = types.TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept
