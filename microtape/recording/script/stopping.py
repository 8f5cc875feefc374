"""Ends a script before its end: by an exception, so that its `finally` blocks run, or else by ending the process."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from typing import NoReturn


class StopScript(SystemExit):
    """Ends a script whose passes are recorded; `except Exception`, event loops and threads let it through."""


def was_stopped(error: BaseException | None) -> bool:
    """Whether the exception is a StopScript, or was raised while a StopScript was being handled."""
    while error is not None and not isinstance(error, StopScript):
        error = error.__context__
    return error is not None


def exit_at_once() -> NoReturn:
    """End the process as Python does at its end, but without waiting for threads."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(0)
