"""Progress and the learner's files: kept, readable, and never lost."""

import json
import os
import subprocess
import sys

import pytest

from lessons.learner.locking import locked
from lessons.learner.progress import Progress, ProgressError, Record, write_atomically
from lessons.learner.workspace import Workspace, data_folder
from lessons.model.load import load_course
from tests.support.course import COURSE
from tests.support.lesson_folder import EXERCISE, write_lesson

IMPORT_LOCKED = "from lessons.learner.locking import locked"
SESSION = """
import sys
from pathlib import Path
from lessons.learner.progress import Progress

progress = Progress(Path(sys.argv[1]))
for _ in range(25):
    progress.attempted(sys.argv[2], passed=False)
    progress.attempted("both", passed=False)
"""


@pytest.fixture
def progress(tmp_path):
    return Progress(tmp_path / "data" / "progress.json")


@pytest.fixture
def lesson(tmp_path):
    return next(iter(load_course(write_lesson(tmp_path / "course"))))


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path / "data")


class TestProgress:
    def test_begins_empty(self, progress):
        assert progress.of("tape") == Record()
        assert progress.solved() == set()
        assert not progress.path.exists()

    def test_is_kept_in_a_file_that_people_can_read(self, progress):
        progress.attempted("tape", passed=False)
        progress.hinted("tape", 2)
        progress.attempted("tape", passed=True)
        progress.saw_solution("chain")
        data = json.loads(progress.path.read_text())
        solved = data["lessons"]["tape"].pop("solved")
        assert solved.startswith("20")
        assert data == {
            "format": 1,
            "lessons": {
                "tape": {"attempts": 2, "hints": 2},
                "chain": {"solution_seen": True},
            },
        }
        assert progress.path.read_text().count("\n") > 8
        assert Progress(progress.path).solved() == {"tape"}

    def test_what_was_solved_stays_solved(self, progress):
        progress.attempted("tape", passed=True)
        first = progress.of("tape").solved
        progress.attempted("tape", passed=False)
        progress.attempted("tape", passed=True)
        assert progress.of("tape") == Record(solved=first, attempts=3)

    def test_when_a_fault_was_found_stays_too(self, progress):
        progress.found_fault("tape")
        first = progress.of("tape").fault_found
        progress.found_fault("tape")
        progress.saw_pieces("tape", 2)
        progress.saw_pieces("tape", 1)
        assert progress.of("tape") == Record(fault_found=first, pieces=2)

    def test_fewer_hints_do_not_undo_more(self, progress):
        progress.hinted("tape", 3)
        progress.hinted("tape", 1)
        assert progress.of("tape").hints == 3

    def test_two_windows_do_not_forget_each_others_lessons(self, progress):
        other = Progress(progress.path)
        progress.attempted("tape", passed=True)
        other.attempted("chain", passed=True)
        assert progress.solved() == {"tape", "chain"}

    def test_sessions_that_write_at_the_same_time_lose_nothing(self, progress):
        sessions = [
            subprocess.Popen([sys.executable, "-c", SESSION, str(progress.path), name]) for name in ("one", "other")
        ]
        assert [session.wait() for session in sessions] == [0, 0]
        assert {name: progress.of(name).attempts for name in ("one", "other", "both")} == {
            "one": 25, "other": 25, "both": 50,
        }  # fmt: skip

    def test_a_session_waits_for_another_one_but_not_for_ever(self, progress, monkeypatch):
        monkeypatch.setattr("lessons.learner.locking.PATIENCE", 0.0)
        with locked(progress.path), pytest.raises(ProgressError, match="another session keeps it locked"):
            progress.attempted("tape", passed=True)
        progress.attempted("tape", passed=True)
        assert progress.of("tape").attempts == 1

    def test_a_lock_of_a_session_that_was_killed_is_gone(self, progress):
        holds = f"from pathlib import Path\nwith locked(Path({str(progress.path)!r})):\n    os._exit(9)"
        ended = subprocess.run([sys.executable, "-c", f"import os\n{IMPORT_LOCKED}\n{holds}"], check=False)
        assert ended.returncode == 9
        progress.attempted("tape", passed=True)

    def test_a_file_is_set_aside_by_one_session_only(self, progress, monkeypatch):
        progress.path.parent.mkdir()
        progress.path.write_text("damaged")
        read, other = progress._read, Progress(progress.path)

        def late():
            """This session has seen a damaged file; before it goes on, another one mends it."""
            found = read()
            if found is None:
                other.attempted("tape", passed=True)
            return found

        monkeypatch.setattr(progress, "_read", late)
        assert progress.solved() == {"tape"}
        assert other.solved() == {"tape"}

    def test_what_a_later_version_wrote_is_kept(self, progress):
        progress.path.parent.mkdir()
        progress.path.write_text('{"format": 1, "theme": "dark", "lessons": {"tape": {"stars": 5}, "odd": 3}}')
        progress.hinted("tape", 1)
        data = json.loads(progress.path.read_text())
        assert (data["theme"], data["lessons"]["tape"]["stars"], data["lessons"]["odd"]) == ("dark", 5, 3)

    @pytest.mark.parametrize(
        "text", ["", "not json", "[1]", '{"format": 99, "lessons": {}}', '{"format": 1, "lessons": []}', "[" * 100_000]
    )
    def test_a_file_that_cannot_be_read_is_set_aside_not_overwritten(self, progress, text):
        progress.path.parent.mkdir()
        progress.path.write_text(text)
        progress.attempted("tape", passed=True)
        aside = progress.path.with_name("progress.unreadable-1.json")
        assert aside.read_text() == text
        assert progress.solved() == {"tape"}
        assert str(aside) in progress.trouble
        progress.path.write_text("again")
        progress.of("tape")
        assert progress.path.with_name("progress.unreadable-2.json").read_text() == "again"
        assert aside.read_text() == text

    @pytest.mark.parametrize("entry", [None, 3, [], {"solved": 1, "attempts": "x", "hints": None, "solution_seen": 1}])
    def test_an_invalid_entry_counts_as_no_progress(self, progress, entry):
        progress.path.parent.mkdir()
        progress.path.write_text(json.dumps({"format": 1, "lessons": {"tape": entry}}))
        assert progress.of("tape") == Record()

    def test_a_file_without_read_permission_is_not_overwritten(self, progress):
        progress.path.mkdir(parents=True)
        assert progress.solved() == set()
        assert "cannot be read: Is a directory" in progress.trouble
        with pytest.raises(ProgressError, match="cannot be read: Is a directory"):
            progress.attempted("tape", passed=True)


