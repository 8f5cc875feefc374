"""A notebook runs cell by cell, without its magics; places name the cell and the line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from microtape.errors import RecordingError
from microtape.recording.file.tape_file import load
from microtape.recording.script.notebook import as_python, read_cells, text_of_cell
from microtape.recording.script.run import record_script
from tui.commands.cli import main
from tui.shell.exits import Exit
from tui.stepper.parts.rerecorder import normalized, text_of

KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
CELLS = [
    "%matplotlib inline\n!pip install numpy\nimport microtape as mt",
    "x = mt.tensor([0.0, 1.0], requires_grad=True)\nfor name in ['a']:\n    !ls {name}\nfiles = !ls\ndisplay(name)",
    "# the loss\ny = x.log().sum()\ny.backward()",
]


def notebook(folder: Path, *cells: str, name: str = "book.ipynb", **changes: Any) -> str:
    """Write a notebook as Jupyter does: each source a list of lines, or one text; a text cell between code cells."""
    made: list[dict[str, Any]] = []
    for at, text in enumerate(cells):
        source: Any = text if at % 2 else text.splitlines(keepends=True)
        code = {"cell_type": "code", "source": source, "metadata": {}, "execution_count": None, "outputs": []}
        made += [{"cell_type": "markdown", "source": ["# words"], "metadata": {}}, code]
    book = {"nbformat": 4, "nbformat_minor": 5, "metadata": KERNEL, "cells": made, **changes}
    (folder / name).write_text(json.dumps(book), encoding="utf-8")
    return str(folder / name)


def test_cells_run_in_order_and_places_name_the_cell_and_the_line(tmp_path: Path) -> None:
    with open(tmp_path / "output", "wb") as output:
        ended = record_script(notebook(tmp_path, *CELLS), out=tmp_path / "run.tape", output=output)
    assert ended.exit_code == 0
    assert (tmp_path / "output").read_text() == "a\n"
    recording = load(tmp_path / "run.tape")
    assert recording.title == "book.ipynb"
    places = {node.name: node.place.at for node in recording.nodes if node.place is not None and node.op != "leaf"}
    assert "cell 3, line 2" in places.values()
    assert recording.passes[0].place is not None
    assert recording.passes[0].place.at == recording.passes[0].place.at_name == "cell 3, line 3"


def test_findings_name_the_cell_and_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    notebook(tmp_path, *CELLS)
    assert main(["diagnose", "book.ipynb"]) == Exit.FOUND
    said = capfd.readouterr().out
    assert "Infinity begins at log, cell 3, line 2" in said
    assert "microtape step book.ipynb" in said
    assert main(["trace", "book.ipynb"]) == Exit.OK
    assert "cell 3, line 2" in capfd.readouterr().out


def test_a_traceback_and_an_error_of_the_engine_name_the_cell(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cells = (CELLS[0], "x = mt.tensor(1.0, requires_grad=True)\ny = x.exp()\ny += 1\n", "y.backward()")
    ended = record_script(notebook(tmp_path, *cells), out=tmp_path / "run.tape")
    said = capfd.readouterr().err
    assert ended.exit_code == 1
    assert 'book.ipynb: cell 3", line 1' in said
    assert "cell 2, line 2" in said
    assert "notebook.py" not in said


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%load_ext autoreload\nx = 1", "pass  # %load_ext autoreload\nx = 1"),
        ("if x:\n    !ls\ny = 2", "if x:\n    pass  # !ls\ny = 2"),
        ("%%time\nx = 1", "pass  # %%time\nx = 1"),
        ("%%bash\nls *", "# %%bash\n# ls *"),
        ("?mt.tensor\nmt.tensor??", "pass  # ?mt.tensor\npass  # mt.tensor??"),
        ("%time x = 1 + 1", "x = 1 + 1"),
        ("files = !ls 'a\nx = 1", "pass  # files = !ls 'a\nx = 1"),
        ("!pip install \\\n  numpy\nx = 1", "pass  # !pip install \\\n# numpy\nx = 1"),
        ("x = '''\n%magic\n!ls\n'''", "x = '''\n%magic\n!ls\n'''"),
        ("x = (7\n% 3)", "x = (7\n% 3)"),
        ("x = = 1", "x = = 1"),
        ("", ""),
    ],
)
def test_magics_do_nothing_and_keep_their_line(cell: str, python: str) -> None:
    assert as_python(cell) == python


def test_cells_after_one_that_is_no_python_do_not_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ended = record_script(notebook(tmp_path, "print('one')", "x = = 1", "print('three')"), out=tmp_path / "run.tape")
    said = capfd.readouterr()
    assert said.out == "one\n"
    assert 'cell 2", line 1' in said.err
    assert ended.message == "book.ipynb raised SyntaxError: nothing was recorded"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not a notebook: line 1 is not JSON"),
        ("[]", "not a notebook: it has no list of cells"),
        ("{}", "not a notebook: it has no list of cells"),
        ('{"nbformat": 4, "cells": 7}', "not a notebook: it has no list of cells"),
        ('{"nbformat": 4, "cells": [{"cell_type": "code", "source": 7}]}', "not a notebook: it has no list of cells"),
        ('{"nbformat": 4, "metadata": [], "cells": []}', "not a notebook: it has no list of cells"),
        ('{"nbformat": 3, "worksheets": []}', "a notebook of before 2015"),
        ('{"nbformat": 4, "metadata": {"kernelspec": {"language": "R"}}, "cells": []}', "a notebook of r, not"),
        ("[" * 100_000, "not a notebook"),
        ("\xff\xfe", "not a notebook|not JSON"),
    ],
)  # fmt: skip
def test_what_is_no_notebook_is_said_in_one_line(
    tmp_path: Path, text: str, why: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "book.ipynb").write_text(text, encoding="latin-1")
    with pytest.raises(RecordingError, match=why):
        read_cells(str(tmp_path / "book.ipynb"))
    assert main(["trace", str(tmp_path / "book.ipynb")]) == Exit.BAD_INPUT
    said = capfd.readouterr().err
    assert said.startswith("microtape: book.ipynb: ")
    assert said.count("\n") == 1


def test_a_cell_that_was_changed_is_seen_to_have_changed(tmp_path: Path) -> None:
    book = notebook(tmp_path, *CELLS)
    with open(tmp_path / "output", "wb") as output:
        record_script(book, out=tmp_path / "run.tape", output=output)
    for name, text in load(tmp_path / "run.tape").sources.items():
        assert text_of(tmp_path / name) == normalized(text)
    third = str(tmp_path / "book.ipynb: cell 3")
    notebook(tmp_path, CELLS[0], CELLS[1], "y = 7")
    assert text_of_cell(third) == "y = 7"
    notebook(tmp_path, CELLS[0])
    assert text_of(Path(third)) is None
    assert text_of_cell(str(tmp_path / "train.py")) is None
