"""Python's cyclic garbage collector, while recordings are made, saved, loaded and shown.

A recording is hundreds of thousands of small tuples that stay, with no cycle among them. The collector looks through
them again and again as they come, which takes longer than making them. Whatever switches the collector off, on, or past
what stays does so here. (NB: the command line sets a threshold of its own when it starts.)
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator
from time import perf_counter

SELDOM = (50_000, 20, 50)  # three times as quick on a long chain of operations as Python's (700, 10, 10)
_has_frozen = False  # somebody has; to ask the collector takes as long as there are frozen objects
OFTEN = (1_000, 10, 10)  # little at a time: collecting what ten jumps of the stepper leave takes longer than a paint
_EXPECTED = 0.25  # seconds: a new recorder expects a collection to be as long as the last one, but no longer than this


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """No collection inside: for work of ours that runs none of the user's code."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if not seldom.is_on:
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
    """If much has been made, count it among the old objects, rather than have all of it looked through as new at once.

    Then Python counts new objects from 0. Done often, it would never look for the cycles of the user's program.
    """
    if gc.get_count()[0] > SELDOM[0] and not _is_frozen():
        gc.freeze()
        gc.unfreeze()


def _is_frozen() -> bool:
    """Whether the user or `permanent` has frozen something, which would thaw with what we freeze for a while."""
    global _has_frozen
    _has_frozen = _has_frozen or gc.get_freeze_count() > 0
    return _has_frozen


class _Seldom:
    """A rarer collection while somebody records: the user's program runs then, and may make cycles.

    At this threshold a few cycles with large tensors would fill the memory, since Python counts objects alone. So all
    is collected now and then as well, for a twentieth of the time at most. What is there when this first happens,
    mostly functions and classes, is not looked through again until the recorders leave.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recorders = 0
        self._before = gc.get_threshold()
        self._collected, self._took = 0.0, 0.05  # when, and how long it takes, in seconds
        self._has_set_aside = False

    @property
    def is_on(self) -> bool:
        """Whether somebody records."""
        return self._recorders > 0

    def begin(self) -> None:
        """Collect seldom from now on, unless the user collects more seldom yet, or never."""
        with self._lock:
            self._recorders += 1
            if self._recorders == 1:
                self._collected, self._took = perf_counter(), min(self._took, _EXPECTED)
                self._before = gc.get_threshold()
                if 0 < self._before[0] < SELDOM[0]:
                    gc.set_threshold(*SELDOM)

    def end(self) -> None:
        """Back to what it was, when the last recorder has left; if the user has set something else since, to that."""
        with self._lock:
            self._recorders -= 1
            if self._recorders == 0:
                if self._has_set_aside:
                    gc.unfreeze()
                    self._has_set_aside = False
                if gc.get_threshold() == SELDOM:
                    gc.set_threshold(*self._before)

    def pass_ended(self) -> None:
        """Collect all garbage if it is time to."""
        now = perf_counter()
        if now - self._collected < max(0.1, 20 * self._took) or gc.get_threshold() != SELDOM or not gc.isenabled():
            return
        gc.collect()
        if not self._has_set_aside and not _is_frozen():
            gc.freeze()
            self._has_set_aside = True
        self._collected = perf_counter()
        self._took = self._collected - now


seldom = _Seldom()
