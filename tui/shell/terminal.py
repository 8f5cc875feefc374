"""The terminal: whether a person can see the output and answer, and which theme suits its background."""

from __future__ import annotations

import os
import sys


def has_terminal() -> bool:
    """Whether standard input and output are a terminal, or a browser is connected to them."""
    if os.environ.get("TEXTUAL_DRIVER", "").endswith(":WebDriver"):
        return True
    streams = (sys.stdin, sys.stdout)
    return all(stream is not None and not stream.closed and stream.isatty() for stream in streams)


def default_theme() -> str:
    """Light if the terminal says that its background is: COLORFGBG ends in the number of the background colour."""
    return "light" if os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15") else "dark"
