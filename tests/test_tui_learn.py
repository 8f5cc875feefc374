"""`microtape learn`: the course in plain text and in full screen, by keystrokes."""

import pytest
from test_tui_app import bar

from lessons import Workspace, load_course
from tui.cli import main
from tui.exits import Exit
from tui.lesson import LessonApp, LessonScreen
from tui.predict import LessonStepper, PredictScreen
from tui.stepper import StepperScreen

COURSE = load_course()
FIRST = COURSE.lessons[0]


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("MICROTAPE_DATA", str(tmp_path / "data"))
    return Workspace()


@pytest.fixture
def solved(workspace):
    workspace.exercise(FIRST).write_bytes(FIRST.exercise.solution.read_bytes())
    return workspace


def app(workspace):
    return LessonApp(COURSE, FIRST, workspace)


def said(pilot):
    return pilot.app.screen.query_one("#said").render().plain


async def until(pilot, condition):
    """Wait for a worker: a script is recorded or checked in a process of its own."""
    for _ in range(400):
        await pilot.pause(0.05)
        if condition():
            return
    raise AssertionError("it never happened")


def test_list_shows_every_lesson(workspace, capfd):
    assert main(["learn", "list"]) == Exit.OK
    out = capfd.readouterr().out
    assert all(lesson.title in out and lesson.name in out for lesson in COURSE)


def test_without_a_terminal_the_lesson_is_printed_with_what_to_do(workspace, capfd):
    assert main(["learn"]) == Exit.OK
    out = capfd.readouterr().out
    assert FIRST.prose.splitlines()[0] in out
    assert f"microtape step {FIRST.program}" in out
    assert str(workspace.exercise(FIRST)) in out


def test_check_says_what_is_wrong_and_what_is_solved(workspace, capfd):
    assert main(["learn", "check"]) == Exit.NOT_SOLVED
    assert "as it was shipped" in capfd.readouterr().out
    workspace.exercise(FIRST).write_bytes(FIRST.exercise.solution.read_bytes())
    assert main(["learn", "check", FIRST.name]) == Exit.OK
    assert "Solved." in capfd.readouterr().out
    assert main(["learn", "list"]) == Exit.OK
    assert "solved" in capfd.readouterr().out


def test_an_unknown_lesson_is_one_clear_line(workspace, capfd):
    assert main(["learn", "no such lesson"]) == Exit.BAD_INPUT
    assert "there is no lesson" in capfd.readouterr().err


async def test_the_text_the_exercise_and_its_place_are_on_the_screen(workspace):
    async with app(workspace).run_test(size=(140, 50)) as pilot:
        assert FIRST.title in pilot.app.screen.query_one("#title").render().plain
        assert pilot.app.screen.query_one("#file").border_subtitle == str(workspace.exercise(FIRST))
        assert (
            workspace.exercise(FIRST).read_text().splitlines()[0] in pilot.app.screen.query_one("#code").render().plain
        )


async def test_c_checks_the_file_as_it_is_now(workspace):
    async with app(workspace).run_test(size=(140, 50)) as pilot:
        await pilot.press("c")
        await until(pilot, lambda: "as it was shipped" in said(pilot))
        workspace.exercise(FIRST).write_bytes(FIRST.exercise.solution.read_bytes())
        await pilot.press("c")
        await until(pilot, lambda: "Solved." in said(pilot))
        assert "solved" in pilot.app.screen.query_one("#title").render().plain


async def test_h_climbs_the_ladder_of_hints(workspace):
    async with app(workspace).run_test(size=(140, 50)) as pilot:
        for hint in FIRST.exercise.hints:
            await pilot.press("h")
            assert " ".join(hint.split()) in " ".join(said(pilot).split())
        await pilot.press("h")
        assert "the last hint" in said(pilot)
    assert workspace.progress.of(FIRST.name).hints == len(FIRST.exercise.hints)


async def test_s_steps_through_the_program_and_asks_before_it_shows(workspace):
    async with app(workspace).run_test(size=(140, 50)) as pilot:
        await pilot.press("s")
        await until(pilot, lambda: isinstance(pilot.app.screen, LessonStepper))
        await pilot.pause()
        asked = 0
        for _ in range(12):
            await pilot.press("right")
            if isinstance(pilot.app.screen, PredictScreen):
                asked += 1
                await pilot.press("x", "enter")
                assert "Not quite" in pilot.app.screen.query_one("#verdict").render().plain
                await pilot.press("enter")
            assert isinstance(pilot.app.screen, StepperScreen)
        assert asked == len(FIRST.predictions)
        steps = bar(pilot.app).split()
        assert steps[1] == steps[3], "every question was followed by its step"
        await pilot.press("q")
        assert isinstance(pilot.app.screen, LessonScreen)


async def test_on_a_narrow_terminal_tab_turns_between_text_and_exercise(workspace):
    async with app(workspace).run_test(size=(80, 24)) as pilot:
        assert [pilot.app.screen.query_one(side).display for side in ("#prose", "#work")] == [True, False]
        await pilot.press("tab")
        assert [pilot.app.screen.query_one(side).display for side in ("#prose", "#work")] == [False, True]
        await pilot.press("tab")
        assert [pilot.app.screen.query_one(side).display for side in ("#prose", "#work")] == [True, False]


async def test_q_quits(solved):
    async with app(solved).run_test(size=(140, 50)) as pilot:
        await pilot.press("q")
        assert not pilot.app.is_running
