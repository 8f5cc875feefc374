"""A checker that is kept: the same verdicts, sooner."""

import pytest

from lessons.checking.checking_process import CheckingProcess
from lessons.checking.verdict import check
from lessons.checking.warm_checker import WarmChecker
from lessons.model.header import LessonError
from lessons.model.load import load_course
from tests.support.lesson_folder import SHORT, SOLUTION, SQUARE, write_lesson


@pytest.fixture
def exercise(tmp_path):
    return next(iter(load_course(write_lesson(tmp_path)))).exercise


@pytest.fixture
def checker(exercise):
    checker = WarmChecker(exercise)
    yield checker
    checker.close()


@pytest.mark.parametrize("prepared", [True, False])
def test_it_gives_the_verdicts_of_check_one_after_another(exercise, checker, prepared, tmp_path):
    if prepared:
        checker.prepare()
    mine = tmp_path / "mine.py"
    for text in (SQUARE, SOLUTION, SHORT, "def double(x):\n    return 7\n", "1 / 0\n", SOLUTION):
        mine.write_text(text)
        assert checker.check(mine) == check(exercise, mine)


def test_a_file_that_ends_its_process_does_not_disturb_the_next(checker, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text("import os\nos._exit(3)\n")
    assert checker.check(mine).ended == "process"
    mine.write_text(SOLUTION)
    assert checker.check(mine).passed


def test_the_waiting_processes_end_with_it(exercise, monkeypatch):
    started = []
    begin = CheckingProcess.__init__
    monkeypatch.setattr(CheckingProcess, "__init__", lambda self: started.append(self) or begin(self))
    checker = WarmChecker(exercise)
    checker.prepare()
    checker.check(exercise.solution)
    assert len(started) == 3, "for the solution, for the file, for the next file"
    checker.close()
    assert not any(process.is_alive for process in started)


def test_a_lesson_that_is_mended_meanwhile_is_checked_with_its_new_solution(exercise, checker):
    exercise.solution.write_text("1 / 0\n")
    checker.prepare()
    with pytest.raises(LessonError, match="the solution itself cannot be run"):
        checker.check(exercise.path)
    exercise.solution.write_text(SOLUTION)
    assert checker.check(exercise.solution).passed
