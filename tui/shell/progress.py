"""How far something is, on the terminal, for whatever takes more than half a second. Without a terminal, nothing."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice

PATIENCE = 0.5  # seconds
BAR = 24  # characters
SOME = 500  # lines or steps between two words about them


class Bar:
    """A line that says how far something is, wiped out at the end."""

    def __enter__(self) -> Bar:
        self.drawn = False
        return self

    def __exit__(self, *exception: object) -> None:
        if self.drawn:
            _write("\r\x1b[K")

    def show(self, part: float, text: str) -> None:
        """Show that this part is done."""
        if is_seen():
            filled = round(BAR * min(max(part, 0.0), 1.0))
            _write(f"\r[{'#' * filled}{'.' * (BAR - filled)}] {text}   Ctrl-C stops\x1b[K")
            self.drawn = True


@contextmanager
def telling(text: str, *, stays: bool = False) -> Iterator[Callable[[str], None]]:
    """Say what goes on, once it has gone on for a while; what this yields says it in other words from then on.

    With `stays` it is a line of its own, for a program that may print something itself; otherwise it is wiped out at
    the end.
    """
    if not is_seen():
        yield lambda text: None
        return
    lock, over = threading.Lock(), False
    told = False

    def say(text: str) -> None:
        if told:
            _write(f"\rmicrotape: {text}\x1b[K")

    def tell() -> None:
        nonlocal told
        with lock:
            if not over:
                told = True
                _write(f"microtape: {text}\n" if stays else f"\rmicrotape: {text}\x1b[K")

    timer = threading.Timer(PATIENCE, tell)
    timer.daemon = True
    timer.start()
    try:
        yield say
    finally:
        timer.cancel()
        with lock:
            over = True
            if told and not stays:
                _write("\r\x1b[K")


def awaited(lines: Iterable[str]) -> Iterator[str]:
    """The same lines. Until they appear on the terminal, or while they go elsewhere, it tells how many have come."""
    coming = iter(lines)
    with telling("working it out ...   Ctrl-C stops") as say:
        first = list(islice(coming, 1))  # much may have to be worked out for it
        for number, line in enumerate(chain(first, coming) if not sys.stdout.isatty() else ()):
            if number % SOME == 0:
                say(f"{number:,} lines ...   Ctrl-C stops")
            yield line
    if sys.stdout.isatty():
        yield from chain(first, coming)


def is_seen() -> bool:
    """Whether somebody looks at standard error."""
    return sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
