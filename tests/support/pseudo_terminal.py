"""A program in a pseudo-terminal: what it writes, which modes it leaves on, and how it ends."""

from __future__ import annotations

import os
import re
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0  # seconds: only a program that hangs takes so long

needs_terminal = pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")


class PseudoTerminal:
    """A terminal of 100x30 whose session a program leads. A context manager: the program does not outlive it."""

    def __init__(self, command: Sequence[str], **environment: str) -> None:
        import termios

        self._ours, theirs = os.openpty()
        self._theirs = theirs  # open, so that the terminal can be asked after the program has ended
        self.resize(100, 30)
        self._attributes = termios.tcgetattr(theirs)
        known: Mapping[str, str] = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env={**known, **environment}, cwd=ROOT,
            start_new_session=True, preexec_fn=_begin_session,
        )  # fmt: skip
        self.written, self._seen = "", 0

    def __enter__(self) -> PseudoTerminal:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait()
        if self.is_open:
            self.close()

    def press(self, keys: str) -> None:
        """Send keys, as the bytes that a terminal sends. A lone surrogate stands for a byte that is no UTF-8."""
        os.write(self._ours, keys.encode(errors="surrogateescape"))

    def resize(self, width: int, height: int) -> None:
        """Give the terminal another size; the kernel tells the job in front."""
        import fcntl
        import termios

        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    @property
    def is_open(self) -> bool:
        """Whether the terminal has not been closed."""
        return self._ours >= 0

    def close(self) -> None:
        """Close the terminal, as somebody closes a window."""
        os.close(self._theirs)
        os.close(self._ours)
        self._theirs = self._ours = -1

    def wait_for(self, text: str, pressing: str = "") -> None:
        """Wait until a text has been written after the one that was waited for before; meanwhile, press keys."""
        end = time.monotonic() + PATIENCE
        while (at := self.written.find(text, self._seen)) < 0:
            assert time.monotonic() < end, f"{text!r} was never written: {self.written[-2000:]!r}"
            if not self.read(1.0 if pressing else 0.1):
                self.press(pressing)
        self._seen = at + len(text)

    def end(self, signal_number: signal.Signals | None = None) -> int:
        """Wait for the end of the program, after a signal. Returns its status."""
        if signal_number is not None:
            self.process.send_signal(signal_number)
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < end, f"the program did not end: {self.written[-2000:]!r}"
            self.read(0.1)
        while self.read(0.1):
            pass
        return self.process.returncode

    def is_whole(self) -> bool:
        """Whether the screen, the mouse, the cursor, pastes, focus and the keyboard are as they were at the start."""
        import termios

        on = {int(mode): letter == "h" for mode, letter in re.findall(r"\x1b\[\?(\d+)([hl])", self.written)}
        assert on, "the program has never taken the terminal"
        left = {mode for mode, is_on in on.items() if is_on} - {25, 7}  # the cursor and line wrap should be on
        same = termios.tcgetattr(self._theirs)[:4] == self._attributes[:4]
        keyboard = self.written.count("\x1b[>") <= self.written.count("\x1b[<u")
        return not left and on[25] and on[7] and same and keyboard

    def read(self, seconds: float) -> bool:
        """Read what comes within so many seconds. Returns whether something did."""
        if not select.select([self._ours], [], [], seconds)[0]:
            return False
        try:
            self.written += os.read(self._ours, 65536).decode(errors="replace")
        except OSError:  # the other end is closed
            return False
        return True


def _begin_session() -> None:
    """Take the terminal on standard input, and heed all signals: a shell has what it runs behind it ignore some."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGTSTP):
        signal.signal(number, signal.SIG_DFL)


def microtape(*words: str) -> list[str]:
    """A command line of microtape."""
    return [sys.executable, "-m", "microtape", *words]
