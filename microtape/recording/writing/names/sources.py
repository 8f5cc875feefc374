"""Call sites as data: places in source files, whose texts the recording contains."""

from __future__ import annotations

import functools
import linecache
import os
import traceback
from types import CodeType

from microtape.basics.call_site import LIBRARY_FILES, CallSite, Positions, session_cell
from microtape.recording.model.model import Place
from microtape.recording.model.source import INSTALLED, definition_line


class Sources:
    """The source files that a recording mentions, named by their paths relative to `root` if they are below it.

    What is installed is named from the folder of packages on, such as `site-packages/timm/models/vgg.py`.
    What is typed into IPython or a notebook is named by its cell.
    """

    def __init__(self, root: str | None = None) -> None:
        self.root = os.path.abspath(root if root is not None else os.getcwd())
        self._files: dict[str, str] = {}  # name in the recording -> Python's file name
        self._names: dict[str, str] = {}  # Python's file name -> name in the recording
        self._texts: dict[str, str] = {}  # name in the recording -> the text when it was first named
        self._installed: dict[str, bool] = {}
        self._places: dict[tuple[int, int], tuple[CallSite, Place]] = {}
        self._definitions: dict[CodeType, Place] = {}
        self._positions: dict[int, Positions] = {}  # id of a code object -> the positions of its instructions

    def place(self, site: CallSite) -> Place:
        """The place of a call site, cached."""
        key = (id(site.code), site.instruction)
        known = self._places.get(key)
        if known is None:
            positions = self._positions.get(id(site.code))
            if positions is None:
                positions = self._positions[id(site.code)] = list(site.code.co_positions())
            line, end_line, column, end_column = _position(site, positions)
            place = Place(self._name(site.file), line, end_line, column, end_column, site.function)
            known = self._places[key] = (site, place)  # holding the site keeps the code object's id from being reused
        return known[1]

    def definition(self, code: CodeType) -> Place:
        """The line of a function's `def`, or of its `lambda`, cached."""
        known = self._definitions.get(code)
        if known is None:
            line = definition_line(_lines_of(code.co_filename), code.co_firstlineno)
            place = self.place(CallSite(code, 0))
            known = self._definitions[code] = place._replace(line=line, end_line=line, column=0, end_column=0)
        return known

    def texts(self) -> dict[str, str]:
        """The text of each file that can be read."""
        return {name: text for name, text in sorted(self._texts.items()) if text}

    def is_installed(self, file: str) -> bool:
        """Whether a file belongs to an installed package, other than the program itself. Cached."""
        known = self._installed.get(file)
        if known is None:
            known = self._installed[file] = self._path(file).startswith(INSTALLED)
        return known

    def is_ours(self, frame: traceback.FrameSummary) -> bool:
        """Whether a frame of a traceback belongs to this package."""
        return frame.filename in LIBRARY_FILES

    def text(self, name: str) -> str:
        """The text of a file of the recording, as it was when a place in it was first named; empty if it is unknown."""
        return self._texts[name]

    def _name(self, file: str) -> str:
        known = self._names.get(file)
        if known is not None:
            return known
        _look_again(file)
        name = file if file.startswith("<") else self._path(file)
        base, number = name, 1
        while self._files.get(name, file) != file:
            number += 1
            name = f"{base} ({number})"
        self._files[name], self._names[file], self._texts[name] = file, name, text_of(file)
        return name

    def _path(self, file: str) -> str:
        if cell := session_cell(file):
            return cell
        try:
            relative = os.path.relpath(file, self.root)
        except ValueError:  # an empty name, or another drive
            return os.path.basename(file) or "<unknown>"
        is_below = not relative.startswith("..")
        parts = (relative if is_below else file).split(os.sep)
        package = next((i for i, part in enumerate(parts) if part in INSTALLED), None)
        if package is not None:
            return "/".join(parts[package:])
        return "/".join(parts) if is_below else parts[-1]


def _position(site: CallSite, positions: Positions) -> tuple[int, int, int, int]:
    try:
        return site.position(positions)
    except ValueError:  # as in `_lines_of`: no source, so no columns
        line = positions[site.instruction // 2][0] or site.code.co_firstlineno
        return line, line, 0, 0


@functools.cache
def text_of(file: str) -> str:
    """The text of a source file, read once, or again if it has changed since; empty if it cannot be read."""
    return "".join(_lines_of(file))


def _look_again(file: str) -> None:
    """Forget a file that has changed since it was read, as one that a notebook has loaded again."""
    known = linecache.cache.get(file)
    linecache.checkcache(file)
    if linecache.cache.get(file) is not known:
        text_of.cache_clear()


def _lines_of(file: str) -> list[str]:
    try:
        return linecache.getlines(file)
    except (ValueError, RecursionError):  # a name that no file can have, which `compile` accepts
        return []
