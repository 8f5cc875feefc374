"""The folder with a user's data, and writing a file whole or not at all.

The course keeps its files in the same folder; `lessons` is not imported here because that takes a tenth of a second.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from platformdirs import user_data_path


def data_folder() -> Path:
    """The folder: `$MICROTAPE_DATA`, or the platform's folder for user data."""
    chosen = os.environ.get("MICROTAPE_DATA")
    return Path(chosen).expanduser() if chosen else user_data_path("microtape", appauthor=False)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield another path with the same suffix; what the block writes there replaces `path` at its end.

    Raises:
        OSError: the file could not be replaced. As after an exception in the block, the old file is unchanged.
    """
    unfinished = path.absolute().with_name(f".unfinished-{secrets.token_hex(6)}{path.suffix.lower()}")
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
