"""The course as notebooks that have been executed, with films."""

import nbformat
import pytest

from tests.support.course import COURSE
from tests.support.kernels import execute
from tests.support.lesson_folder import write_lesson
from tests.support.rendering import needs_graphviz
from tui.commands.cli import main
from tui.shell.exits import Exit


def stdout(cell):
    return "".join(output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")


@needs_graphviz
@pytest.mark.sampled(13)
@pytest.mark.parametrize("lesson", COURSE, ids=[lesson.folder.name for lesson in COURSE])
def test_a_notebook_prints_what_it_shows_when_it_is_executed(lesson, tmp_path):
    assert main(["learn", "book", str(tmp_path), lesson.name]) == Exit.OK
    written = nbformat.read(tmp_path / f"{lesson.folder.name}.ipynb", as_version=4)
    nbformat.validate(written)
    text, codes = written.cells, [cell for cell in written.cells if cell.cell_type == "code"]
    shown = [stdout(cell) for cell in codes]
    assert text[0].source.startswith(f"# {lesson.title}")
    assert any(shown)
    program, *_, exercise = codes
    assert text[1] is program, "the text is about the program"
    execute(written, tmp_path)
    assert [stdout(cell) for cell in codes[1:-1]] == shown[1:-1]
    assert stdout(program)
    if "ends with NotImplementedError" in text[-2].source:
        assert exercise.outputs[-1].ename == "NotImplementedError"
    else:
        assert "gives a wrong answer" in text[-2].source
        assert stdout(exercise)
    film = (tmp_path / f"{lesson.folder.name}.html").read_text()
    assert "<svg" in film


@needs_graphviz
def test_a_course_of_ones_own(tmp_path, capfd):
    course = write_lesson(tmp_path / "mine")
    assert main(["learn", "book", str(tmp_path / "book"), "--path", str(course)]) == Exit.OK
    assert sorted(path.name for path in (tmp_path / "book").iterdir()) == ["01_doubling.html", "01_doubling.ipynb"]
    assert "1 notebook, each with a film" in capfd.readouterr().err


def test_it_needs_a_folder(capfd):
    assert main(["learn", "book"]) == Exit.BAD_INPUT
    assert "needs a folder" in capfd.readouterr().err
