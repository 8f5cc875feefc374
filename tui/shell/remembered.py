"""What the stepper remembers: the theme, the layout, and the last moment shown of each recording.

A file that is missing, damaged or not writable counts as empty. `--fresh` and MICROTAPE_REMEMBER=0 ignore it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from microtape.recording.model.model import Recording
from tui.shell.data_folder import data_folder, replacing

MOST_PLACES = 100
FORMAT = 1


def is_wanted() -> bool:
    """Whether the user allows the stepper to remember anything."""
    return os.environ.get("MICROTAPE_REMEMBER", "1").lower() not in ("0", "no", "off", "false")


@dataclass(frozen=True, slots=True)
class SavedMoment:
    """A moment of a recording."""

    pass_index: int
    position: int


@dataclass(frozen=True)
class Remembered:
    """The state of the last session. An empty string means that the user never chose anything."""

    theme: str = ""
    view: str = ""
    pane: str = ""
    places: Mapping[str, SavedMoment] = field(default_factory=dict)  # by `key_of` a recording, oldest first

    @classmethod
    def load(cls, path: Path | None = None) -> Remembered:
        """The contents of the file; empty if it cannot be understood."""
        try:
            data = json.loads((path or _file()).read_text(encoding="utf-8"))
            if data["format"] != FORMAT:
                return cls()
            places = {str(key): SavedMoment(int(pair[0]), int(pair[1])) for key, pair in data["places"].items()}
            return cls(str(data["theme"]), str(data["view"]), str(data["pane"]), places)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return cls()

    def save(self, path: Path | None = None) -> None:
        """Write the file, whole or not at all. A failure is not reported: the user did not ask for this file."""
        recent = list(self.places.items())[-MOST_PLACES:]
        places = {key: [moment.pass_index, moment.position] for key, moment in recent}
        data: dict[str, Any] = {
            "format": FORMAT, "theme": self.theme, "view": self.view, "pane": self.pane, "places": places
        }  # fmt: skip
        path = path or _file()
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as unfinished:
                unfinished.write_bytes((json.dumps(data, indent=2) + "\n").encode())

    def with_place(self, key: str, moment: SavedMoment) -> dict[str, SavedMoment]:
        """The places with one added as the newest."""
        return {**{known: old for known, old in self.places.items() if known != key}, key: moment}


def key_of(recording: Recording) -> str:
    """A recording's identity: a hash of its title, the program's text and the numbers of nodes and steps."""
    steps = [len(pass_.steps) for pass_ in recording.passes]
    text = json.dumps([recording.title, sorted(recording.sources.items()), len(recording.nodes), steps])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _file() -> Path:
    return data_folder() / "stepper.json"
