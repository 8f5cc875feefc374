"""Everything that writes a file: a function that writes one version after the other, and one that tells which is there.

A version is a number. What is written is made before, so that most of the time passes in the writing itself.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import microtape as mt
import viz
from lessons import Workspace
from lessons.learner.progress import Progress
from microtape.recording.file.journal import JournalWriter, journal_of
from microtape.recording.file.tape_file import load, save, to_bytes
from microtape.recording.model.model import Recording
from tests.support.course import COURSE
from tests.support.recordings import handmade
from tui.shell.remembered import Remembered, SavedMoment
from tui.time.cursor import StepCursor
from tui.words.exporting import KINDS, Export

VERSIONS = 4  # of a file whose content is one of a few
_EXPORTED = (".json", ".txt", ".tape")  # pictures and films, in other formats, are written in the same way


class BrokenError(Exception):
    """A file holds neither what was there before nor what was being written."""


@dataclass(frozen=True)
class Writer:
    """`write(folder, number)` writes a version of the file, and `read(folder)` returns the number of the one there."""

    name: str
    write: Callable[[Path, int], object]
    read: Callable[[Path], int]
    cycle: int = 1 << 60  # numbers that differ by this are one version
    unfinished: tuple[str, ...] = field(default=())  # the names that a kill may leave behind


def writers() -> list[Writer]:
    """All of them."""
    return [
        _recording(),
        _journal(),
        _passes(),
        *(_picture(suffix) for suffix in (".svg", ".png", ".dot", ".txt")),
        *(_film(suffix) for suffix in (".html", ".gif")),
        *(_export(kind.name, suffix) for kind in KINDS for suffix in kind.suffixes if suffix in _EXPORTED),
        _progress(),
        _remembered(),
        _exercise(),
    ]  # fmt: skip


def _numbered(number: int) -> Recording:
    """A recording that names its version."""
    return replace(handmade.chain(40, 5), title=str(number))


def _recording() -> Writer:
    """`recording.save`, on a file that is there."""
    every = [_numbered(number) for number in range(VERSIONS)]
    return Writer(
        "recording",
        lambda folder, number: save(every[number % VERSIONS], folder / "run.tape"),
        lambda folder: int(load(folder / "run.tape").title),
        VERSIONS,
        (".tape-*",),
    )


def _journal() -> Writer:
    """A journal that begins again with each version, as a search does."""
    every = [to_bytes(_numbered(number)) for number in range(VERSIONS)]

    def write(folder: Path, number: int) -> None:
        JournalWriter(journal_of(str(folder / "run.tape"))).replace(every[number % VERSIONS])

    return Writer("journal", write, lambda folder: int(load(folder / "run.tape.journal").title), VERSIONS, (".tape-*",))


def _passes() -> Writer:
    """`record(save=...)` around passes: a version has one more pass, and five make a recording."""
    most = 5
    w = mt.tensor([1.0, 2.0], requires_grad=True)

    def write(folder: Path, number: int) -> None:
        with contextlib.redirect_stderr(io.StringIO()), mt.record(save=str(folder / "run.tape")):
            for _ in range(number % most + 1):
                (w * w).sum().backward()

    def read(folder: Path) -> int:
        return len(load(folder / "run.tape").passes) - 1

    return Writer("passes", write, read, most, (".tape-*",))


def _picture(suffix: str) -> Writer:
    drawings = [viz.draw(_numbered(number)) for number in range(VERSIONS)]
    kept = [drawing.save for drawing in drawings]
    return _of_known(f"picture {suffix}", f"graph{suffix}", kept)


def _film(suffix: str) -> Writer:
    films = [viz.film(replace(handmade.diamond(), title=str(number))) for number in range(VERSIONS)]
    return _of_known(f"film {suffix}", f"run{suffix}", [film.save for film in films])


def _export(name: str, suffix: str) -> Writer:
    """An export of the stepper."""
    kind = next(one for one in KINDS if one.name == name)
    every = [
        Export(StepCursor.open(_numbered(number)).move(number + 1), f"<svg>{number}</svg>")
        for number in range(VERSIONS)
    ]
    writes: list[Callable[[Path], object]] = [lambda path, one=one: one.write(kind, path) for one in every]  # type: ignore[misc]
    return _of_known(f"export of the {name} {suffix}", f"out{suffix}", writes, (".unfinished-*", ".tape-*"))


def _of_known(
    name: str,
    file: str,
    writes: list[Callable[[Path], object]],
    unfinished: tuple[str, ...] = (".tape-*", ".unfinished-*"),
) -> Writer:
    """A file whose possible contents are known beforehand."""
    contents: dict[bytes, int] = {}

    def write(folder: Path, number: int) -> None:
        writes[number % VERSIONS](folder / file)

    def read(folder: Path) -> int:
        if not contents:
            known = folder / "known"
            known.mkdir()
            for number in range(VERSIONS):
                write(known, number)
                contents[(known / file).read_bytes()] = number
            assert len(contents) == VERSIONS, f"{name}: versions that do not differ"
        data = (folder / file).read_bytes()
        if data not in contents:
            raise BrokenError(f"{len(data)} bytes that are no version")
        return contents[data]

    return Writer(name, write, read, VERSIONS, unfinished)


def _progress() -> Writer:
    """The learner's progress: each version has one attempt more."""

    def file(folder: Path) -> Progress:
        return Progress(folder / "progress.json")

    def read(folder: Path) -> int:
        data = json.loads((folder / "progress.json").read_text(encoding="utf-8"))
        assert not list(folder.glob("progress.unreadable*")), "set aside as unreadable"
        attempts: int = data["lessons"]["gates"]["attempts"]
        return attempts - 1

    return Writer(
        "progress", lambda folder, number: file(folder).attempted("gates", passed=False), read,
        unfinished=(".progress.json.*",),
    )  # fmt: skip


def _remembered() -> Writer:
    """What the stepper remembers."""

    def write(folder: Path, number: int) -> None:
        Remembered(places={f"key {i}": SavedMoment(0, number) for i in range(100)}).save(folder / "stepper.json")

    def read(folder: Path) -> int:
        places = Remembered.load(folder / "stepper.json").places
        if len(places) != 100 or len(set(places.values())) != 1:
            raise BrokenError(f"{len(places)} places")
        return next(iter(places.values())).position

    return Writer("remembered state", write, read, unfinished=(".unfinished-*",))


def _exercise() -> Writer:
    """The file of an exercise, which the editor saves as one types."""
    lesson = next(iter(COURSE))

    def write(folder: Path, number: int) -> None:
        workspace = Workspace(folder)
        workspace.write(lesson, f"typed = {number}\n" * 200, workspace.read(lesson))

    def read(folder: Path) -> int:
        lines = set((folder / "exercises" / f"{lesson.name}.py").read_text(encoding="utf-8").splitlines())
        if len(lines) != 1:
            raise BrokenError(f"{len(lines)} kinds of lines")
        return int(lines.pop().removeprefix("typed = "))

    return Writer("typed text", write, read, unfinished=("exercises/.*.py.*",))
