"""What a user waits for, from a command to its answer: `trace`, `step`, `draw` and `learn check`.

Each command runs in fresh processes. *Computing alone* is the processor time of the command and of all its children.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter

from benchmarks.engines import Engine
from benchmarks.figures import Figure
from benchmarks.installed import ROOT, installed
from benchmarks.stepper import MICROTAPE, Paint, Terminal

EXAMPLE = ROOT / "microtape" / "examples" / "example.py"
LESSON = "tape_of_numbers"
COMMAND = [sys.executable, "-P", "-c", MICROTAPE]


def commands(engines: dict[str, Engine], quick: bool) -> Iterator[Figure]:
    """README's example, traced, stepped and drawn, and a right answer to the first exercise, checked."""
    rounds = 3 if quick else 9
    with tempfile.TemporaryDirectory() as folder:
        environment = {**installed(folder), "MICROTAPE_DATA": os.path.join(folder, "data")}
        _answer_rightly(environment)
        shutil.copy(EXAMPLE, folder)
        plain = _median([sys.executable, "example.py"], folder, environment, rounds)
        trace = _median([*COMMAND, "trace", "example.py"], folder, environment, rounds)
        draw = _median([*COMMAND, "draw", "example.py", "-o", "x.svg"], folder, environment, rounds)
        yield Figure("`python example.py`, computing alone", plain.computed, "s")
        yield Figure("`microtape trace example.py`, computing alone", trace.computed, "s", 0.5)
        yield Figure("`microtape trace example.py`", trace.took, "s")
        yield Figure("`microtape draw example.py -o x.svg`", draw.took, "s", 0.9)
        check = _median([*COMMAND, "learn", "check", LESSON], folder, environment, rounds)
        yield Figure("`microtape learn check`, right answer", check.took, "s", 1)
        paints = [_first_paint(folder, environment) for _ in range(rounds + 1)][1:]  # the first one compiles
        took = statistics.median(one.took for one in paints)
        yield Figure("`microtape step example.py`: from command to settled first paint", took, "s", 0.8)


def _median(command: Sequence[str], folder: str, environment: Mapping[str, str], rounds: int) -> Paint:
    """The medians of the time that a command takes, and of the time that it and its children compute."""
    runs = []
    for _ in range(rounds + 1):
        begin, before = perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, cwd=folder, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        computed = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        runs.append(Paint(perf_counter() - begin, computed))
    timed = runs[1:]  # the first one compiles
    return Paint(statistics.median(one.took for one in timed), statistics.median(one.computed for one in timed))


def _first_paint(folder: str, environment: Mapping[str, str]) -> Paint:
    terminal = Terminal([*COMMAND, "step", os.path.join(folder, EXAMPLE.name)], environment)
    try:
        return terminal.opened()
    finally:
        terminal.close()


def _answer_rightly(environment: Mapping[str, str]) -> None:
    """Put the solution of the exercise where the learner's file is."""
    from lessons import load_course

    answer = Path(environment["MICROTAPE_DATA"], "exercises", f"{LESSON}.py")
    answer.parent.mkdir(parents=True)
    shutil.copy(load_course().named(LESSON).exercise.solution, answer)
