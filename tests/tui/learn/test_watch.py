"""`microtape learn watch`: checked on every save, and on to the next lesson on `n` only."""

import os
import queue

import pytest

from lessons import Workspace
from tests.support.course import COURSE
from tui.commands.cli import main
from tui.shell.exits import Exit

FIRST, SECOND, THIRD = COURSE.lessons[:3]


@pytest.fixture(autouse=True)
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("MICROTAPE_DATA", str(tmp_path / "data"))
    return Workspace()


@pytest.fixture
def play(monkeypatch):
    """Let somebody do one thing after the other: press a key, or save a file, each when the watch looks for a key."""

    def play(*deeds):
        waiting: queue.SimpleQueue = queue.SimpleQueue()
        for deed in deeds:
            waiting.put(deed)

        def read_key(seconds):
            deed = waiting.get() if not waiting.empty() else "q"
            return deed if isinstance(deed, str) else deed()

        monkeypatch.setattr("tui.learn.watch.read_key", read_key)

    return play


def nothing():
    """For a while nobody does anything."""


def save(workspace, lesson, path):
    def deed():
        workspace.exercise(lesson).write_bytes(path.read_bytes())

    return deed


@pytest.mark.slow
def test_it_checks_at_once_and_again_after_a_save_and_stays_until_n(workspace, play, capfd):
    play(
        save(workspace, FIRST, FIRST.exercise.wrong_answers[0].path),
        save(workspace, FIRST, FIRST.exercise.solution),
        nothing,
        "n",
    )
    assert main(["learn", "watch"]) == Exit.OK
    out = capfd.readouterr().out
    diagnosis = FIRST.exercise.wrong_answers[0].diagnosis[:40]
    order = [out.index(text) for text in ("You have not changed", diagnosis, "Solved.")]
    assert order == sorted(order)
    assert out.index("Solved.") < out.index(f"lesson 2: {SECOND.title}")
    assert out.count("lesson 1: ") == 3
    assert out.count("lesson 2: ") == 1
    assert workspace.progress.of(FIRST.name).attempts == 3


def test_no_word_is_broken_at_the_edge_of_the_terminal(play, capfd, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    play(nothing)
    assert main(["learn", "watch", "2"]) == Exit.OK
    status = capfd.readouterr().out.rpartition("what to do.\n")[2]
    assert status == "\n[n next   h hint   s steps   c check   q quit]\nwaiting for the file to be saved ...\n\n"


@pytest.mark.slow
def test_without_a_save_nothing_is_checked_again(workspace, play, capfd):
    play(nothing, nothing, "c")
    assert main(["learn", "watch", "2"]) == Exit.OK
    assert capfd.readouterr().out.count("lesson 2: ") == 2
    assert workspace.progress.of(SECOND.name).attempts == 2


def test_a_hint_and_the_steps(workspace, play, capfd):
    lesson = COURSE.find("first_function")
    wrong = next(one for one in lesson.exercise.wrong_answers if one.name == "bias_forgotten")
    workspace.exercise(lesson).write_bytes(wrong.path.read_bytes())
    play("h", "s")
    assert main(["learn", "watch", "first_function"]) == Exit.OK
    out = capfd.readouterr().out
    assert f"hint 1 of {len(lesson.exercise.hints)}" in out
    assert "Your code differs from the solution at step 1" in out
    assert "LinearBackward" in out


@pytest.mark.slow
def test_after_the_last_lesson_there_is_none(play, capfd):
    play("n")
    assert main(["learn", "watch", "26"]) == Exit.OK
    assert "This is the last lesson." in capfd.readouterr().out


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal of its own")
def test_a_key_is_enough_on_a_terminal_and_it_is_left_as_it_was(monkeypatch):
    import pty
    import sys
    import termios

    from tui.learn.watch import read_key, single_keys

    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        before = termios.tcgetattr(theirs)
        with single_keys():
            os.write(ours, b"n")
            assert read_key(5) == "n"
            assert read_key(0.01) is None
        assert termios.tcgetattr(theirs) == before
    os.close(ours)


@pytest.mark.skipif(os.name != "posix", reason="needs select on a pipe")
def test_the_end_of_the_input_is_the_end(monkeypatch):
    import sys

    from tui.learn.watch import read_key

    reading, writing = os.pipe()
    os.close(writing)
    with os.fdopen(reading) as pipe:
        monkeypatch.setattr(sys, "stdin", pipe)
        assert read_key(5) == ""
