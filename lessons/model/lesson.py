"""The data of a course, which `load` reads from a folder. Nothing here runs a learner's code."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from lessons.model.growing import with_pieces

AT_RANDOM = "at_random"
"""The function of `check.py` that is not a check: `at_random(exercise, random)` runs the module on random input."""
WITH_WRITER = "with_writer"
"""Another one: `with_writer(exercise, writer)` runs a program on the learner's own engine, which tells the writer."""


class Check(NamedTuple):
    """One test of a learner's file: a function of `check.py`. Its docstring is the title."""

    name: str
    title: str


class WrongAnswer(NamedTuple):
    """A common mistake: a whole file that makes it, and the diagnosis for a learner whose file behaves the same."""

    name: str
    path: Path
    diagnosis: str


class RightAnswer(NamedTuple):
    """Another way to write the solution, shown once the exercise is solved. The proofs require it to pass."""

    name: str
    path: Path
    note: str  # what is different about it


class Prediction(NamedTuple):
    """A question that is asked before a step of the lesson's program is shown.

    The question comes after `after` steps of a pass. The right answer is read from the recording; `answer` says what
    to read: see `lessons.model.predictions`.
    """

    pass_number: int  # which of the recorded passes, from 1
    after: int
    ask: str
    answer: str
    because: str
    hint: str = ""  # after a wrong guess; it does not tell the answer
    wrong: tuple[tuple[str, str], ...] = ()  # plausible wrong answers, each with a hint of its own


class Variation(NamedTuple):
    """A small task on the idea of a lesson: a function of `variations.py` that makes a program and a question."""

    name: str
    path: Path


class WrongEngine(NamedTuple):
    """A program that is run on an engine with a fault, so that the learner finds the first step that goes wrong."""

    fault: str  # a name in `lessons.model.fault_names.FAULTS`
    program: Path
    passes: str | None
    because: str  # what the fault teaches


@dataclass(frozen=True)
class Exercise:
    """A file to complete, and everything needed to check it.

    The exercise of a lesson that continues an earlier one is that lesson's solution with something new in it; its right
    and wrong answers hold only what differs from its own solution.
    """

    path: Path  # as shipped
    solution: Path
    check: Path
    checks: tuple[Check, ...]
    has_random_inputs: bool  # whether `check.py` has an `at_random`
    has_writer: bool  # whether it has a `with_writer`: the exercise is an engine that writes recordings
    right_answers: tuple[RightAnswer, ...]
    wrong_answers: tuple[WrongAnswer, ...]
    hints: tuple[str, ...]
    continues: Exercise | None = None

    def text(self, path: Path) -> str:
        """The whole text of the exercise, the solution or one of the answers."""
        text = path.read_text(encoding="utf-8")
        is_whole = self.continues is None or path.parent == self.path.parent
        return text if is_whole else with_pieces(self.solution.read_text(encoding="utf-8"), text)


@dataclass(frozen=True)
class Lesson:
    """Text to read, a program to step through, an exercise."""

    number: int  # its position in the course, from 1
    name: str  # `tape_of_numbers`: the key of its progress, which survives renumbering
    title: str
    summary: str
    folder: Path
    prose: str  # Markdown
    program: Path
    passes: str | None  # which passes of the program are recorded, as for `record_script`
    predictions: tuple[Prediction, ...]
    needs: tuple[str, ...]  # the names of the earlier lessons that it builds on
    introduces: tuple[str, ...]  # words that no earlier lesson uses
    explains: tuple[str, ...]  # pieces of the error messages that it explains
    pytorch: tuple[tuple[str, str], ...]  # PyTorch's names for it, each with the title of a page about it
    wrong_engine: WrongEngine | None
    exercise: Exercise
    variations: tuple[Variation, ...] = ()
    continues: Lesson | None = None  # the lesson whose file the learner goes on with


@dataclass(frozen=True)
class Course:
    """The lessons in order."""

    lessons: tuple[Lesson, ...]

    def __iter__(self) -> Iterator[Lesson]:
        return iter(self.lessons)

    def __len__(self) -> int:
        return len(self.lessons)

    def named(self, name: str) -> Lesson:
        """The lesson of exactly that name. Raises KeyError if there is none."""
        return {lesson.name: lesson for lesson in self.lessons}[name]

    def find(self, wanted: str) -> Lesson:
        """The lesson with this number or name; part of a name is enough if only one name contains it.

        Raises:
            LookupError: there is none, or more than one; the message is for the user.
        """
        key = wanted.strip().lower().replace(" ", "_").replace("-", "_")
        if key.isdecimal():
            found = [one for one in self.lessons if one.number == int(key)]
        else:
            found = [one for one in self.lessons if one.name == key]
            found = found or [one for one in self.lessons if key and key in one.name]
        if len(found) == 1:
            return found[0]
        if not found:
            close = get_close_matches(key, self.words, 1)
            meant = f"did you mean {self.words[close[0]]}? " if close else ""
            raise LookupError(f"there is no lesson {wanted!r}: {meant}`microtape learn list` shows them all")
        raise LookupError(f"{wanted!r} could be {', '.join(one.name for one in found)}: write a little more")

    @property
    def words(self) -> dict[str, str]:
        """The names of the lessons and the words in them, each with the lesson's name."""
        return {word: one.name for one in self.lessons for word in (*one.name.split("_"), one.name)}

    def after_solved(self, solved: Set[str]) -> Lesson:
        """The first lesson whose name is not among the solved ones; the last if all are solved."""
        return next((lesson for lesson in self.lessons if lesson.name not in solved), self.lessons[-1])

    def after(self, lesson: Lesson) -> Lesson | None:
        """The lesson that follows, None after the last."""
        index = self.lessons.index(lesson) + 1
        return self.lessons[index] if index < len(self.lessons) else None
