"""Python's cyclic garbage collector, while recordings are made, saved, loaded and shown.

A recording is hundreds of thousands of small tuples that stay, with no cycle among them. The collector looks through
them again and again as they come, which takes longer than making them. Whatever switches the
collector off, on, or past what stays does so here. (NB: the command line, and the process that records a script, set a
threshold of their own when they start.)
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

SELDOM = (50_000, 20, 50)  # three times as quick on a long chain of operations as Python's (700, 10, 10)
_has_frozen = False  # by us; to ask the collector takes as long as there are frozen objects
OFTEN = (1_000, 10, 10)  # little at a time: collecting what ten jumps of the stepper leave takes longer than a paint


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """No collection inside: for work of ours that runs none of the user's code."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            _settle()
            gc.enable()


@contextlib.contextmanager
def permanent() -> Iterator[None]:
    """No collection inside, and what is made inside is never looked through: it stays as long as the process."""
    global _has_frozen
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        _has_frozen = True
        if enabled:
            gc.enable()


@contextlib.contextmanager
def often() -> Iterator[None]:
    """Frequent short collections inside, where a long one would keep a user waiting."""
    before = gc.get_threshold()
    gc.set_threshold(*OFTEN)
    try:
        yield
    finally:
        if gc.get_threshold() == OFTEN:
            gc.set_threshold(*before)


def _settle() -> None:
    """Count what has been made among the old objects, rather than have all of it looked through as new at once."""
    if not _has_frozen and not gc.get_freeze_count():  # else the user has frozen something, which would thaw with ours
        gc.freeze()
        gc.unfreeze()


class _Seldom:
    """A rarer collection while somebody records: the user's program runs then, and may make cycles."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recorders = 0
        self._before = gc.get_threshold()

    def begin(self) -> None:
        """Collect seldom from now on, unless the user collects more seldom yet, or never."""
        with self._lock:
            self._recorders += 1
            if self._recorders == 1:
                self._before = gc.get_threshold()
                if 0 < self._before[0] < SELDOM[0]:
                    gc.set_threshold(*SELDOM)

    def end(self) -> None:
        """Back to what it was, when the last recorder has left; if the user has set something else since, to that."""
        with self._lock:
            self._recorders -= 1
            if self._recorders == 0 and gc.get_threshold() == SELDOM:
                _settle()
                gc.set_threshold(*self._before)


seldom = _Seldom()
