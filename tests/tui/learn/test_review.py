"""The review: in full screen by keystrokes, and as plain commands."""

from datetime import timedelta

import pytest

from lessons import Workspace
from lessons.checking.record import record_task
from lessons.learner.review_queue import TaskName, due_tasks
from lessons.learner.reviews import now
from lessons.model.predictions import right_answer
from lessons.model.variations import task_names
from tests.support.course import COURSE
from tests.support.waiting import until
from tui.commands.cli import main
from tui.learn.app import CourseScreen, LearnApp
from tui.learn.lesson import LessonScreen
from tui.learn.program import ProgramView
from tui.learn.review import ReviewScreen
from tui.shell.exits import Exit
from tui.stepper.predict_screen import PredictScreen

FAN_OUT, LEAVES = COURSE.named("fan_out"), COURSE.named("leaves")
FIRST = TaskName(FAN_OUT, task_names(FAN_OUT)[0])


@pytest.fixture(autouse=True)
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("MICROTAPE_DATA", str(tmp_path / "data"))
    return Workspace()


def answer_to(task, workspace):
    made = task.make(workspace.progress)
    return right_answer(record_task(made), made.prediction)


def text(pilot, selector):
    return pilot.app.screen.query_one(selector).render().plain


async def asked(pilot):
    await until(pilot, lambda: isinstance(pilot.app.screen, PredictScreen))


class TestScreen:
    @pytest.mark.parametrize("size", [(80, 24), (120, 40)])
    async def test_what_was_missed_is_asked_until_nothing_is_left(self, workspace, size):
        workspace.progress.missed("fan_out", [FIRST.name])
        async with LearnApp(COURSE, workspace).run_test(size=size) as pilot:
            assert "1 task to review" in text(pilot, "#heading")
            await pilot.press("r")
            await asked(pilot)
            await pilot.press(*answer_to(FIRST, workspace), "enter")
            assert text(pilot, "#verdict").startswith("Right")
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, ReviewScreen))
            cursor = pilot.app.screen.query_one(ProgramView).cursor
            assert cursor.steps_done == 1
            await pilot.press("right")
            assert pilot.app.screen.query_one(ProgramView).cursor.steps_done == 2
            assert due_tasks(COURSE, workspace.progress) == []
            await pilot.press("n")
            await until(pilot, lambda: bool(pilot.app.screen.query("#nothing")))
            assert "comes back tomorrow" in text(pilot, "#nothing")
            await pilot.press("n", "right", "escape")
            await until(pilot, lambda: isinstance(pilot.app.screen, CourseScreen))
            assert "to review" not in text(pilot, "#heading")

    async def test_a_plausible_wrong_guess_gets_its_own_hint_and_a_miss_comes_back(self, workspace):
        task = FIRST.make(workspace.progress)
        wrong, hint = task.prediction.wrong[-1]
        async with LearnApp(COURSE, workspace, lesson=FAN_OUT, then="practise").run_test(size=(80, 24)) as pilot:
            await asked(pilot)
            await pilot.press(*wrong, "enter")
            assert hint in " ".join(text(pilot, "#verdict").split())
            await pilot.press("0", "enter", "enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, ReviewScreen))
            assert due_tasks(COURSE, workspace.progress) == [FIRST]
            await pilot.press("n")
            await asked(pilot)
            assert pilot.app.screen._question.ask != task.prediction.ask, "another task comes first"
            await pilot.press("escape", "escape")
            await until(pilot, lambda: isinstance(pilot.app.screen, LessonScreen))
            assert due_tasks(COURSE, workspace.progress) == [FIRST], "a question that is skipped counts nothing"

    @pytest.mark.parametrize(
        ("lesson", "back"), [(FAN_OUT, task_names(FAN_OUT)), (LEAVES, ("question_1",))], ids=["variations", "itself"]
    )
    async def test_a_question_that_is_missed_in_a_lesson_comes_back(self, workspace, lesson, back):
        async with LearnApp(COURSE, workspace, lesson=lesson).run_test(size=(80, 24)) as pilot:
            program = pilot.app.screen.query_one(ProgramView)
            await until(pilot, lambda: program.cursor is not None)
            while not isinstance(pilot.app.screen, PredictScreen):
                await pilot.press("right")
            await pilot.press("enter")
            assert text(pilot, "#verdict").startswith("It is")
            await pilot.press("enter")
            await pilot.pause()
        assert tuple(task.name for task in due_tasks(COURSE, workspace.progress)) == back

    async def test_t_in_a_lesson_brings_a_task_on_its_idea(self, workspace):
        async with LearnApp(COURSE, workspace, lesson=FAN_OUT).run_test(size=(80, 24)) as pilot:
            await pilot.press("t")
            await asked(pilot)
            assert "practice  lesson 3" in pilot.app.screen_stack[-2].query_one("#title").render().plain

    async def test_without_anything_missed_it_says_what_comes_here(self, workspace):
        async with LearnApp(COURSE, workspace, then="review").run_test(size=(80, 24)) as pilot:
            assert "that you miss" in text(pilot, "#nothing")

    async def test_a_folder_that_cannot_be_written_ends_nothing(self, workspace, monkeypatch):
        def fails(*_, **__):
            raise OSError("a full disk")

        async with LearnApp(COURSE, workspace, lesson=FAN_OUT, then="practise").run_test(size=(80, 24)) as pilot:
            await asked(pilot)
            monkeypatch.setattr(workspace.progress, "reviewed", fails)
            await pilot.press("enter", "enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, ReviewScreen))
            assert [one.message for one in pilot.app._notifications] == ["a full disk"]


class TestCommands:
    def test_nothing_was_missed(self, capfd):
        assert main(["learn", "review"]) == Exit.OK
        assert "that you miss" in capfd.readouterr().out

    def test_a_task_is_printed_and_answered(self, workspace, capfd):
        workspace.progress.missed("fan_out", task_names(FAN_OUT))
        assert main(["learn", "review"]) == Exit.OK
        out = capfd.readouterr().out
        task = FIRST.make(workspace.progress)
        assert "3 tasks to review" in out
        assert task.program in out
        assert f"microtape learn review {FIRST.key} ANSWER" in out
        wrong, hint = task.prediction.wrong[-1]
        assert main(["learn", "review", FIRST.key, wrong]) == Exit.NOT_SOLVED
        assert hint in " ".join(capfd.readouterr().out.split())
        assert main(["learn", "review", FIRST.key, "x.grad", "=", answer_to(FIRST, workspace)]) == Exit.OK
        assert capfd.readouterr().out.startswith("Right: ")
        assert len(due_tasks(COURSE, workspace.progress)) == 2
        when = workspace.progress.of("fan_out").reviews[FIRST.name].when
        assert timedelta(hours=23) < when - now() <= timedelta(days=1)

    def test_the_answer_can_be_told(self, workspace, capfd):
        right = answer_to(FIRST, workspace)
        assert main(["learn", "review", FIRST.key, "tell"]) == Exit.NOT_SOLVED
        assert capfd.readouterr().out.startswith(f"It is: {right}. ")
        assert due_tasks(COURSE, workspace.progress) == [FIRST]

    def test_a_lesson_can_be_practised(self, capfd):
        assert main(["learn", "review", "fan", "out"]) == Exit.OK
        assert FIRST.key in capfd.readouterr().out

    @pytest.mark.parametrize(
        ("words", "said"), [(["fan_out/five", "3"], "has no task 'five'"), (["kites"], "no lesson")]
    )
    def test_what_is_not_there(self, words, said, capfd):
        assert main(["learn", "review", *words]) == Exit.BAD_INPUT
        assert said in capfd.readouterr().err
