"""`microtape learn book DIR`: every lesson as a notebook that has been executed, and its program as a film."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import viz
from lessons import Course, Lesson, LessonError
from lessons.model.notebook import notebook
from lessons.proving.evidence import Evidence
from microtape.recording.model.model import Recording
from tui.shell.exits import CommandError, Exit, say
from tui.shell.progress import ProgressBar


def book(course: Course, folder: str, name: str) -> int:
    """Write the files of one lesson, or of all.

    Raises:
        CommandError: there is no folder in the command line, or a film cannot be drawn.
        LessonError, OSError: a lesson's program cannot be recorded, or a file cannot be written.
    """
    if not folder:
        raise CommandError("microtape learn book needs a folder for the files")
    path = Path(folder).expanduser()
    path.mkdir(parents=True, exist_ok=True)
    chosen = [course.find(name)] if name else list(course)
    with ProgressBar() as bar:
        for number, lesson in enumerate(chosen):
            bar.show(number / len(chosen), lesson.title)
            _write(Evidence(lesson, course), path)
    say(f"{path}: {len(chosen)} notebook{'s' * (len(chosen) != 1)}, each with a film")
    return Exit.OK


def _write(evidence: Evidence, folder: Path) -> None:
    lesson = evidence.lesson
    made = film_of(lesson, evidence.recording)
    written = made.save(folder / f"{lesson.folder.name}.html")
    cells = notebook(lesson, evidence.printed, written.name)
    text = json.dumps(cells, indent=1, ensure_ascii=False) + "\n"
    (folder / f"{lesson.folder.name}.ipynb").write_text(text, encoding="utf-8")


def film_of(lesson: Lesson, recording: Recording) -> viz.Film:
    """The film of a lesson's program, of which there is a recording.

    Raises:
        LessonError: the program has no backward pass.
        CommandError: it cannot be drawn.
    """
    if not recording.passes:
        raise LessonError(f"{lesson.program}: it never calls backward, so there is nothing to play")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return viz.film(recording, pass_index=list(range(len(recording.passes))))
        except viz.DrawError as error:
            raise CommandError(str(error), Exit.CANNOT_DRAW) from None
