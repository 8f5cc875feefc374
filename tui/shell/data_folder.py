"""The folder with a user's data, and atomic writing of files.

The course keeps its files in the same folder; `lessons` is not imported here because that takes a tenth of a second.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from platformdirs import user_data_path


def data_folder() -> Path:
    """The folder: `$MICROTAPE_DATA`, or the platform's folder for user data."""
    chosen = os.environ.get("MICROTAPE_DATA")
    return Path(chosen).expanduser() if chosen else user_data_path("microtape", appauthor=False)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path with the same suffix. At the end of the block, the file written there replaces `path`.

    Raises:
        OSError: the file could not be replaced. The old file is unchanged then, as after an exception in the block.
    """
    unfinished = path.absolute().with_name(f".unfinished-{os.urandom(6).hex()}{path.suffix.lower()}")
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
