"""`microtape learn` as plain commands."""

import io

import pytest

from lessons import Workspace
from lessons.model.opening import divided
from lessons.model.solution_pieces import solution_pieces
from tests.support.course import COURSE
from tests.support.lesson_folder import write_lesson
from tui.commands.cli import main
from tui.learn.lesson_commands import CommandContext
from tui.shell.exits import Exit

FIRST, SECOND = COURSE.lessons[0], COURSE.lessons[1]


@pytest.fixture(autouse=True)
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("MICROTAPE_DATA", str(tmp_path / "data"))
    return Workspace()


def solve(workspace, lesson=FIRST):
    workspace.exercise(lesson).write_bytes(lesson.exercise.solution.read_bytes())


@pytest.mark.parametrize("words", [["list"], []])
def test_list_shows_every_lesson_and_so_does_learn_without_a_terminal(words, capfd):
    assert main(["learn", *words]) == Exit.OK
    out = capfd.readouterr().out
    assert all(lesson.title in out and lesson.name in out for lesson in COURSE)
    assert f"0 of {len(COURSE)} solved" in out


@pytest.mark.parametrize("name", ["1", "tape_of_numbers", "tape of", "numbers"])
def test_a_name_prints_the_lesson_and_what_to_type_next(name, workspace, capfd):
    assert main(["learn", *name.split()]) == Exit.OK
    out = capfd.readouterr().out
    title, text = divided(FIRST.prose)
    assert out.startswith(title)
    assert out.index(FIRST.program.read_text()) < out.index(text), "the text is about the program"
    assert f"microtape step {FIRST.program}\n" in out
    assert str(workspace.exercise(FIRST)) in out
    assert "microtape learn check tape_of_numbers" in out


def test_a_program_with_several_passes_is_stepped_with_all_of_them(capfd):
    assert main(["learn", "grad_accumulates"]) == Exit.OK
    assert "program.py --pass all\n" in capfd.readouterr().out


def test_check_reports_failures_and_success(workspace, capfd):
    assert main(["learn", "check"]) == Exit.NOT_SOLVED
    assert "You have not changed" in capfd.readouterr().out
    solve(workspace)
    assert main(["learn", "check", FIRST.name]) == Exit.OK
    assert "Solved." in capfd.readouterr().out
    assert main(["learn", "list"]) == Exit.OK
    assert f"1 of {len(COURSE)} solved" in capfd.readouterr().out


def test_without_a_name_it_is_the_first_lesson_that_is_not_solved(workspace, capfd):
    workspace.progress.attempted(FIRST.name, passed=True)
    assert main(["learn", "check"]) == Exit.NOT_SOLVED
    assert SECOND.title in capfd.readouterr().out


def test_hints_come_one_by_one_and_in_the_end_all_again(workspace, capfd):
    hints = FIRST.exercise.hints
    for number, hint in enumerate(hints, 1):
        assert main(["learn", "hint"]) == Exit.OK
        assert capfd.readouterr().out == f"lesson 1, hint {number} of {len(hints)}\n\n{hint}\n\n"
    assert main(["learn", "hint"]) == Exit.OK
    assert all(hint in capfd.readouterr().out for hint in hints[:1])


def test_the_solution_comes_piece_by_piece_and_the_first_is_asked_for(workspace, capfd):
    assert main(["learn", "solution", "1"]) == Exit.BAD_INPUT
    answer = capfd.readouterr()
    assert (answer.out, answer.err.count("add --yes")) == ("", 1)
    every = solution_pieces(FIRST.exercise)
    for number, piece in enumerate(every, 1):
        assert main(["learn", "solution", "1", *(["--yes"] if number == 1 else [])]) == Exit.OK
        answer = capfd.readouterr()
        assert answer.out == f"{piece}\n"
        assert f"piece {number} of {len(every)}" in answer.err
    assert main(["learn", "solution", "1"]) == Exit.OK
    assert capfd.readouterr().out == FIRST.exercise.solution.read_text()


def test_all_prints_the_whole_solution(capfd):
    assert main(["learn", "solution", "1", "--all", "--yes"]) == Exit.OK
    assert capfd.readouterr().out == FIRST.exercise.solution.read_text()
    assert main(["learn", "solution", "1"]) == Exit.OK, "once seen, it is not asked again"


def test_a_solved_exercise_shows_the_solution_and_other_ways(workspace, capfd):
    workspace.progress.attempted(FIRST.name, passed=True)
    assert main(["learn", "solution", "1"]) == Exit.OK
    answer = capfd.readouterr()
    assert answer.out == FIRST.exercise.solution.read_text()
    assert all(right.note in answer.err for right in FIRST.exercise.right_answers)


def test_a_teacher_can_hide_solutions(capfd):
    assert main(["learn", "solution", "1", "--yes", "--no-solutions"]) == Exit.BAD_INPUT
    answer = capfd.readouterr()
    assert (answer.out, answer.err) == ("", "microtape: solutions are not shown (--no-solutions)\n")


