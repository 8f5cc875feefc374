"""Forbids exercises to start processes. A fork bomb fails at its first fork, with an error that names the line."""

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
"""The audit events that Python raises before it starts a process or replaces its own."""
SIGNALLING = frozenset({"os.kill", "os.killpg"})


@contextlib.contextmanager
def no_subprocesses(subject: str) -> Iterator[None]:
    """Inside the `with` block, starting or signalling another process raises PermissionError: "`subject` may not ...".

    This uses an audit hook, which Python code cannot remove. If a file forks by other means, `observe` kills it after
    the time limit, together with everything it has started.
    """
    lasts = [True]

    def refuse(event: str, args: tuple[Any, ...]) -> None:
        if lasts and event in STARTING:
            raise PermissionError(f"{subject} may not start another process")
        if lasts and event in SIGNALLING and args[0] != os.getpid():
            raise PermissionError(f"{subject} may not send signals to other processes")

    sys.addaudithook(refuse)
    try:
        yield
    finally:
        lasts.clear()
