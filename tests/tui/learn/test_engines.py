"""Wrong engines and one's own steps: by plain commands, and by keystrokes."""

import pytest
from textual.widgets import Input, OptionList

from lessons import Workspace
from tests.support.course import COURSE
from tests.support.recordings.recorded_once import record_program_once
from tests.support.waiting import until
from tui.commands.cli import main
from tui.learn.app import CourseScreen, LearnApp
from tui.learn.lesson import LessonScreen
from tui.learn.lesson_actions import DivergenceStepper
from tui.learn.wrong_engine import ReplyScreen, WrongEngineStepper
from tui.shell.exits import Exit

WRONG = [lesson for lesson in COURSE if lesson.wrong_engine]
FAN_OUT, LINEAR = COURSE.find("fan_out"), COURSE.find("first_function")


@pytest.fixture(autouse=True)
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("MICROTAPE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("tui.learn.lesson.record_program", record_program_once)
    monkeypatch.setattr("tui.learn.wrong_engine.record_program", record_program_once)
    return Workspace()


def make(workspace, lesson, name):
    """Give the learner the known wrong answer of that name."""
    (wrong,) = (one for one in lesson.exercise.wrong_answers if one.name == name)
    workspace.exercise(lesson).write_text(lesson.exercise.text(wrong.path), encoding="utf-8")


class TestCommands:
    def test_the_steps_of_a_wrong_engine_are_printed_and_asked_about(self, capfd):
        assert main(["learn", "engine", "fan_out"]) == Exit.OK
        out = capfd.readouterr().out
        assert "wrong_engine.py" in out
        assert out.endswith(
            "Which step is the first wrong one? Answer: microtape learn engine fan_out STEP (or PASS.STEP)\n"
        )

    def test_an_answer_is_judged_and_remembered(self, workspace, capfd):
        assert main(["learn", "engine", "fan_out", "1"]) == Exit.NOT_SOLVED
        assert "This step is right" in capfd.readouterr().out
        assert main(["learn", "engine", "3", "4"]) == Exit.NOT_SOLVED
        assert "too late" in capfd.readouterr().out
        assert workspace.progress.of("fan_out").fault_found is None
        assert main(["learn", "engine", "fan out", "2"]) == Exit.OK
        found = capfd.readouterr().out
        assert found.startswith("Right. ")
        assert "It overwrites" in found
        assert workspace.progress.of("fan_out").fault_found

    @pytest.mark.slow
    def test_a_step_of_another_pass(self, capfd):
        assert main(["learn", "engine", "grad_accumulates", "2.2"]) == Exit.OK
        assert "It overwrites .grad" in capfd.readouterr().out

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["matmul"], "has no wrong engine; these have: fan_out"),
            (["fan_out", "99"], "no step 99"),
            (["3", "9.1"], "9.1"),
        ],
    )
    def test_what_is_not_there(self, words, said, capfd):
        assert main(["learn", "engine", *words]) == Exit.BAD_INPUT
        assert said in capfd.readouterr().err

    @pytest.mark.slow
    def test_check_says_where_it_parts_and_step_shows_it(self, workspace, capfd):
        make(workspace, LINEAR, "bias_forgotten")
        assert main(["learn", "check", "first_function"]) == Exit.NOT_SOLVED
        assert "microtape learn step first_function" in capfd.readouterr().out
        assert main(["learn", "step", "first_function"]) == Exit.OK
        out = capfd.readouterr().out
        assert "Your code differs from the solution at step 1" in out
        assert "LinearBackward" in out
        assert "Step 1 of" in out

    @pytest.mark.slow
    def test_where_the_first_check_calls_no_backward_a_later_one_shows_it(self, workspace, capfd):
        make(workspace, COURSE.find("in_place"), "not_marked")
        assert main(["learn", "step", "in_place"]) == Exit.OK
        out = " ".join(capfd.readouterr().out.split())
        assert "In the check 'The gradient at [1, -2, 3] of the sum of y itself" in out
        assert "mul runs; in the solution SquareInPlace runs (your code may just be written differently)." in out

    @pytest.mark.slow
    def test_an_engine_of_ones_own_is_shown_where_it_goes_wrong(self, workspace, capfd):
        make(workspace, COURSE.find("capstone"), "overwrites")
        assert main(["learn", "step", "capstone"]) == Exit.OK
        assert "Your code differs from the solution at step 2 of pass 1" in capfd.readouterr().out

    def test_without_backward_there_are_no_steps(self, workspace, capfd):
        make(workspace, FAN_OUT, "overwrites")
        assert main(["learn", "step", "fan_out"]) == Exit.NOT_SOLVED
        assert "no steps to show" in capfd.readouterr().err


