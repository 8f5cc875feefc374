"""What is said of a solved exercise that also runs in PyTorch: by `check`, by `watch` and in the lesson's screen."""

import time

import pytest

from lessons import Workspace, load_course
from tests.support.lesson_folder import write_lesson
from tests.support.waiting import until
from tui.commands.cli import main
from tui.learn.app import LearnApp
from tui.learn.cursor_note import CursorNote
from tui.shell.exits import Exit

SAYS = "Also passes in PyTorch 2.13."
EXERCISE = "import microtape as mt\n\n\ndef double(x):\n    raise NotImplementedError\n"
SOLUTION = "import microtape as mt\n\n\ndef double(x):\n    return (mt.tensor(2.0) * x).item()\n"
CHECK = 'import microtape as mt\n\n\ndef three(exercise):\n    """double(3)"""\n    return exercise.double(3)\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MICROTAPE_DATA", str(tmp_path / "data"))
    return write_lesson(tmp_path / "course", exercise=EXERCISE, solution=SOLUTION, check=CHECK)


@pytest.fixture
def lesson(folder):
    return next(iter(load_course(folder)))


@pytest.fixture
def workspace(tmp_path, lesson):
    workspace = Workspace(tmp_path / "work")
    workspace.exercise(lesson).write_text(SOLUTION)
    return workspace


@pytest.mark.parity
class TestCommands:
    @pytest.fixture(autouse=True)
    def solved(self, folder, lesson):
        assert main(["learn", "reset", "--yes", "--path", str(folder)]) == Exit.OK
        (mine,) = (folder.parent / "data").rglob("doubling.py")
        mine.write_text(SOLUTION)

    def test_check_says_it_after_the_verdict(self, folder, capfd):
        assert main(["learn", "check", "--path", str(folder)]) == Exit.OK
        out = capfd.readouterr().out
        assert "Solved." in out
        assert out.endswith(f"\n\n{SAYS}\n")

    def test_check_leaves_it_out_on_request(self, folder, capfd):
        assert main(["learn", "check", "--path", str(folder), "--no-torch"]) == Exit.OK
        assert capfd.readouterr().out.endswith("Solved.\n")

    def test_ctrl_c_skips_it_and_the_exercise_is_still_solved(self, folder, capfd, monkeypatch):
        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr("tui.learn.lesson_commands.run_in_pytorch", interrupted)
        assert main(["learn", "check", "--path", str(folder)]) == Exit.OK
        assert capfd.readouterr().out.endswith("Solved.\n")

    def test_watch_says_it_when_it_is_known(self, folder, capfd, monkeypatch):
        told = []

        def read_key(seconds):
            told.append(capfd.readouterr().out)
            time.sleep(0.05)
            return "q" if SAYS in told[-1] else None

        monkeypatch.setattr("tui.learn.watch.read_key", read_key)
        assert main(["learn", "watch", "1", "--path", str(folder)]) == Exit.OK
        assert "Solved." in told[0]
        assert SAYS not in told[0]


@pytest.mark.parity
class TestScreen:
    async def test_the_line_comes_where_the_verdict_stands(self, folder, lesson, workspace):
        app = LearnApp(load_course(folder), workspace, lesson=lesson)
        async with app.run_test(size=(80, 24)) as pilot:

            def said():
                return "\n".join(static.render().plain for static in pilot.app.screen.query("#said > Static"))

            def note():
                at_cursor = pilot.app.screen.query_one(CursorNote)
                return at_cursor.said.text if at_cursor.display else ""

            await pilot.press("e", "ctrl+s")
            await until(pilot, lambda: "Running it in PyTorch 2.13 as well" in said())
            assert note() == "✓ Solved. Esc, then n goes to the next lesson."
            await until(pilot, lambda: said().splitlines()[:2] == ["✓ Solved.", SAYS])  # the old lines go later
            await until(pilot, lambda: note() == f"✓ Solved. {SAYS} Esc, then n goes to the next lesson.")

    async def test_what_is_shown_meanwhile_stays(self, folder, lesson, workspace):
        app = LearnApp(load_course(folder), workspace, lesson=lesson)
        async with app.run_test(size=(80, 24)) as pilot:

            def said():
                return "\n".join(static.render().plain for static in pilot.app.screen.query("#said > Static"))

            await pilot.press("c")
            await until(pilot, lambda: "Solved." in said())
            await pilot.press("h")
            await until(pilot, lambda: "Look at" in said())
            await pilot.app.workers.wait_for_complete()
            await pilot.pause()
            assert SAYS not in said()
