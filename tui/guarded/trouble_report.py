"""Files that hold what happened when something of ours failed, for a report. They stay on this machine."""

from __future__ import annotations

import contextlib
import platform
import traceback
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import microtape
from tui.shell.data_folder import data_folder, replacing

MOST = 20  # files; the oldest is removed


def write_report(error: BaseException, events: Iterable[str]) -> Path | None:
    """Write the traceback and the last events into a new file of the data folder. None if that is impossible."""
    folder = data_folder() / "troubles"
    now = datetime.now()
    path = folder / f"{now:%Y-%m-%d %H.%M.%S.%f}.txt"
    text = "\n".join(
        [
            f"microtape {microtape.__version__}, Python {platform.python_version()}, {platform.platform()}, {now:%c}\n",
            *(line.rstrip("\n") for line in traceback.format_exception(error)),
            "\nThe last events:",
            *events,
            "",
        ]
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(path) as unfinished:
            unfinished.write_bytes(text.encode("utf-8", "backslashreplace"))
    except OSError:
        return None
    for old in sorted(folder.glob("*.txt"))[:-MOST]:
        with contextlib.suppress(OSError):
            old.unlink()
    return path
