"""What lessons show of the inside of a call is what the stepper shows there."""

import re

import pytest

from tests.support.course import COURSE
from tests.support.recordings.recorded_once import record_program_once
from tui.time.cursor import StepCursor
from tui.words.trace import trace, trace_forward

STEP_INSIDE = re.compile(r"^```text\n( +enter .*?)^```", re.MULTILINE | re.DOTALL)
SHOWING = [lesson for lesson in COURSE if STEP_INSIDE.search(lesson.prose)]


def words(text):
    return " ".join(text.split())


def test_the_lessons_on_functions_and_hooks_step_inside():
    assert {lesson.name for lesson in SHOWING} == {"mul_constant", "non_differentiable", "in_place", "hooks"}
    for lesson in SHOWING:
        assert any(one.answer.startswith("inside ") for one in lesson.predictions)


@pytest.mark.parametrize("lesson", SHOWING, ids=lambda lesson: lesson.name)
def test_each_row_of_a_block_that_begins_with_enter_begins_a_row_of_the_stepper(lesson):
    recording = record_program_once(lesson.program, lesson.passes)
    forward = trace_forward(StepCursor.open(recording), into=True)
    printed = "\n".join([*forward, *trace(recording, into=True)])
    shown = [words(row) for row in re.split(r"\n +\d+ line \d+ ", printed)]
    for block in STEP_INSIDE.findall(lesson.prose):
        for row in re.split(r"\n {3}(?! )", block.rstrip()):
            assert any(one.startswith(words(row)) for one in shown), row
