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
    programs,
    prose,
    shown,
)
from tui.commands.cli import main
from tui.commands.parser import make_parser
from tui.shell.exits import MEANING, Exit
from tui.shell.key_names import key_name
from tui.stepper.stepper import KEYS

OF_OTHERS = {"--help", "--no-deps"}
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("program", programs(README))
def test_programs_print_what_their_comments_say(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_program(program, tmp_path)


@pytest.mark.parametrize("scene", shown(README))
def test_a_command_prints_what_is_shown(scene, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("COLUMNS", "100")
    scene.check(tmp_path, lambda words: main(words) in (Exit.OK, Exit.FOUND) and capfd.readouterr().out)


def test_the_first_two_commands_set_up_everything_by_themselves():
    job, tests = blocks(README, "sh")
    assert job.startswith("python3 -m venv ")
    assert job.strip().endswith("microtape demo")
    assert tests.startswith("python3 -m venv ")
    assert tests.strip().endswith("pytest")


def test_the_files_and_options_in_its_commands_exist():
    for command in commands(README):
        check_command(command)


def test_the_commands_of_the_readme_are_those_of_the_help():
    _, known, _ = make_parser()
    named = re.findall(r"(`?)microtape ([a-z]+)", README)
    assert {command for quoted, command in named if quoted} <= set(known) <= {command for _, command in named}


def test_every_option_that_the_readme_names_is_one_of_its_commands():
    _, known, _ = make_parser()
    helps = "".join(help_of(command) for command in known)
    named = set(re.findall(r"`(?:[^`\n]* )?(--[a-z-]+)", prose(README))) - OF_OTHERS
    assert {"--pass", "--until", "--check"} <= named
    assert not [option for option in named if not re.search(rf"{option}\b", helps)]


def test_the_help_of_every_command_lists_the_exit_codes_as_the_readme_promises():
    assert "--help` says more, exit codes included" in " ".join(README.split())
    _, known, _ = make_parser()
    for command in known:
        said = help_of(command)
        assert all(re.search(rf"^  {code.value} +{re.escape(MEANING[code])}$", said, re.MULTILINE) for code in Exit)


def test_every_key_of_the_readme_is_bound():
    _, _, table = README.partition("Keys of the stepper;")
    table, _, _ = table.partition("For programs that call")
    named = {key for row in re.findall(r"^\| (.*?) \|", table, re.MULTILINE) for key in re.findall(r"`(.)`", row)}
    bound = {key_name(key) for one in KEYS for key in one.keys.split(",")}
    assert len(named) > 10
    assert named <= bound


def test_the_pictures_and_files_that_it_names_exist():
    check_links(ROOT / "README.md")
    check_names(README)
