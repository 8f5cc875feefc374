"""Call sites as data: places in files whose text the recording carries."""

from __future__ import annotations

import linecache
import os
import traceback

from microtape.basics.call_site import LIBRARY_FILES, CallSite, Positions
from microtape.recording.model.model import Place


class Sources:
    """The source files that a recording mentions, by a path relative to `root` where they are below it."""

    def __init__(self, root: str | None = None) -> None:
        self.root = os.path.abspath(root if root is not None else os.getcwd())
        self._files: dict[str, str] = {}  # the name in the recording -> Python's name for the file
        self._names: dict[str, str] = {}  # and back
        self._places: dict[tuple[int, int], tuple[CallSite, Place]] = {}
        self._positions: dict[int, Positions] = {}  # of all instructions of a code object, by its id

    def place(self, site: CallSite) -> Place:
        """Where the call site is; looking the same one up again is quick."""
        key = (id(site.code), site.instruction)
        known = self._places.get(key)
        if known is None:
            positions = self._positions.get(id(site.code))
            if positions is None:
                positions = self._positions[id(site.code)] = list(site.code.co_positions())
            line, end_line, column, end_column = site.position(positions)
            place = Place(self._name(site.file), line, end_line, column, end_column, site.function)
            known = self._places[key] = (site, place)  # the site keeps the code object's id from being used again
        return known[1]

    def texts(self) -> dict[str, str]:
        """The text of each file, where it can be had."""
        texts = {name: "".join(linecache.getlines(file)) for name, file in self._files.items()}
        return {name: text for name, text in sorted(texts.items()) if text}

    def is_ours(self, frame: traceback.FrameSummary) -> bool:
        """Whether a frame of a traceback belongs to this package."""
        return frame.filename in LIBRARY_FILES

    def python_file(self, name: str) -> str:
        """Python's name for a file of the recording."""
        return self._files[name]

    def _name(self, file: str) -> str:
        known = self._names.get(file)
        if known is not None:
            return known
        if file.startswith("<"):
            name = file
        else:
            relative = os.path.relpath(file, self.root)
            name = os.path.basename(file) if relative.startswith("..") else relative.replace(os.sep, "/")
        base, number = name, 1
        while self._files.get(name, file) != file:
            number += 1
            name = f"{base} ({number})"
        self._files[name], self._names[file] = file, name
        return name
