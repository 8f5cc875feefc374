"""Runs a solved exercise once more, with PyTorch in the engine's place: what holds here should hold there.

Only where PyTorch is installed, and only after the verdict, which does not depend on it.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable
from functools import cache
from pathlib import Path

from lessons.checking.checking_process import CheckingProcess
from lessons.checking.observe import Outcome, observe
from lessons.checking.plain_data import difference
from lessons.checking.verdict_report import Said, raised_line, short
from lessons.model.lesson import Exercise

SECONDS = 60.0  # PyTorch may compile or import something when it is first used


@cache
def torch_name() -> str | None:
    """`PyTorch 2.13`; None if it is not installed. Does not import it."""
    if importlib.util.find_spec("torch") is None:
        return None
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:  # a folder that happens to have this name
        return None
    return f"PyTorch {'.'.join(version.split('.')[:2])}"


def can_run_in_pytorch(exercise: Exercise) -> bool:
    """Whether PyTorch is there, and the checks use the engine, be it to compare a learner's own engine with it."""
    return torch_name() is not None and "import microtape" in exercise.check.read_text(encoding="utf-8")


def run_in_pytorch(
    exercise: Exercise, file: Path, started: Callable[[CheckingProcess], None] = lambda process: None
) -> Said | None:
    """A line about a file that has passed: that it also passes in PyTorch, or what differs there.

    None if there is nothing to say: PyTorch cannot run the solution itself, or the process was killed. Takes seconds,
    most of them to import PyTorch; `started` gets the process, whose `kill` ends that.
    """
    process = CheckingProcess("torch")
    started(process)
    solution, own = observe(exercise, [exercise.solution, file], seconds=SECONDS, process=process)
    titles = {check.name: check.title for check in exercise.checks}
    if (
        process.was_killed
        or solution.outcomes.keys() != titles.keys()
        or any(one.raised for one in solution.outcomes.values())
    ):
        return None
    if own.broken is not None:
        return Said(f"In {torch_name()}, your file cannot be run: {raised_line(own.broken)}", "strong")
    for name, expected in solution.outcomes.items():
        if differs := _difference(own.outcomes.get(name), expected):
            return Said(f"In {torch_name()}, this differs: {titles[name]}: {differs}", "strong")
    return Said(f"Also passes in {torch_name()}.", "good")


def _difference(did: Outcome | None, expected: Outcome) -> str:
    """What a file does otherwise than the solution, both in PyTorch; empty if it does the same."""
    if did is None:
        return "your code did not finish there"
    if did.raised is not None:
        return raised_line(did.raised)
    found = difference(did.value, expected.value)
    if found is None:
        return ""
    where = f"{found.path}: " if found.path else ""
    return f"{where}your code gave {short(found.did)}, expected {short(found.expected)}"
