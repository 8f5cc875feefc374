"""Starts the process in which a script will be recorded while this one is still importing what it needs.

Both import numpy and the engine, which takes most of a short command's time; on two processors it takes it once. The
process waits for the request that `record_script` gives it, and ends by itself if none comes. So this module must not
import microtape.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

# Ctrl-C ends it silently; `wait` gives the script Python's own handler back.
_START = """\
import gc, signal, sys
threshold = gc.get_threshold()
gc.set_threshold(50_000)
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
sys.path.insert(0, sys.argv[1])
from microtape.recording.script.child import wait
gc.set_threshold(*threshold)
wait()
"""
_waiting: list[tuple[subprocess.Popen[bytes], IO[str]]] = []


@contextlib.contextmanager
def early_start(file: str) -> Iterator[None]:
    """While a command that takes this file runs, a process for it may be taken; at the end it is gone."""
    if not file.endswith(".py") or not os.path.isfile(file) or os.name != "posix":  # elsewhere no pipe is passed on
        yield
        return
    reading, writing = os.pipe()
    options = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # such as -W error
    command = [sys.executable, *options, "-P", "-c", _START, str(Path(__file__).resolve().parents[2]), str(reading)]
    with open(writing, "w", encoding="utf-8") as pipe:
        try:
            process = subprocess.Popen(command, pass_fds=[reading])
        except (OSError, ValueError):  # `record_script` will say why
            yield
            return
        finally:
            os.close(reading)
        _waiting.append((process, pipe))
        try:
            yield
        finally:
            _waiting.clear()
            if process.poll() is None:  # nobody has taken it
                process.kill()
                process.wait()


def take_started() -> tuple[subprocess.Popen[bytes], IO[str]] | None:
    """The waiting process, and where its request is written; None if there is none."""
    return _waiting.pop() if _waiting else None
