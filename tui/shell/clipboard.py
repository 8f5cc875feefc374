"""The terminal's clipboard, over ssh too; and a file beside it, for terminals that ignore what they are asked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from textual.app import App

from microtape.recording.model.model import Summary, Value
from microtape.recording.model.words import format_value

MOST = 74_994  # bytes: in base64, with its escape sequence, just under the 100,000 that many terminals take


def copy(app: App[Any], text: str, what: str) -> str:
    """Put a text on the clipboard by OSC 52, and into a file. Returns a sentence that says where it is now.

    No terminal says whether it has understood, and tmux passes such a request on only if it is told to. So the file is
    always written, and named.
    """
    from lessons.learner.workspace import data_folder

    fits = len(text.encode("utf-8", "replace")) <= MOST
    if fits:
        app.copy_to_clipboard(text)
    path = data_folder() / "copied.txt"
    problem = _write(path, text)
    if not fits:
        size = f"{what} is too long for a terminal's clipboard"
        return f"{size}: it is in {home(path)}" if not problem else f"{size}, and {problem}"
    return f"copied {what}; also in {home(path)}" if not problem else f"copied {what}; {problem}"


def exact(value: Value) -> str:
    """A value with all its digits, as Python writes a number or nested lists; of a summary, what it says."""
    if isinstance(value, Summary):
        return format_value(value, 200)
    return repr(value.tolist())


def _write(path: Path, text: str) -> str:
    """Write the file; what went wrong, if anything did."""
    from lessons.learner.progress import ProgressError, write_atomically

    try:
        write_atomically(path, text.encode("utf-8", "replace"))
    except ProgressError as error:
        return str(error)
    return ""


def home(path: str | os.PathLike[str]) -> str:
    """The path with `~` for the home folder."""
    text, folder = os.fspath(path), os.path.expanduser("~")
    return f"~{text[len(folder) :]}" if folder != "/" and text.startswith(folder + os.sep) else text