class TestWritingAtomically:
    def test_a_failed_write_leaves_the_old_file(self, tmp_path, monkeypatch):
        path = tmp_path / "file"
        path.write_text("old")
        monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(ProgressError, match="file: cannot be written: No space left on device"):
            write_atomically(path, b"new")
        assert path.read_text() == "old"
        assert [one.name for one in tmp_path.iterdir()] == ["file"]

    def test_a_folder_that_cannot_be_made_is_named(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(ProgressError, match=r"progress\.json: cannot be written"):
            write_atomically(tmp_path / "file" / "progress.json", b"")


class TestWorkspace:
    def test_an_exercise_is_copied_once_and_never_overwritten(self, workspace, lesson):
        path = workspace.exercise(lesson)
        assert path.name == "doubling.py"
        assert path.read_text() == EXERCISE
        path.write_text("mine")
        assert workspace.exercise(lesson).read_text() == "mine"

    def test_saving(self, workspace, lesson):
        assert workspace.write(lesson, "mine", known=EXERCISE) is None
        assert workspace.exercise(lesson).read_text() == "mine"

    def test_saving_over_another_programs_change_keeps_both(self, workspace, lesson):
        path = workspace.exercise(lesson)
        path.write_text("theirs")
        kept = workspace.write(lesson, "mine", known=EXERCISE)
        assert (path.read_text(), kept.read_text()) == ("mine", "theirs")
        path.write_text("theirs again")
        again = workspace.write(lesson, "mine", known="mine")
        assert again != kept
        assert again.read_text() == "theirs again"

    def test_saving_the_same_text_changes_nothing(self, workspace, lesson):
        path = workspace.exercise(lesson)
        path.write_text("same")
        before = path.stat().st_mtime_ns
        assert workspace.write(lesson, "same", known=EXERCISE) is None
        assert path.stat().st_mtime_ns == before

    def test_saving_over_a_file_that_was_not_text_keeps_it(self, workspace, lesson):
        path = workspace.exercise(lesson)
        path.write_bytes(b"# caf\xe9\n")
        kept = workspace.write(lesson, "mine", known=workspace.read(lesson))
        assert (path.read_bytes(), kept.read_bytes()) == (b"mine", b"# caf\xe9\n")

    def test_windows_line_ends_are_no_change(self, workspace, lesson):
        workspace.exercise(lesson).write_bytes(b"a\r\nb\r\n")
        assert workspace.write(lesson, "a\r\nb\r\nc\r\n", known=workspace.read(lesson)) is None

    def test_a_reset_keeps_the_file_under_another_name(self, workspace, lesson):
        path = workspace.exercise(lesson)
        path.write_text("mine")
        workspace.progress.attempted("doubling", passed=True)
        kept = workspace.reset(lesson)
        assert (path.read_text(), kept.read_text()) == (EXERCISE, "mine")
        assert workspace.progress.of("doubling") == Record()

    def test_a_reset_of_an_untouched_file_keeps_nothing(self, workspace, lesson):
        assert workspace.reset(lesson) is None
        assert [one.name for one in (workspace.folder / "exercises").iterdir()] == ["doubling.py"]


def test_the_data_folder_is_the_platforms_or_the_chosen_one(monkeypatch, tmp_path):
    monkeypatch.setenv("MICROTAPE_DATA", str(tmp_path / "here"))
    assert data_folder() == tmp_path / "here"
    monkeypatch.delenv("MICROTAPE_DATA")
    assert data_folder().name == "microtape"


class TestAFileThatGrows:
    @pytest.fixture
    def lessons(self):
        return COURSE.lessons

    def solution(self, lesson):
        return lesson.exercise.solution.read_text(encoding="utf-8")

    def test_a_lesson_begins_with_the_file_that_passed_the_one_before(self, workspace, lessons):
        first, second = lessons[:2]
        own = self.solution(first).replace("class Tape:", "class Tape:  # all mine")
        workspace.write(first, own, workspace.read(first))
        workspace.attempted(first, passed=True)
        begun = workspace.read(second)
        assert "class Tape:  # all mine" in begun
        assert "def backward(self, last):" in begun
        assert begun.count("raise NotImplementedError") == 2

    def test_what_did_not_pass_is_not_gone_on_with(self, workspace, lessons):
        first, second = lessons[:2]
        workspace.write(first, "class Tape:\n    pass\n", workspace.read(first))
        workspace.attempted(first, passed=False)
        assert workspace.read(second) == second.exercise.path.read_text(encoding="utf-8")

    def test_what_is_changed_after_it_passed_does_not_matter(self, workspace, lessons):
        first, second = lessons[:2]
        workspace.write(first, f"{self.solution(first)}\nMINE = 1\n", workspace.read(first))
        workspace.attempted(first, passed=True)
        workspace.write(first, "def", workspace.read(first))
        workspace.attempted(first, passed=False)
        assert "MINE = 1" in workspace.read(second)

    def test_who_enters_in_the_middle_begins_with_the_courses_file(self, workspace, lessons):
        fifth = lessons[4]
        assert workspace.read(fifth) == fifth.exercise.path.read_text(encoding="utf-8")

    def test_a_reset_goes_back_to_the_learners_own_start(self, workspace, lessons):
        first, second = lessons[:2]
        workspace.write(first, f"{self.solution(first)}\nMINE = 1\n", workspace.read(first))
        workspace.attempted(first, passed=True)
        begun = workspace.read(second)
        workspace.write(second, "oh dear", begun)
        assert workspace.reset(second).read_text() == "oh dear"
        assert workspace.read(second) == begun

    def test_a_kept_file_that_is_damaged_is_left_alone(self, workspace, lessons):
        first, second = lessons[:2]
        (workspace.folder / "passed").mkdir(parents=True)
        (workspace.folder / "passed" / f"{first.name}.py").write_text("def")
        assert workspace.read(second) == second.exercise.path.read_text(encoding="utf-8")

    def test_a_lesson_that_was_only_looked_at_begins_with_what_has_passed_since(self, workspace, lessons):
        first, second = lessons[:2]
        assert "MINE" not in workspace.read(second)
        workspace.write(first, f"{self.solution(first)}\nMINE = 1\n", workspace.read(first))
        workspace.attempted(first, passed=True)
        assert "MINE = 1" in workspace.read(second)

    def test_a_lesson_that_was_begun_stays_as_it_is(self, workspace, lessons):
        first, second = lessons[:2]
        workspace.write(second, "mine", workspace.read(second))
        workspace.attempted(first, passed=True)
        assert workspace.read(second) == "mine"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_place_of_a_file_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "progress.json")
    with pytest.raises(ProgressError, match="cannot be read: no ordinary file"):
        Progress(tmp_path / "progress.json").attempted("one", passed=True)
    lesson = next(iter(COURSE))
    (tmp_path / "exercises").mkdir()
    os.mkfifo(tmp_path / "exercises" / f"{lesson.name}.py")
    with pytest.raises(OSError, match="no ordinary file"):
        Workspace(tmp_path).exercise(lesson)
