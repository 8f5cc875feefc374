"""What is typed in the editor of a lesson outlives the terminal and the process, without a key that saves."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="needs a terminal of its own")]
PATIENCE = 120.0  # seconds, on a busy machine


class Terminal:
    """`microtape learn` in a terminal of its own."""

    def __init__(self, data):
        import pty

        root = str(Path(__file__).parents[3])
        settings = {"MICROTAPE_DATA": str(data), "TERM": "xterm-256color", "PYTHONPATH": root}
        self.channel, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "microtape", "learn"], stdin=theirs, stdout=theirs, stderr=theirs,
            env=os.environ | settings | {"COLUMNS": "80", "LINES": "24"}, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self.shown = b""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        with contextlib.suppress(OSError):
            while data := os.read(self.channel, 65536):
                self.shown += data

    def press(self, keys, until):
        os.write(self.channel, keys.encode())
        end = time.monotonic() + PATIENCE
        while not until():
            assert time.monotonic() < end, self.shown[-2000:]
            time.sleep(0.05)

    def end(self, signal):
        self.process.send_signal(signal)
        self.process.wait()


@pytest.mark.parametrize("sent", ["SIGKILL", "SIGHUP"])  # SIGHUP: a terminal has closed
def test_typed_text_is_in_the_file(tmp_path, sent):
    file = tmp_path / "exercises" / "tape_of_numbers.py"
    terminal = Terminal(tmp_path)
    terminal.press("", lambda: b"lessons solved" in terminal.shown)
    terminal.press("\r", lambda: b"next" in terminal.shown)
    terminal.press("e", lambda: b"You are editing" in terminal.shown)
    terminal.press("typed", lambda: "    typed\n" in file.read_text())
    terminal.press(" more", lambda: "    typed more\n" in file.read_text())
    terminal.end(getattr(signal, sent))
    assert "        typed more\n\n    def add" in file.read_text()
