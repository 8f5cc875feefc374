"""The lines that a program prints while it runs unseen."""

from __future__ import annotations

import codecs
import re
from collections import deque
from pathlib import Path

MOST = 1_000  # lines that are kept
LONGEST = 2_000  # characters of a line
_PIECE = 1 << 16  # bytes
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")


class PrintedLines:
    """Follows a file that another process writes, and keeps its last lines, without escape sequences."""

    def __init__(self, path: Path) -> None:
        self.count = 0  # of all lines so far
        self._path = path
        self._read = 0  # bytes
        self._kept: deque[str] = deque(maxlen=MOST)
        self._unfinished = ""  # the last line, until its end is there
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def follow(self) -> None:
        """Read what has been written since the last time."""
        try:
            file = self._path.open("rb")
        except OSError:  # nothing has been printed
            return
        with file:
            file.seek(self._read)
            while piece := file.read(_PIECE):
                self._read += len(piece)
                *whole, rest = (self._unfinished + self._decoder.decode(piece)).split("\n")
                self._kept.extend(map(_cleaned, whole))
                self.count += len(whole)
                self._unfinished = rest[-LONGEST:]

    @property
    def last(self) -> list[str]:
        """The last lines; a line that is being written counts, too."""
        rest = _cleaned(self._unfinished)
        return [*self._kept, *([rest] if rest else [])][-MOST:]


def _cleaned(line: str) -> str:
    r"""A line without escape sequences; of a progress bar, which overwrites its line with `\r`, the last state."""
    return _ESCAPES.sub("", line.rstrip("\r").rpartition("\r")[2]).expandtabs()[:LONGEST]
