"""An exercise starts no other process: who forks without end is stopped at the first, in the line that does it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

STARTING = frozenset(
    {
        "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile", "os.system", "pty.spawn",
        "subprocess.Popen",
    }
)  # fmt: skip
"""What Python announces before it starts a process or replaces its own."""
SIGNALLING = frozenset({"os.kill", "os.killpg"})


@contextlib.contextmanager
def alone(what: str) -> Iterator[None]:
    """While this lasts, starting another process, or ending it, raises PermissionError, which says that `what` may not.

    A hook in Python, which nothing written in Python takes off again. Who forks by other means is stopped by `observe`,
    with everything that he has started, when the time is over.
    """
    lasts = [True]

    def refuse(event: str, args: tuple[Any, ...]) -> None:
        if lasts and event in STARTING:
            raise PermissionError(f"{what} may not start another process")
        if lasts and event in SIGNALLING and args[0] != os.getpid():
            raise PermissionError(f"{what} may not send signals to other processes")

    sys.addaudithook(refuse)
    try:
        yield
    finally:
        lasts.clear()
