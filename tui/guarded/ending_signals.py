"""The signals that end a full-screen app: it leaves the terminal whole, whatever it is doing."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from tui.shell.exits import SIGNALLED
from tui.shell.terminal import screen

if TYPE_CHECKING:
    from tui.guarded.app import GuardedApp

NAMES = ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT")  # those that this platform has
PATIENCE = 3.0  # seconds that the app has for its own end
LAST = 1.0  # seconds to store what the user would not want to lose, and then to make the terminal whole
WHOLE = (
    "\x1b[?2004l\x1b[?2048l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"  # paste, size, mouse: as before
    "\x1b[<u\x1b[?1049l\x1b[?7h\x1b[?25h\x1b[?1004l\x1b[0m"  # keyboard, screen, lines, cursor, focus, colours
)


@contextlib.contextmanager
def ending_signals(app: GuardedApp, leave: Callable[[], None]) -> Iterator[None]:
    """While the block runs, let a signal name itself in `app.ended_by`, and call `leave` in the app's loop.

    An app that has not ended by then ends `PATIENCE` seconds later. A signal that was ignored before, as by `nohup`,
    is still ignored. Another signal meanwhile changes nothing: a terminal that closes sends two.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked, ask = os.pipe()
    ended = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        # It may have interrupted any line of any code, also one that holds a lock: it takes none itself.
        if app.ended_by is None:
            app.ended_by = number
            if app._loop is not None:
                app._loop.call_soon_threadsafe(leave)
            os.write(ask, b"x")

    def watch() -> None:
        os.read(asked, 1)
        if not ended.wait(PATIENCE) and app.ended_by is not None:
            end_at_once(app, app.ended_by)

    numbers = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]
    before = {one: signal.getsignal(one) for one in numbers}
    watching = threading.Thread(target=watch, name="microtape-end", daemon=True)
    watching.start()
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, end)
    try:
        yield
    finally:
        ended.set()
        for number, handler in before.items():
            signal.signal(number, handler)
        os.write(ask, b"x")
        watching.join()
        os.close(asked)
        os.close(ask)


def end_at_once(app: GuardedApp, number: int) -> None:
    """Make the terminal whole and end the process, without the app's help, and whether or not the terminal answers."""
    _within(LAST, app.keep)
    _within(LAST, lambda: make_whole(app._driver))
    os._exit(SIGNALLED + number)


def make_whole(driver: Any) -> None:
    """Give the terminal back as it was. What the app has written, and the terminal not read yet, is dropped."""
    if sys.platform == "win32" or not getattr(driver, "has_terminal", False):
        return
    import termios

    if driver.attrs_before is not None:
        termios.tcsetattr(driver.fileno, termios.TCSANOW, driver.attrs_before)
    driver.drop_output()
    os.write(screen().fileno(), WHOLE.encode())


def _within(seconds: float, do: Callable[[], object]) -> None:
    """Do it, unless it fails or takes longer."""

    def work() -> None:
        with contextlib.suppress(Exception):
            do()

    working = threading.Thread(target=work, daemon=True)
    working.start()
    working.join(seconds)
