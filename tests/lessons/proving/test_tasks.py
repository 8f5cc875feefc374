"""The variations of the course, at many seeds: whatever is drawn, a task has one answer, which is told nowhere."""

import contextlib

import pytest

import microtape as mt
from lessons.model.variations import make_task
from lessons.proving.tasks import defects
from tests.support.course import COURSE

IDEAS = ("fan_out", "order", "broadcasting", "the_vector", "matmul", "grad_accumulates", "first_function", "in_place",
         "views", "nan")  # fmt: skip
VARIATIONS = [(lesson, one.name) for lesson in COURSE for one in lesson.variations]


def test_every_idea_has_variations():
    assert [lesson.name for lesson in COURSE if lesson.variations] == list(IDEAS)


@pytest.mark.parametrize(("lesson", "name"), VARIATIONS, ids=[f"{lesson.name}-{name}" for lesson, name in VARIATIONS])
def test_whatever_is_drawn_it_is_a_task(lesson, name):
    for seed in range(60):
        task = make_task(lesson, name, seed)
        with mt.record(passes=task.passes) as recorder:
            failing = pytest.raises(RuntimeError) if succeeds(task) == "no" else contextlib.nullcontext()
            with failing:
                exec(compile(task.program, f"{name}.py", "exec"), {})
        assert list(defects(task, recorder.recording)) == [], (seed, task.program)


def succeeds(task):
    """Whether a task says of itself that its program ends without an error."""
    return "no" if task.prediction.answer == "succeeds" and task.prediction.wrong[0][0] == "yes" else "yes"
