"""The README says what is true: its programs run and print what it says they print, its commands exist."""

import re

import pytest

from tests.support.pages import (
    ROOT,
    blocks,
    check_command,
    check_links,
    check_names,
    check_program,
    commands,
    help_of,
    last_line,
)

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("program", blocks(README, "python"), ids=last_line)
def test_programs_print_what_their_comments_say(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_program(program, tmp_path)


def test_the_first_two_commands_set_up_everything_by_themselves():
    job, tests = blocks(README, "sh")
    assert job.startswith("python3 -m venv ")
    assert job.strip().endswith("microtape demo")
    assert tests.startswith("python3 -m venv ")
    assert tests.strip().endswith("pytest")


def test_the_files_and_options_in_its_commands_exist():
    for command in commands(README):
        check_command(command)


def test_every_command_of_the_table_exists():
    for command in set(re.findall(r"`microtape ([a-z]+)", README)):
        help_of(command)


def test_the_pictures_and_files_that_it_names_exist():
    check_links(ROOT / "README.md")
    check_names(README)
