"""A learner's progress, in one readable file that is always replaced as a whole, under a lock."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from lessons.learner.locking import locked, refuse_what_is_no_file
from lessons.learner.reviews import Review, now, review_in

FORMAT = 1


class ProgressError(OSError):
    """The progress file cannot be read or written."""


@dataclass(frozen=True)
class Record:
    """One lesson's progress."""

    solved: str | None = None  # when it was first solved, in ISO 8601
    attempts: int = 0
    hints: int = 0  # shown so far
    solution_seen: bool = False
    pieces: int = 0  # of the solution, shown one by one
    fault_found: str | None = None  # when the fault of the wrong engine was found
    reviews: dict[str, Review] = field(default_factory=dict)  # of the tasks on its idea, by their names


BLANK = asdict(Record())


class Progress:
    """The progress file. It is read again for every query and every change, so that several sessions agree.

    Queries never fail. Methods that change the file raise ProgressError if it cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trouble: str | None = None  # a line about a file that had to be set aside

    def of(self, lesson: str) -> Record:
        """A lesson's record; an empty one if there is none or the file cannot be read."""
        return _record(self._known().get(lesson))

    def solved(self) -> set[str]:
        """The names of the lessons that are solved."""
        return {name for name, entry in self._known().items() if _record(entry).solved}

    def attempted(self, lesson: str, *, passed: bool) -> None:
        """Count a check of the exercise."""
        solved = _now() if passed else None
        self._change(
            lesson,
            lambda record: replace(record, attempts=record.attempts + 1, solved=record.solved or solved),
        )

    def hinted(self, lesson: str, count: int) -> None:
        """Note that this many hints have been shown."""
        self._change(lesson, lambda record: replace(record, hints=max(record.hints, count)))

    def saw_solution(self, lesson: str) -> None:
        """Note that the solution was shown."""
        self._change(lesson, lambda record: replace(record, solution_seen=True))

    def saw_pieces(self, lesson: str, count: int) -> None:
        """Note that this many pieces of the solution have been shown."""
        self._change(lesson, lambda record: replace(record, pieces=max(record.pieces, count)))

    def found_fault(self, lesson: str) -> None:
        """Note that the fault of the lesson's wrong engine was found."""
        self._change(lesson, lambda record: replace(record, fault_found=record.fault_found or _now()))

    def missed(self, lesson: str, tasks: Iterable[str]) -> None:
        """Note that a question was missed: these tasks come back."""
        self._review(lesson, tasks, lambda review: review.missed(now()))

    def reviewed(self, lesson: str, task: str, *, right: bool) -> None:
        """Note the answer to a task."""
        self._review(lesson, (task,), lambda review: review.answered(right, now()))

    def _review(self, lesson: str, tasks: Iterable[str], change: Callable[[Review], Review]) -> None:
        def changed(record: Record) -> Record:
            known = record.reviews
            return replace(record, reviews=known | {task: change(known.get(task, Review())) for task in tasks})

        self._change(lesson, changed)

    def forget(self, lesson: str) -> None:
        """Clear the lesson's record, but for what comes back in a review."""
        self._change(lesson, lambda record: Record(reviews=record.reviews))

    def _known(self) -> dict[str, Any]:
        """The lessons in the file; none if it cannot be read, with the reason in `trouble`."""
        try:
            data = self._read()
            if data is None:
                with self._locked():
                    data = self._read() or self._set_aside()
        except ProgressError as error:
            self.trouble = str(error)
            return {}
        lessons: dict[str, Any] = data["lessons"]
        return lessons

    def _change(self, lesson: str, change: Callable[[Record], Record]) -> None:
        with self._locked():
            self._change_locked(lesson, change)

    def _change_locked(self, lesson: str, change: Callable[[Record], Record]) -> None:
        data = self._read() or self._set_aside()
        entry = data["lessons"].get(lesson)
        others = {key: value for key, value in entry.items() if key not in BLANK} if isinstance(entry, dict) else {}
        changed = asdict(change(_record(entry)))
        data["lessons"][lesson] = others | {key: value for key, value in changed.items() if value != BLANK[key]}
        write_atomically(self.path, (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode())

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """No other session changes the file inside the `with` block."""
        try:
            lock = contextlib.ExitStack()
            lock.enter_context(locked(self.path))
        except OSError as error:
            raise ProgressError(f"{self.path}: cannot be written: {error.strerror or error}") from None
        with lock:
            yield

    def _read(self) -> dict[str, Any] | None:
        """The file's data; None if its format is unknown."""
        try:
            refuse_what_is_no_file(self.path)
            data = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {"format": FORMAT, "lessons": {}}
        except (ValueError, RecursionError):
            data = None
        except OSError as error:
            raise ProgressError(f"{self.path}: cannot be read: {error.strerror}") from None
        if isinstance(data, dict) and isinstance(data.get("lessons"), dict) and data.get("format") == FORMAT:
            return data
        return None

    def _set_aside(self) -> dict[str, Any]:
        """Keep a file in an unknown format under another name, and begin anew. Another session must not, meanwhile."""
        number = 1
        while (aside := self.path.with_name(f"progress.unreadable-{number}.json")).exists():
            number += 1
        try:
            self.path.replace(aside)
        except OSError as error:
            raise ProgressError(f"{self.path}: can neither be read nor set aside: {error.strerror}") from None
        self.trouble = f"{self.path.name} could not be read; it is kept as {aside}, and a new file begins"
        return {"format": FORMAT, "lessons": {}}


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that at every moment either the old or the new one exists. Creates its folder.

    Raises:
        ProgressError: it cannot be written; the old file is unchanged.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise ProgressError(f"{path}: cannot be written: {error.strerror or error}") from None


def _now() -> str:
    return now().isoformat(timespec="seconds")


def _record(entry: Any) -> Record:
    """The record in a lesson's entry, whatever the entry holds."""
    if not isinstance(entry, dict):
        return Record()
    counts = {name: entry.get(name) for name in ("attempts", "hints", "pieces")}
    reviews = entry.get("reviews")
    return Record(
        solved=_text(entry.get("solved")),
        solution_seen=entry.get("solution_seen") is True,
        fault_found=_text(entry.get("fault_found")),
        reviews={task: review_in(one) for task, one in reviews.items()} if isinstance(reviews, dict) else {},
        **{name: count if type(count) is int else 0 for name, count in counts.items()},
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
