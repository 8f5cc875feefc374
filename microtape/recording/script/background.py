"""Lets a script go on unseen: it prints into a file, and finds its input at the end."""

from __future__ import annotations

import contextlib
import os
import sys


def into_background(output: str) -> None:
    """Redirect the standard streams of this process, also those of the processes that it starts from now on."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or replaced by the script
            stream.flush()
            stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    nothing = os.open(os.devnull, os.O_RDONLY)
    written = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(nothing, 0)
    os.dup2(written, 1)
    os.dup2(written, 2)
    os.close(nothing)
    os.close(written)
