"""Lets the recorder trace functions while coverage measures: a plugin of coverage's, named in pyproject.toml.

`sys.settrace` takes one function, and the recorder gives way to one that is there (Note [What happens in a call]):
under coverage, it would not see what it sees without. So `sys.settrace` as the program finds it adds the program's
function to coverage's, and `sys.gettrace` returns the program's. What runs within a trace function stays unmeasured.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

TraceFunction = Callable[[FrameType, str, Any], Any]
_settrace, _gettrace = sys.settrace, sys.gettrace


def coverage_init(registry: object, options: object) -> None:
    """What coverage calls as it starts."""
    sys.settrace, sys.gettrace = settrace, gettrace


def gettrace() -> Any:
    """The trace function that the program has set in this thread."""
    current: Any = _gettrace()
    if isinstance(current, Both):
        return current.theirs
    return None if _is_coverages(current) else current


def settrace(function: TraceFunction | None) -> None:
    """Trace with this function and with coverage's, where that measures."""
    current: Any = _gettrace()
    tracer = current.tracer if isinstance(current, Both) else current
    if not _is_coverages(tracer):
        _settrace(function)
    elif function is None:
        _settrace(tracer)
    else:
        _follow_the_stack(tracer)
        _settrace(Both(tracer, function))


def _is_coverages(function: object) -> bool:
    return type(function).__name__ == "CTracer"


def _follow_the_stack(tracer: Any) -> None:
    """Tell coverage of the end of each function that is running: it counts on hearing of it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_trace is None:
            frame.f_trace = InFrame(tracer, None)
        frame = frame.f_back


class Both:
    """Traces new frames for coverage and for the program."""

    def __init__(self, tracer: Any, theirs: TraceFunction) -> None:
        self.tracer, self.theirs = tracer, theirs

    def __call__(self, frame: FrameType, event: str, argument: Any) -> InFrame:
        """A new frame begins."""
        self.tracer(frame, event, argument)
        _settrace(self)  # in place of which coverage's function has set itself
        local = self.theirs(frame, event, argument)
        wants_lines, frame.f_trace_lines = frame.f_trace_lines, True  # coverage wants them
        return InFrame(self.tracer, local, wants_lines)


class InFrame:
    """Traces one frame for coverage, and for the program if it asked for that."""

    def __init__(self, tracer: Any, theirs: TraceFunction | None, wants_lines: bool = True) -> None:
        self.tracer, self.theirs, self.wants_lines = tracer, theirs, wants_lines

    def __call__(self, frame: FrameType, event: str, argument: Any) -> InFrame:
        """A line, an exception or the end."""
        self.tracer(frame, event, argument)
        if self.theirs is not None and (self.wants_lines or event != "line"):
            self.theirs = self.theirs(frame, event, argument)
        return self
