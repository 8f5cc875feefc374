"""The exit codes of the command, and the one way to end it early with a line for the user."""

from __future__ import annotations

import argparse
import sys
from enum import IntEnum


class Exit(IntEnum):
    """What the command's exit code says."""

    OK = 0
    SCRIPT_FAILED = 1
    BAD_INPUT = 2
    NOTHING_RECORDED = 3
    CANNOT_DRAW = 4
    NOT_SOLVED = 5
    INTERRUPTED = 130
    BROKEN_PIPE = 141


MEANING = {
    Exit.OK: "all went well",
    Exit.SCRIPT_FAILED: "the script raised an exception; its traceback is shown, and what was recorded",
    Exit.BAD_INPUT: "a mistake in the command line, or a file that is missing, damaged or cannot be written",
    Exit.NOTHING_RECORDED: "the script ended without calling backward() or grad(), or without what --until looks for",
    Exit.CANNOT_DRAW: "the picture could not be drawn",
    Exit.NOT_SOLVED: "learn: not solved yet, not the first wrong step, or something to mend in a course",
    Exit.INTERRUPTED: "Ctrl-C",
    Exit.BROKEN_PIPE: "whoever read the output stopped reading",
}


class CommandError(Exception):
    """Ends the command with one line for the user and an exit code."""

    def __init__(self, message: str, code: int = Exit.BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code


def say(message: str) -> None:
    """A word to the user, on standard error."""
    print(f"microtape: {message}", file=sys.stderr, flush=True)


def is_ascii(arguments: argparse.Namespace) -> bool:
    """Whether to write plain ASCII: asked for, or all that standard output can take."""
    return arguments.ascii or "utf" not in (sys.stdout.encoding or "").lower()
