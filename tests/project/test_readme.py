"""The README says what is true: its programs run and print what it says they print, its commands exist."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from tui.commands.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
SHELL = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.strip().splitlines()[-1][:40])
def test_programs_print_what_their_comments_say(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "example.py"  # a file, so that source lines can be found
    file.write_text(program, encoding="utf-8")
    expected = re.findall(r"print\(.*\)(?:  | *\n\s+)# (.*)", program)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(program, str(file), "exec"), {"__name__": "__main__"})
    printed = output.getvalue().splitlines()
    assert printed[: len(expected)] == expected


def test_the_first_two_commands_set_up_everything_by_themselves():
    job, tests = SHELL
    assert job.startswith("python3 -m venv ")
    assert job.strip().endswith("microtape demo")
    assert tests.startswith("python3 -m venv ")
    assert tests.strip().endswith("pytest")


def test_every_command_of_the_table_exists(capsys):
    for command in set(re.findall(r"`microtape ([a-z]+)", README)):
        try:
            code = main([command, "--help"])
        except SystemExit as stop:
            code = stop.code
        assert code == 0
        assert command in capsys.readouterr().out


def test_pictures_and_files_it_names_are_there():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
    for name in re.findall(r"`((?:microtape|tui|viz|lessons)/[\w/]+\.py)`", README):
        assert (ROOT / name).exists(), name
