"""Everything that the commands print goes through here: no text of a user's or of a file's reaches the terminal raw.

Control characters would run as commands of the terminal: some write to the clipboard, or print what was never there.
"""

from __future__ import annotations

import json
import sys
from typing import Any, TextIO

LONGEST = 20_000  # characters of a line; a longer one is cut


def safe(text: str) -> str:
    """The text with control characters written out, in lines of at most `LONGEST` characters."""
    if text.isprintable() and len(text) <= LONGEST:
        return text
    from viz.basics.characters import visible  # late, because this takes as long as `microtape --help`

    return "\n".join(visible(line.expandtabs() if len(line) <= LONGEST else line, LONGEST) for line in text.split("\n"))


def put(text: str = "", *, flush: bool = False) -> None:
    """Print text on standard output."""
    _write(safe(text) + "\n", sys.stdout, flush)


def put_error(text: str = "", end: str = "\n") -> None:
    """Print text on standard error."""
    _write(safe(text) + end, sys.stderr, True)


def put_json(data: Any, indent: int | None = None) -> None:
    """Print JSON on standard output, in ASCII. Encoding it whole takes a third of the time of `json.dump`."""
    separators = (",", ":") if indent is None else None
    _write(json.dumps(data, separators=separators, indent=indent, allow_nan=False) + "\n", sys.stdout, False)


def _write(text: str, stream: TextIO | None, flush: bool) -> None:
    if stream is None:  # a program without a console
        return
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    if flush:
        stream.flush()
