"""Progress of long work, shown on the terminal after half a second. Silent if standard error is no terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice

from tui.shell.printing import at_words, safe

PATIENCE = 0.5  # seconds
BAR = 24  # characters
REPORT_EVERY = 500  # lines or steps between two updates


class ProgressBar:
    """A progress bar, erased at the end."""

    def __enter__(self) -> ProgressBar:
        self.drawn = False
        return self

    def __exit__(self, *exception: object) -> None:
        if self.drawn:
            _write("\r\x1b[K")

    def show(self, part: float, text: str) -> None:
        """Show the fraction that is done, from 0 to 1, and a text."""
        if _is_terminal():
            filled = round(BAR * min(max(part, 0.0), 1.0))
            _write(f"\r[{'#' * filled}{'.' * (BAR - filled)}] {safe(text)}   Ctrl-C stops\x1b[K")
            self.drawn = True


@contextmanager
def status_line(text: str, *, stays: bool = False) -> Iterator[Callable[[str], None]]:
    """Show a text if the block takes longer than `PATIENCE`. Yields a function that replaces the text.

    The text is erased at the end. With `stays` it is an ordinary line that remains, because the block runs a program
    that may print.
    """
    if not _is_terminal():
        yield lambda text: None
        return
    lock, over = threading.Lock(), False
    told = False

    def say(text: str) -> None:
        if told:
            _write(f"\rmicrotape: {safe(text)}\x1b[K")

    def tell() -> None:
        nonlocal told
        with lock:
            if not over:
                told = True
                line = f"microtape: {safe(text)}"
                _write(f"{at_words(line)}\n" if stays else f"\r{line}\x1b[K")

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


def counted_lines(lines: Iterable[str]) -> Iterator[str]:
    """The same lines, with a status line until the first one appears. If output is no terminal, it counts all lines."""
    coming = iter(lines)
    with status_line("computing ...   Ctrl-C stops") as say:
        first = list(islice(coming, 1))  # computing it may take long
        for number, line in enumerate(chain(first, coming) if not sys.stdout.isatty() else ()):
            if number % REPORT_EVERY == 0:
                say(f"{number:,} lines ...   Ctrl-C stops")
            yield line
    if sys.stdout.isatty():
        yield from chain(first, coming)


def _is_terminal() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
