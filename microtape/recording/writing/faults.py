"""Faults of the recorder itself: the user's program must not notice them, and the recording says what is missing.

Note [A recorder that fails]
  The recorder runs inside the user's calls, so an exception of its own would end their program and blame their line.
  Every event therefore reaches it through `shielded`: an exception is noted here, and the program goes on. An operation
  whose event failed is read off the graph later, without its values; a pass is kept up to its last whole step; anything
  else is left out. Ctrl-C, `SystemExit` and what a signal handler raises are meant for the program and come through.
"""

from __future__ import annotations

import functools
import os
import signal
import traceback
from collections.abc import Callable
from types import CodeType
from typing import Any

from microtape.basics.fresh_stack import stack_ident
from microtape.recording.model.model import FAULT

_OURS = "This is a fault of microtape, not of the program"
_MOST = 10  # of a kind of fault that repeats at every operation, the first ones say enough
_LONGEST = 120  # characters of an exception's message

AFTER_A_PASS = "what follows a pass"
OF_PASSES = ("task_started", "node_started", "delivered", "hook_ran", "node_finished", "task_finished")
MISSING_WITHOUT = {  # the event -> what is missing without it
    "unrecorded": "a place where the history of a tensor ends",
    "called": "a place where the history of a tensor ends",
    "without_history": "a place where the history of a tensor ends",
    "value_taken": "a number that was taken out of a tensor",
    "compared": "a comparison",
    "writing": "a write to a leaf",
    "replacing": "a write to a leaf",
    "stepping": "the step of an optimiser",
    "stepped": "the step of an optimiser",
    "call_started": "what happens in a function that backward or apply calls",
    "call_ended": "what happens in a function that backward or apply calls",
    "saved_read": "a read of saved tensors",
    "tensor_made": "where the value of a tensor comes from",
}


class Faults:
    """What could not be recorded, as lines for the user."""

    def __init__(self) -> None:
        self._found: dict[str, None] = {}  # in the order in which they happened, each once
        self.unnamed = 0  # faults of which not even a line could be made

    def add(self, missing: str, error: Exception) -> str:
        """Note that `missing`, a noun, is not in the recording because of this exception. Returns the line."""
        line = f"{FAULT} {missing}. {_OURS}: {described(error)}"
        self._found[line] = None
        return line

    def noting(self, missing: str) -> Noting:
        """A context that notes an exception raised inside, instead of letting it through."""
        return Noting(self, missing)

    @property
    def lines(self) -> tuple[str, ...]:
        """One line for each fault; of many, the first ones and a count of the others."""
        lines = tuple(self._found)
        more = len(lines[_MOST:]) + self.unnamed
        if not more:
            return lines
        return (*lines[:_MOST], f"{FAULT} {more} {'part' if more == 1 else 'parts'} more. {_OURS}")


class Noting:
    """A context after which something is missing if an exception is raised inside."""

    def __init__(self, faults: Faults, missing: str) -> None:
        self._faults, self._missing = faults, missing

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, Exception) or was_raised_by_a_signal(error):
            return False
        self._faults.add(self._missing, error)
        return True


def shielded(event: Callable[..., None]) -> Callable[..., None]:
    """A method of the recorder for an event: it runs on one of its threads at a time, and raises no fault of ours."""

    @functools.wraps(event)
    def told(recorder: Any, *details: Any) -> None:
        if stack_ident() not in recorder.threads.watched:  # `in recorder.threads` is a call more, for each event
            return
        with recorder.lock:
            try:
                event(recorder, *details)
            except Exception as error:
                if was_raised_by_a_signal(error):
                    raise
                try:
                    recorder.failed(event.__name__, details, error)
                except Exception:  # the memory or the stack is full
                    recorder.faults.unnamed += 1

    return told


def was_raised_by_a_signal(error: BaseException) -> bool:
    """Whether a signal handler of the program's raised this exception, which interrupted the recorder by chance."""
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    codes = {code for handler in handlers if isinstance(code := getattr(handler, "__code__", None), CodeType)}
    return any(frame.f_code in codes for frame, _ in traceback.walk_tb(error.__traceback__))


def message_of(error: BaseException) -> str:
    """The text of an exception, whose `__str__` may fail."""
    try:
        return str(error)
    except Exception:
        return f"<exception {type(error).__name__} without a text>"


def described(error: Exception) -> str:
    """The exception and where it was raised: `ValueError: ... (constant_arguments.py:28)`."""
    lines = message_of(error).splitlines()
    message = f": {lines[0][:_LONGEST]}" if lines and lines[0] else ""
    frames = list(traceback.walk_tb(error.__traceback__))
    place = f" ({os.path.basename(frames[-1][0].f_code.co_filename)}:{frames[-1][1]})" if frames else ""
    return f"{type(error).__name__}{message}{place}"
