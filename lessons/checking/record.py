"""Records a lesson's program, on the real engine or a wrong one, a task's program, and a learner's file in a check.

Each recording is made in a child process, without output and with a time limit.
"""

from __future__ import annotations

import os
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

from lessons.model.header import LessonError
from lessons.model.lesson import Check, Exercise
from lessons.model.variations import Task
from microtape.errors import RecordingError
from microtape.recording.file.tape_file import load
from microtape.recording.model.model import Recording
from microtape.recording.script.run import record_script
from microtape.recording.script.running import RunningScript

SECONDS = 30.0
_RECORDED_CHECK = Path(__file__).resolve().parent / "recorded_check.py"
_GUARD = "lessons.checking.no_subprocesses:no_subprocesses:an exercise"


def record_program(program: Path, passes: str | None = None, *, fault: str | None = None) -> Recording:
    """The recording of a program; with `fault`, on the wrong engine of that name. Takes about half a second.

    Raises:
        LessonError: the program cannot be recorded.
    """
    within = f"lessons.checking.wrong_engines:injected:{fault}" if fault is not None else None
    recording = _record(program, [], passes, within)
    if isinstance(recording, str):
        raise LessonError(f"{program} cannot be recorded: {recording}")
    return recording


def record_task(task: Task) -> Recording:
    """The recording of a task's program. Raises LessonError if it cannot be recorded."""
    with tempfile.TemporaryDirectory(prefix="microtape-") as folder:
        program = Path(folder) / f"{task.name}.py"
        program.write_text(task.program, encoding="utf-8")
        return record_program(program, task.passes)


def record_check(exercise: Exercise, check: Check, file: Path) -> Recording | None:
    """The recording of a file in one check; None if backward is never called."""
    args = [str(file.resolve()), str(exercise.check.resolve()), check.name]
    recording = _record(_RECORDED_CHECK, args, "all", _GUARD)
    return None if isinstance(recording, str) else replace(recording, title=file.name)


def record_own_engine(exercise: Exercise, file: Path) -> Recording | None:
    """What the learner's own engine writes of the program in `with_writer`; None if it does not get that far."""
    with tempfile.TemporaryDirectory(prefix="microtape-") as folder:
        out = Path(folder) / "own.tape"
        _record(_RECORDED_CHECK, [str(file.resolve()), str(exercise.check.resolve()), str(out)], "1", _GUARD)
        try:
            return replace(load(out), title=file.name)
        except RecordingError:
            return None


def _record(script: Path, args: list[str], passes: str | None, within: str | None) -> Recording | str:
    """The recording, or the reason why there is none."""
    timers: list[threading.Timer] = []

    def started(script: RunningScript) -> None:
        timers.append(threading.Timer(SECONDS, script.kill))
        timers[0].start()

    with tempfile.TemporaryDirectory(prefix="microtape-") as folder, open(os.devnull, "wb") as nowhere:
        out = Path(folder) / "run.tape"
        try:
            ended = record_script(
                script, args, out=out, passes=passes, output=nowhere, started=started, within=within
            )  # fmt: skip
            return load(out) if ended.recording is not None else ended.message or "there is nothing to record"
        except RecordingError as error:
            return str(error)
        finally:
            for timer in timers:
                timer.cancel()
