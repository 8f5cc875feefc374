"""Everything that the commands print goes through here: no text of a user's or of a file's reaches the terminal raw.

Control characters would run as commands of the terminal: some write to the clipboard, or print what was never there.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO


class OutputError(Exception):
    """Standard output takes no more, such as a file on a full disk. The message is for the user."""


LONGEST = 20_000  # characters of a line; a longer one is cut


def safe(text: str) -> str:
    """The text with control characters written out, in lines of at most `LONGEST` characters."""
    if text.isprintable() and len(text) <= LONGEST:
        return text
    from viz.basics.characters import visible  # late, because this takes as long as `microtape --help`

    return "\n".join(visible(line.expandtabs() if len(line) <= LONGEST else line, LONGEST) for line in text.split("\n"))


def at_words(text: str) -> str:
    """A text for standard error in lines that a terminal need not break inside of a word; as it is for a file."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns if sys.stderr.isatty() else 0
    except (OSError, ValueError, AttributeError):  # no stream, or one that is closed or no file
        return text
    if max(map(len, text.split("\n"))) <= columns or not columns:
        return text
    import textwrap  # late, because few lines are too long

    whole = textwrap.TextWrapper(
        columns, break_long_words=False, break_on_hyphens=False
    )  # so that a path can be copied
    return "\n".join(whole.fill(one) for one in text.split("\n"))


def put(text: str = "", *, flush: bool = False) -> None:
    """Print text on standard output."""
    _write(safe(text) + "\n", sys.stdout, flush)


def put_error(text: str = "", end: str = "\n") -> None:
    """Print text on standard error; if nobody can be told, on none."""
    with contextlib.suppress(OSError, OutputError):
        _write(safe(text) + end, sys.stderr, True)


def put_json(data: Any, indent: int | None = None) -> None:
    """Print JSON on standard output, in ASCII. Encoding it whole takes a third of the time of `json.dump`."""
    separators = (",", ":") if indent is None else None
    _write(json.dumps(data, separators=separators, indent=indent, allow_nan=False) + "\n", sys.stdout, False)


def _write(text: str, stream: TextIO | None, flush: bool) -> None:
    if stream is None:  # a program without a console
        return
    encoding = stream.encoding or "utf-8"
    with _refused():
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        if flush:
            stream.flush()


def flush() -> None:
    """Hand everything over that was printed on standard output."""
    if sys.stdout is not None:
        with _refused():
            sys.stdout.flush()


def drop_output() -> None:
    """Print nothing more: Python flushes standard output again at exit, so it must still have a target."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


@contextlib.contextmanager
def _refused() -> Iterator[None]:
    """Turn the system's refusal into an OutputError; only a pipe that nobody reads stays a BrokenPipeError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"the output cannot be written: {error.strerror or error}") from None
