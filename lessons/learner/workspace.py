"""The learner's files: one for each exercise, made when it is first needed and never overwritten without asking.

exercises/NAME.py   the file of a lesson
passed/NAME.py      that file as it last passed
begun/NAME.py       that file as the learner began with it, if it continues one of an earlier lesson
"""

from __future__ import annotations

import hashlib
import os
from datetime import datetime
from pathlib import Path

from platformdirs import user_data_path

from lessons.learner.locking import refuse_what_is_no_file
from lessons.learner.progress import Progress, write_atomically
from lessons.model.growing import grown, pieces
from lessons.model.lesson import Lesson

FOLDER_VARIABLE = "MICROTAPE_DATA"


def data_folder() -> Path:
    """The folder of a user's microtape data: `$MICROTAPE_DATA`, or the platform's folder for such data."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen).expanduser() if chosen else user_data_path("microtape", appauthor=False)


def folder_of(course: Path) -> Path:
    """The folder of a learner's files for another course, so that lessons of the same name do not collide."""
    place = str(course.resolve())
    return data_folder() / "courses" / f"{course.resolve().name}-{hashlib.sha256(place.encode()).hexdigest()[:8]}"


class Workspace:
    """A folder with the learner's exercises and progress."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder if folder is not None else data_folder()
        self.progress = Progress(self.folder / "progress.json")

    def exercise(self, lesson: Lesson) -> Path:
        """The learner's file of a lesson. If there is none, or nothing is written in it yet, it is made: see `start`.

        Raises OSError if it cannot be written, or is a pipe or a device.
        """
        path = self.folder / "exercises" / f"{lesson.name}.py"
        refuse_what_is_no_file(path)
        if not path.exists():
            self._begin(lesson, path)
        elif lesson.continues is not None and self._is_untouched(lesson, path):
            self._begin(lesson, path)  # the lesson before may have been solved since
        return path

    def _is_untouched(self, lesson: Lesson, path: Path) -> bool:
        """Whether a file is as the learner began with it, and would begin with another one now."""
        text = path.read_bytes()
        begun = (self._bytes("begun", lesson), lesson.exercise.path.read_bytes())
        return text in begun and text != self._start(lesson)

    def _begin(self, lesson: Lesson, path: Path) -> None:
        write_atomically(path, self._start(lesson))
        if lesson.continues is not None:
            write_atomically(self.folder / "begun" / f"{lesson.name}.py", self._start(lesson))

    def _start(self, lesson: Lesson) -> bytes:
        return self.start(lesson).encode()

    def _bytes(self, folder: str, lesson: Lesson) -> bytes | None:
        try:
            return (self.folder / folder / f"{lesson.name}.py").read_bytes()
        except OSError:
            return None

    def start(self, lesson: Lesson) -> str:
        """What the learner begins a lesson with: the exercise of the course.

        A lesson that continues another one begins with the learner's own file of that lesson as it last passed, if it
        did, and with what the exercise adds to it.
        """
        shipped = lesson.exercise.path.read_text(encoding="utf-8")
        before = lesson.continues
        if before is None or not (own := self.own_start(before)):
            return shipped
        return grown(own, before.exercise.solution.read_text(encoding="utf-8"), shipped)

    def own_start(self, lesson: Lesson) -> str:
        """The learner's file of a lesson as it last passed; an empty text if it never did, or cannot be read."""
        try:
            text = (self._bytes("passed", lesson) or b"").decode()
            pieces(text)
        except (SyntaxError, ValueError):
            return ""
        return text

    def attempted(self, lesson: Lesson, *, passed: bool) -> None:
        """Count a check of the learner's file. One that passes is kept: the lesson that continues it begins with it.

        Raises OSError if that cannot be written.
        """
        self.progress.attempted(lesson.name, passed=passed)
        if passed:
            write_atomically(self.folder / "passed" / f"{lesson.name}.py", self.exercise(lesson).read_bytes())

    def read(self, lesson: Lesson) -> str:
        """The learner's file as text. Bytes that are not UTF-8 are replaced."""
        return self.exercise(lesson).read_bytes().decode("utf-8", "replace")

    def write(self, lesson: Lesson, text: str, known: str) -> Path | None:
        """Save the learner's text. `known` is what the file held when it was last read.

        If another program has changed the file since then, that version is kept beside it.

        Returns:
            The path of the other version, None if there was none.
        """
        path = self.exercise(lesson)
        there = self.read(lesson)
        lossy = there.encode() != path.read_bytes()  # it was not UTF-8
        kept = self._set_aside(path) if there != text and (there != known or lossy) else None
        if there != text:
            write_atomically(path, text.encode())
        return kept

    def reset(self, lesson: Lesson) -> Path | None:
        """Restore the exercise as shipped and forget its progress. The caller has asked for confirmation.

        Returns:
            The path of the learner's old file, None if it was as shipped.
        """
        path = self.exercise(lesson)
        kept = self._set_aside(path) if path.read_bytes() != self._start(lesson) else None
        self._begin(lesson, path)
        self.progress.forget(lesson.name)
        return kept

    def _set_aside(self, path: Path) -> Path:
        """Keep a copy under another name; the file itself stays until it is replaced as a whole."""
        now = datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
        kept = path.with_name(f"{path.stem}.{now}.py")
        number = 1
        while kept.exists():
            number += 1
            kept = path.with_name(f"{path.stem}.{now}_{number}.py")
        write_atomically(kept, path.read_bytes())
        return kept
