"""Runs files in a child process, applies the checks to them, and returns what they did as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lessons.checking.checking_process import CheckingProcess, End
from lessons.checking.plain_data import Plain
from lessons.model.lesson import Exercise

SECONDS = 10.0  # for a file and all its checks
MEMORY = 1 << 30  # bytes of address space, if the system can limit it
TORCH_MEMORY = 16 << 30  # PyTorch's libraries alone take several gigabytes of addresses


class Raised(NamedTuple):
    """An exception, and the last line of the learner's file that it passed through, if any."""

    type: str
    message: str
    line: int | None
    code: str
    in_backward: bool = False  # whether it passed through a backward pass of the engine

    @property
    def summary(self) -> str:
        """The first line of the message; further lines name files and lines."""
        return self.message.strip().partition("\n")[0]

    @property
    def is_unwritten(self) -> bool:
        """Whether it is the exception that an exercise raises where the learner has to write code."""
        return self.type == NotImplementedError.__name__


class Outcome(NamedTuple):
    """What a check observed: a value or an exception."""

    value: Plain
    raised: Raised | None

    @property
    def is_unwritten(self) -> bool:
        """Whether the check reached a part of the exercise that is not written yet."""
        return self.raised is not None and self.raised.is_unwritten


class Observation(NamedTuple):
    """What a file did."""

    outcomes: dict[str, Outcome]  # by the name of the check; without those that were not reached
    broken: Raised | None  # the exception when the file itself ran, before any check
    ended: End
    during: str | None  # the check in which it ended; None: the file itself
    status: int | None  # of its process, if that ended by itself
    output: str  # the beginning of what it printed


def observe(
    exercise: Exercise,
    files: Sequence[Path],
    *,
    seconds: float = SECONDS,
    seeds: Sequence[int] = (),
    names: Sequence[str] | None = None,
    right: Mapping[str, Plain] | None = None,
    process: CheckingProcess | None = None,
    last: bool = True,
) -> list[Observation]:
    """Check files one after another in one process. Check an untrusted file alone, in a separate call.

    Args:
        exercise: the exercise with the checks.
        files: the files to check.
        seconds: the time limit for each file. After it, the process and everything it has started are killed.
        seeds: for each seed, `at_random` of `check.py` is called as well, with a random generator; its outcomes are
            named `at_random 0` and so on.
        names: the checks to make; without it, all of them.
        right: what is right in some of these checks. A file is left at the first of them in which it is not.
        process: a process that has been started before; without it, one is started.
        last: whether this is the last job of the process, which then ends.

    Returns:
        One observation for each file. If the process ends early, the observations of the remaining files are empty.
    """
    process = process if process is not None else CheckingProcess()
    job = {
        "check": str(exercise.check.resolve()),
        "names": [check.name for check in exercise.checks] if names is None else list(names),
        "files": [[str(file.resolve()), _pieced(exercise, file)] for file in files],
        "memory": TORCH_MEMORY if process.engine == "torch" else MEMORY,
        "seeds": list(seeds),
        "right": dict(right or {}),
    }
    report = process.run(job, seconds, last=last)
    events: list[list[dict[str, Any]]] = []
    for event in report.events:
        if event["event"] == "file":
            events.append([])
        elif events:
            events[-1].append(event)
    observations = []
    for number in range(len(files)):
        last = number >= len(events) - 1
        own = events[number] if number < len(events) else []
        observations.append(_observation(own, report.ended if last else "finished", report.status, report.output))
    return observations


def _pieced(exercise: Exercise, file: Path) -> str | None:
    """The whole text of an answer of the course that is written in pieces; None for a file as it stands."""
    answers = {*(one.path for one in exercise.right_answers), *(one.path for one in exercise.wrong_answers)}
    return exercise.text(file) if exercise.continues is not None and file in answers else None


def _observation(events: list[dict[str, Any]], ended: End, status: int | None, output: str) -> Observation:
    outcomes: dict[str, Outcome] = {}
    broken: Raised | None = None
    during: str | None = None
    for event in events:
        if event["event"] == "begin":
            during = event["name"]
        elif event["event"] == "observed":
            outcomes[event["name"]] = Outcome(event["value"], None)
        elif event["event"] == "raised":
            raised = Raised(event["type"], event["message"], event["line"], event["code"], event["in_backward"])
            if during is None:
                broken = raised
            else:
                outcomes[during] = Outcome(None, raised)
    return Observation(outcomes, broken, ended, during, status if ended == "process" else None, output)
