"""The user's editor, opened on a line of a file."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

PLUS = "vi vim nvim view ex nano pico emacs emacsclient micro joe jmacs mg ne jed kak mcedit gedit"  # +12 file
COLON = {"hx": (), "helix": (), "subl": ("--wait",), "zed": ("--wait",)}  # file:12
GOTO = "code code-insiders codium cursor windsurf"  # --goto file:12


def editor_command(path: Path, line: int | None = None) -> list[str]:
    """The command that opens a file in $VISUAL, else $EDITOR, else an installed editor; it ends when the editor closes.

    For editors whose syntax is known, the command also contains the line. Empty if no editor is found.
    """
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR") or _some_editor()
    command = shlex.split(chosen, posix=os.name != "nt")
    if not command:
        return []
    name, at = Path(command[0].strip('"')).stem.lower(), f"{path}:{line}"
    if name in GOTO.split():
        wait = [] if "--wait" in command or "-w" in command else ["--wait"]
        return [*command, *wait, *(["--goto", at] if line else [str(path)])]
    if name in COLON:
        wait = [option for option in COLON[name] if option not in command]
        return [*command, *wait, at if line else str(path)]
    if name in PLUS.split() and line:
        return [*command, f"+{line}", str(path)]
    return [*command, str(path)]


def run_in_terminal(command: list[str]) -> str:
    """Run a program in the terminal to its end. Returns an error message of one line, or an empty text."""
    try:
        status = subprocess.run(command, check=False).returncode
    except OSError as error:
        return f"{command[0]} cannot be started: {error.strerror}."
    return f"{command[0]} ended with status {status}." if status else ""


def _some_editor() -> str:
    return next((name for name in ("nano", "vim", "vi") if shutil.which(name)), "")
