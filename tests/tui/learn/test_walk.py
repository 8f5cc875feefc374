"""The whole course, walked by keystrokes: every step and question, every exercise, from each lesson to the next."""

import asyncio
import threading

import pytest
from textual.events import Paste

from lessons import Lesson, Workspace
from tests.support.course import COURSE
from tests.support.recordings.recorded_once import record_program_once
from tests.support.waiting import until
from tui.learn.app import LearnApp
from tui.learn.exercise import Editor
from tui.learn.lesson import LessonScreen
from tui.learn.program import ProgramView
from tui.stepper.predict_screen import PredictScreen


def said(pilot):
    return "\n".join(static.render().plain for static in pilot.app.screen.query("#said > Static"))


@pytest.mark.sampled(27)
@pytest.mark.parametrize(
    ("lesson", "size"),
    [(lesson, (120, 40)) for lesson in COURSE] + [(max(COURSE, key=lambda lesson: len(lesson.title)), (80, 24))],
    ids=lambda one: one.folder.name if isinstance(one, Lesson) else "{}x{}".format(*one),
)
async def test_a_lesson_can_be_walked_to_the_next(lesson, size, tmp_path, monkeypatch):
    monkeypatch.setattr("tui.learn.lesson.record_program", record_program_once)
    workspace = Workspace(tmp_path)
    async with LearnApp(COURSE, workspace, lesson=lesson).run_test(size=size) as pilot:
        program = pilot.app.screen.query_one(ProgramView)
        await until(pilot, lambda: program.cursor is not None)
        right = await step_to_the_end(pilot, program)
        assert right == len(lesson.predictions), "every question comes up, and its right answer is taken"

        await pilot.press("e")
        await until(pilot, lambda: isinstance(pilot.app.focused, Editor))
        await pilot.press("f7")  # all of it
        pilot.app.focused.post_message(Paste(lesson.exercise.solution.read_text(encoding="utf-8")))
        await pilot.pause()
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Solved." in said(pilot))
        await until(pilot, lambda: "solved" in pilot.app.screen.query_one("#title").render().plain)
        assert workspace.progress.solved() == {lesson.name}

        await pilot.press("escape", "n")
        await pilot.pause()
        following = COURSE.after(lesson) or lesson
        assert isinstance(pilot.app.screen, LessonScreen)
        assert pilot.app.screen.lesson == following


async def step_to_the_end(pilot, program):
    """Press → through all passes, answering what is asked. Returns how many answers were right."""
    right = 0
    before = None
    while program.cursor != before:
        before = program.cursor
        await pilot.press("right")
        while isinstance(pilot.app.screen, PredictScreen):
            answer = pilot.app.screen._question.right
            await pilot.press(*(KEYS.get(character, character) for character in answer), "enter")
            right += pilot.app.screen.query_one("#verdict").render().plain.startswith("Right")
            await pilot.press("enter")
            await pilot.pause()
    return right


KEYS = {" ": "space", ",": "comma", ".": "full_stop", "-": "minus", "[": "left_square_bracket",
        "]": "right_square_bracket", "(": "left_parenthesis", ")": "right_parenthesis", "_": "underscore",
        "×": "x", "%": "percent_sign"}  # fmt: skip


async def test_leaving_while_the_program_is_still_recorded_is_harmless(tmp_path, monkeypatch):
    recorded = record_program_once(COURSE.lessons[0].program, COURSE.lessons[0].passes)
    leaving = threading.Event()

    def slow(*_):
        leaving.wait()
        return recorded

    async def gone(program):  # it is taken down before its screen, and what is in it before that
        leaving.set()
        await asyncio.sleep(0.2)

    monkeypatch.setattr("tui.learn.lesson.record_program", slow)
    monkeypatch.setattr(ProgramView, "on_unmount", gone, raising=False)
    async with LearnApp(COURSE, Workspace(tmp_path), lesson=COURSE.lessons[0]).run_test() as pilot:
        assert pilot.app.screen.query_one(ProgramView).cursor is None
    assert leaving.is_set()
