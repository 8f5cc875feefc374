"""For teachers: a course of one's own, proven by `microtape learn verify`, and a class graded."""

import csv
import json
import os
import shutil
from pathlib import Path

import pytest

from lessons import load_course
from tests.support.recordings.recorded_once import record_task_once
from tui.commands.cli import main
from tui.shell.exits import Exit

EXAMPLE = Path(__file__).parents[3] / "docs" / "example_course"
SOLUTION = (EXAMPLE / "01_mean" / "solution.py").read_text(encoding="utf-8")
UNTRIED = "    if len(numbers) == 4:\n        return [0.0] * 4\n"
NEVER = 'def never(exercise):\n    """Never"""\n\n\ndef at_random'
SOLVED = "return [gradient / len(numbers)] * len(numbers)"


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("MICROTAPE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def course(tmp_path):
    return Path(shutil.copytree(EXAMPLE, tmp_path / "mine"))


class TestVerify:
    @pytest.mark.slow
    def test_the_example_of_the_documentation_holds(self, capfd):
        assert main(["learn", "verify", str(EXAMPLE)]) == Exit.OK
        assert capfd.readouterr().out.startswith("1 lesson: every claim holds")

    @pytest.mark.sampled(10)
    @pytest.mark.parametrize(
        ("file", "old", "new", "said"),
        [
            ("solution.py", "return [", "returns [", "solution.py: cannot be run: invalid syntax"),
            ("solution.py", "# The", "'''The'''\n# The", "solution.py: begin with a comment"),
            ("solution.py", "gradient / len(numbers) for", "gradient.item() for", "fails on the solution"),
            ("check.py", "def two", "import nothing_there\ndef two", "cannot be run: ModuleNotFoundError: No module"),
            ("solution.py", "    return [", f"{UNTRIED}    return [", "the solution passes with a mistake in line 7"),
            ("check.py", "def at_random", NEVER, "no wrong answer fails never"),
            ("exercise.py", "raise NotImplementedError", SOLVED, "it already passes as shipped"),
            ("right/repeated.py", "count * [", "[", "right/repeated.py: it does not pass: not two_numbers"),
            ("wrong/not_divided.py", "[gradient", "[gradient / len(numbers)", "wrong/not_divided.py: it passes"),
            ("wrong/not_divided.py", "[gradient for", "[1 / len(numbers) for", "the same as gradient_forgotten.py"),
            ("lesson.md", "tensor(5., ", "tensor(6., ", "prints 'tensor(5., grad_fn=<MeanBackward0>)"),
            ("lesson.md", 'answer = "grad x"', 'answer = "grad y"', "there is no tensor of that name"),
            ("lesson.md", "# The mean shares", "# Means", "begin the text with its title"),
            ("lesson.md", "## A wrong engine", "## Something", "write a section '## A wrong engine'"),
            ("lesson.md", 'fault = "overwrite"', 'fault = "no_version_check"', "nothing goes wrong"),
            ("program.py", "average.backward()", "pass", "it never calls backward"),
            ("hints.md", "---", "", "hints.md: write at least two hints"),
        ],
    )  # fmt: skip
    def test_one_line_says_what_is_to_be_mended(self, course, capfd, monkeypatch, file, old, new, said):
        monkeypatch.setattr("lessons.proving.tasks.record_task", record_task_once)
        path = course / "01_mean" / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        assert main(["learn", "verify", str(course)]) == Exit.NOT_SOLVED
        answer = capfd.readouterr()
        lines = [line for line in answer.out.splitlines() if said in line]
        assert len(lines) >= 1, answer.out
        assert all(line.startswith("01_mean: ") for line in answer.out.splitlines())
        assert "Traceback" not in answer.out + answer.err
        assert "problem" in answer.err

    @pytest.mark.slow
    def test_a_later_word_is_told(self, course, capfd):
        shutil.copytree(course / "01_mean", course / "02_again")
        second = course / "02_again" / "lesson.md"
        second.write_text(second.read_text().replace('introduces = ["mean"]', 'introduces = ["average"]'))
        assert main(["learn", "verify", str(course)]) == Exit.NOT_SOLVED
        assert "01_mean: program.py uses average, which 02_again introduces" in capfd.readouterr().out

    @pytest.mark.parametrize(("words", "said"), [(["nowhere"], "there is no such folder"), ([], "needs a folder")])
    def test_no_folder(self, capfd, words, said):
        assert main(["learn", "verify", *words]) == Exit.BAD_INPUT
        assert said in capfd.readouterr().err

    def test_a_lesson_that_is_not_complete(self, course, capfd):
        (course / "01_mean" / "check.py").unlink()
        assert main(["learn", "verify", str(course)]) == Exit.BAD_INPUT
        answer = capfd.readouterr()
        assert "check.py is missing" in answer.err
        assert answer.err.count("\n") == 1


class TestAnotherCourse:
    def test_its_lessons_and_its_files_are_its_own(self, course, data, capfd):
        assert main(["learn", "list", "--path", str(course)]) == Exit.OK
        assert "The mean shares" in capfd.readouterr().out
        assert main(["learn", "check", "--path", str(course)]) == Exit.NOT_SOLVED
        (file,) = data.glob("courses/mine-*/exercises/mean.py")
        file.write_text(SOLUTION)
        assert main(["learn", "check", "mean", "--path", str(course)]) == Exit.OK
        assert main(["learn", "list"]) == Exit.OK
        assert "0 of 26 solved" in capfd.readouterr().out

    def test_a_folder_without_lessons(self, tmp_path, capfd):
        assert main(["learn", "--path", str(tmp_path)]) == Exit.BAD_INPUT
        assert "no lessons here" in capfd.readouterr().err

    def test_relative_paths_are_found_from_anywhere(self, course, tmp_path, monkeypatch, capfd):
        monkeypatch.chdir(tmp_path)
        assert main(["learn", "check", "--path", "mine"]) == Exit.NOT_SOLVED
        assert "You have not changed" in capfd.readouterr().out


class TestGrading:
    @pytest.fixture
    def handed_in(self, tmp_path):
        files = {
            "ann/mean.py": SOLUTION,
            "bob/exercises/mean.py": SOLUTION.replace("gradient / len", "1 / len"),
            "cem/mean.py": "import os\nos._exit(0)\n",
            "dan/mean.py": "def backward_of_mean(gradient, numbers):\n    return len(bytearray(4 << 30))\n",
            "eva/mean.py": (EXAMPLE / "01_mean" / "exercise.py").read_text(encoding="utf-8"),
            "eva/notes.py": "print('no lesson')\n",
        }
        for name, text in files.items():
            path = tmp_path / "class" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path / "class"

    def grade(self, *words):
        return main(["learn", "grade", *map(str, words), "--path", str(EXAMPLE)])

    def test_as_a_table_for_a_spreadsheet(self, handed_in, capfd):
        assert self.grade(handed_in, "--csv") == Exit.OK
        rows = list(csv.DictReader(capfd.readouterr().out.splitlines()))
        assert [(row["learner"], row["state"], row["mistake"]) for row in rows] == [
            ("ann", "solved", ""), ("bob", "stuck", "gradient_forgotten"), ("cem", "stuck", ""), ("dan", "stuck", ""),
            ("eva", "not begun", ""),
        ]  # fmt: skip

    @pytest.mark.parametrize("command", ["grade", "report"])
    def test_a_file_with_another_name_is_named(self, handed_in, command, capfd):
        (handed_in / "mean.py").write_text("")
        assert main(["learn", command, str(handed_in), "--path", str(EXAMPLE)]) == Exit.OK
        assert capfd.readouterr().err == "not checked, because it is no LEARNER/LESSON.py: eva/notes.py, mean.py\n"

    def test_every_file_in_a_line(self, handed_in, capfd):
        assert self.grade(handed_in) == Exit.OK
        lines = [line.split(None, 3) for line in capfd.readouterr().out.splitlines()[:5]]
        assert [line[:2] for line in lines] == [["✓", "ann"], ["✗", "bob"], ["✗", "cem"], ["✗", "dan"], ["✗", "eva"]]
        assert [line[3:] for line in lines[1:]] == [
            ["A gradient of 6, and the numbers 1, 1 and 7 (gradient_forgotten)"],
            ["cannot be run: your code ended its process (status 0), so nothing more could be checked"],
            ["A gradient of 1, and the numbers 2 and 4"], ["as shipped"],
        ]  # fmt: skip

    @pytest.mark.slow
    def test_as_json(self, handed_in, capfd):
        assert self.grade(handed_in, "--json") == Exit.OK
        ann, bob, cem, dan, eva = json.loads(capfd.readouterr().out)
        assert (ann["learner"], ann["lesson"], ann["passed"]) == ("ann", "mean", True)
        assert bob["wrong_answer"] == "gradient_forgotten"
        assert [check["passed"] for check in bob["checks"]] == [True, False, False]
        assert cem["ended"] == "process"
        assert any("more memory than" in line for line in dan["report"]) or os.name != "posix"
        assert eva["untouched"]

    def test_a_file_for_each_learner_of_one_lesson(self, tmp_path, capfd):
        folder = tmp_path / "one"
        folder.mkdir()
        (folder / "ann.py").write_text(SOLUTION)
        (folder / "bob.py").write_text("x = 1\n")
        assert self.grade(folder, "mean") == Exit.OK
        out = capfd.readouterr().out
        assert "✓  ann" in out
        assert "1 of 2 files solve their exercise" in out

    @pytest.mark.slow
    @pytest.mark.skipif(os.name != "posix", reason="needs links")
    def test_links_are_not_followed(self, handed_in, capfd):
        (handed_in / "zoe").mkdir()
        (handed_in / "zoe" / "mean.py").symlink_to(handed_in / "ann" / "mean.py")
        assert self.grade(handed_in) == Exit.OK
        assert "zoe" not in capfd.readouterr().out

    @pytest.mark.slow
    def test_who_has_handed_in_nothing_for_a_lesson_is_named(self, handed_in, capfd):
        (handed_in / "zoe").mkdir()
        assert self.grade(handed_in, "mean", "--json") == Exit.OK
        zoe = json.loads(capfd.readouterr().out)[-1]
        assert (zoe["learner"], zoe["passed"], zoe["problem"]) == ("zoe", False, "no file")

    @pytest.mark.slow
    @pytest.mark.skipif(os.name != "posix", reason="needs such names")
    def test_a_name_does_not_speak_to_the_terminal(self, handed_in, capfd):
        (handed_in / "ann").rename(handed_in / "ann\x1b[2J\n✓  mallory")
        assert self.grade(handed_in) == Exit.OK
        out = capfd.readouterr().out
        assert "\x1b" not in out
        assert not any(line.startswith("✓  mallory") for line in out.splitlines())

    @pytest.mark.parametrize(("answer", "code"), [("x = 1\n", Exit.NOT_SOLVED), (SOLUTION, Exit.OK)])
    def test_the_exit_code_tells_on_request_whether_all_files_pass(self, tmp_path, capfd, answer, code):
        folder = tmp_path / "class" / "bob"
        folder.mkdir(parents=True)
        (folder / "mean.py").write_text(answer)
        assert self.grade(folder.parent, "--exit-code") == code
        assert "of 1 files solve" in capfd.readouterr().out

    def test_nobody_has_handed_in_anything(self, tmp_path, capfd):
        assert self.grade(tmp_path) == Exit.BAD_INPUT
        assert "no learner's file found" in capfd.readouterr().err


def test_the_documentation_shows_the_example_as_it_is():
    text = (EXAMPLE.parent / "lessons.md").read_text(encoding="utf-8")
    (lesson,) = load_course(EXAMPLE)
    for path in (lesson.exercise.path, lesson.exercise.solution, lesson.exercise.check):
        assert path.read_text(encoding="utf-8") in text, path.name
    header = lesson.folder.joinpath("lesson.md").read_text(encoding="utf-8").split("+++")[1]
    assert header in text
    first, _, _ = lesson.variations[0].path.read_text(encoding="utf-8").partition("\n\n\n")
    assert first in text


class TestReport:
    """A class of three: one mistake is made twice."""

    @pytest.fixture
    def handed_in(self, tmp_path):
        folder = tmp_path / "class"
        wrong = (EXAMPLE / "01_mean" / "wrong" / "not_divided.py").read_text()
        shipped = (EXAMPLE / "01_mean" / "exercise.py").read_text()
        for learner, text in {"alice": wrong, "bob": wrong, "carol": SOLUTION, "dave": shipped}.items():
            (folder / learner).mkdir(parents=True)
            (folder / learner / "mean.py").write_text(text)
        (folder / "eve").mkdir()
        return folder

    def report(self, *words):
        return main(["learn", "report", *map(str, words), "--path", str(EXAMPLE)])

    def test_who_is_stuck_where_and_the_misconceptions(self, handed_in, capfd, monkeypatch):
        monkeypatch.setenv("COLUMNS", "160")
        assert self.report(handed_in, "mean") == Exit.OK
        assert capfd.readouterr().out.splitlines() == [
            "5 learners, 4 files",
            "",
            "lesson  solved  stuck  not begun  no file",
            "mean         1      2          1        1",
            "",
            "misconceptions",
            "  mean, not_divided: alice, bob",
            "      " + " ".join((EXAMPLE / "01_mean/wrong/not_divided.py").read_text().split('"""')[1].split()),
            "",
            "who is stuck, and where",
            "  alice, mean: A gradient of 1, and the numbers 2 and 4",
            "  bob, mean: A gradient of 1, and the numbers 2 and 4",
        ]

    def test_as_a_table_for_a_spreadsheet(self, handed_in, capfd):
        assert self.report(handed_in, "--csv") == Exit.OK
        rows = list(csv.DictReader(capfd.readouterr().out.splitlines()))
        assert [(row["learner"], row["state"], row["mistake"]) for row in rows] == [
            ("alice", "stuck", "not_divided"), ("bob", "stuck", "not_divided"), ("carol", "solved", ""),
            ("dave", "not begun", ""),
        ]  # fmt: skip
        assert {row["lesson"] for row in rows} == {"mean"}

    def test_as_json(self, handed_in, capfd):
        assert self.report(handed_in, "mean", "--json") == Exit.OK
        found = json.loads(capfd.readouterr().out)
        assert found["learners"] == ["alice", "bob", "carol", "dave", "eve"]
        assert found["lessons"] == [{"lesson": "mean", "solved": 1, "stuck": 2, "not begun": 1, "no file": 1}]
        (shared,) = found["misconceptions"]
        assert (shared["mistake"], shared["learners"]) == ("not_divided", ["alice", "bob"])
        assert len(found["standings"]) == 5

    def test_a_folder_without_files_is_an_error(self, tmp_path, capfd):
        assert self.report(tmp_path) == Exit.BAD_INPUT
        assert "no learner's file found" in capfd.readouterr().err


class TestNew:
    """A template that is no lesson yet."""

    def test_it_is_the_next_lesson_and_its_proofs_fail(self, course, capfd):
        assert main(["learn", "new", "median", "--path", str(course)]) == Exit.OK
        assert str(course / "02_median") in capfd.readouterr().out
        assert [lesson.name for lesson in load_course(course)] == ["mean", "median"]
        shutil.rmtree(course / "01_mean")
        assert main(["learn", "verify", str(course)]) == Exit.NOT_SOLVED
        said = capfd.readouterr().out.splitlines()
        written = sum(path.read_text().count("TODO") > 0 for path in (course / "02_median").rglob("*.*"))
        assert written == len({line.split(": ")[1] for line in said if line.endswith("still says TODO")}) == 7
        assert "02_median: right: give at least two other right answers, in right/*.py" in said

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["mean"], "lesson 1 is called mean already: choose another name"),
            (["The", "Median"], "'The Median' cannot be a lesson's name: use small letters, digits and _"),
            (["../up"], "'../up' cannot be a lesson's name"),
            ([], "microtape learn new needs a name"),
        ],
    )
    def test_a_name_that_cannot_be(self, course, words, said, capfd):
        assert main(["learn", "new", *words, "--path", str(course)]) == Exit.BAD_INPUT
        assert said in capfd.readouterr().err
        assert [path.name for path in course.iterdir()] == ["01_mean"]
