"""The signals that end a full-screen app: it leaves the terminal whole, whatever it is doing."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from textual.app import App

from tui.shell.exits import SIGNALLED

NAMES = ("SIGTERM", "SIGHUP", "SIGQUIT")  # those that this platform has
PATIENCE = 3.0  # seconds that the app has for its own end
WHOLE = (
    "\x1b[?2004l\x1b[?2048l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"  # paste, size, mouse: as before
    "\x1b[<u\x1b[?1049l\x1b[?7h\x1b[?25h\x1b[?1004l\x1b[0m"  # keyboard, screen, lines, cursor, focus, colours
)


@contextlib.contextmanager
def ending_signals(app: App[None], leave: Callable[[int], None]) -> Iterator[None]:
    """While the block runs, let a signal call `leave` with its number, in the app's loop.

    An app that has not ended by then ends `PATIENCE` seconds later, or at a second signal. A signal that was ignored
    before, as by `nohup`, is still ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = threading.Event()
    ended = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        if asked.is_set():
            end_at_once(app, number)
        asked.set()
        if app._loop is not None:
            app._loop.call_soon_threadsafe(leave, number)
        threading.Thread(target=watch, args=(number,), daemon=True).start()

    def watch(number: int) -> None:
        if not ended.wait(PATIENCE):
            end_at_once(app, number)

    numbers = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]
    before = {one: signal.getsignal(one) for one in numbers}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, end)
    try:
        yield
    finally:
        ended.set()
        for number, handler in before.items():
            signal.signal(number, handler)


def end_at_once(app: App[None], number: int) -> None:
    """Make the terminal whole and end the process, without the app's help."""
    with contextlib.suppress(Exception):
        driver = app._driver
        if driver is not None and not driver.is_headless and sys.platform != "win32":
            import termios

            assert sys.__stderr__ is not None
            os.write(sys.__stderr__.fileno(), WHOLE.encode())
            attributes = getattr(driver, "attrs_before", None)
            if attributes is not None:
                termios.tcsetattr(driver.fileno, termios.TCSANOW, attributes)  # type: ignore[attr-defined]
    os._exit(SIGNALLED + number)
