"""Follows a program into the threads that it starts.

`Threads` of a recorder are the thread that made it, and every thread that one of them starts with `threading` while
the recorder watches. Threads that were there before, such as those of an older pool, belong to somebody else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from microtape.basics.fresh_stack import stack_ident

MAIN = "main"  # the name by which the main thread is asked for

_following: list[Threads] = []
_lock = threading.Lock()
_start = threading.Thread.start


class Threads:
    """The threads of one recorder: those that it follows, or only those of them that have the name `only`."""

    def __init__(self, only: str | None = None) -> None:
        self.first = stack_ident()
        self._only = only
        self._followed: set[int] = set()
        self.watched: set[int] = set()
        self._add(self.first, thread_name() or MAIN)

    def __contains__(self, ident: int) -> bool:
        """Whether what happens in the thread is recorded."""
        return ident in self.watched

    def follows(self, ident: int) -> bool:
        """Whether the threads that this one starts are followed."""
        return ident in self._followed

    def _add(self, ident: int, name: str) -> None:
        self._followed.add(ident)
        if self._only in (None, name):
            self.watched.add(ident)

    def __enter__(self) -> None:
        with _lock:
            _following.append(self)
            threading.Thread.start = _started  # type: ignore[method-assign,assignment]

    def __exit__(self, *error: object) -> None:
        with _lock:
            _following.remove(self)
            if not _following:
                threading.Thread.start = _start  # type: ignore[method-assign]

    def run(self, name: str, inner: Callable[[], None]) -> None:
        """Run a thread that is one of these."""
        ident = stack_ident()
        self._add(ident, name)
        try:
            inner()
        finally:
            self._followed.discard(ident)
            self.watched.discard(ident)


def _started(thread: Any) -> None:
    """Start a thread. NB: `_bootstrap_inner` catches what `run` raises, so that no frame of ours is in a traceback."""
    here = stack_ident()
    for threads in [one for one in _following if one.follows(here)]:
        inner = getattr(thread, "_bootstrap_inner", None)
        if inner is not None:
            thread._bootstrap_inner = _Followed(threads, thread.name, inner)
    _start(thread)


class _Followed:
    """Runs a thread as one of a recorder's; not a closure, which would keep a thread that has ended alive."""

    def __init__(self, threads: Threads, name: str, inner: Callable[[], None]) -> None:
        self.threads, self.name, self.inner = threads, name, inner

    def __call__(self) -> None:
        threads, inner = self.threads, self.inner
        del self.threads, self.inner
        threads.run(self.name, inner)


def thread_name() -> str:
    """The name of this thread, or of the one whose stack it continues; empty for the main one."""
    ident = stack_ident()
    if ident == threading.main_thread().ident:
        return ""
    return next((one.name for one in threading.enumerate() if one.ident == ident), f"thread {ident}")
