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
_has_frozen = False  # anybody has; to ask the collector takes as long as there are frozen objects
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
    global _has_frozen
    _has_frozen = _has_frozen or gc.get_freeze_count() > 0  # by the user: it would thaw with ours
    if not _has_frozen:
        gc.freeze()
        gc.unfreeze()


class _Seldom:
    """A rarer collection while somebody records: the user's program runs then, and may make cycles.

    Python looks through old objects when enough new ones have grown old, which takes long at this threshold, and never
    happens where all are settled. So each pass asks whether memory has grown, or such cycles would fill it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recorders = 0
        self._before = gc.get_threshold()
        self._memory: int | None = 0  # after the last collection
        self._collected, self._took, self._asked = 0.0, 0.05, 0.0  # seconds

    def begin(self) -> None:
        """Collect seldom from now on, unless the user collects more seldom yet, or never."""
        with self._lock:
            self._recorders += 1
            if self._recorders == 1:
                if not self._collected:
                    self._memory, self._collected = _memory(), perf_counter()
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

    def pass_ended(self) -> None:
        """Collect all garbage if it is time to."""
        if gc.isenabled() and gc.get_threshold() == SELDOM and self._is_time():
            begun = perf_counter()
            gc.collect()
            self._memory, self._collected = _memory(), perf_counter()
            self._took = self._collected - begun

    def _is_time(self) -> bool:
        """Whether the process has a fifth more memory than after the last collection.

        Where that cannot be told, whether the next one would take less than a twentieth of the time since.
        """
        now = perf_counter()
        if now - self._asked < 0.01:
            return False
        self._asked = now
        memory = _memory()
        if memory is None or self._memory is None:
            return now - self._collected > 20 * self._took
        return memory > 1.2 * self._memory


seldom = _Seldom()


def _memory() -> int | None:
    """The pages of memory that this process has; None where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1])
    except OSError:
        return None
