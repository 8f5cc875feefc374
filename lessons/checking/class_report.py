"""How a class stands: who has solved what, who is stuck where, and which misconceptions several learners share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from lessons.checking.grade_class import Graded
from lessons.model.lesson import Lesson, WrongAnswer

State: TypeAlias = Literal["solved", "stuck", "not begun", "no file"]
"""Of a learner in a lesson. A file that is as shipped is not begun."""


STATES: tuple[State, ...] = get_args(State)


class Standing(NamedTuple):
    """One learner in one lesson."""

    learner: str
    lesson: Lesson
    state: State
    at: str  # the first check that fails, or why there is none
    mistake: WrongAnswer | None


class Misconception(NamedTuple):
    """A known wrong answer, and the learners who have given it."""

    lesson: Lesson
    mistake: WrongAnswer
    learners: tuple[str, ...]


class Tally(NamedTuple):
    """How a lesson went."""

    lesson: Lesson
    counts: dict[State, int]


CSV_COLUMNS = ("learner", "lesson", "state", "at", "mistake")


@dataclass(frozen=True)
class ClassReport:
    """How a class stands."""

    standings: tuple[Standing, ...]

    @classmethod
    def of(cls, graded: Iterable[Graded]) -> ClassReport:
        """The report on checked files, in the order of the learners and of the course."""
        standings = map(_standing, graded)
        return cls(tuple(sorted(standings, key=lambda one: (one.learner, one.lesson.number))))

    @property
    def learners(self) -> list[str]:
        """Everybody who has handed in a file."""
        return list(dict.fromkeys(one.learner for one in self.standings))

    @property
    def stuck(self) -> list[Standing]:
        """The files that fail."""
        return [one for one in self.standings if one.state == "stuck"]

    @property
    def tallies(self) -> list[Tally]:
        """The lessons in order."""
        lessons = sorted({one.lesson for one in self.standings}, key=lambda lesson: lesson.number)
        return [Tally(lesson, self._counts(lesson)) for lesson in lessons]

    @property
    def misconceptions(self) -> list[Misconception]:
        """The known mistakes of the class, those of most learners first."""
        made: dict[tuple[Lesson, WrongAnswer], list[str]] = {}
        for one in self.standings:
            if one.mistake is not None:
                made.setdefault((one.lesson, one.mistake), []).append(one.learner)
        found = [Misconception(lesson, mistake, tuple(who)) for (lesson, mistake), who in made.items()]
        return sorted(found, key=lambda one: (-len(one.learners), one.lesson.number))

    def as_json(self) -> dict[str, Any]:
        """The report as data for JSON."""
        return {
            "learners": self.learners,
            "lessons": [{"lesson": one.lesson.name, **one.counts} for one in self.tallies],
            "standings": [dict(zip(CSV_COLUMNS, row, strict=True)) for row in self.rows()],
            "misconceptions": [
                {
                    "lesson": one.lesson.name,
                    "mistake": one.mistake.name,
                    "diagnosis": one.mistake.diagnosis,
                    "learners": list(one.learners),
                }
                for one in self.misconceptions
            ],
        }

    def rows(self) -> Sequence[tuple[str, ...]]:
        """A row for each learner and lesson, with the columns `CSV_COLUMNS`."""
        return [
            (one.learner, one.lesson.name, one.state, one.at, one.mistake.name if one.mistake is not None else "")
            for one in self.standings
        ]

    def _counts(self, lesson: Lesson) -> dict[State, int]:
        states = [one.state for one in self.standings if one.lesson == lesson]
        return {state: states.count(state) for state in STATES}


def _standing(one: Graded) -> Standing:
    verdict = one.verdict
    if verdict is None:
        return Standing(one.learner, one.lesson, "no file", one.problem or "", None)
    state: State = "solved" if verdict.passed else "not begun" if verdict.untouched else "stuck"
    return Standing(one.learner, one.lesson, state, one.why if state == "stuck" else "", verdict.wrong_answer)
