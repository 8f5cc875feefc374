"""The exit codes of the command, and the exception that ends it early with a line for the user."""

from __future__ import annotations

import argparse
import errno
import sys
from enum import IntEnum

from tui.shell.printing import at_words, put_error


class Exit(IntEnum):
    """The command's exit codes; `MEANING` explains them."""

    OK = 0
    SCRIPT_FAILED = 1
    BAD_INPUT = 2
    NOTHING_RECORDED = 3
    CANNOT_DRAW = 4
    NOT_SOLVED = 5
    FOUND = 6
    INCOMPLETE = 7
    NOT_ALL_COMPARED = 8
    TIMED_OUT = 124
    INTERRUPTED = 130
    BROKEN_PIPE = 141


_NO_ROOM = {
    getattr(errno, name, None) for name in ("ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EMFILE", "ENFILE", "ENOMEM")
} - {None}

SIGNALLED = 128  # an app that a signal has ended returns this and the signal's number, as shells do

MEANING = {
    Exit.OK: "success",
    Exit.SCRIPT_FAILED: "the script raised an exception; its traceback and the recording so far are shown",
    Exit.BAD_INPUT: "a mistake in the command line, or a file or output that is missing, damaged or cannot be written",
    Exit.NOTHING_RECORDED: "the script ended without calling backward() or grad(), or the --until condition never held",
    Exit.CANNOT_DRAW: "the picture could not be drawn",
    Exit.NOT_SOLVED: "learn: not solved, not the first wrong step, a course to fix; grade --exit-code: a file fails",
    Exit.FOUND: "diagnose: something is wrong; also if the script failed; diff: the recordings differ",
    Exit.INCOMPLETE: "microtape itself failed while it recorded the script; a line says what is missing",
    Exit.NOT_ALL_COMPARED: "diff: nothing differs in what could be compared, but not everything could",
    Exit.TIMED_OUT: "--timeout ended the script; the passes that had ended are shown",
    Exit.INTERRUPTED: "Ctrl-C",
    Exit.BROKEN_PIPE: "the reader of the output closed the pipe",
}


class CommandError(Exception):
    """Ends the command with one line for the user and an exit code."""

    def __init__(self, message: str, code: int = Exit.BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code


def say(message: str) -> None:
    """Print a message for the user on standard error."""
    put_error(at_words(f"microtape: {message}"))


def no_room(error: OSError) -> str | None:
    """The line for the user, if the system had no room for a file of ours, such as a temporary one; else None."""
    if isinstance(error, FileNotFoundError) and "temporary directory" in str(error):
        return "there is no folder for temporary files: name one in the variable TMPDIR"
    if error.errno in _NO_ROOM:
        named = f"{error.filename}: " if error.filename else "a temporary file "
        return f"{named}cannot be written: {error.strerror}"
    return None


def is_ascii(arguments: argparse.Namespace) -> bool:
    """Whether to write plain ASCII: requested by --ascii, or the only encoding of standard output."""
    return arguments.ascii or "utf" not in (sys.stdout.encoding or "").lower()
