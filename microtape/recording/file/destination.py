"""Whether a recording can be written to a file: asked before a program runs, which may take an hour."""

from __future__ import annotations

import os

from microtape.errors import RecordingError


def check_writable(out: str) -> None:
    """Raise RecordingError if `out` cannot be written, or if it is a file that is not a recording."""
    folder = os.path.dirname(os.path.abspath(out))
    if os.path.isdir(out):
        raise RecordingError(f"{out}: cannot be written: it is a folder")
    if not os.path.isdir(folder):
        raise RecordingError(f"{out}: cannot be written: there is no folder {folder}")
    if os.path.isfile(out) and not _may_be_replaced(out):
        raise RecordingError(f"{out}: there is another file of this name, not a recording: choose another name")
    if not os.access(folder, os.W_OK):
        raise RecordingError(f"{out}: cannot be written: no permission to write in {folder}")


def _may_be_replaced(out: str) -> bool:
    """Whether a file is a recording or empty. Any other file was named by mistake: most likely the script itself."""
    try:
        with open(out, "rb") as file:
            return file.read(4) in (b"PK\x03\x04", b"")
    except OSError:
        return False
