"""Call sites: the line and the sub-expression of the user's program in which something happened.

Every node keeps the code object and the instruction offset of the call that recorded it, which costs next to nothing.
Since Python 3.11 a code object can turn an offset into lines and columns; that is done only when a call site is shown.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Container, Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeAlias

from microtape.basics.fresh_stack import calling_frame


def _python_files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield entry.path
            elif entry.name not in ("__pycache__", "examples") and entry.is_dir():
                yield from _python_files(entry.path)


LIBRARY_FILES = set(_python_files(os.path.dirname(os.path.dirname(__file__))))
"""microtape's own source files. A call site is in the innermost frame whose file is not one of them."""


_CELL = re.compile(r"(?:.*\.ipynb: )?(cell \d+)", re.DOTALL)


def in_cell(file: str) -> str:
    """`cell 3` for the source of a cell, which is named that or `book.ipynb: cell 3`; else an empty text."""
    found = _CELL.fullmatch(file)
    return found[1] if found is not None else ""


def session_cell(file: str) -> str:
    """`cell 3` for what IPython runs as `In [3]`, whose file name says nothing; else an empty text."""
    number = getattr(getattr(ipython_shell(), "compile", None), "_filename_map", {}).get(file)
    return f"cell {number}" if number else ""


def names_of_shell(namespace: dict[str, Any]) -> Container[str]:
    """The names in a namespace that IPython has put there, such as `_`, `_3` and `Out`."""
    shell = ipython_shell()
    return getattr(shell, "user_ns_hidden", ()) if namespace is getattr(shell, "user_ns", None) else ()


def ipython_shell() -> Any:
    """IPython's shell, if the program runs in one."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None


def file_and_line(file: str, line: int) -> str:
    """How a line of a file is named: `model.py:12`; in a notebook `cell 3, line 2`."""
    cell = in_cell(file)
    return f"{cell}, line {line}" if cell else f"{file}:{line}"


Positions: TypeAlias = "list[tuple[int | None, int | None, int | None, int | None]]"


class CallSite(NamedTuple):
    """A place in the user's code: a code object and the instruction in it, a frame's `f_lasti`."""

    code: CodeType
    instruction: int

    @property
    def file(self) -> str:
        """The file's name, as in `co_filename`."""
        return self.code.co_filename

    @property
    def function(self) -> str:
        """The qualified name of the function; `<module>` at top level."""
        return self.code.co_qualname

    def position(self, positions: Positions | None = None) -> tuple[int, int, int, int]:
        """(line, end line, column, end column): lines from 1, columns from 0 in characters, 0 where unknown.

        `positions` are those of all instructions of the code; a caller that reads many of them passes them in.
        """
        if positions is None:
            positions = list(self.code.co_positions())
        line, end_line, column, end_column = positions[self.instruction // 2]
        line = line or self.code.co_firstlineno
        end_line = end_line or line
        return line, end_line, self._characters(line, column), self._characters(end_line, end_column)

    def _characters(self, line: int, column: int | None) -> int:
        """A column in characters; Python counts columns in UTF-8 bytes."""
        if not column:
            return 0
        text = linecache.getline(self.file, line)
        return len(text.encode()[:column].decode(errors="replace")) if text else column

    def expression(self) -> str:
        """The source of the sub-expression, or its first line if it spans several; empty if there is no source."""
        line, end_line, column, end_column = self.position()
        text = linecache.getline(self.file, line).rstrip()
        return text[column:end_column] if line == end_line and end_column > column else text.strip()

    def describe(self) -> str:
        """`file:line in function: sub-expression`, for messages."""
        relative = os.path.relpath(self.file) if os.path.isabs(self.file) else self.file
        file = session_cell(self.file) or (self.file if relative.startswith("..") else relative)
        where = file_and_line(file, self.position()[0])
        inside = "" if self.function == "<module>" else f" in {self.function}"
        text = self.expression()
        return f"{where}{inside}" + (f":  {text}" if text else "")


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the user's program, starting from `frame` and going outwards; None if there is none."""
    found: Any = frame
    try:
        while found.f_code.co_filename in LIBRARY_FILES:
            found = found.f_back
        return found  # type: ignore[no-any-return]
    except AttributeError:  # all frames of this thread are the library's
        while frame is not None and frame.f_code.co_filename in LIBRARY_FILES:
            frame = frame.f_back or calling_frame(frame)
        return frame


def user_site() -> CallSite | None:
    """The call site of the user's program that is running; None if there is none."""
    frame = user_frame(sys._getframe(1))
    return CallSite(frame.f_code, frame.f_lasti) if frame is not None else None


def user_stacklevel() -> int:
    """The `stacklevel` that makes a warning of the calling function point to the user's line."""
    level, frame = 1, sys._getframe(1)
    target = user_frame(frame)
    while frame is not target and frame.f_back is not None:
        frame, level = frame.f_back, level + 1
    return level
