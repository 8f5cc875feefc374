"""Ends a script before its end: by an exception, so that its `finally` blocks run, or else by ending the process."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import sys
import threading
from typing import NoReturn

_GRACE = 2.0  # seconds for the `finally` blocks of the main thread


class StopScript(SystemExit):
    """Ends a script whose passes are recorded; `except Exception`, event loops and threads let it through."""


def was_stopped(error: BaseException | None) -> bool:
    """Whether the exception is a StopScript, or was raised while a StopScript was being handled."""
    while error is not None and not isinstance(error, StopScript):
        error = error.__context__
    return error is not None


def stop_main_thread() -> None:
    """Raise a StopScript in the main thread, where another one has found that the script is over.

    The main thread may wait for what the other one will never do, so the process ends soon in any case.
    """
    end = threading.Timer(_GRACE, exit_at_once)
    end.daemon = True
    end.start()
    main = ctypes.c_ulong(threading.main_thread().ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(StopScript))


def wait_for_threads() -> None:
    """Wait for the threads of the script, as Python does at its end."""
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.main_thread():
            thread.join()


def exit_at_once() -> NoReturn:
    """End the process as Python does at its end, but without waiting for threads."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(0)
