"""The terminal: whether there is one to read from and write to, the stream to draw on, and the theme that suits it."""

from __future__ import annotations

import os
import sys
from typing import TextIO


def has_terminal() -> bool:
    """Whether standard input and output are a terminal, or a browser is connected to them."""
    if os.environ.get("TEXTUAL_DRIVER", "").endswith(":WebDriver"):
        return True
    streams = (sys.stdin, sys.stdout)
    return all(stream is not None and not stream.closed and stream.isatty() for stream in streams)


def screen() -> TextIO:
    """The stream that an app draws on: standard error, as Textual does, or standard output after `2>errors.txt`."""
    stream = sys.__stderr__
    if stream is None or stream.closed or not stream.isatty():
        stream = sys.__stdout__
    assert stream is not None  # see `has_terminal`
    return stream


def default_theme() -> str:
    """`light` if COLORFGBG, which ends in the number of the background colour, says so; else `dark`."""
    return "light" if os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15") else "dark"