@pytest.mark.parametrize(
    ("answer", "reset"), [("y\n", True), ("Yes\n", True), ("n\n", False), ("\n", False), ("", False)]
)
def test_reset_asks_on_a_terminal(workspace, capfd, monkeypatch, answer, reset):
    solve(workspace)
    monkeypatch.setattr("tui.learn.lesson_commands.has_terminal", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    assert main(["learn", "reset", "1"]) == Exit.OK
    assert "over? (Your file is kept.) [y/N]" in capfd.readouterr().err
    assert (workspace.exercise(FIRST).read_bytes() == FIRST.exercise.path.read_bytes()) == reset


def test_reset_says_where_the_file_is_kept(workspace, capfd):
    solve(workspace)
    assert main(["learn", "reset", "-y"]) == Exit.OK
    err = capfd.readouterr().err
    kept = next((workspace.folder / "exercises").glob("tape_of_numbers.*.py"))
    assert f"your file is kept as {kept}" in err


@pytest.mark.parametrize("words", [["nothing of this name"], ["check", "99"], ["hint", "grad and more"]])
def test_an_unknown_lesson_is_one_clear_line(words, capfd):
    assert main(["learn", *words]) == Exit.BAD_INPUT
    answer = capfd.readouterr()
    assert answer.out == ""
    assert "there is no lesson" in answer.err
    assert answer.err.count("\n") == 1


def test_a_mistyped_lesson_is_named(capfd):
    assert main(["learn", "chian"]) == Exit.BAD_INPUT
    assert "did you mean chain_rule?" in capfd.readouterr().err


@pytest.mark.parametrize("command", ["check", "hint", "solution", "reset", "step", "watch", "engine", "review"])
def test_every_command_names_a_mistyped_lesson(command, capfd):
    assert main(["learn", command, "chian"]) == Exit.BAD_INPUT
    assert "did you mean chain_rule?" in capfd.readouterr().err


def test_a_mistyped_command_is_named(capfd):
    assert main(["learn", "hnit", "3"]) == Exit.BAD_INPUT
    assert capfd.readouterr().err == "microtape: there is no command 'hnit': did you mean `microtape learn hint`?\n"


def test_two_words_that_are_like_no_command_say_which_there_are(capfd):
    assert main(["learn", "xyz", "3"]) == Exit.BAD_INPUT
    answer = capfd.readouterr().err
    assert answer.endswith("Commands: list, check, hint, solution, reset, step, watch, engine, review, about, verify, "
                           "grade, report, new, book\n")  # fmt: skip
    assert answer.count("\n") == 1


def test_about_names_the_lesson_for_an_error_message(capfd):
    assert main(["learn", "about", "modified by an inplace"]) == Exit.OK
    assert capfd.readouterr().out == "lesson 17: In place: versions and mark_dirty   microtape learn in_place\n"
    assert main(["learn", "about", "leaf Variable", "that requires grad"]) == Exit.OK
    assert capfd.readouterr().out.count("\n") == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [(["no", "such", "message"], "no lesson explains 'no such message'"), ([], "write a part")],
)
def test_about_says_that_it_knows_no_lesson(words, said, capfd):
    assert main(["learn", "about", *words]) == Exit.BAD_INPUT
    answer = capfd.readouterr()
    assert (answer.out, answer.err.count("\n")) == ("", 1)
    assert said in answer.err


def test_about_opens_the_one_lesson_on_a_terminal(monkeypatch):
    opened = []
    monkeypatch.setattr("tui.learn.lesson_commands.has_terminal", lambda: True)
    monkeypatch.setattr(CommandContext, "open", lambda self, lesson, then="": opened.append(lesson.name) or Exit.OK)
    assert main(["learn", "about", "backward through the graph a second time"]) == Exit.OK
    assert opened == ["freed_graphs"]


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path, monkeypatch, capfd):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MICROTAPE_DATA", str(tmp_path / "file"))
    assert main(["learn", "check"]) == Exit.BAD_INPUT
    err = capfd.readouterr().err
    assert err.count("\n") == 1
    assert "Not a directory" in err


def test_a_damaged_progress_file_is_reported_and_kept(workspace, capfd):
    workspace.folder.mkdir()
    workspace.progress.path.write_text("damaged")
    assert main(["learn", "list"]) == Exit.OK
    assert "could not be read; it is kept as" in capfd.readouterr().err


def test_what_to_type_next_is_of_the_same_course(tmp_path, capfd):
    course = write_lesson(tmp_path / "my course")
    assert main(["learn", "1", "--path", str(course)]) == Exit.OK
    assert f"microtape learn check doubling --path '{course}'\n" in capfd.readouterr().out
    assert main(["learn", "list", "--path", str(course)]) == Exit.OK
    assert f"microtape learn NAME --path '{course}' prints a lesson" in capfd.readouterr().out


def test_check_names_the_next_lesson_or_the_hint_command(workspace, capfd):
    solve(workspace)
    assert main(["learn", "check", "1"]) == Exit.OK
    assert "microtape learn chain_rule  is the next lesson" in capfd.readouterr().out
    assert main(["learn", "check", "2"]) == Exit.NOT_SOLVED
    assert "microtape learn hint chain_rule  prints a hint" in capfd.readouterr().out
