"""The pages say what is true: their programs run, their commands, files and links exist, their pictures are up to date.

Whether Sphinx builds them without a warning is a step of `.ci/run`.
"""

import html
import re
import runpy

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
    shown,
)
from tui.commands.cli import main
from tui.shell.exits import Exit

EXERCISE = "raise NotImplementedError"  # not finished on purpose; `tests/tui/learn` compares it with its file
PAGES = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXTS = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
PROGRAMS = [program for text in TEXTS.values() for program in programs(text) if EXERCISE not in program.values[0]]
COMMANDS = [command for text in TEXTS.values() for command in commands(text)]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_print_what_their_comments_say(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_program(program, tmp_path)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_files_and_options_in_a_command_exist(command):
    check_command(command)


@pytest.mark.parametrize("scene", [scene for text in TEXTS.values() for scene in shown(text)])
def test_a_command_prints_what_is_shown(scene, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("COLUMNS", "100")
    scene.check(tmp_path, lambda words: main(words) in (Exit.OK, Exit.FOUND) and capfd.readouterr().out)


@every_page
def test_commands_in_a_sentence_exist(page):
    for command in set(re.findall(r"`microtape ([a-z]+)", TEXTS[page.name])):
        help_of(command)


@every_page
def test_links_lead_somewhere(page):
    check_links(page)


@every_page
def test_files_and_names_are_in_the_code(page):
    check_names(TEXTS[page.name])


def test_the_model_of_the_page_on_nan_is_the_one_of_its_picture():
    program = ROOT / "docs" / "programs" / "pytorch" / "reviews.py"
    assert blocks(TEXTS["pytorch_nan.md"], "python") == [program.read_text(encoding="utf-8")]


def test_the_readme_leads_to_every_page():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [page.name for page in PAGES if page.name != "index.md" and f"{page.name})" not in readme]
    assert missing == []


def test_the_picture_of_the_rooms_is_up_to_date():
    made = runpy.run_path(str(ROOT / "docs" / "make_rooms.py"))
    drawn = set(re.findall(r"<title>(\w+/[\w ]+(?:->\w+/[\w ]+)?)</title>", html.unescape(made["PICTURE"].read_text())))
    assert {arrow for arrow in drawn if is_inside(arrow)} == set(made["inner_names"]()), "python docs/make_rooms.py"


def is_inside(name: str) -> bool:
    """Whether it is a box, or an arrow between two boxes of one package."""
    start, _, end = name.partition("->")
    return not end or start.partition("/")[0] == end.partition("/")[0]
