"""The terminal's clipboard, over ssh too, and a file with the same text for terminals that ignore the request."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from textual.app import App

from tui.shell.data_folder import data_folder, replacing

MOST = 74_994  # bytes: in base64, with its escape sequence, just under the 100,000 that many terminals accept


def copy(app: App[Any], text: str, what: str) -> str:
    """Put a text on the clipboard by OSC 52, and into a file. Returns a sentence for the user that names both.

    A terminal does not report whether it understood OSC 52, and tmux forwards it only if configured to. Therefore the
    file is always written, and the sentence names it.
    """
    fits = len(text.encode("utf-8", "replace")) <= MOST
    if fits:
        app.copy_to_clipboard(text)
    path = data_folder() / "copied.txt"
    problem = _write(path, text)
    if not fits:
        size = f"{what} is too long for a terminal's clipboard"
        return f"{size}: it is in {home(path)}" if not problem else f"{size}, and {problem}"
    return f"copied {what}; also in {home(path)}" if not problem else f"copied {what}; {problem}"


def _write(path: Path, text: str) -> str:
    """Write the file. Returns an error message of one line, or an empty text."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as unfinished:
            unfinished.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        return f"{path}: cannot be written: {error.strerror or error}"
    return ""


def home(path: str | os.PathLike[str]) -> str:
    """The path with `~` for the home folder."""
    text, folder = os.fspath(path), os.path.expanduser("~")
    return f"~{text[len(folder) :]}" if folder != "/" and text.startswith(folder + os.sep) else text
