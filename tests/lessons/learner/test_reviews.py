"""The review: what was missed comes back, after ever longer times, and two sessions agree about it."""

import itertools
import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from lessons.learner.progress import Progress
from lessons.learner.review_queue import TaskName, due_tasks, next_due, task_to_practise
from lessons.learner.reviews import DAYS, Review
from lessons.model.variations import task_names, tasks_about
from tests.support.course import COURSE

FAN_OUT, ORDER, LEAVES = COURSE.named("fan_out"), COURSE.named("order"), COURSE.named("leaves")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SESSION = """
import sys
from pathlib import Path
from lessons.learner.progress import Progress

progress = Progress(Path(sys.argv[1]))
for _ in range(25):
    progress.reviewed("fan_out", "two_products", right=True)
    progress.reviewed("fan_out", sys.argv[2], right=True)
"""


@pytest.fixture
def progress(tmp_path):
    return Progress(tmp_path / "progress.json")


@pytest.fixture
def clock(monkeypatch):
    """The time, which a test can move."""
    times = [NOON]
    for module in ("progress", "review_queue"):
        monkeypatch.setattr(f"lessons.learner.{module}.now", lambda: times[-1])
    return times


class TestSpacing:
    def test_what_was_missed_is_due_at_once(self):
        assert Review().missed(NOON).is_due(NOON)
        assert not Review().is_due(NOON)

    def test_right_answers_push_it_further_away_until_it_is_known(self):
        review, moment, waits = Review().missed(NOON), NOON, []
        while review.due is not None:
            review = review.answered(True, moment)
            if review.when is not None:
                waits.append((review.when - moment).days)
                moment = review.when
        assert tuple(waits) == DAYS
        assert review == Review(answers=len(DAYS) + 1, streak=len(DAYS) + 1)

    def test_a_miss_begins_again(self):
        later = Review(answers=5, streak=3, due=(NOON + timedelta(days=7)).isoformat()).answered(False, NOON)
        assert later == Review(answers=6, streak=0, due=NOON.isoformat())

    def test_practice_before_it_is_due_moves_nothing(self):
        known = Review(answers=1, streak=1, due=(NOON + timedelta(days=1)).isoformat())
        assert known.answered(True, NOON) == Review(2, 1, known.due)

    def test_a_second_miss_of_the_same_idea_does_not_jump_the_queue(self):
        first = Review().missed(NOON)
        assert first.missed(NOON + timedelta(hours=1)) == first


class TestQueue:
    def test_nothing_is_due_at_first(self, progress):
        assert due_tasks(COURSE, progress) == []
        assert next_due(COURSE, progress) is None

    def test_the_longest_due_comes_first_and_lessons_take_turns(self, progress, clock):
        progress.missed("order", task_names(ORDER))
        progress.missed("fan_out", task_names(FAN_OUT))
        assert [task.lesson.name for task in due_tasks(COURSE, progress)] == ["fan_out", "order"] * 3
        clock.append(NOON + timedelta(minutes=1))
        progress.reviewed("fan_out", task_names(FAN_OUT)[0], right=False)
        assert due_tasks(COURSE, progress)[-1] == TaskName(FAN_OUT, task_names(FAN_OUT)[0])

    def test_a_right_answer_takes_it_away_until_its_day(self, progress, clock):
        progress.missed("fan_out", ["two_products"])
        progress.reviewed("fan_out", "two_products", right=True)
        assert due_tasks(COURSE, progress) == []
        assert next_due(COURSE, progress) == NOON + timedelta(days=1)
        clock.append(NOON + timedelta(days=1))
        assert due_tasks(COURSE, progress) == [TaskName(FAN_OUT, "two_products")]

    def test_the_numbers_change_with_every_answer(self, progress):
        task = TaskName(FAN_OUT, "two_products")
        first = task.make(progress)
        assert task.make(progress) == first
        progress.reviewed("fan_out", "two_products", right=True)
        assert task.make(progress).program != first.program

    def test_practice_goes_through_the_tasks_of_a_lesson(self, progress):
        asked = []
        for _ in range(4):
            task = task_to_practise(FAN_OUT, progress, asked[-1] if asked else "")
            progress.reviewed("fan_out", task.name, right=len(asked) > 0)
            asked.append(task.name)
        assert set(asked) == set(task_names(FAN_OUT))
        assert all(one != other for one, other in itertools.pairwise(asked))

    def test_a_task_that_is_no_longer_there_does_not_come(self, progress):
        progress.missed("fan_out", ["gone", "two_products"])
        assert [task.name for task in due_tasks(COURSE, progress)] == ["two_products"]


class TestProgress:
    def test_a_missed_question_brings_back_the_variations_or_itself(self):
        assert tasks_about(FAN_OUT, FAN_OUT.predictions[0]) == task_names(FAN_OUT)
        assert tasks_about(LEAVES, LEAVES.predictions[-1]) == (f"question_{len(LEAVES.predictions)}",)

    def test_starting_an_exercise_over_keeps_the_reviews(self, progress):
        progress.attempted("fan_out", passed=True)
        progress.missed("fan_out", ["two_products"])
        progress.forget("fan_out")
        assert progress.solved() == set()
        assert list(progress.of("fan_out").reviews) == ["two_products"]

    @pytest.mark.parametrize(
        "entry",
        [None, 3, [], {"two_products": 3}, {"two_products": {"answers": -1, "streak": "x", "due": "tomorrow"}},
         {"two_products": {"answers": True, "due": 4}}],
    )  # fmt: skip
    def test_whatever_the_file_holds_it_can_be_read_and_changed(self, progress, entry):
        progress.path.write_text(json.dumps({"format": 1, "lessons": {"fan_out": {"reviews": entry}}}))
        assert due_tasks(COURSE, progress) == []
        progress.missed("fan_out", ["two_products"])
        assert len(due_tasks(COURSE, progress)) == 1

    def test_a_time_without_a_zone_can_be_compared(self, progress):
        entry = {"two_products": {"due": "2020-01-01T00:00:00"}}
        progress.path.write_text(json.dumps({"format": 1, "lessons": {"fan_out": {"reviews": entry}}}))
        assert len(due_tasks(COURSE, progress)) == 1

    def test_two_sessions_keep_each_others_answers(self, progress):
        own = ("square_and_itself", "result_times_itself")
        sessions = [subprocess.Popen([sys.executable, "-c", SESSION, progress.path, one]) for one in own]
        assert [session.wait(60) for session in sessions] == [0, 0]
        answers = {name: review.answers for name, review in progress.of("fan_out").reviews.items()}
        assert answers == {"two_products": 50, own[0]: 25, own[1]: 25}
