"""The numbers of passes, as a user writes them."""

from __future__ import annotations

import re

from microtape.errors import RecordingError


def parse_passes(passes: str | None) -> tuple[int, int | None]:
    """The first and last wanted pass, counted from 1. A last pass of 0: up to the first backward(); None: all.

    Raises RecordingError for anything but a number, a range such as `3-5`, `all` or None.
    """
    if passes is None:
        return 1, 0
    if passes == "all":
        return 1, None
    match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", passes)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= first <= last:
        raise RecordingError(f"pass {passes!r}: give a number from 1, a range such as 3-5, or all")
    return first, last
