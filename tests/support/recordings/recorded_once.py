"""Recordings of programs and tasks of lessons, each made once, in a process of its own: many tests need the same."""

from __future__ import annotations

from functools import cache

from lessons.checking.record import record_program, record_task
from lessons.model.variations import Task
from microtape.recording.model.model import Recording

record_program_once = cache(record_program)
"""In place of `record_program`, for programs that do not change: the recording that another test may have made."""
_known: dict[tuple[str, str | None], Recording] = {}


def record_task_once(task: Task) -> Recording:
    """In place of `record_task`: the recording of the task's program, which another test may have made."""
    program = task.program, task.passes
    if program not in _known:
        _known[program] = record_task(task)
    return _known[program]
