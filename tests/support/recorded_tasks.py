"""Recordings of tasks, each made once: the proof of variations is tested on many courses with the same programs."""

from __future__ import annotations

from lessons.checking.record import record_task
from lessons.model.variations import Task
from microtape.recording.model.model import Recording

_known: dict[tuple[str, str | None], Recording] = {}


def record_task_once(task: Task) -> Recording:
    """In place of `record_task`: the recording of the task's program, which another test may have made."""
    program = task.program, task.passes
    if program not in _known:
        _known[program] = record_task(task)
    return _known[program]
