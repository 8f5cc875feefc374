"""Where in the user's program something happened, down to the sub-expression.

Every node keeps the code object and the instruction offset of the call that recorded it, which costs next to nothing.
Python 3.11 turns the pair into lines and columns, and we ask for that only when somebody wants to see it.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import NamedTuple, TypeAlias


def _python_files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield entry.path
            elif entry.name not in ("__pycache__", "examples") and entry.is_dir():
                yield from _python_files(entry.path)


LIBRARY_FILES = set(_python_files(os.path.dirname(os.path.dirname(__file__))))
"""Our own source files: a call site is the innermost frame that is not in one of them."""


Positions: TypeAlias = "list[tuple[int | None, int | None, int | None, int | None]]"


class CallSite(NamedTuple):
    """A place in the user's code. `instruction` is the frame's `f_lasti`."""

    code: CodeType
    instruction: int

    @property
    def file(self) -> str:
        """The file's name as Python knows it."""
        return self.code.co_filename

    @property
    def function(self) -> str:
        """The qualified name of the function, `<module>` at top level."""
        return self.code.co_qualname

    def position(self, positions: Positions | None = None) -> tuple[int, int, int, int]:
        """(line, end line, column, end column): lines from 1, columns from 0 in characters, 0 where unknown.

        `positions` are those of all of the code's instructions, for one who asks for many of them.
        """
        if positions is None:
            positions = list(self.code.co_positions())
        line, end_line, column, end_column = positions[self.instruction // 2]
        line = line or self.code.co_firstlineno
        end_line = end_line or line
        return line, end_line, self._characters(line, column), self._characters(end_line, end_column)

    def _characters(self, line: int, column: int | None) -> int:
        """Python counts columns in UTF-8 bytes; people count characters."""
        if not column:
            return 0
        text = linecache.getline(self.file, line)
        return len(text.encode()[:column].decode(errors="replace")) if text else column

    def expression(self) -> str:
        """The source of the sub-expression, or of its line where it spans several; empty if there is no source."""
        line, end_line, column, end_column = self.position()
        text = linecache.getline(self.file, line).rstrip()
        return text[column:end_column] if line == end_line and end_column > column else text.strip()

    def describe(self) -> str:
        """`file:line in function: sub-expression`, for messages."""
        relative = os.path.relpath(self.file) if os.path.isabs(self.file) else self.file
        where = f"{self.file if relative.startswith('..') else relative}:{self.position()[0]}"
        inside = "" if self.function == "<module>" else f" in {self.function}"
        text = self.expression()
        return f"{where}{inside}" + (f":  {text}" if text else "")


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame at or outside `frame` that is the user's, None if there is none."""
    while frame is not None and frame.f_code.co_filename in LIBRARY_FILES:
        frame = frame.f_back
    return frame


def user_stacklevel() -> int:
    """`stacklevel` with which our function that asks for it warns of the user's line."""
    level, frame = 1, sys._getframe(1)
    target = user_frame(frame)
    while frame is not target and frame.f_back is not None:
        frame, level = frame.f_back, level + 1
    return level
