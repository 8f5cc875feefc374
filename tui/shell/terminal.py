"""The terminal: whether there is one to read from and write to, and which theme suits its background."""

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
    """`light` if COLORFGBG, which ends in the number of the background colour, says so; else `dark`."""
    return "light" if os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15") else "dark"
