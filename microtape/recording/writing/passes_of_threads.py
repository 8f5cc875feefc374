"""Which passes run in which thread.

Note [Passes of threads]
  A recording shows one pass at a time, with the values that it found. So a pass that begins while another thread's runs
  waits for its end. But the other one may itself wait for this thread, in a hook: if no step of it ends for a second,
  this pass runs unrecorded, and a note says which it was. Passes inside of a pass run in its thread, and belong to it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import groupby
from typing import Any
from weakref import WeakMethod

from microtape.basics.followed_threads import thread_name
from microtape.basics.fresh_stack import stack_ident

_PATIENCE = 1.0  # seconds
_LEFT_OUT = "{passes} of the thread {name} not recorded: a pass of another thread did not come to its end"
_MOST = 10  # notes of a kind


class PassesOfThreads:
    """The thread whose pass is recorded now, and what other threads do meanwhile."""

    def __init__(self, progress: Callable[[], object]) -> None:
        self.lock = threading.RLock()
        self._ended = threading.Condition(self.lock)  # the pass that was recorded has ended
        # Of the recorded pass: another value if one of its steps has ended. Weak: a recorder that nobody holds any more
        # has copies of many arrays, which are to be freed at once.
        self._progress = WeakMethod(progress)
        self._owner: int | None = None  # the thread whose pass is being recorded
        self._beside: dict[int, list[Any]] = {}  # by thread: its passes that are running and not recorded
        self._ran_in: dict[int, str] = {}  # the index of a pass -> its thread, if that is not the main one
        self._left_out: dict[int, str] = {}  # the same of passes that were not recorded

    def is_recorded_here(self) -> bool:
        """Whether the pass that is being recorded runs in this thread."""
        return self._owner is not None and self._owner == stack_ident()

    def is_beside(self) -> bool:
        """Whether a pass that is not recorded runs in this thread."""
        return bool(self._beside) and stack_ident() in self._beside

    def begins(self, task: Any, index: int) -> bool:
        """A pass begins in this thread, which has the lock. Returns whether it is recorded."""
        ident = stack_ident()
        if ident not in self._beside and self._owner not in (None, ident):
            self._wait()
        if ident in self._beside or self._owner not in (None, ident):
            if ident not in self._beside:
                self._left_out[index] = thread_name() or "the main one"
            self._beside.setdefault(ident, []).append(task)
            return False
        if self._owner is None:
            self._owner = ident
            if name := thread_name():
                self._ran_in[index] = name
        return True

    def _wait(self) -> None:
        """Wait for the end of another thread's pass, as long as it makes progress."""
        before: object = None
        while self._owner is not None:
            if self._ended.wait(_PATIENCE):
                before = None  # a pass has ended, and perhaps a third thread has begun one
            elif (progress := self._progress()) is None or before == (before := progress()):
                return

    def ends(self, task: Any) -> None:
        """A pass has ended in this thread."""
        ident = stack_ident()
        running = self._beside.get(ident)
        if running and running[-1] is task:
            running.pop()
            if not running:
                del self._beside[ident]

    def free(self) -> None:
        """The pass that was recorded has ended, with all passes inside of it."""
        self._owner = None
        self._ended.notify_all()

    def notes(self) -> list[str]:
        """What a recording says of threads."""
        return [
            *_lines(self._ran_in, "{passes} ran in the thread {name}"),
            *_lines(self._left_out, _LEFT_OUT),
        ]


def _lines(names: dict[int, str], form: str) -> list[str]:
    """A line for each thread, with the numbers of its passes."""
    by_name: dict[str, list[int]] = {}
    for index, name in sorted(names.items()):
        by_name.setdefault(name, []).append(index + 1)
    lines = [form.format(passes=_numbered(numbers), name=name) for name, numbers in by_name.items()]
    more = len(lines) - _MOST
    return [*lines[:_MOST], f"and passes of {more:,} more threads"] if more > 0 else lines


def _numbered(numbers: list[int]) -> str:
    """`pass 2`, or `passes 1-3, 5`."""
    runs = [[one for _, one in run] for _, run in groupby(enumerate(numbers), lambda item: item[1] - item[0])]
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    shown = ", ".join(texts[:_MOST]) + (", ..." if len(texts) > _MOST else "")
    return f"pass {shown}" if len(numbers) == 1 else f"passes {shown}"
