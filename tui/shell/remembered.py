"""What the stepper remembers: the theme, the layout, and where one was in each recording.

It is a comfort and no more: a file that is missing, damaged or cannot be written is as good as an empty one, and
`--fresh`, or MICROTAPE_REMEMBER=0, does without.
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

from platformdirs import user_data_path

from microtape.recording.model.model import Recording

MOST_PLACES = 100
FORMAT = 1


def folder() -> Path:
    """Where microtape keeps a user's data; that of the course is there as well."""
    chosen = os.environ.get("MICROTAPE_DATA")
    return Path(chosen).expanduser() if chosen else user_data_path("microtape", appauthor=False)


def is_wanted() -> bool:
    """Whether anything is to be remembered at all."""
    return os.environ.get("MICROTAPE_REMEMBER", "1").lower() not in ("0", "no", "off", "false")


@dataclass(frozen=True, slots=True)
class Place:
    """A moment of a recording."""

    pass_index: int
    position: int


@dataclass(frozen=True)
class Remembered:
    """What was so the last time. Empty texts are what was never chosen."""

    theme: str = ""
    view: str = ""
    pane: str = ""
    places: Mapping[str, Place] = field(default_factory=dict)  # by `key_of` a recording, the oldest first

    @classmethod
    def load(cls, path: Path | None = None) -> Remembered:
        """What the file says; nothing where it cannot be understood."""
        try:
            data = json.loads((path or _file()).read_text(encoding="utf-8"))
            if data["format"] != FORMAT:
                return cls()
            places = {str(key): Place(int(one[0]), int(one[1])) for key, one in data["places"].items()}
            return cls(str(data["theme"]), str(data["view"]), str(data["pane"]), places)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return cls()

    def save(self, path: Path | None = None) -> None:
        """Write the file, whole or not at all. Where that is not possible, nothing is remembered, and nothing is said:
        the user has asked for something else."""
        from lessons.learner.progress import write_atomically

        places = {key: [one.pass_index, one.position] for key, one in list(self.places.items())[-MOST_PLACES:]}
        data: dict[str, Any] = {
            "format": FORMAT, "theme": self.theme, "view": self.view, "pane": self.pane, "places": places
        }  # fmt: skip
        with contextlib.suppress(OSError):
            write_atomically(path or _file(), (json.dumps(data, indent=2) + "\n").encode())

    def at(self, key: str, place: Place) -> dict[str, Place]:
        """The places with one more, which is the newest."""
        return {**{known: one for known, one in self.places.items() if known != key}, key: place}


def key_of(recording: Recording) -> str:
    """What a recording is known by: its title, its programs' texts and how long it is. A changed program is another."""
    steps = [len(one.steps) for one in recording.passes]
    text = json.dumps([recording.title, sorted(recording.sources.items()), len(recording.nodes), steps])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _file() -> Path:
    return folder() / "stepper.json"