class TestKeys:
    @pytest.mark.sampled(5)
    @pytest.mark.parametrize("lesson", WRONG, ids=[lesson.name for lesson in WRONG])
    async def test_w_opens_the_wrong_engine_and_m_marks_the_first_wrong_step(self, workspace, lesson):
        app = LearnApp(COURSE, workspace, lesson=lesson)
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.press("w")
            await until(pilot, lambda: isinstance(pilot.app.screen, WrongEngineStepper))
            stepper = pilot.app.screen
            await until(pilot, lambda: stepper.is_mounted)
            await until(pilot, lambda: "This engine has a fault" in stepper.query_one("#banner").render().plain)
            await pilot.press("m")
            assert isinstance(pilot.app.screen, ReplyScreen)
            assert not workspace.progress.of(lesson.name).fault_found
            await pilot.press("enter")
            assert pilot.app.screen is stepper, "the key that closes the words does nothing else"
            for _ in range(20):
                before = stepper.cursor
                await pilot.press("right")
                if stepper.cursor == before:
                    await pilot.press("right_square_bracket")
                    continue
                await pilot.press("m", "space")
                assert pilot.app.screen is stepper
                if workspace.progress.of(lesson.name).fault_found:
                    break
            assert workspace.progress.of(lesson.name).fault_found
            await pilot.press("q")
            await until(pilot, lambda: isinstance(pilot.app.screen, LessonScreen))
            assert "fault found" in pilot.app.screen.query_one("#title").render().plain

    @pytest.mark.slow
    async def test_d_opens_ones_own_run_where_it_parts(self, workspace):
        make(workspace, LINEAR, "bias_forgotten")
        async with LearnApp(COURSE, workspace, lesson=LINEAR).run_test(size=(120, 40)) as pilot:
            await pilot.press("d")
            await pilot.press("c")
            said = lambda: "\n".join(one.render().plain for one in pilot.app.screen.query("#said > Static"))  # noqa: E731
            await until(pilot, lambda: "d shows" in said() or "bias" in said())
            await pilot.press("d")
            await until(pilot, lambda: isinstance(pilot.app.screen, DivergenceStepper))
            await pilot.pause()
            assert pilot.app.screen.cursor.steps_done == 1
            await pilot.press("q")
            await until(pilot, lambda: isinstance(pilot.app.screen, LessonScreen))

    async def test_a_lesson_without_a_wrong_engine_says_so(self, workspace):
        async with LearnApp(COURSE, workspace, lesson=COURSE.lessons[0]).run_test(size=(80, 24)) as pilot:
            await pilot.press("w")
            await pilot.pause()
            assert isinstance(pilot.app.screen, LessonScreen)


class TestSearch:
    async def test_only_what_is_about_the_word_is_listed_and_enter_opens_it(self, workspace):
        async with LearnApp(COURSE, workspace).run_test(size=(80, 24)) as pilot:
            await pilot.press("slash", *"spiral")
            options = pilot.app.screen.query_one(OptionList)
            assert [option.id for option in options.options] == ["spiral"]
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, LessonScreen))
            assert pilot.app.screen.lesson.name == "spiral"

            await pilot.press("escape")
            await until(pilot, lambda: isinstance(pilot.app.screen, CourseScreen))
            options = pilot.app.screen.query_one(OptionList)
            assert options.option_count == len(COURSE), "it was found: back from it, all lessons are there"
            assert options.highlighted_option.id == "spiral"
            assert pilot.app.focused is options

    async def test_several_words_arrows_and_escape(self, workspace):
        async with LearnApp(COURSE, workspace).run_test(size=(80, 24)) as pilot:
            await pilot.press("slash", *"grad ", *"none")
            options = pilot.app.screen.query_one(OptionList)
            found = [option.id for option in options.options]
            assert "grad_accumulates" in found
            assert len(found) < len(COURSE)
            first = options.highlighted
            await pilot.press("down")
            assert options.highlighted != first or len(found) == 1
            await pilot.press("escape")
            assert options.option_count == len(COURSE)
            assert pilot.app.focused is options
            await pilot.press("escape")
            await until(pilot, lambda: not pilot.app.is_running)

    async def test_what_is_in_no_lesson(self, workspace):
        async with LearnApp(COURSE, workspace).run_test(size=(80, 24)) as pilot:
            await pilot.press("slash", *"zebra", "enter")
            assert isinstance(pilot.app.screen, CourseScreen)
            assert pilot.app.screen.query_one(OptionList).option_count == 0
            assert pilot.app.screen.query_one(Input).value == "zebra"


class TestSolutions:
    @pytest.mark.slow
    async def test_a_teacher_can_hide_them(self, workspace):
        app = LearnApp(COURSE, workspace, lesson=FAN_OUT, solutions=False)
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.press("v")
            await pilot.pause()
            said = "\n".join(one.render().plain for one in pilot.app.screen.query("#said > Static"))
            assert said == "Solutions are not shown here. h gives a hint."

    async def test_who_has_solved_it_sees_other_ways(self, workspace):
        workspace.progress.attempted("fan_out", passed=True)
        async with LearnApp(COURSE, workspace, lesson=FAN_OUT).run_test(size=(120, 40)) as pilot:
            await pilot.press("v")
            await pilot.pause()
            said = "\n".join(one.render().plain for one in pilot.app.screen.query("#said > Static"))
            assert all(right.note.replace("`", "") in said for right in FAN_OUT.exercise.right_answers)


class TestAscii:
    @pytest.mark.sampled(13)
    @pytest.mark.parametrize("lesson", COURSE, ids=[lesson.name for lesson in COURSE])
    def test_the_text_of_every_lesson_has_a_twin_without_unicode(self, lesson, capfd):
        assert main(["learn", lesson.name, "--ascii"]) == Exit.OK
        out = capfd.readouterr().out
        assert out.isascii()
        assert "\\u" not in out
        assert "\\x" not in out
