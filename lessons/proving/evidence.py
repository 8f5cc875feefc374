"""The facts about a lesson that its proofs need; each is computed once, when it is first used."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from lessons.checking.observe import Observation, observe
from lessons.checking.plain_data import Plain, difference
from lessons.checking.record import record_program
from lessons.checking.verdict import does_the_same
from lessons.model.header import LessonError
from lessons.model.lesson import Course, Lesson
from lessons.proving.mutants import Mutant, mutants
from microtape.recording.model.model import Recording

FENCED_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SEEDS = range(40)  # of the random inputs on which a mutant is compared with the solution
FILE_SECONDS = 60.0  # every file of a lesson ends; a busy machine may take its time
MUTANT_SECONDS = 3.0  # some never end
PROSE_SECONDS = 60.0
_START = "import sys; sys.path.insert(0, sys.argv[1]); from lessons.proving.prose_child import main; main()"


class FencedBlock(NamedTuple):
    """A fenced code block of a lesson's Markdown, between two lines of ```."""

    kind: str  # "python", "output" or "text"
    text: str


class Evidence:
    """The facts about one lesson."""

    def __init__(self, lesson: Lesson, course: Course) -> None:
        self.lesson = lesson
        self.course = course

    @cached_property
    def recording(self) -> Recording:
        """The recording of the lesson's program. Raises LessonError if it cannot be recorded."""
        return record_program(self.lesson.program, self.lesson.passes)

    @cached_property
    def blocks(self) -> list[FencedBlock]:
        """The fenced blocks of the text."""
        return [FencedBlock(*found) for found in FENCED_BLOCK.findall(self.lesson.prose)]

    @cached_property
    def printed(self) -> list[str]:
        """What each Python block of the text prints. The blocks run in order in one namespace."""
        return run_blocks([block.text for block in self.blocks if block.kind == "python"])

    @cached_property
    def observations(self) -> dict[Path, Observation]:
        """What each file of the exercise does."""
        exercise = self.lesson.exercise
        files = [exercise.path, exercise.solution]
        files += [right.path for right in exercise.right_answers]
        files += [wrong.path for wrong in exercise.wrong_answers]
        return dict(zip(files, _observe_all(self.lesson, files, FILE_SECONDS), strict=True))

    @property
    def solution(self) -> Observation:
        """What the solution does."""
        return self.observations[self.lesson.exercise.solution]

    @property
    def can_judge(self) -> bool:
        """Whether the solution finishes all checks, so that other files can be compared with it."""
        outcomes = self.solution.outcomes.values()
        return finished(self.solution) and all(outcome.raised is None for outcome in outcomes)

    def passes(self, one: Observation) -> bool:
        """Whether a file does what the solution does."""
        return finished(one) and all(
            outcome.raised is None and difference(outcome.value, self.solution.outcomes[name].value) is None
            for name, outcome in one.outcomes.items()
        )

    @cached_property
    def survivors(self) -> list[Mutant]:
        """The mutants of the solution that pass the checks but differ from the solution on random input.

        Mutants that also agree on random input count as right answers. Without an `at_random` in `check.py`, every
        passing mutant is a survivor.
        """
        exercise = self.lesson.exercise
        found = mutants(exercise.solution.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory(prefix="microtape-") as folder:
            files = [Path(folder) / f"mutant_{i}.py" for i in range(len(found))]
            for file, mutant in zip(files, found, strict=True):
                file.write_text(mutant.text, encoding="utf-8")
            right = {name: outcome.value for name, outcome in self.solution.outcomes.items()}
            observed = _observe_all(self.lesson, files, MUTANT_SECONDS, right=right)  # to the first check that it fails
            passing = [i for i, one in enumerate(observed) if self.passes(one)]
            if exercise.has_random_inputs and passing:
                compared = [exercise.solution, *(files[i] for i in passing)]
                solution, *others = _observe_all(self.lesson, compared, FILE_SECONDS, SEEDS)
                passing = [i for i, one in zip(passing, others, strict=True) if not does_the_same(one, solution)]
        return [found[i] for i in passing]


def finished(one: Observation) -> bool:
    """Whether a file reached the end of its checks."""
    return one.broken is None and one.ended == "finished"


def _observe_all(
    lesson: Lesson,
    files: Sequence[Path],
    seconds: float,
    seeds: Sequence[int] = (),
    right: Mapping[str, Plain] | None = None,
) -> list[Observation]:
    """What files do; see `observe`. A file that does not finish has no effect on the others."""
    done: list[Observation] = []
    while len(done) < len(files):
        observed = observe(lesson.exercise, files[len(done) :], seconds=seconds, seeds=seeds, right=right)
        ended = next((i for i, one in enumerate(observed) if one.ended != "finished"), len(observed))
        done += observed[: ended + 1]
    return done


def run_blocks(blocks: list[str]) -> list[str]:
    """What blocks of Python print when a child process runs them.

    Raises LessonError if they do not finish.
    """
    root = str(Path(__file__).resolve().parents[2])
    with tempfile.TemporaryDirectory(prefix="microtape-") as folder:
        try:
            ended = subprocess.run(
                [sys.executable, "-P", "-X", "utf8", "-c", _START, root],
                input=json.dumps(blocks), capture_output=True, text=True, encoding="utf-8", check=False,
                timeout=PROSE_SECONDS, cwd=folder,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise LessonError("the Python in the text does not finish") from None
    if ended.returncode:
        raise LessonError(f"the Python in the text ends its process with status {ended.returncode}")
    printed: list[str] = json.loads(ended.stdout)
    return printed
